/* The limits of AVX2. */
#include "bench/limits/limits.h"

#include <immintrin.h>

typedef __m256i wide;
#define wide_zero() _mm256_setzero_si256()
#define wide_load(p) _mm256_loadu_si256((const void *)(p))
#define wide_xor(a, b) _mm256_xor_si256(a, b)
#define wide_store(p, a) _mm256_storeu_si256((void *)(p), a)
#include "bench/limits/read_loops.h"

/* a = a / 2 + 1 stays near 2; the factors come from memory, so that nothing is known beforehand. */
static volatile float half = 0.5f, one = 1;

static void fma_avx2(void *sink) {
    const __m256 m = _mm256_set1_ps(half), c = _mm256_set1_ps(one);
#define DECLARE(i) __m256 a##i = _mm256_set1_ps(i);
#define STEP(i) a##i = _mm256_fmadd_ps(a##i, m, c);
#define KEEP(i) a0 = _mm256_add_ps(a0, a##i);
    TIMES_12(DECLARE)
    for (int round = 0; round < FMA_ROUNDS; round++) {
        TIMES_12(STEP)
    }
    TIMES_12(KEEP)
    _mm256_storeu_ps(sink, a0);
#undef DECLARE
#undef STEP
#undef KEEP
}

const limit limit_avx2 = {RDK_ISA_AVX2, fma_avx2, 2.0 * 8 * 12 * FMA_ROUNDS, READ_LOOPS, READ_ALL};
