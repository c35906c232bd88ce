/* The problem of a descriptor. */
#include "kernels/attention/problem.h"

#include <math.h>

#include "kernels/contract.h"

static float scale_of(const rdk_attention_desc *d) {
    const float scale = d->scale == 0 ? (float)(1 / sqrt((double)d->d_qk)) : d->scale;
    return rdk_split_scale(scale).ch;
}

/* A query sees the keys at or before its position. */
static rdk_sight_rule sight_of(const rdk_attention_desc *d) {
    rdk_sight_rule r = {.keys = d->kv_len, .queries = d->q_len};
    r.causal = d->causal != RDK_CAUSAL_NONE;
    if (d->causal == RDK_CAUSAL_BOTTOM_RIGHT)
        r.causal_end = d->kv_len - d->q_len + 1;
    else if (d->causal == RDK_CAUSAL_FROM_POSITION)
        r.causal_end = d->q_pos - d->key_pos0 + 1;
    return r;
}

void rdk_problem_of(rdk_problem *p, const rdk_attention_desc *d) {
    *p = (rdk_problem){.scale = scale_of(d), .sight = sight_of(d), .key_pos0 = d->key_pos0};
    p->batch = d->batch, p->q_len = d->q_len, p->kv_len = d->kv_len;
    p->q_heads = d->q_heads, p->kv_heads = d->kv_heads;
    p->heads_per_kv = d->q_heads / d->kv_heads;
    p->d_qk = d->d_qk, p->d_v = d->d_v;
    p->q = d->q, p->kv = (rdk_kv){d->k, d->v};
    p->out = d->out, p->lse = d->lse, p->weights = d->weights;
}
