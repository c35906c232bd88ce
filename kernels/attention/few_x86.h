/* Scores for very few queries, on AVX2 and above: a tile would leave most of its columns empty, so the keys
 * become the columns, turned in registers on the way. */
#ifndef RDK_FEW_X86_H
#define RDK_FEW_X86_H

#include <immintrin.h>

#include "kernels/attention/tile.h"

enum {
    FEW = 4,                /* queries at most */
    FEW_WIDTH = TILE_LANES, /* of a group of so few */
    FEW_MOST_KEYS = 32,     /* at once */
};

/* Keys at once, by queries. An fma waits four cycles for the one before in its chain and two begin in each cycle,
 * so eight chains should be in flight. */
static const int FEW_KEYS_OF[FEW + 1] = {0, 32, 32, 16, 16};

/* Transposes four rows of four in both halves. */
RDK_INLINE void turn_4x4(__m256 m[4], const __m256 p[4]) {
    __m256 a = _mm256_unpacklo_ps(p[0], p[1]), b = _mm256_unpackhi_ps(p[0], p[1]);
    __m256 c = _mm256_unpacklo_ps(p[2], p[3]), d = _mm256_unpackhi_ps(p[2], p[3]);
    m[0] = _mm256_shuffle_ps(a, c, 0x44);
    m[1] = _mm256_shuffle_ps(a, c, 0xee);
    m[2] = _mm256_shuffle_ps(b, d, 0x44);
    m[3] = _mm256_shuffle_ps(b, d, 0xee);
}

/* n keys on. The compiler is not to know it: it would keep a pointer for each key, and have no registers for them. */
RDK_INLINE const char *keys_on(const char *key, int64_t step, const int n) {
    key += n * step;
    __asm__("" : "+r"(key));
    return key;
}

/* Four elements of one key, and of another in the upper half. An insertion takes a pipe that multiplies, a blend any: it
 * is the better one where many queries multiply. */
RDK_INLINE __m256 two_keys(const float *low, const float *high, const int rows) {
    __m256 m = _mm256_castps128_ps256(_mm_loadu_ps(low));
    return rows < 4 ? _mm256_insertf128_ps(m, _mm_loadu_ps(high), 1)
                    : _mm256_blend_ps(m, _mm256_broadcast_ps((const __m128 *)high), 0xf0);
}

/* Elements 0 ... 3 of eight keys, in one vector for each element; or element 0 alone. */
RDK_INLINE void turn_8_keys(__m256 m[4], const char *key, int64_t step, bool whole,
                            const int rows) {
    const __m128i one = _mm_setr_epi32(-1, 0, 0, 0);
    const char *above = keys_on(key, step, 4);
    __m256 p[4];
    RDK_UNROLL
    for (int i = 0; i < 4; i++) {
        const float *low = (const float *)(const void *)(key + i * step);
        const float *high = (const float *)(const void *)(above + i * step);
        p[i] = whole ? two_keys(low, high, rows)
                     : _mm256_set_m128(_mm_maskload_ps(high, one), _mm_maskload_ps(low, one));
        TILE_PIN(p[i]);
    }
    turn_4x4(m, p);
}

/* The places of the sums: sixteen keys t, query r; each has two vectors of eight keys. As in tile_body.h they are
 * fields, so that every compiler keeps them in registers. */
/* clang-format off */
#define FEW_PLACES(X) X(0, 0) X(0, 1) X(0, 2) X(0, 3) X(1, 0) X(1, 1)
/* clang-format on */

typedef struct few_sums {
#define FEW_FIELD(t, r) __m256 low##t##_##r, high##t##_##r;
    FEW_PLACES(FEW_FIELD)
#undef FEW_FIELD
} few_sums;

