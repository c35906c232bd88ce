/* The state of a row over some keys. Its sums of values lie elsewhere. */
#ifndef RDK_ATTENTION_STATE_H
#define RDK_ATTENTION_STATE_H

#include "kernels/contract.h"

/* M is an integer, or -inf where l = 0. */
typedef struct rdk_state {
    double M, l; /* l is relative to the reference M */
    bool cold;   /* one of its chunks was cold */
} rdk_state;

/* What sums are multiplied with when two states become one. */
typedef struct rdk_fold_factors {
    float sums, chunk;
} rdk_fold_factors;

/* The state of no keys. */
static inline rdk_state rdk_state_empty(void) {
    return (rdk_state){.M = -INFINITY};
}

/* The state of a chunk, once its weights are added up. */
static inline rdk_state rdk_state_closed(double M, double l, bool cold) {
    return (rdk_state){l == 0 ? -INFINITY : l != l ? 0 : M, l, cold};
}

/* Whether T, the largest logit of a chunk, makes the chunk cold. */
static inline bool rdk_is_cold(float T) {
    return T > RDK_ATTENTION_HOT || (T > -INFINITY && T < -RDK_ATTENTION_HOT);
}

/* Adds the next chunk to s. Returns what the sums of values of both are multiplied with. */
rdk_fold_factors rdk_state_fold(rdk_state *s, const rdk_state *chunk);

/* The log-sum-exp, natural. */
float rdk_state_lse(const rdk_state *s);

/* What written weights are multiplied with. */
static inline float rdk_state_weight_factor(const rdk_state *s) {
    return (float)(1 / s->l);
}

#endif
