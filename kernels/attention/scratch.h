/* The scratch of an attention call: what the vector walk keeps there, and how much that is. */
#ifndef RDK_ATTENTION_SCRATCH_H
#define RDK_ATTENTION_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/contract.h"

enum {
    RDK_GROUP = 24,                /* rows whose scores of one block of keys lie in L1 together */
    RDK_ALIGN = 64,                /* bytes */
    RDK_STATE_FLOATS = 128 * 1024, /* of queries and sums, roughly, so that they stay in L2 */
};

/* A width, rounded up to whole vectors. */
static inline int64_t rdk_whole_lanes(int64_t n) {
    return (n + RDK_LANES - 1) / RDK_LANES * RDK_LANES;
}

/* How many rows (queries of one head or of a group of heads) are worked on at once. */
static inline int64_t rdk_attention_rows(int64_t d_qk, int64_t d_v) {
    int64_t rows = RDK_STATE_FLOATS / (d_qk + 2 * rdk_whole_lanes(d_v)) / RDK_GROUP * RDK_GROUP;
    return rows < RDK_GROUP ? RDK_GROUP : rows > 16 * RDK_GROUP ? 16 * RDK_GROUP : rows;
}

/* What the walk knows of a row beside its query and its sums. */
typedef struct rdk_row {
    double M, l;    /* of all closed chunks */
    double chunk_l; /* of the chunk being summed */
    float chunk_M;  /* relative to which it is summed */
    float chunk_T;  /* its largest logit, base 2 */
    float shrink;   /* what o must be multiplied with before the next values */
    bool odd;       /* the chunk needs the reference */
    bool cold;      /* a chunk was cold */
    int64_t batch, head, query;
    int64_t visible;
} rdk_row;

static inline size_t rdk_attention_scratch_bytes(const rdk_attention_desc *d) {
    int64_t rows = rdk_attention_rows(d->d_qk, d->d_v), width = rdk_whole_lanes(d->d_v);
    int64_t floats = rows * (d->d_qk + 2 * width)     /* queries, sums of a chunk, sums of all */
                     + RDK_GROUP * RDK_BLOCK          /* scores, then weights */
                     + RDK_BLOCK * (d->d_qk + width); /* keys in panels, values in strips */
    return (size_t)floats * 4 + (size_t)rows * sizeof(rdk_row) + 8 * RDK_ALIGN;
}

#endif
