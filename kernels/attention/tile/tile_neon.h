/* Register tiles on NEON. Of 32 registers 24 are sums, up to six hold a step of b, and one an
 * element of a. */
#ifndef RDK_TILE_NEON_H
#define RDK_TILE_NEON_H

#include <arm_neon.h>

#include "kernels/attention/tile/tile.h"

enum {
    TILE_ROWS = 8,
    TILE_VECTORS = 16,
    TILE_LANES = 4,
    TILE_HALF = 0, /* whole vectors are narrow enough */
    TILE_GROUP = RDK_GROUP_NEON,
    TILE_UNIT = RDK_UNIT_NEON,
    TILE_STRIP = 16, /* columns of values that are packed together */
};

/* Scores: how many keys a tile takes, by vectors of queries. Values: how many queries at most, and
 * how many vectors of columns, by queries. An fma waits four cycles for the one before in its
 * chain, and up to four begin in each cycle, so sixteen chains or more must be in flight. */
static const int TILE_KEYS_OF[] = {0, 0, 8, 0, 6, 0, 4};
enum { TILE_QUERIES = 6 };
static const int TILE_VECTORS_OF[TILE_QUERIES + 1] = {0, 16, 8, 8, 4, 4, 4};

typedef float32x4_t tile_vec;

RDK_INLINE tile_vec tile_zero(void) {
    return vdupq_n_f32(0);
}

RDK_INLINE tile_vec tile_load(const void *p) {
    return vld1q_f32((const float *)p);
}

RDK_INLINE void tile_store(float *p, tile_vec v) {
    vst1q_f32(p, v);
}

RDK_INLINE tile_vec tile_splat(const void *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return vdupq_n_f32(x);
}

RDK_INLINE tile_vec tile_add(tile_vec x, tile_vec y) {
    return vaddq_f32(x, y);
}

RDK_INLINE tile_vec tile_mul(tile_vec x, tile_vec y) {
    return vmulq_f32(x, y);
}

RDK_INLINE tile_vec tile_fma(tile_vec x, tile_vec y, tile_vec z) {
    return vfmaq_f32(z, x, y);
}

/* An element of a, for tile_fma_one(): in the first lane. A splat would take a cycle of a pipe that
 * FMAs need. Both are in assembly because gcc makes one splat of several uses of a lane. */
typedef float32x4_t tile_one;

#ifndef RDK_EMULATED
#define TILE_PIN(v) __asm__ volatile("" : "+w"(v))

RDK_INLINE tile_one tile_take(const void *p) {
    typedef float any_float __attribute__((aligned(1), may_alias));
    tile_one v;
    __asm__("ldr %s0, %1" : "=w"(v) : "m"(*(const any_float *)p));
    return v;
}

RDK_INLINE tile_vec tile_fma_one(tile_one x, tile_vec y, tile_vec z) {
    __asm__("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(z) : "w"(y), "w"(x));
    return z;
}
#else
#define TILE_PIN(v) (void)(v)
#define tile_take tile_splat
#define tile_fma_one tile_fma
#endif

/* Rows and vectors of each shape. */
/* clang-format off */
#define TILE_SHAPES(X) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) \
    X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4) X(6, 4) \
    X(1, 6) X(2, 6) X(3, 6) X(4, 6) \
    X(1, 8) X(2, 8) X(3, 8) \
    X(1, 16)
/* clang-format on */

#include "kernels/attention/tile/tile_body.h"

/* No tile is in assembly. */
RDK_INLINE tile_outcome run_tile(const tile *t, int rows, int vectors) {
    if (wants_assembly(t))
        return TILE_NOT_POSSIBLE;
    TILES[rows][vectors](t);
    return TILE_DONE;
}

/* Transposes four rows of four in registers. */
RDK_INLINE void transpose_4x4(float32x4_t m[4]) {
    float32x4x2_t p = vtrnq_f32(m[0], m[1]), q = vtrnq_f32(m[2], m[3]);
    m[0] = vcombine_f32(vget_low_f32(p.val[0]), vget_low_f32(q.val[0]));
    m[1] = vcombine_f32(vget_low_f32(p.val[1]), vget_low_f32(q.val[1]));
    m[2] = vcombine_f32(vget_high_f32(p.val[0]), vget_high_f32(q.val[0]));
    m[3] = vcombine_f32(vget_high_f32(p.val[1]), vget_high_f32(q.val[1]));
}

#include "kernels/attention/tile/thin_neon.h"

/* Up to four elements of a row; NEON has no masked loads. */
RDK_INLINE float32x4_t load_thin(const char *p, int n) {
    float whole[4] = {0};
    if (n == 4)
        return tile_load(p);
    memcpy(whole, p, (size_t)n * sizeof whole[0]);
    return vld1q_f32(whole);
}

RDK_INLINE void transpose_rows(tile_transposed to, const char *const row[TILE_LANES], int64_t c,
                               int n, tile_vec scale) {
    float32x4_t m[4];
    RDK_UNROLL
    for (int i = 0; i < 4; i++)
        m[i] = load_thin(row[i] + c * 4, n);
    transpose_4x4(m);
    RDK_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < n)
            vst1q_f32((i % 2 ? to.odd : to.even) + i / 2 * to.step, tile_mul(m[i], scale));
}

#endif
