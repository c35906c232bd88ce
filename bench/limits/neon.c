/* The limits of NEON. */
#include "bench/limits/limits.h"

#include <arm_neon.h>

typedef uint8x16_t wide;
#define wide_zero() vdupq_n_u8(0)
#define wide_load(p) vld1q_u8((const void *)(p))
#define wide_xor(a, b) veorq_u8(a, b)
#define wide_store(p, a) vst1q_u8((void *)(p), a)
#include "bench/limits/read_loops.h"

/* The factors come from memory, so that nothing is known beforehand. */
static volatile float half = 0.5f, one = 1;

/* Twice the chains of x86: large cores run four FMAs of latency 4 at once. */
#define TIMES_24(STEP)                                                                             \
    TIMES_12(STEP)                                                                                 \
    STEP(12)                                                                                       \
    STEP(13)                                                                                       \
    STEP(14) STEP(15) STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23)

/* The instruction overwrites its addend, so the chain runs through that. */
static void fma_neon(void *sink) {
    const float32x4_t m = vdupq_n_f32(half), c = vdupq_n_f32(one);
#define DECLARE(i) float32x4_t a##i = vdupq_n_f32(i);
#define STEP(i) a##i = vfmaq_f32(a##i, m, c);
#define KEEP(i) a0 = vaddq_f32(a0, a##i);
    TIMES_24(DECLARE)
    for (int round = 0; round < FMA_ROUNDS; round++) {
        TIMES_24(STEP)
    }
    TIMES_24(KEEP)
    vst1q_f32(sink, a0);
#undef DECLARE
#undef STEP
#undef KEEP
}

const limit limit_neon = {RDK_ISA_NEON, fma_neon, 2.0 * 4 * 24 * FMA_ROUNDS, READ_LOOPS, READ_ALL};
