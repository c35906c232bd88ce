/* f32x16 on AArch64 NEON: four registers of four lanes. */
#ifndef RDK_F32X16_NEON_H
#define RDK_F32X16_NEON_H

#include "kernels/strict.h"

#include <arm_neon.h>
#include <string.h>

#include "kernels/vec/inline.h"

/* How many f32x16 to work on in step: eight registers of four lanes keep two FMA pipes busy. */
#define F32X16_IN_FLIGHT 2

typedef struct f32x16 {
    float32x4_t q[4]; /* lanes 0-3, 4-7, 8-11, 12-15 */
} f32x16;

typedef struct b32x16 {
    uint32x4_t q[4]; /* all ones where true */
} b32x16;

typedef struct f64x8 {
    float64x2_t d[4];
} f64x8;

#define F32X16_EACH(expr0, expr1, expr2, expr3) ((f32x16){{(expr0), (expr1), (expr2), (expr3)}})
#define F32X16_MAP2(op, x, y)                                                                      \
    F32X16_EACH(op((x).q[0], (y).q[0]), op((x).q[1], (y).q[1]), op((x).q[2], (y).q[2]),            \
                op((x).q[3], (y).q[3]))

RDK_INLINE f32x16 f32x16_set1(float v) {
    float32x4_t q = vdupq_n_f32(v);
    return F32X16_EACH(q, q, q, q);
}

/* A constant that several vectors use in step: thirty-two registers hold them all. */
RDK_INLINE f32x16 f32x16_step_constant(float v) {
    return f32x16_set1(v);
}

RDK_INLINE f32x16 f32x16_add(f32x16 x, f32x16 y) {
    return F32X16_MAP2(vaddq_f32, x, y);
}

RDK_INLINE f32x16 f32x16_sub(f32x16 x, f32x16 y) {
    return F32X16_MAP2(vsubq_f32, x, y);
}

RDK_INLINE f32x16 f32x16_mul(f32x16 x, f32x16 y) {
    return F32X16_MAP2(vmulq_f32, x, y);
}

RDK_INLINE f32x16 f32x16_fma(f32x16 x, f32x16 y, f32x16 z) {
    return F32X16_EACH(vfmaq_f32(z.q[0], x.q[0], y.q[0]), vfmaq_f32(z.q[1], x.q[1], y.q[1]),
                       vfmaq_f32(z.q[2], x.q[2], y.q[2]), vfmaq_f32(z.q[3], x.q[3], y.q[3]));
}

/* x * y - z, rounded once. */
RDK_INLINE f32x16 f32x16_fms(f32x16 x, f32x16 y, f32x16 z) {
    return F32X16_EACH(
        vfmaq_f32(vnegq_f32(z.q[0]), x.q[0], y.q[0]), vfmaq_f32(vnegq_f32(z.q[1]), x.q[1], y.q[1]),
        vfmaq_f32(vnegq_f32(z.q[2]), x.q[2], y.q[2]), vfmaq_f32(vnegq_f32(z.q[3]), x.q[3], y.q[3]));
}

/* With a NaN in either, one or the other, or NaN. */
RDK_INLINE f32x16 f32x16_max(f32x16 acc, f32x16 x) {
    return F32X16_MAP2(vmaxq_f32, acc, x);
}

/* v, or -inf where it is NaN. */
RDK_INLINE f32x16 f32x16_minus_inf_for_nan(f32x16 v) {
    return F32X16_MAP2(vmaxnmq_f32, v, f32x16_set1(-__builtin_inff()));
}

/* p * 2^k where u = MAGIC + k, by adding k to the exponent. */
RDK_INLINE float32x4_t rdk_times_pow2(float32x4_t p, float32x4_t u) {
    int32x4_t k = vshlq_n_s32(vreinterpretq_s32_f32(u), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), k));
}

RDK_INLINE f32x16 f32x16_times_pow2(f32x16 p, f32x16 u) {
    return F32X16_MAP2(rdk_times_pow2, p, u);
}

RDK_INLINE float32x4_t rdk_keep4(float32x4_t v, uint32x4_t where) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), where));
}

/* v where u > limit, else +0; u is not NaN. */
RDK_INLINE f32x16 f32x16_keep_above(f32x16 v, f32x16 u, f32x16 limit) {
    return F32X16_EACH(rdk_keep4(v.q[0], vcgtq_f32(u.q[0], limit.q[0])),
                       rdk_keep4(v.q[1], vcgtq_f32(u.q[1], limit.q[1])),
                       rdk_keep4(v.q[2], vcgtq_f32(u.q[2], limit.q[2])),
                       rdk_keep4(v.q[3], vcgtq_f32(u.q[3], limit.q[3])));
}

