/* Sizes of calls, and what follows from them. */
#include "bench/shape.h"

#include "bench/inputs.h"

enum { FMAS_PER_WEIGHT = 9 }; /* in the contract: 3 for n and f, 6 for 2^f */

int64_t shape_in(const shape *s) {
    return s->op == RDK_OP_SOFTMAX ? s->rows * s->cols : s->q_heads * s->nq * s->d_qk;
}

int64_t shape_out(const shape *s) {
    return s->op == RDK_OP_SOFTMAX ? s->rows * s->cols : s->q_heads * s->nq * s->d_v;
}

int64_t shape_k(const shape *s) {
    return s->kv_heads * s->nk * s->d_qk;
}

int64_t shape_v(const shape *s) {
    return s->kv_heads * s->nk * s->d_v;
}

double shape_flop(const shape *s) {
    if (s->op == RDK_OP_SOFTMAX)
        return 2.0 * (FMAS_PER_WEIGHT + !s->log) * (double)shape_in(s);
    double all = 2.0 * (double)(s->q_heads * s->nq) * (double)s->nk * (double)(s->d_qk + s->d_v);
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
        .batch = 1,
        .q_heads = s->q_heads,
        .kv_heads = s->kv_heads,
        .q_len = s->nq,
        .kv_len = s->nk,
        .d_qk = s->d_qk,
        .d_v = s->d_v,
        .q = {.head_stride = s->nq * s->d_qk, .row_stride = s->d_qk},
        .k = {.head_stride = s->nk * s->d_qk, .row_stride = s->d_qk},
        .v = {.head_stride = s->nk * s->d_v, .row_stride = s->d_v},
        .out = {.head_stride = s->nq * s->d_v, .row_stride = s->d_v},
    };
}
