/* An attention call with no default left: what plans and kernels are given. */
#ifndef RDK_ATTENTION_PROBLEM_H
#define RDK_ATTENTION_PROBLEM_H

#include "kernels/attention/kv.h"
#include "kernels/attention/sight.h"

typedef struct rdk_problem {
    int64_t batch, q_heads, kv_heads, q_len, kv_len, d_qk, d_v;
    int64_t heads_per_kv; /* query heads that share a key/value head */
    int64_t key_pos0;     /* the position of key 0 */
    float scale;          /* of queries, so that scores are logits in base 2 */
    rdk_sight_rule sight;
    rdk_const_view q;
    rdk_kv kv;
    rdk_view out, lse, weights; /* where the caller does not ask for lse or weights, data is NULL */
} rdk_problem;

/* Makes the problem of a checked descriptor that has queries. */
void rdk_problem_of(rdk_problem *p, const rdk_attention_desc *d);

#endif
