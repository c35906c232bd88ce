/* Register tiles on NEON: 24 of the 32 registers are sums, four hold a step of b, one an element of a. */
#ifndef RDK_TILE_NEON_H
#define RDK_TILE_NEON_H

#include <arm_neon.h>

#include "kernels/attention/tile.h"

enum {
    TILE_ROWS = 6,
    TILE_PANELS = 4, /* the most panels that a tile takes at once */
    TILE_LANES = 4,
    TILE_SHAPES = 3, /* 1, 2 or 4 panels */
};

/* How many panels a tile of so many rows takes at once: an fma waits four cycles for the one before in
 * its chain, and up to four begin in each cycle, so sixteen chains must be in flight. */
static const int TILE_PANELS_OF[TILE_ROWS + 1] = {0, 4, 2, 2, 1, 1, 1};

typedef float32x4_t tile_vec;

RDK_INLINE tile_vec tile_zero(void) {
    return vdupq_n_f32(0);
}

RDK_INLINE tile_vec tile_load(const float *p) {
    return vld1q_f32(p);
}

RDK_INLINE void tile_store(float *p, tile_vec v) {
    vst1q_f32(p, v);
}

RDK_INLINE tile_vec tile_splat(const float *p) {
    return vdupq_n_f32(*p);
}

RDK_INLINE tile_vec tile_mul(tile_vec x, tile_vec y) {
    return vmulq_f32(x, y);
}

RDK_INLINE tile_vec tile_fma(tile_vec x, tile_vec y, tile_vec z) {
    return vfmaq_f32(z, x, y);
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

/* The transpose of four rows of four. */
RDK_INLINE void transpose_4x4(float32x4_t m[4]) {
    float32x4x2_t p = vtrnq_f32(m[0], m[1]), q = vtrnq_f32(m[2], m[3]);
    m[0] = vcombine_f32(vget_low_f32(p.val[0]), vget_low_f32(q.val[0]));
    m[1] = vcombine_f32(vget_low_f32(p.val[1]), vget_low_f32(q.val[1]));
    m[2] = vcombine_f32(vget_high_f32(p.val[0]), vget_high_f32(q.val[0]));
    m[3] = vcombine_f32(vget_high_f32(p.val[1]), vget_high_f32(q.val[1]));
}

/* Up to four elements of a key; NEON has no masked loads. */
RDK_INLINE float32x4_t load_few(const char *p, int n) {
    float whole[4] = {0};
    if (n == 4)
        return vld1q_f32((const float *)(const void *)p);
    memcpy(whole, p, (size_t)n * sizeof whole[0]);
    return vld1q_f32(whole);
}

RDK_INLINE void pack_columns(float *panel, const char *const key[RDK_LANES], int64_t c, int n) {
    RDK_UNROLL
    for (int k = 0; k < RDK_LANES; k += 4) {
        float32x4_t m[4];
        RDK_UNROLL
        for (int i = 0; i < 4; i++)
            m[i] = load_few(key[k + i] + c * 4, n);
        transpose_4x4(m);
        RDK_UNROLL
        for (int i = 0; i < 4; i++)
            if (i < n)
                vst1q_f32(panel + (c + i) * RDK_LANES + k, m[i]);
    }
}

/* Sixteen keys of d floats, anywhere, to one panel: panel[c][i] = key i, element c. */
static void pack_panel(float *panel, const char *const key[RDK_LANES], int64_t d) {
    int64_t c = 0;
    for (; c + 4 <= d; c += 4)
        pack_columns(panel, key, c, 4);
    if (c < d)
        pack_columns(panel, key, c, (int)(d - c));
}

#endif