RDK_INLINE b32x16 f32x16_le(f32x16 x, f32x16 y) {
    return (b32x16){{vcleq_f32(x.q[0], y.q[0]), vcleq_f32(x.q[1], y.q[1]),
                     vcleq_f32(x.q[2], y.q[2]), vcleq_f32(x.q[3], y.q[3])}};
}

RDK_INLINE f32x16 f32x16_select(b32x16 m, f32x16 yes, f32x16 no) {
    return F32X16_EACH(vbslq_f32(m.q[0], yes.q[0], no.q[0]), vbslq_f32(m.q[1], yes.q[1], no.q[1]),
                       vbslq_f32(m.q[2], yes.q[2], no.q[2]), vbslq_f32(m.q[3], yes.q[3], no.q[3]));
}

RDK_INLINE float32x4_t rdk_clear4(float32x4_t v, uint32x4_t where) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v), where));
}

RDK_INLINE f32x16 f32x16_zero_where(b32x16 m, f32x16 v) {
    return F32X16_MAP2(rdk_clear4, v, m);
}

RDK_INLINE b32x16 b32x16_first(int n) {
    static const uint32_t index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint32x4_t count = vdupq_n_u32((uint32_t)n);
    return (b32x16){{vcltq_u32(vld1q_u32(index), count), vcltq_u32(vld1q_u32(index + 4), count),
                     vcltq_u32(vld1q_u32(index + 8), count),
                     vcltq_u32(vld1q_u32(index + 12), count)}};
}

/* ---- Memory: by bytes, since pointers need no alignment -------------------------------------- */

RDK_INLINE float32x4_t rdk_load4(const char *p) {
    return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)p));
}

RDK_INLINE void rdk_store4(char *p, float32x4_t v) {
    vst1q_u8((uint8_t *)p, vreinterpretq_u8_f32(v));
}

RDK_INLINE uint16x4_t rdk_load4h(const char *p) {
    return vreinterpret_u16_u8(vld1_u8((const uint8_t *)p));
}

RDK_INLINE void rdk_store4h(char *p, uint16x4_t v) {
    vst1_u8((uint8_t *)p, vreinterpret_u8_u16(v));
}

RDK_INLINE f32x16 f32x16_load(const void *memory) {
    const char *p = memory;
    return F32X16_EACH(rdk_load4(p), rdk_load4(p + 16), rdk_load4(p + 32), rdk_load4(p + 48));
}

RDK_INLINE void f32x16_store(void *memory, f32x16 v) {
    char *p = memory;
    for (int i = 0; i < 4; i++)
        rdk_store4(p + 16 * i, v.q[i]);
}

RDK_INLINE float32x4_t rdk_widen_f16(const char *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(rdk_load4h(p)));
}

RDK_INLINE f32x16 f32x16_load_f16(const void *memory) {
    const char *p = memory;
    return F32X16_EACH(rdk_widen_f16(p), rdk_widen_f16(p + 8), rdk_widen_f16(p + 16),
                       rdk_widen_f16(p + 24));
}

RDK_INLINE void f32x16_store_f16(void *memory, f32x16 v) {
    char *p = memory;
    for (int i = 0; i < 4; i++)
        rdk_store4h(p + 8 * i, vreinterpret_u16_f16(vcvt_f16_f32(v.q[i])));
}

RDK_INLINE float32x4_t rdk_widen_bf16(const char *p) {
    return vreinterpretq_f32_u32(vshll_n_u16(rdk_load4h(p), 16));
}

RDK_INLINE f32x16 f32x16_load_bf16(const void *memory) {
    const char *p = memory;
    return F32X16_EACH(rdk_widen_bf16(p), rdk_widen_bf16(p + 8), rdk_widen_bf16(p + 16),
                       rdk_widen_bf16(p + 24));
}

