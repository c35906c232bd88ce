/* How far a result is from the exact one, which is computed in double: rootdk's and any peer's alike. */
#ifndef RDK_BENCH_ORACLE_H
#define RDK_BENCH_ORACLE_H

#include <stdint.h>

#include "rootdk/rootdk.h"

/* Of what is in y after a call: the worst error in ULP of y's type at the exact value, over all weights of 1e-6 or
 * more in `rows` rows from the first to the last. Of log-softmax: in ULP of max(1, |exact|), over every finite
 * one. Infinite if a NaN is among them. x must still be there. */
double oracle_softmax_ulp(const rdk_softmax_desc *d, int64_t rows);

/* Of what is in out after a call: the worst |out - exact| / (max|v| * 2^-23) over `rows` queries of all heads, max|v|
 * over the values that the query sees. Infinite if a NaN is among them. */
double oracle_attention_error(const rdk_attention_desc *d, int64_t rows);

#endif
