/* Register tiles on AVX2: 12 of the 16 registers are sums, two hold a step of b, one an element of a. */
#ifndef RDK_TILE_AVX2_H
#define RDK_TILE_AVX2_H

#include <immintrin.h>

#include "kernels/attention/tile.h"

enum {
    TILE_ROWS = 6,
    TILE_PANELS = 4, /* the most panels that a tile takes at once */
    TILE_LANES = 8,
    TILE_SHAPES = 3, /* 1, 2 or 4 panels */
};

/* How many panels a tile of so many rows takes at once: an fma waits four cycles for the one before in
 * its chain, and two begin in each cycle, so eight chains must be in flight. */
static const int TILE_PANELS_OF[TILE_ROWS + 1] = {0, 4, 2, 2, 1, 1, 1};

typedef __m256 tile_vec;

RDK_INLINE tile_vec tile_zero(void) {
    return _mm256_setzero_ps();
}

RDK_INLINE tile_vec tile_load(const float *p) {
    return _mm256_loadu_ps(p);
}

RDK_INLINE void tile_store(float *p, tile_vec v) {
    _mm256_storeu_ps(p, v);
}

RDK_INLINE tile_vec tile_splat(const float *p) {
    return _mm256_broadcast_ss(p);
}

RDK_INLINE tile_vec tile_mul(tile_vec x, tile_vec y) {
    return _mm256_mul_ps(x, y);
}

RDK_INLINE tile_vec tile_fma(tile_vec x, tile_vec y, tile_vec z) {
    return _mm256_fmadd_ps(x, y, z);
}

#include "kernels/attention/tile_body.h"

TILE(1, 1)
TILE(1, 2)
TILE(1, 4)
TILE(2, 1)
TILE(2, 2)
TILE(3, 1)
TILE(3, 2)
TILE(4, 1)
TILE(5, 1)
TILE(6, 1)
#undef TILE

static tile_function *const TILES[TILE_ROWS + 1][TILE_SHAPES] = {
    {0},
    {tile_1x1, tile_1x2, tile_1x4},
    {tile_2x1, tile_2x2},
    {tile_3x1, tile_3x2},
    {tile_4x1},
    {tile_5x1},
    {tile_6x1},
};

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

RDK_INLINE void pack_8_keys(float *panel, const char *const key[8], int64_t c, int n) {
    static const int32_t FIRST[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i first = _mm256_loadu_si256((const __m256i *)(FIRST + 8 - n));
    __m256 m[8];
    RDK_UNROLL
    for (int i = 0; i < 8; i++) {
        const float *from = (const float *)key[i] + c;
        m[i] = n == 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first);
    }
    transpose_8x8(m);
    RDK_UNROLL
    for (int i = 0; i < 8; i++)
        if (i < n)
            _mm256_store_ps(panel + (c + i) * RDK_LANES, m[i]);
}

/* Sixteen keys of d floats, anywhere, to one panel: panel[c][i] = key i, element c. */
static void pack_panel(float *panel, const char *const key[RDK_LANES], int64_t d) {
    int64_t c = 0;
    for (; c + 8 <= d; c += 8) {
        pack_8_keys(panel, key, c, 8);
        pack_8_keys(panel + 8, key + 8, c, 8);
    }
    if (c < d) {
        pack_8_keys(panel, key, c, (int)(d - c));
        pack_8_keys(panel + 8, key + 8, c, (int)(d - c));
    }
}

#endif
