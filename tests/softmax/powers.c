/* How far 2^f is from the exact power, over every float of its domain. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>

#include "dispatch/cpu.h"
#include "kernels/contract.h"
#include "tests/softmax/bounds.h"
#include "tests/softmax/sweep.h"

/* Set by the build: how much of the domain is run. */
#ifndef RDK_SWEEP_STEP
#define RDK_SWEEP_STEP 997
#endif

TEST sweep_oracle_is_libms(void) {
    double worst = 0;
    for (int i = 0; i <= 1000000; i++) {
        double f = ((double)i / 1000000 * 2 - 1) * (0.5 + 0x1p-8 + 0x1p-17);
        double difference = fabs(1 + sweep_oracle(f) - exp2(f)) * 0x1p24;
        worst = difference > worst ? difference : worst;
    }
    printf("\n2^f: the sweep's oracle is within %.1e ULP of libm's exp2 at 1000001 points\n",
           worst);
    ASSERT(worst < 1e-6);
    PASS();
}

typedef sweep_result sweep_function(uint32_t, uint32_t, uint32_t, double);

static bool sweep_sign(sweep_function *sweep, uint32_t sign, uint32_t step, uint64_t *count) {
    uint32_t last = rdk_bits(0.5f + 0x1p-8f + 0x1p-17f);
    sweep_result r = sweep(sign, sign | last, step, BOUND_EXP2);
    printf("2^f, f %s 0: %10llu floats (every %u%s): worst %.4f ULP, near f = %a; over the bound: "
           "%llu\n",
           sign ? "<" : ">", (unsigned long long)r.count, step,
           step % 10 == 1 && step > 1 ? "st"
           : step == 1                ? ""
                                      : "th",
           r.worst, (double)rdk_float(r.worst_at), (unsigned long long)r.over);
    *count += r.count;
    return r.over == 0 && r.worst <= BOUND_EXP2;
}

TEST exp2_over_its_domain(void) {
    sweep_function *sweep = sweep_exp2;
    uint32_t step = RDK_SWEEP_STEP;
    uint64_t count = 0;
#ifdef RDK_HAVE_SWEEP_FMA
    if (rdk_cpu_flags() & RDK_CPU_AVX2) {
        sweep = sweep_exp2_fma;
    } else if (step < 97) {
        step = 97;
        puts("2^f: this CPU has no FMA: only every 97th float is run");
    }
#endif
    bool above = sweep_sign(sweep, 0, step, &count);
    bool below = sweep_sign(sweep, 0x80000000, step, &count);
    ASSERT(above && below);
    ASSERT(step > 1 || count == 2 * ((uint64_t)rdk_bits(0.5f + 0x1p-8f + 0x1p-17f) + 1));
    PASS();
}

#ifdef RDK_HAVE_SWEEP_FMA
/* The two objects differ in how rdk_fma is done, never in what it gives. */
TEST sweep_is_the_same_without_fma(void) {
    if (!(rdk_cpu_flags() & RDK_CPU_AVX2))
        RDK_SKIP("sweep with FMA: this CPU does not have it");
    for (uint32_t sign = 0; sign < 2; sign++) {
        uint32_t first = sign << 31, last = first | rdk_bits(0.5f + 0x1p-8f + 0x1p-17f);
        sweep_result a = sweep_exp2(first, last, 9973, BOUND_EXP2);
        sweep_result b = sweep_exp2_fma(first, last, 9973, BOUND_EXP2);
        ASSERT(a.count == b.count && a.over == b.over && fabs(a.worst - b.worst) < 1e-6);
    }
    PASS();
}
#endif

SUITE(powers) {
    RUN_TEST(sweep_oracle_is_libms);
    RUN_TEST(exp2_over_its_domain);
#ifdef RDK_HAVE_SWEEP_FMA
    RUN_TEST(sweep_is_the_same_without_fma);
#endif
}