/* No lane is NaN. */
RDK_INLINE void f32x16_store_bf16(void *memory, f32x16 v) {
    char *p = memory;
    for (int i = 0; i < 4; i++) {
        uint32x4_t u = vreinterpretq_u32_f32(v.q[i]);
        uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
        u = vaddq_u32(u, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
        rdk_store4h(p + 8 * i, vshrn_n_u32(u, 16));
    }
}

RDK_INLINE f32x16 f32x16_load_first(const void *p, int n) {
    float whole[16] = {0};
    memcpy(whole, p, (size_t)n * sizeof whole[0]);
    return f32x16_load(whole);
}

/* ---- Across lanes ---------------------------------------------------------------------------- */

RDK_INLINE int f32x16_has_nan(f32x16 v) {
    uint32x4_t a = vandq_u32(vceqq_f32(v.q[0], v.q[0]), vceqq_f32(v.q[1], v.q[1]));
    uint32x4_t b = vandq_u32(vceqq_f32(v.q[2], v.q[2]), vceqq_f32(v.q[3], v.q[3]));
    return vminvq_u32(vandq_u32(a, b)) == 0;
}

/* No lane is NaN. */
RDK_INLINE float f32x16_max_lanes(f32x16 v) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(v.q[0], v.q[1]), vmaxq_f32(v.q[2], v.q[3])));
}

/* ---- Doubles --------------------------------------------------------------------------------- */

RDK_INLINE f64x8 f64x8_set1(double v) {
    float64x2_t d = vdupq_n_f64(v);
    return (f64x8){{d, d, d, d}};
}

RDK_INLINE f64x8 rdk_widen8(float32x4_t a, float32x4_t b) {
    return (f64x8){{vcvt_f64_f32(vget_low_f32(a)), vcvt_f64_f32(vget_high_f32(a)),
                    vcvt_f64_f32(vget_low_f32(b)), vcvt_f64_f32(vget_high_f32(b))}};
}

RDK_INLINE f64x8 f64x8_load(const double *p) {
    return (f64x8){{vld1q_f64(p), vld1q_f64(p + 2), vld1q_f64(p + 4), vld1q_f64(p + 6)}};
}

RDK_INLINE void f64x8_store(double *p, f64x8 v) {
    vst1q_f64(p, v.d[0]);
    vst1q_f64(p + 2, v.d[1]);
    vst1q_f64(p + 4, v.d[2]);
    vst1q_f64(p + 6, v.d[3]);
}

RDK_INLINE f64x8 f64x8_load_f32(const void *p) {
    const float *f = p;
    return rdk_widen8(vld1q_f32(f), vld1q_f32(f + 4));
}

RDK_INLINE f64x8 f64x8_low(f32x16 v) {
    return rdk_widen8(v.q[0], v.q[1]);
}

RDK_INLINE f64x8 f64x8_high(f32x16 v) {
    return rdk_widen8(v.q[2], v.q[3]);
}

#define F64X8_MAP2(op, x, y)                                                                       \
    ((f64x8){{op((x).d[0], (y).d[0]), op((x).d[1], (y).d[1]), op((x).d[2], (y).d[2]),              \
              op((x).d[3], (y).d[3])}})

RDK_INLINE f64x8 f64x8_add(f64x8 x, f64x8 y) {
    return F64X8_MAP2(vaddq_f64, x, y);
}

RDK_INLINE f64x8 f64x8_sub(f64x8 x, f64x8 y) {
    return F64X8_MAP2(vsubq_f64, x, y);
}

RDK_INLINE f64x8 f64x8_mul(f64x8 x, f64x8 y) {
    return F64X8_MAP2(vmulq_f64, x, y);
}

RDK_INLINE float32x4_t rdk_narrow4(float64x2_t a, float64x2_t b) {
    return vcombine_f32(vcvt_f32_f64(a), vcvt_f32_f64(b));
}

RDK_INLINE void f64x8_store_f32(void *p, f64x8 v) {
    float *f = p;
    vst1q_f32(f, rdk_narrow4(v.d[0], v.d[1]));
    vst1q_f32(f + 4, rdk_narrow4(v.d[2], v.d[3]));
}

RDK_INLINE f32x16 f32x16_narrow(f64x8 low, f64x8 high) {
    return F32X16_EACH(rdk_narrow4(low.d[0], low.d[1]), rdk_narrow4(low.d[2], low.d[3]),
                       rdk_narrow4(high.d[0], high.d[1]), rdk_narrow4(high.d[2], high.d[3]));
}

RDK_INLINE double f64x8_fold(f64x8 v) {
    float64x2_t a = vaddq_f64(v.d[0], v.d[2]), b = vaddq_f64(v.d[1], v.d[3]);
    float64x2_t d = vaddq_f64(a, b);
    return vgetq_lane_f64(d, 0) + vgetq_lane_f64(d, 1);
}

#endif
