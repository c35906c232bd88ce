/* Register tiles on AVX2. Of 16 registers 12 are sums, up to three hold a step of b, and one an
 * element of a. */
#ifndef RDK_TILE_AVX2_H
#define RDK_TILE_AVX2_H

#include <immintrin.h>

#include "kernels/attention/tile/tile.h"

enum {
    TILE_ROWS = 8,
    TILE_VECTORS = 8,
    TILE_LANES = 8,
    TILE_HALF = 0, /* whole vectors are narrow enough */
    TILE_GROUP = RDK_GROUP_AVX2,
    TILE_UNIT = RDK_UNIT_AVX2,
    TILE_STRIP = 16, /* columns of values that are packed together */
    TILE_REGISTERS = 16,
};

/* Scores: how many keys a tile takes, by vectors of queries. Values: how many queries at most, and
 * how many vectors of columns, by queries. An fma waits four cycles for the one before in its
 * chain, and two begin in each cycle, so eight chains or more must be in flight. */
static const int TILE_KEYS_OF[] = {0, 8, 6, 4};
enum { TILE_QUERIES = 6 };
static const int TILE_VECTORS_OF[TILE_QUERIES + 1] = {0, 8, 4, 4, 2, 2, 2};

typedef __m256 tile_vec;

#define TILE_MM(op) _mm256_##op##_ps
#include "kernels/attention/tile/tile_x86.h"

/* clang would move sums from register to register, and run out of them. */
#if defined(__clang__) && !defined(RDK_EMULATED) && !defined(RDK_SANITIZED)
RDK_INLINE tile_vec tile_fma_one(tile_one x, tile_vec y, tile_vec z) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(z) : "x"(x), "x"(y));
    return z;
}
#else
#define tile_fma_one tile_fma
#endif

/* Rows and vectors of each shape. */
/* clang-format off */
#define TILE_SHAPES(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) \
    X(1, 3) X(2, 3) X(3, 3) X(4, 3) \
    X(1, 4) X(2, 4) X(3, 4) \
    X(1, 8)
/* clang-format on */

#include "kernels/attention/tile/tile_body.h"

/* Assembly is left out where a sanitizer would not see what it does. */
#if defined(__x86_64__) && !defined(RDK_EMULATED) && !defined(RDK_SANITIZED)
#include "kernels/attention/tile/asm_avx2.h"
#else
#define asm_tile(t, rows, vectors) NULL
#define asm_thin(f, queries) NULL
#endif

/* In assembly where there is such a tile. */
RDK_INLINE tile_outcome run_tile(const tile *t, int rows, int vectors) {
    tile_function *f = asm_tile(t, rows, vectors);
    if (!f && wants_assembly(t))
        return TILE_NOT_POSSIBLE;
    (f ? f : TILES[rows][vectors])(t);
    return f && t->kind == TILE_SCORES && !t->by_chain ? TILE_DONE_WITH_MAX : TILE_DONE;
}

RDK_INLINE void run_thin(const thin *f, int queries) {
    thin_function *run = asm_thin(f, queries);
    if (run)
        run(f);
    else
        run_thin_in_c(f, queries);
}

/* Transposes eight rows of eight in registers. */
RDK_INLINE void transpose_8x8(__m256 m[8]) {
    __m256 p[8], q[8];
    RDK_UNROLL
    for (int i = 0; i < 8; i += 2) {
        p[i] = _mm256_unpacklo_ps(m[i], m[i + 1]);
        p[i + 1] = _mm256_unpackhi_ps(m[i], m[i + 1]);
    }
    RDK_UNROLL
    for (int i = 0; i < 8; i += 4) {
        q[i] = _mm256_shuffle_ps(p[i], p[i + 2], 0x44);
        q[i + 1] = _mm256_shuffle_ps(p[i], p[i + 2], 0xee);
        q[i + 2] = _mm256_shuffle_ps(p[i + 1], p[i + 3], 0x44);
        q[i + 3] = _mm256_shuffle_ps(p[i + 1], p[i + 3], 0xee);
    }
    RDK_UNROLL
    for (int i = 0; i < 4; i++) {
        m[i] = _mm256_permute2f128_ps(q[i], q[i + 4], 0x20);
        m[i + 4] = _mm256_permute2f128_ps(q[i], q[i + 4], 0x31);
    }
}

RDK_INLINE void transpose_rows(tile_transposed to, const char *const row[TILE_LANES], int64_t c,
                               int n, tile_vec scale) {
    static const int32_t FIRST[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i first = _mm256_loadu_si256((const __m256i *)(FIRST + 8 - n));
    __m256 m[8];
    RDK_UNROLL
    for (int i = 0; i < 8; i++) {
        const float *from = (const float *)(const void *)(row[i] + c * 4);
        m[i] = n == 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first);
    }
    transpose_8x8(m);
    RDK_UNROLL
    for (int i = 0; i < 8; i++)
        if (i < n)
            _mm256_storeu_ps((i % 2 ? to.odd : to.even) + i / 2 * to.step, tile_mul(m[i], scale));
}

#endif
