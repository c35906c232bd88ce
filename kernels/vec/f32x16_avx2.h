/* f32x16 on AVX2 + FMA + F16C: two registers of eight lanes. */
#ifndef RDK_F32X16_AVX2_H
#define RDK_F32X16_AVX2_H

#include "kernels/strict.h"

#include <immintrin.h>

#include "kernels/vec/inline.h"

#define RDK_FMA_INSTRUCTION /* for kernels/contract.h */

/* How many f32x16 to work on in step. Two are four registers; more would
 * leave too few of the sixteen. */
#define F32X16_IN_FLIGHT 2

typedef struct f32x16 {
    __m256 a, b; /* lanes 0-7, 8-15 */
} f32x16;

typedef struct b32x16 {
    __m256 a, b; /* all ones where true */
} b32x16;

typedef struct f64x8 {
    __m256d a, b; /* lanes 0-3, 4-7 */
} f64x8;

#define F32X16_BOTH(expr_a, expr_b) ((f32x16){(expr_a), (expr_b)})

RDK_INLINE f32x16 f32x16_set1(float v) {
    return F32X16_BOTH(_mm256_set1_ps(v), _mm256_set1_ps(v));
}

/* A constant that several vectors use in step: loaded once for all. Left alone, the compiler
 * runs out of its sixteen registers and reads the constant from memory for each vector, and
 * the loads become the limit. */
RDK_INLINE f32x16 f32x16_step_constant(float v) {
    __m256 held = _mm256_set1_ps(v);
    __asm__ volatile("" : "+x"(held));
    return F32X16_BOTH(held, held);
}

RDK_INLINE f32x16 f32x16_add(f32x16 x, f32x16 y) {
    return F32X16_BOTH(_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b));
}

RDK_INLINE f32x16 f32x16_sub(f32x16 x, f32x16 y) {
    return F32X16_BOTH(_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b));
}

RDK_INLINE f32x16 f32x16_mul(f32x16 x, f32x16 y) {
    return F32X16_BOTH(_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b));
}

RDK_INLINE f32x16 f32x16_fma(f32x16 x, f32x16 y, f32x16 z) {
    return F32X16_BOTH(_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b));
}

/* x * y - z, rounded once. */
RDK_INLINE f32x16 f32x16_fms(f32x16 x, f32x16 y, f32x16 z) {
    return F32X16_BOTH(_mm256_fmsub_ps(x.a, y.a, z.a), _mm256_fmsub_ps(x.b, y.b, z.b));
}

/* With a NaN in either, one or the other. */
RDK_INLINE f32x16 f32x16_max(f32x16 acc, f32x16 x) {
    return F32X16_BOTH(_mm256_max_ps(x.a, acc.a), _mm256_max_ps(x.b, acc.b));
}

/* v, or -inf where it is NaN: the instruction gives its second operand there. */
RDK_INLINE f32x16 f32x16_minus_inf_for_nan(f32x16 v) {
    __m256 minus_inf = _mm256_set1_ps(-__builtin_inff());
    return F32X16_BOTH(_mm256_max_ps(v.a, minus_inf), _mm256_max_ps(v.b, minus_inf));
}

/* p * 2^k where u = MAGIC + k, by adding k to the exponent. */
RDK_INLINE __m256 rdk_times_pow2(__m256 p, __m256 u) {
    __m256i k = _mm256_slli_epi32(_mm256_castps_si256(u), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), k));
}

RDK_INLINE f32x16 f32x16_times_pow2(f32x16 p, f32x16 u) {
    return F32X16_BOTH(rdk_times_pow2(p.a, u.a), rdk_times_pow2(p.b, u.b));
}

/* v where u > limit, else +0. u is not NaN and limit is positive, so
 * integers compare as floats do. */
RDK_INLINE __m256 rdk_keep_above(__m256 v, __m256 u, __m256 limit) {
    __m256i above = _mm256_cmpgt_epi32(_mm256_castps_si256(u), _mm256_castps_si256(limit));
    return _mm256_and_ps(_mm256_castsi256_ps(above), v);
}

RDK_INLINE f32x16 f32x16_keep_above(f32x16 v, f32x16 u, f32x16 limit) {
    return F32X16_BOTH(rdk_keep_above(v.a, u.a, limit.a), rdk_keep_above(v.b, u.b, limit.b));
}

RDK_INLINE b32x16 f32x16_le(f32x16 x, f32x16 y) {
    return (b32x16){_mm256_cmp_ps(x.a, y.a, _CMP_LE_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LE_OQ)};
}

RDK_INLINE f32x16 f32x16_select(b32x16 m, f32x16 yes, f32x16 no) {
    return F32X16_BOTH(_mm256_blendv_ps(no.a, yes.a, m.a), _mm256_blendv_ps(no.b, yes.b, m.b));
}

RDK_INLINE f32x16 f32x16_zero_where(b32x16 m, f32x16 v) {
    return F32X16_BOTH(_mm256_andnot_ps(m.a, v.a), _mm256_andnot_ps(m.b, v.b));
}

