/* The size of a call: what is measured, before there are operands. */
#ifndef RDK_BENCH_SHAPE_H
#define RDK_BENCH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

enum { SHAPE_NAME = 48, SHAPE_FROM = 160 };

/* Operands are contiguous: rows x cols, or [batch][head][position][d], the latter in f32. */
typedef struct shape {
    char name[SHAPE_NAME];
    char group[16];        /* works of one group stand together in the report */
    char from[SHAPE_FROM]; /* who computes such a thing */
    rdk_op op;
    bool memory; /* K and V change from call to call, so that no cache has them (ring.h) */
    bool peers;  /* whether other libraries can do it, too */

    int64_t rows, cols; /* softmax */
    rdk_type type;      /* of x and of y */
    bool log, bias;     /* log-softmax; a bias for every element, in f32 */

    int64_t batch, q_heads, kv_heads, nq, nk, d_qk, d_v; /* attention */
    bool causal;
    int64_t layers; /* of a model, each with K and V of its own; a call is one of them; 0: unsaid */
} shape;

/* Query heads of all batches. */
int64_t shape_heads(const shape *s);

/* Elements of x or q, of y or out, of K, and of V. */
int64_t shape_in(const shape *s);
int64_t shape_out(const shape *s);
int64_t shape_k(const shape *s);
int64_t shape_v(const shape *s);

/* The FLOPs of a work. Attention: both products, half of them if causal. Softmax: what
 * occupies an FMA unit, which are the nine FMAs of a weight in the contract and the
 * product that normalises it. */
double shape_flop(const shape *s);

/* What a call cannot but read and write once: K and V, or x and y. */
double shape_bytes(const shape *s);

/* A call with all sizes and strides, but no pointers. */
rdk_softmax_desc shape_softmax(const shape *s);
rdk_attention_desc shape_attention(const shape *s);

/* Reads a file like bench/shapes.ini. Returns how many shapes it holds, `most` of them in `list`,
 * or -1 with a message if it cannot be read or a line is wrong. */
int shapes_read(const char *path, shape *list, int most);

/* Keeps those whose name has the text in it, or all if it is NULL. Returns how many; if none, with
 * a message. */
int shapes_choose(shape *list, int count, const char *text);

#endif
