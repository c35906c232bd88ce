/* The operands of a work, and the calls on them. */
#ifndef RDK_BENCH_OPERANDS_H
#define RDK_BENCH_OPERANDS_H

#include "bench/ring.h"

typedef struct operands {
    shape shape;
    void *in, *out; /* x and y, or q and out */
    float *bias;
    float *k, *v; /* NULL if they are in the ring */
    ring *ring;
    void *scratch;
    size_t scratch_size;
} operands;

/* Allocates and fills them; `scratch` is what attention may need, in bytes, for all threads. The
 * ring is for shapes whose K and V come from memory. */
void operands_make(operands *o, const shape *s, ring *r, size_t scratch);
void operands_free(operands *o);

/* The bytes of y or out. */
size_t operands_out_bytes(const operands *o);

/* The call, by operation. Attention reads the K and V that come first. */
rdk_softmax_desc operands_softmax(const operands *o, rdk_isa isa);
rdk_attention_desc operands_attention(const operands *o, rdk_isa isa);

/* The K and V that the next call is to read. */
kv operands_next(operands *o);

#endif
