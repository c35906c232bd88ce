/* Scores for very few queries, on NEON: they fill one vector, which elements of a key multiply by lane. Nothing has to
 * be turned but the scores. Included by tile_neon.h. */
#ifndef RDK_FEW_NEON_H
#define RDK_FEW_NEON_H

enum {
    FEW = TILE_LANES, /* queries at most */
    FEW_WIDTH = 8,    /* of a group of so few */
    FEW_KEYS = 16,    /* at once: as many chains as four pipes need */
};

static const int FEW_KEYS_OF[FEW + 1] = {0, FEW_KEYS, FEW_KEYS, FEW_KEYS, FEW_KEYS};

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

/* The next four elements of eight keys times those of all queries, element by element. */
RDK_INLINE void few_four(few_sums *sums, const char *key, int64_t step, const float *q) {
    float32x4_t x;
#define FEW_LOAD(i)                                                                                \
    float32x4_t k##i = tile_load(key + i * step);                                                  \
    TILE_PIN(k##i);
#define FEW_ADD(lane, i)                                                                           \
    FEW_FMA(lane, k##i, x, sums->s##i);                                                            \
    TILE_PIN(sums->s##i);
#define FEW_ADD_0(i) FEW_ADD(0, i)
#define FEW_ADD_1(i) FEW_ADD(1, i)
#define FEW_ADD_2(i) FEW_ADD(2, i)
#define FEW_ADD_3(i) FEW_ADD(3, i)
    FEW_EIGHT(FEW_LOAD)
    x = tile_load(q);
    FEW_EIGHT(FEW_ADD_0)
    x = tile_load(q + FEW_WIDTH);
    FEW_EIGHT(FEW_ADD_1)
    x = tile_load(q + 2 * FEW_WIDTH);
    FEW_EIGHT(FEW_ADD_2)
    x = tile_load(q + 3 * FEW_WIDTH);
    FEW_EIGHT(FEW_ADD_3)
#undef FEW_ADD_0
#undef FEW_ADD_1
#undef FEW_ADD_2
#undef FEW_ADD_3
#undef FEW_ADD
#undef FEW_LOAD
}

/* One element. */
RDK_INLINE void few_one(few_sums *sums, const char *key, int64_t step, const float *q) {
    float32x4_t x = tile_load(q);
#define FEW_ADD(i) sums->s##i = tile_fma_one(tile_take(key + i * step), x, sums->s##i);
    FEW_EIGHT(FEW_ADD)
#undef FEW_ADD
}

/* Adds the sums of a piece to scores, [key][query]. */
RDK_INLINE void few_join(float *scores, const few_sums *sums) {
#define FEW_JOIN(i) vst1q_f32(scores + i * FEW, tile_add(vld1q_f32(scores + i * FEW), sums->s##i));
    FEW_EIGHT(FEW_JOIN)
#undef FEW_JOIN
}

/* Up to four queries: those that are none are zeros. */
static void few_4(const few *f) {
    float scores[FEW_KEYS * FEW] = {0};
    const char *key = f->key, *above = f->key + 8 * f->key_step;
    const float *q = f->q;
    const int64_t step = f->key_step;
    for (int64_t all = f->d; all > 0; all -= RDK_PIECE) {
        int64_t left = all < RDK_PIECE ? all : RDK_PIECE;
        stream s = *f->fetch;
        few_sums low, high;
#define FEW_CLEAR(i) low.s##i = high.s##i = tile_zero();
        FEW_EIGHT(FEW_CLEAR)
#undef FEW_CLEAR
        for (; left >= 4; left -= 4, key += 16, above += 16, q += 4 * FEW_WIDTH) {
            few_four(&low, key, step, q);
            few_four(&high, above, step, q);
            stream_fetch(&s, 2); /* as many as are read */
        }
        for (; left > 0; left--, key += 4, above += 4, q += FEW_WIDTH) {
            few_one(&low, key, step, q);
            few_one(&high, above, step, q);
        }
        *f->fetch = s;
        few_join(scores, &low);
        few_join(scores + 8 * FEW, &high);
    }
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

static few_function *const FEW_OF[FEW + 1] = {NULL, few_4, few_4, few_4, few_4};

#endif
