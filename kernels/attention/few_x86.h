/* Scores for very few queries, on AVX2 and above: a tile would leave most of its columns empty, so the keys
 * become the columns, turned in registers on the way. */
#ifndef RDK_FEW_X86_H
#define RDK_FEW_X86_H

#include <immintrin.h>

#include "kernels/attention/tile.h"

enum {
    FEW = 4,       /* queries at most */
    FEW_KEYS = 16, /* at once, in two vectors: one chain of sums waits while the other goes on */
    FEW_LINES = 4, /* fetched for every four columns, as many as are read */
};

/* Elements c ... c + 3 of eight keys, in one vector for each element. Those from n on are zero. */
RDK_INLINE void turn_8_keys(__m256 m[4], const char *const key[8], int64_t c, const int n) {
    static const int32_t FIRST[8] = {-1, -1, -1, -1};
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)(FIRST + 4 - n));
    __m256 p[4];
    RDK_UNROLL
    for (int i = 0; i < 4; i++) {
        const float *low = (const float *)(const void *)(key[i] + c * 4);
        const float *high = (const float *)(const void *)(key[i + 4] + c * 4);
        p[i] = n == 4 ? _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)),
                                             _mm_loadu_ps(high), 1)
                      : _mm256_set_m128(_mm_maskload_ps(high, first), _mm_maskload_ps(low, first));
    }
    __m256 a = _mm256_unpacklo_ps(p[0], p[1]), b = _mm256_unpackhi_ps(p[0], p[1]);
    __m256 d = _mm256_unpacklo_ps(p[2], p[3]), e = _mm256_unpackhi_ps(p[2], p[3]);
    m[0] = _mm256_shuffle_ps(a, d, 0x44);
    m[1] = _mm256_shuffle_ps(a, d, 0xee);
    m[2] = _mm256_shuffle_ps(b, e, 0x44);
    m[3] = _mm256_shuffle_ps(b, e, 0xee);
}

/* Sixteen keys, and queries side by side: q[c * q_step + r]. */
typedef struct few {
    const char *key[FEW_KEYS];
    const float *q;
    int64_t q_step, d;
    float *c; /* [key][c_row]; every row is written, eight floats of it */
    int64_t c_row;
    int count; /* keys whose scores are written */
    stream *fetch;
} few;

RDK_INLINE void few_step(const few *f, __m256 sum[2][FEW], int64_t c, const int n, const int rows) {
    RDK_UNROLL
    for (int g = 0; g < 2; g++) {
        __m256 m[4];
        turn_8_keys(m, f->key + 8 * g, c, n);
        RDK_UNROLL
        for (int i = 0; i < 4; i++)
            if (i < n)
                RDK_UNROLL
        for (int r = 0; r < rows; r++)
            sum[g][r] = _mm256_fmadd_ps(_mm256_broadcast_ss(f->q + (c + i) * f->q_step + r), m[i],
                                        sum[g][r]);
    }
}

RDK_INLINE void few_body(const few *f, const int rows) {
    __m256 sum[2][FEW];
    stream s = *f->fetch;
    int64_t c = 0;
    RDK_UNROLL
    for (int r = 0; r < rows; r++)
        sum[0][r] = sum[1][r] = _mm256_setzero_ps();
    for (; c + 4 <= f->d; c += 4) {
        few_step(f, sum, c, 4, rows);
        for (int64_t n = stream_take(&s, FEW_LINES); n > 0; n--)
            stream_fetch(&s);
    }
    *f->fetch = s;
    for (; c < f->d; c++)
        few_step(f, sum, c, 1, rows);
    for (int g = 0; g < 2; g++) {
        float turned[FEW][8];
        for (int r = 0; r < rows; r++)
            _mm256_storeu_ps(turned[r], sum[g][r]);
        for (int i = 0; i < 8 && 8 * g + i < f->count; i++)
            for (int r = 0; r < 8; r++)
                f->c[(8 * g + i) * f->c_row + r] = r < rows ? turned[r][i] : 0;
    }
}

static void few_1(const few *f) {
    few_body(f, 1);
}

static void few_2(const few *f) {
    few_body(f, 2);
}

static void few_3(const few *f) {
    few_body(f, 3);
}

static void few_4(const few *f) {
    few_body(f, 4);
}

static void (*const FEW_OF[FEW + 1])(const few *) = {NULL, few_1, few_2, few_3, few_4};

#endif
