/* f32x16 on AVX-512 F + BW + DQ + VL: one register of sixteen lanes. */
#ifndef RDK_F32X16_AVX512_H
#define RDK_F32X16_AVX512_H

#include "kernels/strict.h"

#include <immintrin.h>

#include "kernels/vec/inline.h"

#define RDK_FMA_INSTRUCTION /* for kernels/contract.h */

/* How many f32x16 to work on in step: their chains keep the FMA pipes busy. */
#define F32X16_IN_FLIGHT 4

typedef __m512 f32x16;
typedef __mmask16 b32x16;
typedef __m512d f64x8;

RDK_INLINE f32x16 f32x16_set1(float v) {
    return _mm512_set1_ps(v);
}

/* A constant that several vectors use in step: thirty-two registers hold them all. */
RDK_INLINE f32x16 f32x16_step_constant(float v) {
    return f32x16_set1(v);
}

RDK_INLINE f32x16 f32x16_add(f32x16 x, f32x16 y) {
    return _mm512_add_ps(x, y);
}

RDK_INLINE f32x16 f32x16_sub(f32x16 x, f32x16 y) {
    return _mm512_sub_ps(x, y);
}

RDK_INLINE f32x16 f32x16_mul(f32x16 x, f32x16 y) {
    return _mm512_mul_ps(x, y);
}

RDK_INLINE f32x16 f32x16_fma(f32x16 x, f32x16 y, f32x16 z) {
    return _mm512_fmadd_ps(x, y, z);
}

/* x * y - z, rounded once. */
RDK_INLINE f32x16 f32x16_fms(f32x16 x, f32x16 y, f32x16 z) {
    return _mm512_fmsub_ps(x, y, z);
}

/* With a NaN in either, one or the other. */
RDK_INLINE f32x16 f32x16_max(f32x16 acc, f32x16 x) {
    return _mm512_max_ps(x, acc);
}

/* v, or -inf where it is NaN: the instruction gives its second operand there. */
RDK_INLINE f32x16 f32x16_minus_inf_for_nan(f32x16 v) {
    return _mm512_max_ps(v, _mm512_set1_ps(-__builtin_inff()));
}

/* p * 2^k where u = MAGIC + k, by adding k to the exponent. */
RDK_INLINE f32x16 f32x16_times_pow2(f32x16 p, f32x16 u) {
    __m512i k = _mm512_slli_epi32(_mm512_castps_si512(u), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), k));
}

/* v where u > limit, else +0; u is not NaN. */
RDK_INLINE f32x16 f32x16_keep_above(f32x16 v, f32x16 u, f32x16 limit) {
    __mmask16 above = _mm512_cmp_ps_mask(u, limit, _CMP_GT_OQ);
    return _mm512_castsi512_ps(_mm512_maskz_mov_epi32(above, _mm512_castps_si512(v)));
}

RDK_INLINE b32x16 f32x16_le(f32x16 x, f32x16 y) {
    return _mm512_cmp_ps_mask(x, y, _CMP_LE_OQ);
}

RDK_INLINE f32x16 f32x16_select(b32x16 m, f32x16 yes, f32x16 no) {
    return _mm512_mask_mov_ps(no, m, yes);
}

RDK_INLINE f32x16 f32x16_zero_where(b32x16 m, f32x16 v) {
    return _mm512_maskz_mov_ps((__mmask16)~m, v);
}

RDK_INLINE b32x16 b32x16_first(int n) {
    return (__mmask16)((1u << n) - 1);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

RDK_INLINE f32x16 f32x16_load(const void *p) {
    return _mm512_loadu_ps(p);
}

RDK_INLINE void f32x16_store(void *p, f32x16 v) {
    _mm512_storeu_ps(p, v);
}

RDK_INLINE f32x16 f32x16_load_f16(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

RDK_INLINE void f32x16_store_f16(void *p, f32x16 v) {
    __m256i h = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256((__m256i *)p, h);
}

RDK_INLINE f32x16 f32x16_load_bf16(const void *p) {
    __m512i u = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(u, 16));
}

/* No lane is NaN. VCVTNEPS2BF16 would flush subnormals. */
RDK_INLINE void f32x16_store_bf16(void *p, f32x16 v) {
    __m512i u = _mm512_castps_si512(v);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    u = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(u, 16)));
}

RDK_INLINE f32x16 f32x16_load_first(const void *p, int n) {
    return _mm512_maskz_loadu_ps(b32x16_first(n), p);
}

/* ---- Across lanes ---------------------------------------------------------------------------- */

RDK_INLINE int f32x16_has_nan(f32x16 v) {
    return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0;
}

/* No lane is NaN. */
RDK_INLINE float f32x16_max_lanes(f32x16 v) {
    __m256 m = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

/* ---- Doubles --------------------------------------------------------------------------------- */

RDK_INLINE f64x8 f64x8_set1(double v) {
    return _mm512_set1_pd(v);
}

RDK_INLINE f64x8 f64x8_load(const double *p) {
    return _mm512_loadu_pd(p);
}

RDK_INLINE void f64x8_store(double *p, f64x8 v) {
    _mm512_storeu_pd(p, v);
}

RDK_INLINE f64x8 f64x8_load_f32(const void *p) {
    return _mm512_cvtps_pd(_mm256_loadu_ps((const float *)p));
}

RDK_INLINE void f64x8_store_f32(void *p, f64x8 v) {
    _mm256_storeu_ps((float *)p, _mm512_cvtpd_ps(v));
}

RDK_INLINE f64x8 f64x8_low(f32x16 v) {
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}

RDK_INLINE f64x8 f64x8_high(f32x16 v) {
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}

RDK_INLINE f64x8 f64x8_add(f64x8 x, f64x8 y) {
    return _mm512_add_pd(x, y);
}

RDK_INLINE f64x8 f64x8_sub(f64x8 x, f64x8 y) {
    return _mm512_sub_pd(x, y);
}

RDK_INLINE f64x8 f64x8_mul(f64x8 x, f64x8 y) {
    return _mm512_mul_pd(x, y);
}

RDK_INLINE f32x16 f32x16_narrow(f64x8 low, f64x8 high) {
    __m512 l = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
    return _mm512_insertf32x8(l, _mm512_cvtpd_ps(high), 1);
}

RDK_INLINE double f64x8_fold(f64x8 v) {
    __m256d q = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    __m128d p = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

#endif
