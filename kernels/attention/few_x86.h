/* Scores for very few queries, on AVX2 and above: a tile would leave most of its columns empty, so the keys
 * become the columns, turned in registers on the way. */
#ifndef RDK_FEW_X86_H
#define RDK_FEW_X86_H

#include <immintrin.h>

#include "kernels/attention/tile.h"

enum {
    FEW = 4,       /* queries at most */
    FEW_KEYS = 16, /* at once, in two vectors: one chain of sums waits while the other goes on */
    FEW_WIDTH = TILE_LANES, /* of a group of so few */
    FEW_LINES = 4,          /* fetched for every four columns, as many as are read */
};

/* Elements 0 ... 3 of eight keys, in one vector for each element. */
RDK_INLINE void turn_8_keys(__m256 m[4], const char *key, int64_t step, bool whole) {
    const __m128i one = _mm_setr_epi32(-1, 0, 0, 0);
    __m256 p[4];
    RDK_UNROLL
    for (int i = 0; i < 4; i++) {
        const float *low = (const float *)(const void *)(key + i * step);
        const float *high = (const float *)(const void *)(key + (i + 4) * step);
        p[i] = whole ? _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)),
                                            _mm_loadu_ps(high), 1)
                     : _mm256_set_m128(_mm_maskload_ps(high, one), _mm_maskload_ps(low, one));
    }
    __m256 a = _mm256_unpacklo_ps(p[0], p[1]), b = _mm256_unpackhi_ps(p[0], p[1]);
    __m256 d = _mm256_unpacklo_ps(p[2], p[3]), e = _mm256_unpackhi_ps(p[2], p[3]);
    m[0] = _mm256_shuffle_ps(a, d, 0x44);
    m[1] = _mm256_shuffle_ps(a, d, 0xee);
    m[2] = _mm256_shuffle_ps(b, e, 0x44);
    m[3] = _mm256_shuffle_ps(b, e, 0xee);
}

/* Elements 0 ... n - 1, n being 4 or 1, of all keys times those of all queries. */
RDK_INLINE void few_step(__m256 sum[2][FEW], const char *key, int64_t step, const float *q,
                         const int n, const int rows) {
    __m256 m[2][4];
    turn_8_keys(m[0], key, step, n == 4);
    turn_8_keys(m[1], key + 8 * step, step, n == 4);
    RDK_UNROLL
    for (int i = 0; i < n; i++) {
        RDK_UNROLL
        for (int r = 0; r < rows; r++) {
            __m256 x = _mm256_broadcast_ss(q + i * FEW_WIDTH + r);
            sum[0][r] = _mm256_fmadd_ps(x, m[0][i], sum[0][r]);
            sum[1][r] = _mm256_fmadd_ps(x, m[1][i], sum[1][r]);
        }
    }
}

/* Up to RDK_PIECE elements; moves on. q[c * FEW_WIDTH + r] is element c of query r. */
RDK_INLINE void few_piece(__m256 sum[2][FEW], const char **at, int64_t step, const float **q,
                          int64_t left, stream *fetch, const int rows) {
    stream s = *fetch;
    RDK_UNROLL
    for (int r = 0; r < rows; r++)
        sum[0][r] = sum[1][r] = _mm256_setzero_ps();
    for (; left >= 4; left -= 4, *at += 16, *q += 4 * FEW_WIDTH) {
        few_step(sum, *at, step, *q, 4, rows);
        stream_fetch(&s, FEW_LINES);
    }
    for (; left > 0; left--, *at += 4, *q += FEW_WIDTH)
        few_step(sum, *at, step, *q, 1, rows);
    *fetch = s;
}

RDK_INLINE void few_body(const few *f, const int rows) {
    float scores[FEW][FEW_KEYS] = {{0}};
    __m256 sum[2][FEW] = {{_mm256_setzero_ps()}}, all = _mm256_loadu_ps(f->check);
    const char *key = f->key;
    const float *q = f->q;
    for (int64_t left = f->d; left > 0; left -= RDK_PIECE) {
        few_piece(sum, &key, f->key_step, &q, left < RDK_PIECE ? left : RDK_PIECE, f->fetch, rows);
        RDK_UNROLL
        for (int r = 0; r < rows; r++) {
            RDK_UNROLL
            for (int g = 0; g < 2; g++) {
                sum[g][r] = _mm256_add_ps(_mm256_loadu_ps(scores[r] + 8 * g), sum[g][r]);
                _mm256_storeu_ps(scores[r] + 8 * g, sum[g][r]);
            }
        }
    }
    RDK_UNROLL
    for (int r = 0; r < rows; r++)
        all = _mm256_add_ps(all, _mm256_add_ps(sum[0][r], sum[1][r]));
    _mm256_storeu_ps(f->check, all);
    for (int i = 0; i < FEW_KEYS; i++)
        for (int r = 0; r < 8; r++)
            f->c[i * FEW_WIDTH + r] = r < rows ? scores[r][i] : 0;
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

static few_function *const FEW_OF[FEW + 1] = {NULL, few_1, few_2, few_3, few_4};

#endif
