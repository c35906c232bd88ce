/* A few works of usual sizes. */
#include "bench/works.h"

#include <stdlib.h>

#include "bench/inputs.h"

enum { SOFTMAX_FLOP = 20 };

const work WORKS[WORK_COUNT] = {
    {"softmax, 4096 rows of 64", SOFTMAX, 1, 1, 4096, 64, 0},
    {"softmax, 1024 rows of 1024", SOFTMAX, 1, 1, 1024, 1024, 0},
    {"prefill, 12 heads of 64, n=128", PREFILL, 12, 12, 128, 128, 64},
    {"prefill, 8 heads of 128, n=512", PREFILL, 8, 8, 512, 512, 128},
    {"causal, 8 heads of 128, n=512", CAUSAL, 8, 8, 512, 512, 128},
    {"decode, 32/8 heads of 128, n=1024", DECODE, 32, 8, 1, 1024, 128},
    {"decode, 32/8 heads of 128, n=8192", DECODE, 32, 8, 1, 8192, 128},
};

int64_t work_rows_count(const work *w) {
    return w->kind == SOFTMAX ? w->nq * w->nk : w->q_heads * w->nq * w->d;
}

int64_t work_kv_count(const work *w) {
    return w->kv_heads * w->nk * w->d;
}

double work_flop(const work *w) {
    if (w->kind == SOFTMAX)
        return SOFTMAX_FLOP * (double)work_rows_count(w);
    double all = 4.0 * (double)(w->q_heads * w->nq) * (double)w->nk * (double)w->d;
    return w->kind == CAUSAL ? all / 2 : all;
}

void operands_make(operands *o, const work *w, size_t scratch) {
    size_t bytes = (size_t)work_rows_count(w) * sizeof(float);
    *o = (operands){.work = w, .in = allocate(bytes), .out = allocate(bytes)};
    fill(o->in, RDK_F32, work_rows_count(w), 1);
    if (w->kind == SOFTMAX)
        return;
    o->k = allocate(2 * (size_t)work_kv_count(w) * sizeof(float));
    o->v = o->k + work_kv_count(w);
    fill(o->k, RDK_F32, 2 * work_kv_count(w), 2);
    o->scratch = allocate(scratch);
    o->scratch_size = scratch;
}

void operands_free(operands *o) {
    free(o->in);
    free(o->out);
    free(o->k);
    free(o->scratch);
}

rdk_softmax_desc operands_softmax(const operands *o, rdk_isa isa) {
    const work *w = o->work;
    return (rdk_softmax_desc){
        .size = sizeof(rdk_softmax_desc),
        .isa = isa,
        .rows = w->nq,
        .cols = w->nk,
        .x = o->in,
        .x_stride = w->nk,
        .y = o->out,
        .y_stride = w->nk,
    };
}

rdk_attention_desc operands_attention(const operands *o, rdk_isa isa) {
    const work *w = o->work;
    return (rdk_attention_desc){
        .size = sizeof(rdk_attention_desc),
        .isa = isa,
        .causal = w->kind == CAUSAL ? RDK_CAUSAL_BOTTOM_RIGHT : RDK_CAUSAL_NONE,
        .batch = 1,
        .q_heads = w->q_heads,
        .kv_heads = w->kv_heads,
        .q_len = w->nq,
        .kv_len = w->nk,
        .d_qk = w->d,
        .d_v = w->d,
        .q = {.data = o->in, .head_stride = w->nq * w->d, .row_stride = w->d},
        .k = {.data = o->k, .head_stride = w->nk * w->d, .row_stride = w->d},
        .v = {.data = o->v, .head_stride = w->nk * w->d, .row_stride = w->d},
        .out = {.data = o->out, .head_stride = w->nq * w->d, .row_stride = w->d},
        .scratch = o->scratch,
        .scratch_size = o->scratch_size,
    };
}
