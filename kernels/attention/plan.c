/* The plan: scratch, tasks, and what is chosen for speed. */
#include "kernels/attention/plan.h"

/* What a row keeps for itself in the scratch. */
#include "kernels/attention/row.h"

/* ---- What was measured: changing it changes speed only (docs/performance.md) --------------- */

enum {
    STATE_FLOATS = 112 * 1024, /* of queries and sums, roughly, so that they stay in L2 */
    LARGE_L2 = 1 << 20,        /* bytes, from where on thin heads go through whole blocks */
    MANY_PAGES = 1 << 21,      /* bytes of operands, from where on pages are touched ahead */
    LARGEST_CACHE = 1 << 24,   /* bytes of K and V that a call may well find in a cache */
    FAR_STEP = 2048, /* bytes between rows, from where on they share too few sets of a cache */
};

typedef struct tuning {
    int group, unit;
    rdk_packing packing;
    int thin_in_cache;          /* rows of K and of V in turn, unless L2 is large */
    int thin_panel, thin_ahead; /* bytes in turn, and fetched ahead, from memory */
} tuning;

/* AVX-512 reads packed values no faster than L2 gives them. */
static tuning tuning_of(rdk_isa isa) {
    const rdk_packing never = {false, FAR_STEP, 0, 0};
    switch (isa) {
    case RDK_ISA_AVX2:
        return (tuning){RDK_GROUP_AVX2, RDK_UNIT_AVX2, {true, FAR_STEP, 3, 10}, 16, 8192, 24576};
    case RDK_ISA_AVX512:
        return (tuning){RDK_GROUP_AVX512, RDK_UNIT_AVX512, never, 16, 8192, 24576};
    case RDK_ISA_NEON:
        return (tuning){RDK_GROUP_NEON, RDK_UNIT_NEON, {true, FAR_STEP, 10, 10},
                        RDK_BLOCK,      65536,         65536};
    default: /* the reference looks at tasks alone */
        return (tuning){RDK_GROUP, RDK_GROUP, never, RDK_BLOCK, 65536, 65536};
    }
}

/* ---- The scratch --------------------------------------------------------------------------- */

/* How many rows are worked on at once. */
static int64_t rows_at_once(int64_t d_qk, int64_t d_v) {
    const int64_t floats = d_qk + 2 * rdk_whole_lanes(d_v);
    const int64_t rows = STATE_FLOATS / floats / RDK_GROUP * RDK_GROUP;
    return rows < 2 * RDK_GROUP ? 2 * RDK_GROUP : rows > RDK_MAX_ROWS ? RDK_MAX_ROWS : rows;
}

/* Takes so many bytes, in whole cache lines; returns where they begin. */
static size_t take(size_t *end, int64_t bytes) {
    const size_t begin = *end, align = RDK_SCRATCH_ALIGN;
    *end += ((size_t)bytes + align - 1) / align * align;
    return begin;
}

rdk_scratch rdk_scratch_of(int64_t d_qk, int64_t d_v) {
    rdk_scratch s = {.rows = rows_at_once(d_qk, d_v)};
    const int64_t f = sizeof(float), sums = rdk_whole_lanes(d_v) * f;
    size_t end = 0;
    s.q = take(&end, s.rows * rdk_whole_fours(d_qk) * f);
    s.sums = take(&end, s.rows * sums);
    s.first_sums = take(&end, s.rows * sums);
    s.partial = take(&end, RDK_GROUP * sums);
    s.scores = take(&end, RDK_GROUP * RDK_BLOCK * f);
    s.values = take(&end, RDK_BLOCK * sums);
    s.M = take(&end, 2 * s.rows * f);
    s.T = take(&end, 2 * s.rows * f);
    s.l = take(&end, s.rows * (int64_t)sizeof(double));
    s.row = take(&end, s.rows * (int64_t)sizeof(rdk_row));
    s.bytes = end + RDK_SCRATCH_ALIGN;
    return s;
}

/* ---- Tasks --------------------------------------------------------------------------------- */

/* Rows of the scratch that those of a head take where several are in step: a thin head's
 * queries lie there twice. */
static int64_t rows_apart_of(int64_t rows, int unit) {
    return rows <= RDK_THIN ? 2 * unit : rdk_round_up(rows, unit);
}

/* Heads with few rows go through the keys in step where these lie [position][head], so that
 * memory is read in order. */
static int64_t heads_at_once(const rdk_plan *plan, const tuning *t) {
    const rdk_const_view *k = &plan->problem.kv.k;
    if (plan->rows_of_head > t->group || k->head_stride >= k->row_stride)
        return 1;
    return rdk_least(RDK_MAX_IN_STEP, plan->scratch.rows / plan->rows_apart);
}

