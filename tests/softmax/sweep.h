/* 2^f of the contract against a double, over a range of floats. */
#ifndef RDK_SWEEP_H
#define RDK_SWEEP_H

#include <stdint.h>

typedef struct sweep_result {
    uint64_t count;    /* floats looked at */
    uint64_t over;     /* floats further off than the bound; NaN is */
    double worst;      /* in ULP of the exact result's binade */
    uint32_t worst_at; /* its block's first float, as bits */
} sweep_result;

/* Every `step`-th float whose bits lie in first .. last, both of one sign. */
sweep_result sweep_exp2(uint32_t first, uint32_t last, uint32_t step, double bound);

/* The same, in an object compiled for AVX2 and FMA. */
sweep_result sweep_exp2_fma(uint32_t first, uint32_t last, uint32_t step, double bound);

/* 2^f - 1 by the sweep's own polynomial, good to far below a float's ULP for |f| <= 0.51. */
double sweep_oracle(double f);

#endif