/* One element of sixteen keys times that of all queries. */
RDK_INLINE void few_column(few_sums *sums, __m256 low, __m256 high, const float *q,
                           const int sixteen, const int rows) {
    __m256 x;
#define FEW_ADD(t, r)                                                                              \
    if (t == sixteen && r < rows) {                                                                \
        x = _mm256_broadcast_ss(q + r);                                                            \
        sums->low##t##_##r = _mm256_fmadd_ps(x, low, sums->low##t##_##r);                          \
        sums->high##t##_##r = _mm256_fmadd_ps(x, high, sums->high##t##_##r);                       \
        TILE_PIN(sums->low##t##_##r);                                                              \
        TILE_PIN(sums->high##t##_##r);                                                             \
    }
    FEW_PLACES(FEW_ADD)
#undef FEW_ADD
}

/* Keeps vectors in memory until they are needed: for four queries sixteen registers are too few, and a compiler
 * would put a sum there, whose chain then waits for it. */
#define FEW_SET_ASIDE(v) __asm__ volatile("" : "+m"(v))

/* Elements 0 ... n - 1, n being 4 or 1, of sixteen keys times those of all queries. */
RDK_INLINE void few_step(few_sums *sums, const char *key, int64_t step, const float *q, const int n,
                         const int sixteen, const int rows) {
    __m256 low[4], high[4], later[2];
    const bool crowded = TILE_REGISTERS == 16 && n == 4 && rows == 4;
    turn_8_keys(low, key, step, n == 4, rows);
    if (crowded) {
        later[0] = low[2];
        later[1] = low[3];
        FEW_SET_ASIDE(later);
    }
    turn_8_keys(high, keys_on(key, step, 8), step, n == 4, rows);
    few_column(sums, low[0], high[0], q, sixteen, rows);
    if (n == 1)
        return;
    few_column(sums, low[1], high[1], q + FEW_WIDTH, sixteen, rows);
    few_column(sums, crowded ? later[0] : low[2], high[2], q + 2 * FEW_WIDTH, sixteen, rows);
    few_column(sums, crowded ? later[1] : low[3], high[3], q + 3 * FEW_WIDTH, sixteen, rows);
}

/* The same for all keys. */
RDK_INLINE void few_steps(few_sums *sums, const char *key, int64_t step, const float *q,
                          const int n, const int rows, const int sixteens) {
    few_step(sums, key, step, q, n, 0, rows);
    if (sixteens == 2)
        few_step(sums, keys_on(key, step, 16), step, q, n, 1, rows);
}

/* Up to RDK_PIECE elements; moves on. q[c * FEW_WIDTH + r] is element c of query r. */
RDK_INLINE void few_piece(few_sums *sums, const char **at, int64_t step, const float **q,
                          int64_t left, stream *fetch, const int rows, const int sixteens) {
    stream s = *fetch;
#define FEW_CLEAR(t, r) sums->low##t##_##r = sums->high##t##_##r = _mm256_setzero_ps();
    FEW_PLACES(FEW_CLEAR)
#undef FEW_CLEAR
    for (; left >= 4; left -= 4, *at += 16, *q += 4 * FEW_WIDTH) {
        few_steps(sums, *at, step, *q, 4, rows, sixteens);
        stream_fetch(&s, 2 * sixteens); /* as many as are read */
    }
    for (; left > 0; left--, *at += 4, *q += FEW_WIDTH)
        few_steps(sums, *at, step, *q, 1, rows, sixteens);
    *fetch = s;
}

/* Scores are added up on the stack: another pointer would be one too many beside the loop. */
RDK_INLINE void few_body(const few *f, const int rows, const int sixteens) {
    float scores[FEW][FEW_MOST_KEYS];
    few_sums sums;
    const char *key = f->key;
    const float *q = f->q;
    int64_t left = f->d;
    RDK_UNROLL
    for (int i = 0; i < 2 * rows * sixteens; i++)
        _mm256_storeu_ps(scores[i % rows] + i / rows * 8, _mm256_setzero_ps());
    do {
        few_piece(&sums, &key, f->key_step, &q, left < RDK_PIECE ? left : RDK_PIECE, f->fetch, rows,
                  sixteens);
#define FEW_JOIN(t, r)                                                                             \
    if (t < sixteens && r < rows) {                                                                \
        float *at = scores[r] + 16 * t;                                                            \
        sums.low##t##_##r = _mm256_add_ps(_mm256_loadu_ps(at), sums.low##t##_##r);                 \
        sums.high##t##_##r = _mm256_add_ps(_mm256_loadu_ps(at + 8), sums.high##t##_##r);           \
        _mm256_storeu_ps(at, sums.low##t##_##r);                                                   \
        _mm256_storeu_ps(at + 8, sums.high##t##_##r);                                              \
    }
        FEW_PLACES(FEW_JOIN)
#undef FEW_JOIN
        left -= RDK_PIECE;
    } while (left > 0);
    RDK_UNROLL
    for (int i = 0; i < 2 * rows * sixteens; i++)
        _mm256_storeu_ps(f->c + i % rows * RDK_BLOCK + i / rows * 8,
                         _mm256_loadu_ps(scores[i % rows] + i / rows * 8));
}

static void few_1(const few *f) {
    few_body(f, 1, 2);
}

static void few_2(const few *f) {
    few_body(f, 2, 2);
}

static void few_3(const few *f) {
    few_body(f, 3, 1);
}

static void few_4(const few *f) {
    few_body(f, 4, 1);
}

static few_function *const FEW_OF[FEW + 1] = {NULL, few_1, few_2, few_3, few_4};

#endif
