/* The scratch of an attention call: what the vector walk keeps there, and how much that is. */
#ifndef RDK_ATTENTION_SCRATCH_H
#define RDK_ATTENTION_SCRATCH_H

#include <stddef.h>

#include "kernels/contract.h"

enum {
    RDK_GROUP = 48,                /* rows whose scores of one block of keys lie in L1, at most */
    RDK_STATE_FLOATS = 112 * 1024, /* of queries and sums, roughly, so that they stay in L2 */
    RDK_MAX_ROWS = 11 * RDK_GROUP, /* that are worked on at once */
    RDK_ALIGN = 64,                /* bytes */
};

/* What the walk knows of a row beside its query and its sums. A row is one query of one head. */
typedef struct rdk_row {
    int64_t batch, head, query;
    int64_t visible;
    double M, l; /* of the closed chunks */
    bool cold;   /* one of them was */
} rdk_row;

/* A width, rounded up to whole vectors. */
static inline int64_t rdk_whole_lanes(int64_t n) {
    return (n + RDK_LANES - 1) / RDK_LANES * RDK_LANES;
}

/* A query's length, rounded up to fours. */
static inline int64_t rdk_whole_fours(int64_t n) {
    return (n + 3) / 4 * 4;
}

/* How many rows are worked on at once. */
static inline int64_t rdk_attention_rows(int64_t d_qk, int64_t d_v) {
    int64_t rows = RDK_STATE_FLOATS / (d_qk + 2 * rdk_whole_lanes(d_v)) / RDK_GROUP * RDK_GROUP;
    return rows < 2 * RDK_GROUP ? 2 * RDK_GROUP : rows > RDK_MAX_ROWS ? RDK_MAX_ROWS : rows;
}

/* The parts of the scratch: how many floats, doubles, rows each has. All but the last are whole cache
 * lines. */
typedef struct rdk_scratch {
    int64_t rows;
    int64_t q, o, total, part, scores, values, M, T; /* floats */
    int64_t l;                                       /* doubles */
    size_t bytes;
} rdk_scratch;

static inline rdk_scratch rdk_attention_scratch_parts(int64_t d_qk, int64_t d_v) {
    rdk_scratch s = {.rows = rdk_attention_rows(d_qk, d_v)};
    int64_t width = rdk_whole_lanes(d_v);
    s.q = s.rows * rdk_whole_fours(d_qk);
    s.o = s.total = s.rows * width;
    s.part = RDK_GROUP * width;
    s.scores = RDK_GROUP * RDK_BLOCK;
    s.values = RDK_BLOCK * width;
    s.M = s.T = 2 * s.rows; /* twice for each row */
    s.l = s.rows;
    s.bytes =
        (size_t)(s.q + s.o + s.total + s.part + s.scores + s.values + s.M + s.T) * sizeof(float) +
        (size_t)s.l * sizeof(double) + (size_t)s.rows * sizeof(rdk_row) + RDK_ALIGN;
    return s;
}

static inline size_t rdk_attention_scratch_bytes(const rdk_attention_desc *d) {
    return rdk_attention_scratch_parts(d->d_qk, d->d_v).bytes;
}

#endif
