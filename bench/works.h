/* A few works of usual sizes, for `rootdk bench`. All are f32. */
#ifndef RDK_BENCH_WORKS_H
#define RDK_BENCH_WORKS_H

#include "bench/shape.h"

enum { WORK_COUNT = 7 };
extern const shape WORKS[WORK_COUNT];

/* A work with its operands. */
typedef struct operands {
    const shape *shape;
    float *in, *out, *k, *v; /* in is x, or the queries; k and v lie one after the other */
    void *scratch;
    size_t scratch_size;
} operands;

/* Allocates and fills the operands; `scratch` is what attention may need, in bytes. Ends the
 * program if memory runs out. */
void operands_make(operands *o, const shape *s, size_t scratch);
void operands_free(operands *o);

/* The call, by operation. */
rdk_softmax_desc operands_softmax(const operands *o, rdk_isa isa);
rdk_attention_desc operands_attention(const operands *o, rdk_isa isa);

#endif
