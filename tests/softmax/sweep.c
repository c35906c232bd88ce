/* The sweep's loops, plain so that a compiler can make vectors of them; built once or twice. */
#include "tests/softmax/sweep.h"

#ifdef RDK_SWEEP_FMA
#define RDK_FMA_INSTRUCTION /* for kernels/contract.h */
#define SWEEP_NAME sweep_exp2_fma
#else
#define SWEEP_NAME sweep_exp2
#endif

#include "kernels/contract.h"

enum { BLOCK = 1024 };

/* ln(2)^k / k!, nearest doubles, k = 1 .. 12. The first term left out is below 1e-16 * |f|. */
static inline double oracle(double f) {
    double p = 0x1.c3bd650fc2986p-36;
    p = p * f + 0x1.e8cac7351bb25p-32;
    p = p * f + 0x1.e4cf5158b8ecap-28;
    p = p * f + 0x1.b5253d395e7c4p-24;
    p = p * f + 0x1.62c0223a5c824p-20;
    p = p * f + 0x1.ffcbfc588b0c7p-17;
    p = p * f + 0x1.430912f86c787p-13;
    p = p * f + 0x1.5d87fe78a6731p-10;
    p = p * f + 0x1.3b2ab6fba4e77p-7;
    p = p * f + 0x1.c6b08d704a0c0p-5;
    p = p * f + 0x1.ebfbdff82c58fp-3;
    p = p * f + 0x1.62e42fefa39efp-1;
    return p * f;
}

#ifndef RDK_SWEEP_FMA
double sweep_oracle(double f) {
    return oracle(f);
}
#endif

static void errors_of_block(double error[BLOCK], uint32_t first, uint32_t step) {
    const double ulps = first >> 31 ? 0x1p24 : 0x1p23; /* per 1: 2^f is below 1, or 1 and more */
    float f[BLOCK], e[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        f[i] = rdk_float(first + i * step);
    for (int i = 0; i < BLOCK; i++)
        e[i] = rdk_exp2(f[i], 0);
    for (int i = 0; i < BLOCK; i++)
        error[i] = fabs((((double)e[i] - 1) - oracle(f[i])) * ulps);
}

sweep_result SWEEP_NAME(uint32_t first, uint32_t last, uint32_t step, double bound) {
    sweep_result r = {.worst_at = first};
    double error[BLOCK];
    for (uint64_t at = first; at <= last; at += (uint64_t)BLOCK * step) {
        uint64_t left = (last - at) / step + 1;
        int n = left < BLOCK ? (int)left : BLOCK;
        errors_of_block(error, (uint32_t)at, step);
        double worst[8] = {0};
        int within = 0;
        for (int i = 0; i < n; i++)
            within += error[i] <= bound;
        for (int i = 0; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++)
                worst[k] = error[i + k] > worst[k] ? error[i + k] : worst[k];
        for (int i = n & ~7; i < n; i++)
            worst[0] = error[i] > worst[0] ? error[i] : worst[0];
        r.count += (uint64_t)n;
        r.over += (uint64_t)(n - within);
        for (int k = 0; k < 8; k++)
            if (worst[k] > r.worst) {
                r.worst = worst[k];
                r.worst_at = (uint32_t)at;
            }
    }
    return r;
}
