/* Register tiles on AVX-512: 24 of the 32 registers are sums, two hold a step of b, one an element of a. */
#ifndef RDK_TILE_AVX512_H
#define RDK_TILE_AVX512_H

#include <immintrin.h>

#include "kernels/attention/tile.h"

enum {
    TILE_ROWS = 12,
    TILE_PANELS = 8, /* the most panels that a tile takes at once */
    TILE_LANES = 16,
    TILE_SHAPES = 4, /* 1, 2, 4 or 8 panels */
};

/* How many panels a tile of so many rows takes at once: an fma waits four cycles for the one before in
 * its chain, and two begin in each cycle, so eight chains must be in flight. */
static const int TILE_PANELS_OF[TILE_ROWS + 1] = {0, 8, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2};

typedef __m512 tile_vec;

RDK_INLINE tile_vec tile_zero(void) {
    return _mm512_setzero_ps();
}

RDK_INLINE tile_vec tile_load(const float *p) {
    return _mm512_loadu_ps(p);
}

RDK_INLINE void tile_store(float *p, tile_vec v) {
    _mm512_storeu_ps(p, v);
}

RDK_INLINE tile_vec tile_splat(const float *p) {
    return _mm512_set1_ps(*p);
}

RDK_INLINE tile_vec tile_mul(tile_vec x, tile_vec y) {
    return _mm512_mul_ps(x, y);
}

RDK_INLINE tile_vec tile_fma(tile_vec x, tile_vec y, tile_vec z) {
    return _mm512_fmadd_ps(x, y, z);
}

#include "kernels/attention/tile_body.h"

#define TILES_OF(rows) TILE(rows, 1) TILE(rows, 2)
TILES_OF(1)
TILE(1, 4)
TILE(1, 8)
TILES_OF(2)
TILE(2, 4)
TILES_OF(3)
TILE(3, 4)
TILES_OF(4)
TILE(4, 4)
TILES_OF(5)
TILES_OF(6)
TILES_OF(7)
TILES_OF(8)
TILES_OF(9)
TILES_OF(10)
TILES_OF(11)
TILES_OF(12)
#undef TILES_OF
#undef TILE

static tile_function *const TILES[TILE_ROWS + 1][TILE_SHAPES] = {
    {0},
    {tile_1x1, tile_1x2, tile_1x4, tile_1x8},
    {tile_2x1, tile_2x2, tile_2x4},
    {tile_3x1, tile_3x2, tile_3x4},
    {tile_4x1, tile_4x2, tile_4x4},
    {tile_5x1, tile_5x2},
    {tile_6x1, tile_6x2},
    {tile_7x1, tile_7x2},
    {tile_8x1, tile_8x2},
    {tile_9x1, tile_9x2},
    {tile_10x1, tile_10x2},
    {tile_11x1, tile_11x2},
    {tile_12x1, tile_12x2},
};

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

RDK_INLINE void pack_columns(float *panel, const char *const key[RDK_LANES], int64_t c, int n) {
    __mmask16 first = (__mmask16)(0xffff >> (16 - n));
    __m512 m[16];
    RDK_UNROLL
    for (int i = 0; i < 16; i++)
        m[i] = n == 16 ? _mm512_loadu_ps(key[i] + c * 4)
                       : _mm512_maskz_loadu_ps(first, key[i] + c * 4);
    transpose_16x16(m);
    RDK_UNROLL
    for (int i = 0; i < 16; i++)
        if (i < n)
            _mm512_storeu_ps(panel + (c + i) * RDK_LANES, m[i]);
}

/* Sixteen keys of d floats, anywhere, to one panel: panel[c][i] = key i, element c. */
static void pack_panel(float *panel, const char *const key[RDK_LANES], int64_t d) {
    int64_t c = 0;
    for (; c + 16 <= d; c += 16)
        pack_columns(panel, key, c, 16);
    if (c < d)
        pack_columns(panel, key, c, (int)(d - c));
}

#endif
