/* AVX-512 through SIMDe: found before the compiler's own <immintrin.h> when kernels are emulated. */
#ifndef RDK_SIMDE_IMMINTRIN_H
#define RDK_SIMDE_IMMINTRIN_H

#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <string.h>

/* SIMDe's masked load reads the whole vector; the instruction touches only the lanes of the mask. */
static inline simde__m512 rdk_maskz_loadu_ps(simde__mmask16 m, const void *p) {
    float v[16] = {0};
    for (int i = 0; i < 16; i++)
        if (m >> i & 1)
            memcpy(&v[i], (const char *)p + i * sizeof v[0], sizeof v[0]);
    return simde_mm512_loadu_ps(v);
}
#undef _mm512_maskz_loadu_ps
#define _mm512_maskz_loadu_ps(m, p) rdk_maskz_loadu_ps(m, p)

/* Missing in SIMDe 0.8.2. F16C does a half at a time. */
#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph(v, rounding)                                                               \
    _mm256_set_m128i(_mm256_cvtps_ph(simde_mm512_extractf32x8_ps(v, 1), rounding),                 \
                     _mm256_cvtps_ph(simde_mm512_castps512_ps256(v), rounding))

#endif
