/* A few works of usual sizes. */
#include "bench/works.h"

#include <stdlib.h>

#include "bench/inputs.h"

#define ATTENTION(heads, kv, queries, keys, d)                                                     \
    .op = RDK_OP_ATTENTION, .batch = 1, .q_heads = heads, .kv_heads = kv, .nq = queries,           \
    .nk = keys, .d_qk = d, .d_v = d

const shape WORKS[WORK_COUNT] = {
    {"softmax, 4096 rows of 64", .op = RDK_OP_SOFTMAX, .rows = 4096, .cols = 64},
    {"softmax, 1024 rows of 1024", .op = RDK_OP_SOFTMAX, .rows = 1024, .cols = 1024},
    {"prefill, 12 heads of 64, n=128", ATTENTION(12, 12, 128, 128, 64)},
    {"prefill, 8 heads of 128, n=512", ATTENTION(8, 8, 512, 512, 128)},
    {"causal, 8 heads of 128, n=512", ATTENTION(8, 8, 512, 512, 128), .causal = true},
    {"decode, 32/8 heads of 128, n=1024", ATTENTION(32, 8, 1, 1024, 128)},
    {"decode, 32/8 heads of 128, n=8192", ATTENTION(32, 8, 1, 8192, 128)},
};

void operands_make(operands *o, const shape *s, size_t scratch) {
    *o = (operands){.shape = s};
    o->in = allocate((size_t)shape_in(s) * sizeof(float));
    o->out = allocate((size_t)shape_out(s) * sizeof(float));
    fill(o->in, RDK_F32, shape_in(s), 1);
    if (s->op == RDK_OP_SOFTMAX)
        return;
    o->k = allocate((size_t)(shape_k(s) + shape_v(s)) * sizeof(float));
    o->v = o->k + shape_k(s);
    fill(o->k, RDK_F32, shape_k(s) + shape_v(s), 2);
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
    rdk_softmax_desc d = shape_softmax(o->shape);
    d.isa = isa;
    d.x = o->in;
    d.y = o->out;
    return d;
}

rdk_attention_desc operands_attention(const operands *o, rdk_isa isa) {
    rdk_attention_desc d = shape_attention(o->shape);
    d.isa = isa;
    d.q.data = o->in;
    d.k.data = o->k;
    d.v.data = o->v;
    d.out.data = o->out;
    d.scratch = o->scratch;
    d.scratch_size = o->scratch_size;
    return d;
}
