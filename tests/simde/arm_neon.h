/* NEON through SIMDe, for kernels emulated on x86. What SIMDe 0.8.2 does otherwise than the
 * instruction is here in terms of F16C or plain C. */
#ifndef RDK_SIMDE_ARM_NEON_H
#define RDK_SIMDE_ARM_NEON_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define RDK_SHIM static inline __attribute__((always_inline, unused))

/* ---- Halves: by F16C, which rounds to nearest even and widens exactly ------------------------ */

RDK_SHIM simde_float16x4_t rdk_vcvt_f16_f32(simde_float32x4_t v) {
    float f[4];
    simde_vst1q_f32(f, v);
    __m128i h = _mm_cvtps_ph(_mm_loadu_ps(f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    uint16_t u[8];
    _mm_storeu_si128((__m128i *)u, h);
    return simde_vreinterpret_f16_u16(simde_vld1_u16(u));
}

RDK_SHIM simde_float32x4_t rdk_vcvt_f32_f16(simde_float16x4_t v) {
    uint16_t u[8] = {0};
    simde_vst1_u16(u, simde_vreinterpret_u16_f16(v));
    float f[4];
    _mm_storeu_ps(f, _mm_cvtph_ps(_mm_loadu_si128((const __m128i *)u)));
    return simde_vld1q_f32(f);
}

#undef vcvt_f16_f32
#undef vcvt_f32_f16
#define vcvt_f16_f32(v) rdk_vcvt_f16_f32(v)
#define vcvt_f32_f16(v) rdk_vcvt_f32_f16(v)

/* ---- Maxima: a NaN wins in FMAX and FMAXV, and +0 is above -0 -------------------------------- */

RDK_SHIM float rdk_fmax(float a, float b) {
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

RDK_SHIM float rdk_fmin(float a, float b) {
    return -rdk_fmax(-a, -b);
}

RDK_SHIM float rdk_vmaxvq_f32(simde_float32x4_t v) {
    float f[4];
    simde_vst1q_f32(f, v);
    return rdk_fmax(rdk_fmax(f[0], f[1]), rdk_fmax(f[2], f[3]));
}

RDK_SHIM float rdk_vminvq_f32(simde_float32x4_t v) {
    float f[4];
    simde_vst1q_f32(f, v);
    return rdk_fmin(rdk_fmin(f[0], f[1]), rdk_fmin(f[2], f[3]));
}

RDK_SHIM simde_float32x4_t rdk_vmaxq_f32(simde_float32x4_t a, simde_float32x4_t b) {
    float f[4], g[4];
    simde_vst1q_f32(f, a);
    simde_vst1q_f32(g, b);
    for (int i = 0; i < 4; i++)
        f[i] = rdk_fmax(f[i], g[i]);
    return simde_vld1q_f32(f);
}

RDK_SHIM simde_float32x4_t rdk_vminq_f32(simde_float32x4_t a, simde_float32x4_t b) {
    float f[4], g[4];
    simde_vst1q_f32(f, a);
    simde_vst1q_f32(g, b);
    for (int i = 0; i < 4; i++)
        f[i] = rdk_fmin(f[i], g[i]);
    return simde_vld1q_f32(f);
}

#undef vmaxvq_f32
#undef vminvq_f32
#undef vmaxq_f32
#undef vminq_f32
#define vmaxvq_f32(v) rdk_vmaxvq_f32(v)
#define vminvq_f32(v) rdk_vminvq_f32(v)
#define vmaxq_f32(a, b) rdk_vmaxq_f32(a, b)
#define vminq_f32(a, b) rdk_vminq_f32(a, b)

/* ---- Sums and products: FADDV's order is pairwise, FMLS fuses -------------------------------- */

RDK_SHIM float rdk_vaddvq_f32(simde_float32x4_t v) {
    float f[4];
    simde_vst1q_f32(f, v);
    return (f[0] + f[1]) + (f[2] + f[3]);
}

RDK_SHIM simde_float32x4_t rdk_vfmsq_f32(simde_float32x4_t c, simde_float32x4_t a,
                                         simde_float32x4_t b) {
    return simde_vfmaq_f32(c, simde_vnegq_f32(a), b);
}

#undef vaddvq_f32
#undef vfmsq_f32
#define vaddvq_f32(v) rdk_vaddvq_f32(v)
#define vfmsq_f32(c, a, b) rdk_vfmsq_f32(c, a, b)
#undef vfmaq_laneq_f32
#define vfmaq_laneq_f32(c, a, b, lane) simde_vfmaq_f32(c, a, simde_vdupq_laneq_f32(b, lane))

/* ---- Rounding to integers: nearest even, saturating, NaN to 0 -------------------------------- */

RDK_SHIM simde_int32x4_t rdk_vcvtnq_s32_f32(simde_float32x4_t v) {
    float f[4];
    int32_t n[4];
    simde_vst1q_f32(f, v);
    for (int i = 0; i < 4; i++)
        n[i] = f[i] != f[i]        ? 0
               : f[i] >= 0x1p+31f  ? INT32_MAX
               : f[i] <= -0x1p+31f ? INT32_MIN
                                   : (int32_t)rintf(f[i]);
    return simde_vld1q_s32(n);
}

#undef vcvtnq_s32_f32
#define vcvtnq_s32_f32(v) rdk_vcvtnq_s32_f32(v)

#endif