/* Blocks of nearly equal size: whole groups, but for the last. */
static void cut_rows(rdk_plan *plan, const tuning *t) {
    const int64_t rows = plan->rows_of_head, most = plan->scratch.rows;
    const int64_t blocks = (rows + most - 1) / most;
    plan->rows_of_block = rdk_round_up((rows + blocks - 1) / blocks, t->group);
    plan->blocks_of_rows = (rows + plan->rows_of_block - 1) / plan->rows_of_block;
}

rdk_task rdk_plan_task(const rdk_plan *plan, int64_t i) {
    const rdk_problem *p = &plan->problem;
    const int64_t heads = (p->kv_heads + plan->heads_at_once - 1) / plan->heads_at_once;
    const int64_t of_batch = heads * plan->blocks_of_rows, in_batch = i % of_batch;
    rdk_task t = {.batch = i / of_batch};
    t.kv_head = in_batch / plan->blocks_of_rows * plan->heads_at_once;
    t.heads = rdk_least(plan->heads_at_once, p->kv_heads - t.kv_head);
    t.first = in_batch % plan->blocks_of_rows * plan->rows_of_block;
    t.rows = rdk_least(plan->rows_of_block, plan->rows_of_head - t.first);
    return t;
}

/* ---- The plan ------------------------------------------------------------------------------ */

/* Rows of so many bytes that are worth reading in turn, from memory. */
static int panel_of(int64_t row, int panel_bytes) {
    int rows = RDK_BLOCK;
    while (rows > 8 && rows * row > panel_bytes)
        rows /= 2;
    return rows;
}

/* Bytes of the rows of so many heads and positions, in two operands. */
static double bytes_of(const rdk_problem *p, int64_t heads, int64_t positions) {
    return (double)(p->d_qk + p->d_v) * sizeof(float) * (double)p->batch * (double)heads *
           (double)positions;
}

static bool has_more(const rdk_problem *p, int64_t bytes) {
    return bytes_of(p, p->kv_heads, p->kv_len) > (double)bytes;
}

/* A decode step goes through the layers of a model, each with K and V of its own, so that these
 * come from memory as soon as L2 cannot hold them. One or two rows have too little to compute
 * for the path that asks for lines again: they take it only where K and V outgrow all caches. */
static bool come_from_memory(const rdk_problem *p, rdk_machine machine) {
    const int64_t rows = p->heads_per_kv * p->q_len, l2 = machine.l2 ? machine.l2 : LARGE_L2;
    return has_more(p, rows > 2 && rows <= RDK_THIN ? l2 : LARGEST_CACHE);
}

bool rdk_streams(const rdk_problem *p) {
    return p->heads_per_kv * p->q_len <= RDK_THIN && has_more(p, LARGEST_CACHE);
}

static void choose_reading(rdk_plan *plan, const tuning *t, rdk_machine machine) {
    const rdk_problem *p = &plan->problem;
    const int64_t row = (p->d_qk > p->d_v ? p->d_qk : p->d_v) * (int64_t)sizeof(float);
    plan->from_memory = come_from_memory(p, machine);
    plan->touches_pages =
        bytes_of(p, p->kv_heads, p->kv_len) + bytes_of(p, p->q_heads, p->q_len) > MANY_PAGES;
    plan->thin_panel = plan->from_memory        ? panel_of(row, t->thin_panel)
                       : machine.l2 >= LARGE_L2 ? RDK_BLOCK
                                                : t->thin_in_cache;
    plan->thin_ahead = rdk_least(t->thin_ahead / row, RDK_BLOCK);
    plan->packing = t->packing;
}

void rdk_plan_make(rdk_plan *plan, const rdk_problem *problem, rdk_isa isa, rdk_machine machine) {
    const tuning t = tuning_of(isa);
    *plan = (rdk_plan){.problem = *problem};
    plan->scratch = rdk_scratch_of(problem->d_qk, problem->d_v);
    plan->rows_of_head = problem->heads_per_kv * problem->q_len;
    plan->rows_apart = rows_apart_of(plan->rows_of_head, t.unit);
    plan->heads_at_once = heads_at_once(plan, &t);
    cut_rows(plan, &t);
    const int64_t heads = (problem->kv_heads + plan->heads_at_once - 1) / plan->heads_at_once;
    plan->tasks = problem->batch * heads * plan->blocks_of_rows;
    choose_reading(plan, &t, machine);
}