RDK_INLINE b32x16 b32x16_first(int n) {
    __m256i count = _mm256_set1_epi32(n);
    __m256i a = _mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i b = _mm256_cmpgt_epi32(count, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15));
    return (b32x16){_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

RDK_INLINE f32x16 f32x16_load(const void *p) {
    const float *f = p;
    return F32X16_BOTH(_mm256_loadu_ps(f), _mm256_loadu_ps(f + 8));
}

RDK_INLINE void f32x16_store(void *p, f32x16 v) {
    float *f = p;
    _mm256_storeu_ps(f, v.a);
    _mm256_storeu_ps(f + 8, v.b);
}

RDK_INLINE f32x16 f32x16_load_f16(const void *p) {
    const __m128i *h = p;
    return F32X16_BOTH(_mm256_cvtph_ps(_mm_loadu_si128(h)),
                       _mm256_cvtph_ps(_mm_loadu_si128(h + 1)));
}

RDK_INLINE void f32x16_store_f16(void *p, f32x16 v) {
    __m128i *h = p;
    _mm_storeu_si128(h, _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128(h + 1, _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

RDK_INLINE __m256 rdk_widen_bf16(__m128i h) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

RDK_INLINE f32x16 f32x16_load_bf16(const void *p) {
    const __m128i *h = p;
    return F32X16_BOTH(rdk_widen_bf16(_mm_loadu_si128(h)), rdk_widen_bf16(_mm_loadu_si128(h + 1)));
}

/* The bf16 of eight floats that are not NaN, in the low half of each 32-bit lane. */
RDK_INLINE __m256i rdk_round_bf16(__m256 v) {
    __m256i u = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    u = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    return _mm256_srli_epi32(u, 16);
}

RDK_INLINE void f32x16_store_bf16(void *p, f32x16 v) {
    __m256i h = _mm256_packus_epi32(rdk_round_bf16(v.a), rdk_round_bf16(v.b));
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(h, 0xd8));
}

RDK_INLINE f32x16 f32x16_load_first(const void *p, int n) {
    const float *f = p;
    b32x16 m = b32x16_first(n);
    return F32X16_BOTH(_mm256_maskload_ps(f, _mm256_castps_si256(m.a)),
                       _mm256_maskload_ps(f + 8, _mm256_castps_si256(m.b)));
}

/* ---- Across lanes ---------------------------------------------------------------------------- */

RDK_INLINE int f32x16_has_nan(f32x16 v) {
    __m256 m =
        _mm256_or_ps(_mm256_cmp_ps(v.a, v.a, _CMP_UNORD_Q), _mm256_cmp_ps(v.b, v.b, _CMP_UNORD_Q));
    return _mm256_movemask_ps(m);
}

/* No lane is NaN. */
RDK_INLINE float f32x16_max_lanes(f32x16 v) {
    __m256 m = _mm256_max_ps(v.a, v.b);
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

/* ---- Doubles --------------------------------------------------------------------------------- */

RDK_INLINE f64x8 f64x8_set1(double v) {
    return (f64x8){_mm256_set1_pd(v), _mm256_set1_pd(v)};
}

RDK_INLINE f64x8 f64x8_load(const double *p) {
    return (f64x8){_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}

RDK_INLINE void f64x8_store(double *p, f64x8 v) {
    _mm256_storeu_pd(p, v.a);
    _mm256_storeu_pd(p + 4, v.b);
}

/* Eight floats as doubles, and back. Converting between memory and doubles is faster than going
 * through a vector of floats. */
RDK_INLINE f64x8 f64x8_load_f32(const void *p) {
    const float *f = p;
    return (f64x8){_mm256_cvtps_pd(_mm_loadu_ps(f)), _mm256_cvtps_pd(_mm_loadu_ps(f + 4))};
}

RDK_INLINE void f64x8_store_f32(void *p, f64x8 v) {
    float *f = p;
    _mm_storeu_ps(f, _mm256_cvtpd_ps(v.a));
    _mm_storeu_ps(f + 4, _mm256_cvtpd_ps(v.b));
}

RDK_INLINE f64x8 f64x8_low(f32x16 v) {
    return (f64x8){_mm256_cvtps_pd(_mm256_castps256_ps128(v.a)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(v.a, 1))};
}

RDK_INLINE f64x8 f64x8_high(f32x16 v) {
    return (f64x8){_mm256_cvtps_pd(_mm256_castps256_ps128(v.b)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(v.b, 1))};
}

RDK_INLINE f64x8 f64x8_add(f64x8 x, f64x8 y) {
    return (f64x8){_mm256_add_pd(x.a, y.a), _mm256_add_pd(x.b, y.b)};
}

RDK_INLINE f64x8 f64x8_sub(f64x8 x, f64x8 y) {
    return (f64x8){_mm256_sub_pd(x.a, y.a), _mm256_sub_pd(x.b, y.b)};
}

RDK_INLINE f64x8 f64x8_mul(f64x8 x, f64x8 y) {
    return (f64x8){_mm256_mul_pd(x.a, y.a), _mm256_mul_pd(x.b, y.b)};
}

RDK_INLINE f32x16 f32x16_narrow(f64x8 low, f64x8 high) {
    return F32X16_BOTH(_mm256_set_m128(_mm256_cvtpd_ps(low.b), _mm256_cvtpd_ps(low.a)),
                       _mm256_set_m128(_mm256_cvtpd_ps(high.b), _mm256_cvtpd_ps(high.a)));
}

RDK_INLINE double f64x8_fold(f64x8 v) {
    __m256d q = _mm256_add_pd(v.a, v.b);
    __m128d p = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

#endif
