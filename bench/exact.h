/* The oracle: softmax and attention in double with libm's exp and log, written naively and apart
 * from the kernels. The benches and the tests of accuracy measure errors against it. */
#ifndef RDK_BENCH_EXACT_H
#define RDK_BENCH_EXACT_H

#include <stdint.h>

/* ---- Softmax --------------------------------------------------------------------------------- */

typedef struct oracle {
    double max, sum, lse; /* sum of exp(z - max) */
} oracle;

/* Of n logits; n is 1 or more. */
oracle oracle_of(const double *z, int64_t n);

/* The weight of one of them; 0 where all are -inf. */
double oracle_weight(const oracle *o, double z);

/* ---- Attention ------------------------------------------------------------------------------- */

/* Logits of the first n keys, rows of d floats `stride` apart. A product of two floats is exact in
 * double, so only the sum rounds. */
void oracle_logits(double *z, float scale, const float *q, const float *k, int64_t stride,
                   int64_t d, int64_t n);

/* The d columns of a query's output, from the logits of the n keys it sees. */
void oracle_output(double *out, const oracle *o, const double *z, const float *v, int64_t stride,
                   int64_t d, int64_t n);

/* ---- Units ----------------------------------------------------------------------------------- */

/* The ULP of a type with `bits` of fraction and least normal exponent `least`, in v's binade. */
double ulp_of(double v, int bits, int least);

#endif
