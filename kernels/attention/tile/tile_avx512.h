/* Register tiles on AVX-512. Of 32 registers 24 are sums, up to four hold a step of b, and one an
 * element of a. */
#ifndef RDK_TILE_AVX512_H
#define RDK_TILE_AVX512_H

#include <immintrin.h>

#include "kernels/attention/tile/tile.h"

enum {
    TILE_ROWS = 8,
    TILE_VECTORS = 8,
    TILE_LANES = 16,
    TILE_HALF = 8, /* queries that take half a vector */
    TILE_GROUP = RDK_GROUP_AVX512,
    TILE_UNIT = RDK_UNIT_AVX512,
    TILE_STRIP = 64, /* columns of values that are packed together */
    TILE_REGISTERS = 32,
};

/* Scores: how many keys a tile takes, by vectors of queries; 0 stands for half a vector. Values:
 * how many queries at most, and how many vectors of columns, by queries. An fma waits four cycles
 * for the one before in its chain, and two begin in each cycle, so eight chains or more must be in
 * flight. */
static const int TILE_KEYS_OF[] = {8, 8, 8, 8};
enum { TILE_QUERIES = 6 };
static const int TILE_VECTORS_OF[TILE_QUERIES + 1] = {0, 8, 4, 4, 4, 4, 4};

typedef __m512 tile_vec;

#define TILE_MM(op) _mm512_##op##_ps
#include "kernels/attention/tile/tile_x86.h"

#define tile_fma_one tile_fma

/* Rows and vectors of each shape. */
/* clang-format off */
#define TILE_SHAPES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) \
    X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(5, 3) X(6, 3) X(7, 3) X(8, 3) \
    X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4) X(6, 4) \
    X(1, 8)
/* clang-format on */

#include "kernels/attention/tile/tile_body.h"

/* Assembly is left out where a sanitizer would not see what it does. */
#if defined(__x86_64__) && !defined(RDK_EMULATED) && !defined(RDK_SANITIZED)
#include "kernels/attention/tile/asm_avx512.h"
#else
#define asm_tile(t, rows, vectors) NULL
#define asm_thin(f, queries) NULL
#endif

/* Tiles of half a vector of columns, row by row. Few of them are not done in assembly. */
static void run_half(const tile *t, int rows) {
    for (int64_t n = 0; n < t->times * rows; n++) {
        float *c = t->c + n * t->c_row;
        chain k = first_chain(t->steps, t->chains);
        do {
            const char *a = t->a + n * t->a_row + k.first * (int64_t)sizeof(float);
            const char *b = chain_in_b(t, &k);
            __m256 sum = _mm256_setzero_ps();
            for (int64_t s = 0; s < k.steps; s++, a += t->a_step, b += t->b_step) {
                float x; /* its address may be any */
                memcpy(&x, a, sizeof x);
                sum = _mm256_fmadd_ps(_mm256_set1_ps(x),
                                      _mm256_loadu_ps((const float *)(const void *)b), sum);
            }
            if (k.first > 0)
                sum = _mm256_add_ps(_mm256_loadu_ps(c), sum);
            _mm256_storeu_ps(c, sum);
        } while (next_chain(&k, t->steps, t->chains));
    }
}

/* In assembly where there is such a tile. */
RDK_INLINE tile_outcome run_tile(const tile *t, int rows, int vectors) {
    tile_function *f = asm_tile(t, rows, vectors);
    if (!f && wants_assembly(t))
        return TILE_NOT_POSSIBLE;
    if (f)
        f(t);
    else if (vectors == 0)
        run_half(t, rows);
    else
        TILES[rows][vectors](t);
    return f && t->kind == TILE_SCORES && !t->by_chain ? TILE_DONE_WITH_MAX : TILE_DONE;
}

RDK_INLINE void run_thin(const thin *f, int queries) {
    thin_function *run = asm_thin(f, queries);
    if (run)
        run(f);
    else
        run_thin_in_c(f, queries);
}

/* Transposes sixteen rows of sixteen in registers: pairs, fours, eights, halves. */
RDK_INLINE void transpose_16x16(__m512 m[16]) {
    __m512 p[16];
    RDK_UNROLL
    for (int i = 0; i < 16; i += 2) {
        p[i] = _mm512_unpacklo_ps(m[i], m[i + 1]);
        p[i + 1] = _mm512_unpackhi_ps(m[i], m[i + 1]);
    }
    RDK_UNROLL
    for (int i = 0; i < 16; i += 4) {
        m[i] = _mm512_shuffle_ps(p[i], p[i + 2], 0x44);
        m[i + 1] = _mm512_shuffle_ps(p[i], p[i + 2], 0xee);
        m[i + 2] = _mm512_shuffle_ps(p[i + 1], p[i + 3], 0x44);
        m[i + 3] = _mm512_shuffle_ps(p[i + 1], p[i + 3], 0xee);
    }
    RDK_UNROLL
    for (int i = 0; i < 16; i += 8)
        RDK_UNROLL
    for (int k = 0; k < 4; k++) {
        p[i + k] = _mm512_shuffle_f32x4(m[i + k], m[i + k + 4], 0x88);
        p[i + k + 4] = _mm512_shuffle_f32x4(m[i + k], m[i + k + 4], 0xdd);
    }
    RDK_UNROLL
    for (int k = 0; k < 8; k++) {
        m[k] = _mm512_shuffle_f32x4(p[k], p[k + 8], 0x88);
        m[k + 8] = _mm512_shuffle_f32x4(p[k], p[k + 8], 0xdd);
    }
}

RDK_INLINE void transpose_rows(tile_transposed to, const char *const row[TILE_LANES], int64_t c,
                               int n, tile_vec scale) {
    __mmask16 first = (__mmask16)(0xffff >> (16 - n));
    __m512 m[16];
    RDK_UNROLL
    for (int i = 0; i < 16; i++)
        m[i] = n == 16 ? _mm512_loadu_ps(row[i] + c * 4)
                       : _mm512_maskz_loadu_ps(first, row[i] + c * 4);
    transpose_16x16(m);
    RDK_UNROLL
    for (int i = 0; i < 16; i++)
        if (i < n)
            _mm512_storeu_ps((i % 2 ? to.odd : to.even) + i / 2 * to.step, tile_mul(m[i], scale));
}

#endif
