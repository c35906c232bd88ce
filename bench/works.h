/* A few works of usual sizes, for `rootdk bench` and for comparing two builds of the library. All are f32. */
#ifndef RDK_BENCH_WORKS_H
#define RDK_BENCH_WORKS_H

#include <stdint.h>

#include "rootdk/rootdk.h"

typedef enum kind { SOFTMAX, PREFILL, CAUSAL, DECODE } kind;

/* Softmax of nq rows of nk columns, or attention of nq queries over nk keys. */
typedef struct work {
    const char *name;
    kind kind;
    int64_t q_heads, kv_heads, nq, nk, d;
} work;

enum { WORK_COUNT = 7 };
extern const work WORKS[WORK_COUNT];

/* Elements of x or of the queries, and of the result. */
int64_t work_rows_count(const work *w);

/* Elements of K, or of V. */
int64_t work_kv_count(const work *w);

/* Of attention both products, half if causal; of softmax the nine FMAs of a weight and one product. */
double work_flop(const work *w);

/* A work with its operands. */
typedef struct operands {
    const work *work;
    float *in, *out, *k, *v; /* in is x, or the queries; k and v lie one after the other */
    void *scratch;
    size_t scratch_size;
} operands;

/* Allocates and fills them; `scratch` is what attention may need, in bytes. Ends the program without memory. */
void operands_make(operands *o, const work *w, size_t scratch);
void operands_free(operands *o);

/* The call, by kind. */
rdk_softmax_desc operands_softmax(const operands *o, rdk_isa isa);
rdk_attention_desc operands_attention(const operands *o, rdk_isa isa);

#endif
