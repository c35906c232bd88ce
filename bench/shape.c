/* Sizes of calls, and what follows from them. */
#include "bench/shape.h"

#include "bench/inputs.h"

enum { FMAS_PER_WEIGHT = 9 }; /* in the contract: 3 for n and f, 6 for 2^f */

int64_t shape_heads(const shape *s) {
    return s->batch * s->q_heads;
}

int64_t shape_in(const shape *s) {
    return s->op == RDK_OP_SOFTMAX ? s->rows * s->cols : shape_heads(s) * s->nq * s->d_qk;
}

int64_t shape_out(const shape *s) {
    return s->op == RDK_OP_SOFTMAX ? s->rows * s->cols : shape_heads(s) * s->nq * s->d_v;
}

int64_t shape_k(const shape *s) {
    return s->batch * s->kv_heads * s->nk * s->d_qk;
}

int64_t shape_v(const shape *s) {
    return s->batch * s->kv_heads * s->nk * s->d_v;
}

double shape_flop(const shape *s) {
    if (s->op == RDK_OP_SOFTMAX)
        return 2.0 * (FMAS_PER_WEIGHT + !s->log) * (double)shape_in(s);
    double all =
        2.0 * (double)(shape_heads(s) * s->nq) * (double)s->nk * (double)(s->d_qk + s->d_v);
    return s->causal ? all / 2 : all;
}

double shape_bytes(const shape *s) {
    if (s->op == RDK_OP_SOFTMAX)
        return 2 * (double)shape_in(s) * (double)type_size(s->type);
    return (double)(shape_k(s) + shape_v(s)) * sizeof(float);
}

rdk_softmax_desc shape_softmax(const shape *s) {
    return (rdk_softmax_desc){
        .size = sizeof(rdk_softmax_desc),
        .mode = s->log ? RDK_LOG_SOFTMAX : RDK_SOFTMAX,
        .rows = s->rows,
        .cols = s->cols,
        .x_stride = s->cols,
        .y_stride = s->cols,
        .x_type = s->type,
        .y_type = s->type,
        .bias_type = RDK_F32,
        .bias_stride = s->cols,
    };
}

rdk_attention_desc shape_attention(const shape *s) {
    return (rdk_attention_desc){
        .size = sizeof(rdk_attention_desc),
        .causal = s->causal ? RDK_CAUSAL_BOTTOM_RIGHT : RDK_CAUSAL_NONE,
        .batch = s->batch,
        .q_heads = s->q_heads,
        .kv_heads = s->kv_heads,
        .q_len = s->nq,
        .kv_len = s->nk,
        .d_qk = s->d_qk,
        .d_v = s->d_v,
        .q = {NULL, s->q_heads * s->nq * s->d_qk, s->nq * s->d_qk, s->d_qk, RDK_F32},
        .k = {NULL, s->kv_heads * s->nk * s->d_qk, s->nk * s->d_qk, s->d_qk, RDK_F32},
        .v = {NULL, s->kv_heads * s->nk * s->d_v, s->nk * s->d_v, s->d_v, RDK_F32},
        .out = {NULL, s->q_heads * s->nq * s->d_v, s->nq * s->d_v, s->d_v, RDK_F32},
    };
}
