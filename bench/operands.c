/* The operands of a work. */
#include "bench/operands.h"

#include <stdlib.h>

#include "bench/inputs.h"

void operands_make(operands *o, const shape *s, ring *r, size_t scratch) {
    *o = (operands){.shape = *s, .ring = r, .scratch_size = scratch};
    o->in = new_input(shape_in(s), s->type, 1);
    o->out = allocate(operands_out_bytes(o));
    if (s->op == RDK_OP_SOFTMAX) {
        o->bias = s->bias ? new_input(shape_in(s), RDK_F32, 2) : NULL;
        return;
    }
    o->scratch = allocate(scratch);
    if (s->memory)
        return;
    o->k = new_input(shape_k(s), RDK_F32, 2);
    o->v = new_input(shape_v(s), RDK_F32, 3);
}

void operands_free(operands *o) {
    free(o->in);
    free(o->out);
    free(o->bias);
    free(o->k);
    free(o->v);
    free(o->scratch);
}

size_t operands_out_bytes(const operands *o) {
    return (size_t)shape_out(&o->shape) * type_size(o->shape.type);
}

rdk_softmax_desc operands_softmax(const operands *o, rdk_isa isa) {
    rdk_softmax_desc d = shape_softmax(&o->shape);
    d.isa = isa;
    d.x = o->in;
    d.y = o->out;
    d.bias = o->bias;
    return d;
}

rdk_attention_desc operands_attention(const operands *o, rdk_isa isa) {
    rdk_attention_desc d = shape_attention(&o->shape);
    kv first = o->shape.memory ? ring_first(o->ring, &o->shape) : (kv){o->k, o->v};
    d.isa = isa;
    d.q.data = o->in;
    d.k.data = first.k;
    d.v.data = first.v;
    d.out.data = o->out;
    d.scratch = o->scratch;
    d.scratch_size = o->scratch_size;
    return d;
}

kv operands_next(operands *o) {
    return o->shape.memory ? ring_next(o->ring, &o->shape) : (kv){o->k, o->v};
}
