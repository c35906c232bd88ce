/* Scores for very few queries, on NEON: they fill one vector, which elements of a key multiply by lane. Nothing has to
 * be turned but the scores. Included by tile_neon.h. */
#ifndef RDK_FEW_NEON_H
#define RDK_FEW_NEON_H

enum {
    FEW = TILE_LANES, /* queries at most */
    FEW_QUADS = 0,
    FEW_WIDTH = 8, /* of a group of so few */
    FEW_KEYS = 16, /* at once: as many chains as four pipes need */
};

static int few_keys(int queries, int64_t chains) {
    (void)queries;
    (void)chains;
    return FEW_KEYS;
}

/* Eight keys' sums for all queries. As in tile_body.h they are fields, so that every compiler keeps them in registers. */
/* clang-format off */
#define FEW_EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
/* clang-format on */

typedef struct few_sums {
#define FEW_FIELD(i) float32x4_t s##i;
    FEW_EIGHT(FEW_FIELD)
#undef FEW_FIELD
} few_sums;

/* z + a lane of x times y; in assembly for the reason of tile_fma_one(). */
#ifndef RDK_EMULATED
#define FEW_FMA(lane, x, y, z)                                                                     \
    __asm__("fmla %0.4s, %1.4s, %2.s[" #lane "]" : "+w"(z) : "w"(y), "w"(x))
#else
#define FEW_FMA(lane, x, y, z) z = tile_fma(vdupq_laneq_f32(x, lane), y, z)
#endif

/* Four elements of each of eight keys. */
#define FEW_LOAD(i)                                                                                \
    float32x4_t k##i = tile_load(key + i * step);                                                  \
    TILE_PIN(k##i);
#define FEW_ADD(lane, i, sums)                                                                     \
    FEW_FMA(lane, k##i, x, sums->s##i);                                                            \
    TILE_PIN(sums->s##i);

/* The next four elements of eight keys times those of all queries, of two chains in turn, or of one: then even and odd are
 * the same. */
#define FEW_EVEN_0(i) FEW_ADD(0, i, even)
#define FEW_ODD_1(i) FEW_ADD(1, i, odd)
#define FEW_EVEN_2(i) FEW_ADD(2, i, even)
#define FEW_ODD_3(i) FEW_ADD(3, i, odd)
RDK_INLINE void few_four(few_sums *even, few_sums *odd, const char *key, int64_t step,
                         const float *q) {
    float32x4_t x;
    FEW_EIGHT(FEW_LOAD)
    x = tile_load(q);
    FEW_EIGHT(FEW_EVEN_0)
    x = tile_load(q + FEW_WIDTH);
    FEW_EIGHT(FEW_ODD_1)
    x = tile_load(q + 2 * FEW_WIDTH);
    FEW_EIGHT(FEW_EVEN_2)
    x = tile_load(q + 3 * FEW_WIDTH);
    FEW_EIGHT(FEW_ODD_3)
}
#undef FEW_EVEN_0
#undef FEW_ODD_1
#undef FEW_EVEN_2
#undef FEW_ODD_3
#undef FEW_ADD
#undef FEW_LOAD

/* Elements c, c + on, ... before end. */
RDK_INLINE void few_ones(few_sums *sums, const few *f, const char *key, int64_t c, int64_t on,
                         int64_t end) {
    const int64_t step = f->key_step;
    for (; c < end; c += on) {
        const char *at = key + c * 4;
        float32x4_t x = tile_load(f->q + c * FEW_WIDTH);
#define FEW_ADD(i) sums->s##i = tile_fma_one(tile_take(at + i * step), x, sums->s##i);
        FEW_EIGHT(FEW_ADD)
#undef FEW_ADD
    }
}

#define FEW_CLEAR(sums)                                                                            \
    sums.s0 = sums.s1 = sums.s2 = sums.s3 = sums.s4 = sums.s5 = sums.s6 = sums.s7 = tile_zero()

/* Adds the sums of a chain to scores, [key][query]. */
RDK_INLINE void few_join(float *scores, const few_sums *sums) {
#define FEW_JOIN(i) vst1q_f32(scores + i * FEW, tile_add(vld1q_f32(scores + i * FEW), sums->s##i));
    FEW_EIGHT(FEW_JOIN)
#undef FEW_JOIN
}

/* Turns the scores of up to four queries: those that are none are zeros. */
RDK_INLINE void few_put(const few *f, const float *scores) {
    for (int i = 0; i < FEW_KEYS; i += 4) {
        float32x4_t m[4];
        RDK_UNROLL
        for (int r = 0; r < 4; r++)
            m[r] = vld1q_f32(scores + (i + r) * FEW);
        transpose_4x4(m);
        RDK_UNROLL
        for (int r = 0; r < 4; r++)
            vst1q_f32(f->c + r * RDK_BLOCK + i, m[r]);
    }
}

static void few_of_1(const few *f) {
    float scores[FEW_KEYS * FEW] = {0};
    const char *key = f->key, *above = f->key + 8 * f->key_step;
    const float *q = f->q;
    const int64_t step = f->key_step, whole = f->d / 4 * 4;
    stream s = *f->fetch;
    few_sums low, high;
    FEW_CLEAR(low);
    FEW_CLEAR(high);
    for (int64_t c = 0; c < whole; c += 4, q += 4 * FEW_WIDTH) {
        few_four(&low, &low, key + c * 4, step, q);
        few_four(&high, &high, above + c * 4, step, q);
        stream_fetch(&s, 2); /* as many as are read */
    }
    *f->fetch = s;
    few_ones(&low, f, key, whole, 1, f->d);
    few_ones(&high, f, above, whole, 1, f->d);
    few_join(scores, &low);
    few_join(scores + 8 * FEW, &high);
    few_put(f, scores);
}

/* Eight keys, two chains. */
RDK_INLINE void few_chains(const few *f, const char *key, float *scores) {
    const int64_t step = f->key_step;
    for (int64_t c = 0, end; c < f->d; c = end) {
        stream s = *f->fetch;
        few_sums even, odd;
        FEW_CLEAR(even);
        FEW_CLEAR(odd);
        for (end = rdk_piece_end(c, f->d); c + 4 <= end; c += 4) {
            few_four(&even, &odd, key + c * 4, step, f->q + c * FEW_WIDTH);
            stream_fetch(&s, 1); /* as many as are read */
        }
        *f->fetch = s;
        few_ones(&even, f, key, c, 2, end);
        few_ones(&odd, f, key, c + 1, 2, end);
        few_join(scores, &even);
        few_join(scores, &odd);
    }
}

static void few_of_2(const few *f) {
    float scores[FEW_KEYS * FEW] = {0};
    for (int i = 0; i < FEW_KEYS; i += 8)
        few_chains(f, f->key + i * f->key_step, scores + i * FEW);
    few_put(f, scores);
}

static void run_few(const few *f, int queries) {
    static few_function *const FEW_OF[] = {few_of_1, few_of_2};
    few_in_turn(f, few_keys(queries, f->chains), FEW_OF[f->chains - 1]);
}
#undef FEW_CLEAR

#endif
