/* How a call is cut into tasks, where things lie in the scratch, and what is chosen for speed.
 * No bit of a result depends on anything here but the problem. */
#ifndef RDK_ATTENTION_PLAN_H
#define RDK_ATTENTION_PLAN_H

#include <stddef.h>

#include "kernels/attention/problem.h"
#include "kernels/contract.h"
#include "kernels/kernels.h"

/* The most rows of a group, which share one pass over the keys: what the registers of an ISA's
 * tiles allow. Groups begin at multiples of a unit. */
enum {
    RDK_GROUP_AVX2 = 24,
    RDK_UNIT_AVX2 = 8,
    RDK_GROUP_AVX512 = 48,
    RDK_UNIT_AVX512 = 16,
    RDK_GROUP_NEON = 24,
    RDK_UNIT_NEON = 8,
    RDK_GROUP = 48, /* the most of any ISA */
};

enum {
    RDK_THIN = 4,                  /* the most rows of a thin row block */
    RDK_MAX_IN_STEP = 32,          /* heads that go through the keys in step */
    RDK_MAX_ROWS = 11 * RDK_GROUP, /* rows that are worked on at once */
    RDK_SCRATCH_ALIGN = 64,        /* bytes */
};

/* Where the parts of the scratch begin, in bytes from its first multiple of RDK_SCRATCH_ALIGN. */
typedef struct rdk_scratch {
    int64_t rows; /* the most that are worked on at once */
    size_t q, first_sums, sums, partial, scores, values, M, T, l, row;
    size_t bytes; /* enough wherever it begins */
} rdk_scratch;

/* Which keys and values are packed into strips before tiles read them. */
typedef struct rdk_packing {
    bool ever;
    int64_t far_step; /* rows this many bytes apart, or more, are packed for three groups or more */
    int groups_beside; /* others for more groups than this, where tiles can pack while they read */
    int groups_apart;  /* others for more groups than this, where they cannot */
} rdk_packing;

struct rdk_plan {
    rdk_problem problem;
    /* Tasks: a head's rows in blocks, or several heads in step. */
    int64_t tasks;
    int64_t heads_at_once, blocks_of_rows, rows_of_block;
    int64_t rows_of_head; /* heads_per_kv * q_len */
    int64_t rows_apart;   /* rows of the scratch from a head in step to the next */
    rdk_scratch scratch;
    /* Speed. */
    bool from_memory;   /* K and V may be expected there when they are read */
    bool touches_pages; /* operands lie in more pages than a TLB may be expected to hold */
    int thin_panel;     /* thin row blocks: how many rows of K, then of V, are read in turn */
    int64_t thin_ahead; /* thin row blocks: how many rows ahead K and V are fetched from memory */
    rdk_packing packing;
};

/* Rows of one key/value head, or all rows of several heads. Row r is query r / heads_per_kv of
 * query head kv_head * heads_per_kv + r % heads_per_kv. */
typedef struct rdk_task {
    int64_t batch, kv_head, heads;
    int64_t first, rows; /* of each head */
} rdk_task;

rdk_scratch rdk_scratch_of(int64_t d_qk, int64_t d_v);

/* Whether rows are so few that reading K and V takes most of the time, and K and V come from
 * memory. */
bool rdk_streams(const rdk_problem *problem);

/* Makes a plan for the kernels of an ISA on a machine. */
void rdk_plan_make(rdk_plan *plan, const rdk_problem *problem, rdk_isa isa, rdk_machine machine);

rdk_task rdk_plan_task(const rdk_plan *plan, int64_t i);

static inline int64_t rdk_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t rdk_most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* n, rounded up to a multiple of `to`. */
static inline int64_t rdk_round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

/* Floats of a row's sums: as many as it has columns, rounded up to whole lanes. */
static inline int64_t rdk_whole_lanes(int64_t n) {
    return rdk_round_up(n, RDK_LANES);
}

/* Floats of a query in the scratch: its length, rounded up to fours. */
static inline int64_t rdk_whole_fours(int64_t n) {
    return rdk_round_up(n, 4);
}

#endif
