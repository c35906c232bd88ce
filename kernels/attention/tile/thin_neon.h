/* Scores of thin row blocks, on NEON. The queries fill one vector, which elements of a key multiply
 * by lane, so nothing has to be transposed but the scores. Included by tile_neon.h. */
#ifndef RDK_THIN_NEON_H
#define RDK_THIN_NEON_H

enum {
    THIN = TILE_LANES, /* queries at most */
    THIN_QUADS = 0,
    THIN_WIDTH = 8, /* the width of their group */
    THIN_KEYS = 16, /* keys at once: as many chains as four pipes need */
};

static int thin_keys(int queries, int64_t chains) {
    (void)queries;
    (void)chains;
    return THIN_KEYS;
}

/* The sums of eight keys with all queries. As in tile_body.h they are fields, so that every
 * compiler keeps them in registers. */
/* clang-format off */
#define THIN_EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
/* clang-format on */

typedef struct thin_sums {
#define THIN_FIELD(i) float32x4_t s##i;
    THIN_EIGHT(THIN_FIELD)
#undef THIN_FIELD
} thin_sums;

/* Adds a lane of x, times y, to z. It is in assembly for the reason of tile_fma_one(). */
#ifndef RDK_EMULATED
#define THIN_FMA(lane, x, y, z)                                                                    \
    __asm__("fmla %0.4s, %1.4s, %2.s[" #lane "]" : "+w"(z) : "w"(y), "w"(x))
#else
#define THIN_FMA(lane, x, y, z) z = tile_fma(vdupq_laneq_f32(x, lane), y, z)
#endif

/* Four elements of each of eight keys. */
#define THIN_LOAD(i)                                                                               \
    float32x4_t k##i = tile_load(key + i * step);                                                  \
    TILE_PIN(k##i);
#define THIN_ADD(lane, i, sums)                                                                    \
    THIN_FMA(lane, k##i, x, sums->s##i);                                                           \
    TILE_PIN(sums->s##i);

/* Adds the next four elements of eight keys times those of all queries, to two chains in turn, or
 * to one: then `even` and `odd` are the same. */
#define THIN_EVEN_0(i) THIN_ADD(0, i, even)
#define THIN_ODD_1(i) THIN_ADD(1, i, odd)
#define THIN_EVEN_2(i) THIN_ADD(2, i, even)
#define THIN_ODD_3(i) THIN_ADD(3, i, odd)
RDK_INLINE void thin_four(thin_sums *even, thin_sums *odd, const char *key, int64_t step,
                          const float *q) {
    float32x4_t x;
    THIN_EIGHT(THIN_LOAD)
    x = tile_load(q);
    THIN_EIGHT(THIN_EVEN_0)
    x = tile_load(q + THIN_WIDTH);
    THIN_EIGHT(THIN_ODD_1)
    x = tile_load(q + 2 * THIN_WIDTH);
    THIN_EIGHT(THIN_EVEN_2)
    x = tile_load(q + 3 * THIN_WIDTH);
    THIN_EIGHT(THIN_ODD_3)
}
#undef THIN_EVEN_0
#undef THIN_ODD_1
#undef THIN_EVEN_2
#undef THIN_ODD_3
#undef THIN_ADD
#undef THIN_LOAD

/* The same for elements c, c + on, ... before `end`, one at a time, to one chain. */
RDK_INLINE void thin_ones(thin_sums *sums, const thin *f, const char *key, int64_t c, int64_t on,
                          int64_t end) {
    const int64_t step = f->key_step;
    for (; c < end; c += on) {
        const char *at = key + c * 4;
        float32x4_t x = tile_load(f->q + c * THIN_WIDTH);
#define THIN_ADD(i) sums->s##i = tile_fma_one(tile_take(at + i * step), x, sums->s##i);
        THIN_EIGHT(THIN_ADD)
#undef THIN_ADD
    }
}

#define THIN_CLEAR(sums)                                                                           \
    sums.s0 = sums.s1 = sums.s2 = sums.s3 = sums.s4 = sums.s5 = sums.s6 = sums.s7 = tile_zero()

/* Adds the sums of a chain to scores, [key][query]. */
RDK_INLINE void thin_join(float *scores, const thin_sums *sums) {
#define THIN_JOIN(i)                                                                               \
    vst1q_f32(scores + i * THIN, tile_add(vld1q_f32(scores + i * THIN), sums->s##i));
    THIN_EIGHT(THIN_JOIN)
#undef THIN_JOIN
}

/* Puts the scores of up to four queries, transposed, where f says. Of fewer queries the others'
 * scores are zeros. */
RDK_INLINE void thin_put(const thin *f, const float *scores) {
    for (int i = 0; i < THIN_KEYS; i += 4) {
        float32x4_t m[4];
        RDK_UNROLL
        for (int r = 0; r < 4; r++)
            m[r] = vld1q_f32(scores + (i + r) * THIN);
        transpose_4x4(m);
        RDK_UNROLL
        for (int r = 0; r < 4; r++)
            vst1q_f32(f->c + r * RDK_BLOCK + i, m[r]);
    }
}

/* THIN_KEYS keys, one chain. */
static void thin_of_1(const thin *f) {
    float scores[THIN_KEYS * THIN] = {0};
    const char *key = f->key, *above = f->key + 8 * f->key_step;
    const float *q = f->q;
    const int64_t step = f->key_step, whole = f->d / 4 * 4;
    stream s = *f->fetch;
    thin_sums low, high;
    THIN_CLEAR(low);
    THIN_CLEAR(high);
    for (int64_t c = 0; c < whole; c += 4, q += 4 * THIN_WIDTH) {
        thin_four(&low, &low, key + c * 4, step, q);
        thin_four(&high, &high, above + c * 4, step, q);
        stream_fetch(&s, 2); /* as many as are read */
    }
    *f->fetch = s;
    thin_ones(&low, f, key, whole, 1, f->d);
    thin_ones(&high, f, above, whole, 1, f->d);
    thin_join(scores, &low);
    thin_join(scores + 8 * THIN, &high);
    thin_put(f, scores);
}

/* Eight keys, two chains. */
RDK_INLINE void thin_chains(const thin *f, const char *key, float *scores) {
    const int64_t step = f->key_step;
    for (int64_t c = 0, end; c < f->d; c = end) {
        stream s = *f->fetch;
        thin_sums even, odd;
        THIN_CLEAR(even);
        THIN_CLEAR(odd);
        for (end = rdk_piece_end(c, f->d); c + 4 <= end; c += 4) {
            thin_four(&even, &odd, key + c * 4, step, f->q + c * THIN_WIDTH);
            stream_fetch(&s, 1); /* as many as are read */
        }
        *f->fetch = s;
        thin_ones(&even, f, key, c, 2, end);
        thin_ones(&odd, f, key, c + 1, 2, end);
        thin_join(scores, &even);
        thin_join(scores, &odd);
    }
}

/* THIN_KEYS keys, two chains. */
static void thin_of_2(const thin *f) {
    float scores[THIN_KEYS * THIN] = {0};
    for (int i = 0; i < THIN_KEYS; i += 8)
        thin_chains(f, f->key + i * f->key_step, scores + i * THIN);
    thin_put(f, scores);
}

static void run_thin(const thin *f, int queries) {
    static thin_function *const THIN_OF[] = {thin_of_1, thin_of_2};
    thin_in_turn(f, thin_keys(queries, f->chains), THIN_OF[f->chains - 1]);
}
#undef THIN_CLEAR

#endif
