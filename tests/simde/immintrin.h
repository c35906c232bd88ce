/* AVX-512 through SIMDe: found before the compiler's own <immintrin.h> when kernels are emulated.
 *
 * SIMDe 0.8.2 has most of what the kernels use; what it lacks, or does otherwise than the
 * instruction, is here in terms of AVX2, FMA and F16C, which the emulating host has. */
#ifndef RDK_SIMDE_IMMINTRIN_H
#define RDK_SIMDE_IMMINTRIN_H

#include_next <immintrin.h>

#ifndef RDK_SIMDE_ARM_NEON_H /* SIMDe's NEON asks for <immintrin.h> as well, and means the host's */

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <string.h>

#define RDK_SHIM static inline __attribute__((always_inline, unused))

/* ---- Memory: the instruction touches only the lanes of its mask, SIMDe the whole vector ------ */

RDK_SHIM simde__m512 rdk_maskz_loadu_ps(simde__mmask16 m, const void *p) {
    float v[16] = {0};
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy(&v[i], (const char *)p + i * sizeof v[0], sizeof v[0]);
    return simde_mm512_loadu_ps(v);
}

RDK_SHIM simde__m512 rdk_mask_loadu_ps(simde__m512 rest, simde__mmask16 m, const void *p) {
    float v[16];
    simde_mm512_storeu_ps(v, rest);
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy(&v[i], (const char *)p + i * sizeof v[0], sizeof v[0]);
    return simde_mm512_loadu_ps(v);
}

RDK_SHIM void rdk_mask_storeu_ps(void *p, simde__mmask16 m, simde__m512 a) {
    float v[16];
    simde_mm512_storeu_ps(v, a);
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy((char *)p + i * sizeof v[0], &v[i], sizeof v[0]);
}

RDK_SHIM __m256i rdk_maskz_loadu_epi16(simde__mmask16 m, const void *p) {
    uint16_t v[16] = {0};
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy(&v[i], (const char *)p + i * sizeof v[0], sizeof v[0]);
    return _mm256_loadu_si256((const __m256i *)v);
}

RDK_SHIM void rdk_mask_storeu_epi16(void *p, simde__mmask16 m, __m256i a) {
    uint16_t v[16];
    _mm256_storeu_si256((__m256i *)v, a);
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy((char *)p + i * sizeof v[0], &v[i], sizeof v[0]);
}

#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm256_maskz_loadu_epi16
#undef _mm256_mask_storeu_epi16
#define _mm512_maskz_loadu_ps(m, p) rdk_maskz_loadu_ps(m, p)
#define _mm512_mask_loadu_ps(rest, m, p) rdk_mask_loadu_ps(rest, m, p)
#define _mm512_mask_storeu_ps(p, m, a) rdk_mask_storeu_ps(p, m, a)
#define _mm256_maskz_loadu_epi16(m, p) rdk_maskz_loadu_epi16(m, p)
#define _mm256_mask_storeu_epi16(p, m, a) rdk_mask_storeu_epi16(p, m, a)

/* ---- Conversions: by halves, as the host has them -------------------------------------------- */

RDK_SHIM __m256 rdk_low_ps(simde__m512 v) {
    return simde_mm512_castps512_ps256(v);
}

RDK_SHIM __m256 rdk_high_ps(simde__m512 v) {
    return simde_mm512_extractf32x8_ps(v, 1);
}

RDK_SHIM simde__m512 rdk_join_ps(__m256 low, __m256 high) {
    float v[16];
    _mm256_storeu_ps(v, low);
    _mm256_storeu_ps(v + 8, high);
    return simde_mm512_loadu_ps(v);
}

#define RDK_NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

RDK_SHIM __m256i rdk_cvtps_ph(simde__m512 v) {
    return _mm256_set_m128i(_mm256_cvtps_ph(rdk_high_ps(v), RDK_NEAREST),
                            _mm256_cvtps_ph(rdk_low_ps(v), RDK_NEAREST));
}

RDK_SHIM simde__m512 rdk_cvtph_ps(__m256i h) {
    return rdk_join_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(h)),
                       _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1)));
}

RDK_SHIM simde__m512d rdk_cvtps_pd(__m256 v) {
    double d[8];
    _mm256_storeu_pd(d, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
    _mm256_storeu_pd(d + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    return simde_mm512_loadu_pd(d);
}

RDK_SHIM __m256 rdk_cvtpd_ps(simde__m512d v) {
    double d[8];
    simde_mm512_storeu_pd(d, v);
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(d + 4)),
                           _mm256_cvtpd_ps(_mm256_loadu_pd(d)));
}

/* The low half of each lane. */
RDK_SHIM __m256i rdk_cvtepi32_epi16(simde__m512i v) {
    uint32_t u[16];
    uint16_t h[16];
    simde_mm512_storeu_si512(u, v);
    for (int i = 0; i < 16; i++)
        h[i] = (uint16_t)u[i];
    return _mm256_loadu_si256((const __m256i *)h);
}

#undef _mm512_cvtps_ph
#undef _mm512_cvtph_ps
#undef _mm512_cvtps_pd
#undef _mm512_cvtpd_ps
#undef _mm512_cvtepi32_epi16
#define _mm512_cvtps_ph(v, rounding)                                                               \
    ((void)sizeof(char[(rounding) == RDK_NEAREST ? 1 : -1]), rdk_cvtps_ph(v))
#define _mm512_cvtph_ps(h) rdk_cvtph_ps(h)
#define _mm512_cvtps_pd(v) rdk_cvtps_pd(v)
#define _mm512_cvtpd_ps(v) rdk_cvtpd_ps(v)
#define _mm512_cvtepi32_epi16(v) rdk_cvtepi32_epi16(v)

/* VMAXPS and VMINPS give their second operand where either is NaN and for zeros of both signs;
 * SIMDe's generic code need not. */
RDK_SHIM simde__m512 rdk_max_ps(simde__m512 a, simde__m512 b) {
    return rdk_join_ps(_mm256_max_ps(rdk_low_ps(a), rdk_low_ps(b)),
                       _mm256_max_ps(rdk_high_ps(a), rdk_high_ps(b)));
}

RDK_SHIM simde__m512 rdk_min_ps(simde__m512 a, simde__m512 b) {
    return rdk_join_ps(_mm256_min_ps(rdk_low_ps(a), rdk_low_ps(b)),
                       _mm256_min_ps(rdk_high_ps(a), rdk_high_ps(b)));
}

#undef _mm512_max_ps
#undef _mm512_min_ps
#define _mm512_max_ps(a, b) rdk_max_ps(a, b)
#define _mm512_min_ps(a, b) rdk_min_ps(a, b)

#endif
#endif
