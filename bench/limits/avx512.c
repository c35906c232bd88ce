/* The limits of AVX-512. */
#include "bench/limits/limits.h"

#include <immintrin.h>

typedef __m512i wide;
#define wide_zero() _mm512_setzero_si512()
#define wide_load(p) _mm512_loadu_si512((const void *)(p))
#define wide_xor(a, b) _mm512_xor_si512(a, b)
#define wide_store(p, a) _mm512_storeu_si512((void *)(p), a)
#include "bench/limits/read_loops.h"

/* a = a / 2 + 1 stays near 2; the factors come from memory, so that nothing is known beforehand. */
static volatile float half = 0.5f, one = 1;

static void fma_avx512(void *sink) {
    const __m512 m = _mm512_set1_ps(half), c = _mm512_set1_ps(one);
#define DECLARE(i) __m512 a##i = _mm512_set1_ps(i);
#define STEP(i) a##i = _mm512_fmadd_ps(a##i, m, c);
#define KEEP(i) a0 = _mm512_add_ps(a0, a##i);
    TIMES_12(DECLARE)
    for (int round = 0; round < FMA_ROUNDS; round++) {
        TIMES_12(STEP)
    }
    TIMES_12(KEEP)
    _mm512_storeu_ps(sink, a0);
#undef DECLARE
#undef STEP
#undef KEEP
}

const limit limit_avx512 = {RDK_ISA_AVX512, fma_avx512, 2.0 * 16 * 12 * FMA_ROUNDS, READ_LOOPS,
                            READ_ALL};
