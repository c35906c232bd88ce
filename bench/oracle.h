/* How far a result is from the exact one, computed in double: rootdk's and any peer's alike. */
#ifndef RDK_BENCH_ORACLE_H
#define RDK_BENCH_ORACLE_H

#include <stdint.h>

#include "rootdk/rootdk.h"

/* The worst error of y after a call, over all weights of 1e-6 or more in `rows` rows from the first
 * to the last, in ULP of y's type at the exact value. For log-softmax: over every finite one, in
 * ULP of max(1, |exact|). Infinite if a NaN is among them. x must still be there. */
double oracle_softmax_ulp(const rdk_softmax_desc *d, int64_t rows);

/* The worst error of out after a call, |out - exact| / (max|v| * 2^-23), over `rows` queries of all
 * heads; max|v| is over the values that the query sees. Infinite if a NaN is among them. */
double oracle_attention_error(const rdk_attention_desc *d, int64_t rows);

#endif
