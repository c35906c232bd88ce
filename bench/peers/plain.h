/* A softmax as anyone would write it. */
#ifndef RDK_BENCH_PLAIN_H
#define RDK_BENCH_PLAIN_H

#include <stdint.h>

/* y = softmax(x) of n logits, in place or not; n is 1 or more. */
void plain_softmax(float *y, const float *x, int64_t n);

#endif
