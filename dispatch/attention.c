/* rdk_attention: checks the descriptor, then runs a kernel in the contract's environment. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch/desc.h"
#include "dispatch/extent.h"
#include "dispatch/fpenv.h"
#include "dispatch/operation.h"
#include "kernels/attention/plan.h"

#define MAX_COUNT ((int64_t)1 << 31)
#define MAX_POSITION ((int64_t)1 << 61) /* so that positions add and subtract without overflow */

/* With the defaults that depend on other fields. */
static rdk_status attention_copy(rdk_attention_desc *to, const rdk_attention_desc *from) {
    const size_t least = offsetof(rdk_attention_desc, scratch_size) + sizeof from->scratch_size;
    const rdk_status s = rdk_copy_desc(to, sizeof *to, least, from);
    if (s == RDK_OK && !to->kv_heads)
        to->kv_heads = to->q_heads;
    if (s == RDK_OK && !to->d_v)
        to->d_v = to->d_qk;
    return s;
}

/* The numbers of a descriptor, and what each may be. A number comes after that of its default. */
#define NUMBER(field, least, most)                                                                 \
    { offsetof(rdk_attention_desc, field), least, most, #field }
static const struct {
    size_t at;
    int64_t least, most;
    const char *name;
} NUMBER[] = {
    NUMBER(d_qk, 1, RDK_MAX_HEAD_DIM), NUMBER(d_v, 1, RDK_MAX_HEAD_DIM),
    NUMBER(batch, 0, MAX_COUNT),       NUMBER(q_heads, 0, MAX_COUNT),
    NUMBER(kv_heads, 0, MAX_COUNT),    NUMBER(q_len, 0, MAX_COUNT),
    NUMBER(kv_len, 0, MAX_COUNT),      NUMBER(q_pos, -MAX_POSITION, MAX_POSITION),
    NUMBER(key_pos0, 0, MAX_POSITION),
};
enum { DIMS = 2, NUMBERS = sizeof NUMBER / sizeof NUMBER[0] };

/* The first `count` of them. */
static rdk_fault check_numbers(const rdk_attention_desc *d, int count) {
    for (int i = 0; i < count; i++) {
        int64_t n;
        memcpy(&n, (const char *)d + NUMBER[i].at, sizeof n);
        if (n < NUMBER[i].least || n > NUMBER[i].most)
            return rdk_fault_of(RDK_ERR_SIZE, NUMBER[i].name);
    }
    return RDK_NO_FAULT;
}

static size_t scratch_bytes(const rdk_attention_desc *d) {
    return rdk_scratch_of(d->d_qk, d->d_v).bytes;
}

static bool has_queries(const rdk_attention_desc *d) {
    return d->batch && d->q_heads && d->q_len;
}

static rdk_fault check_counts(const rdk_attention_desc *d) {
    if (d->causal < RDK_CAUSAL_NONE || d->causal > RDK_CAUSAL_FROM_POSITION)
        return rdk_fault_of(RDK_ERR_MODE, "causal");
    const rdk_fault f = check_numbers(d, NUMBERS);
    if (f.status == RDK_OK && d->kv_heads && d->q_heads % d->kv_heads)
        return rdk_fault_of(RDK_ERR_HEADS, "kv_heads");
    return f;
}

/* What lies in memory, in the order of the descriptor. An output may overlap nothing before it. */
enum { Q, K, V, OUT, LSE, WEIGHTS, VIEWS, SCRATCH = VIEWS, OPERANDS };

/* A view of batch x heads x rows pieces of `length` floats; one that is left out has none. */
typedef struct operand {
    bool used;
    rdk_const_view view;
    int64_t heads, rows, length;
} operand;

static operand output_of(const rdk_attention_desc *d, const rdk_view *v, int64_t length) {
    const rdk_const_view view = {v->data, v->batch_stride, v->head_stride, v->row_stride, v->type};
    return (operand){true, view, d->q_heads, d->q_len, length};
}

static void operands_of(operand o[VIEWS], const rdk_attention_desc *d) {
    o[Q] = (operand){true, d->q, d->q_heads, d->q_len, d->d_qk};
    o[K] = (operand){true, d->k, d->kv_heads, d->kv_len, d->d_qk};
    o[V] = (operand){true, d->v, d->kv_heads, d->kv_len, d->d_v};
    o[OUT] = output_of(d, &d->out, d->d_v);
    o[LSE] = output_of(d, &d->lse, 1);
    o[LSE].used = d->lse.data;
    o[WEIGHTS] = output_of(d, &d->weights, d->kv_len);
    o[WEIGHTS].used = d->weights.data;
}

/* What the header calls the fields of a view. */
typedef struct names {
    const char *data, *batch_stride, *head_stride, *row_stride, *type;
} names;

#define NAMES(view)                                                                                \
    {                                                                                              \
        .data = #view ".data", .batch_stride = #view ".batch_stride",                              \
        .head_stride = #view ".head_stride", .row_stride = #view ".row_stride",                    \
        .type = #view ".type"                                                                      \
    }
static const names NAME[OPERANDS] = {
    NAMES(q), NAMES(k), NAMES(v), NAMES(out), NAMES(lse), NAMES(weights), {.data = "scratch"},
};

static rdk_fault check_types(const operand o[VIEWS]) {
    for (int i = 0; i < VIEWS; i++)
        if (o[i].used && o[i].view.type != RDK_F32)
            return rdk_fault_of(RDK_ERR_TYPE, NAME[i].type);
    return RDK_NO_FAULT;
}

static rdk_fault check_pointers(const operand o[VIEWS], const rdk_attention_desc *d) {
    for (int i = Q; has_queries(d) && i <= OUT; i++)
        if (o[i].rows && !o[i].view.data)
            return rdk_fault_of(RDK_ERR_NULL, NAME[i].data);
    if (has_queries(d) && !d->scratch)
        return rdk_fault_of(RDK_ERR_NULL, NAME[SCRATCH].data);
    return RDK_NO_FAULT;
}

static rdk_fault check_strides(const operand o[VIEWS]) {
    for (int i = 0; i < VIEWS; i++) {
        const rdk_const_view *v = &o[i].view;
        if (o[i].used && (v->batch_stride < 0 || v->head_stride < 0 || v->row_stride < 0))
            return rdk_fault_of(RDK_ERR_STRIDE, v->batch_stride < 0  ? NAME[i].batch_stride
                                                : v->head_stride < 0 ? NAME[i].head_stride
                                                                     : NAME[i].row_stride);
    }
    return RDK_NO_FAULT;
}

static rdk_fault extent_of(rdk_extent *e, const operand *o, int64_t batch, const names *name) {
    const rdk_const_view *v = &o->view;
    const bool some = o->used && batch && o->heads && o->rows;
    rdk_status s = rdk_extent_begin(e, v->data, 4, some ? o->length : 0);
    if (s != RDK_OK)
        return rdk_fault_of(s, name->data);
    s = rdk_extent_repeat(e, 4, o->rows, v->row_stride);
    if (s != RDK_OK)
        return rdk_fault_of(s, name->row_stride);
    s = rdk_extent_repeat(e, 4, o->heads, v->head_stride);
    if (s != RDK_OK)
        return rdk_fault_of(s, name->head_stride);
    return rdk_fault_of(rdk_extent_repeat(e, 4, batch, v->batch_stride), name->batch_stride);
}

/* No two pieces of an output may share a byte. */
static rdk_fault check_nesting(const rdk_extent *e, const operand *o, const names *name) {
    const int64_t tight = rdk_extent_tight_stride(e);
    if (tight < 0)
        return RDK_NO_FAULT;
    if (o->rows > 1 && tight == 4 * o->view.row_stride)
        return rdk_fault_of(RDK_ERR_STRIDE, name->row_stride);
    if (o->heads > 1 && tight == 4 * o->view.head_stride)
        return rdk_fault_of(RDK_ERR_STRIDE, name->head_stride);
    return rdk_fault_of(RDK_ERR_STRIDE, name->batch_stride);
}

static rdk_fault check_extents(rdk_extent e[OPERANDS], const operand o[VIEWS],
                               const rdk_attention_desc *d) {
    for (int i = 0; i < VIEWS; i++) {
        rdk_fault f = extent_of(&e[i], &o[i], d->batch, &NAME[i]);
        if (f.status == RDK_OK && i >= OUT)
            f = check_nesting(&e[i], &o[i], &NAME[i]);
        if (f.status != RDK_OK)
            return f;
    }
    const int64_t bytes = has_queries(d) ? (int64_t)scratch_bytes(d) : 0;
    return rdk_fault_of(rdk_extent_begin(&e[SCRATCH], d->scratch, 1, bytes), NAME[SCRATCH].data);
}

static rdk_fault check_overlap(const rdk_extent e[OPERANDS]) {
    for (int out = OUT; out < OPERANDS; out++)
        for (int other = 0; e[out].length && other < out; other++)
            if (rdk_extents_overlap(&e[out], &e[other]))
                return rdk_fault_of(RDK_ERR_OVERLAP, NAME[out].data);
    return RDK_NO_FAULT;
}

static rdk_fault check_memory(const rdk_attention_desc *d) {
    operand o[VIEWS];
    rdk_extent e[OPERANDS];
    operands_of(o, d);
    rdk_fault f = check_types(o);
    if (f.status == RDK_OK)
        f = check_pointers(o, d);
    if (f.status == RDK_OK)
        f = check_strides(o);
    if (f.status == RDK_OK && has_queries(d) && d->scratch_size < scratch_bytes(d))
        f = rdk_fault_of(RDK_ERR_SCRATCH, "scratch_size");
    if (f.status == RDK_OK)
        f = check_extents(e, o, d);
    return f.status == RDK_OK ? check_overlap(e) : f;
}

static rdk_fault attention_fault(const rdk_attention_desc *d) {
    const rdk_fault f = check_counts(d);
    return f.status == RDK_OK ? check_memory(d) : f;
}

/* Strides that no address depends on become 0: the kernels multiply before they look. */
static void clear_unused(int64_t *batch_stride, int64_t *head_stride, int64_t *row_stride,
                         const rdk_attention_desc *d, int64_t heads, int64_t rows) {
    if (d->batch <= 1 || !rows)
        *batch_stride = 0;
    if (heads <= 1 || !rows)
        *head_stride = 0;
    if (rows <= 1)
        *row_stride = 0;
}

static void clear_in(rdk_const_view *v, const rdk_attention_desc *d, int64_t heads, int64_t rows) {
    static const float none;
    clear_unused(&v->batch_stride, &v->head_stride, &v->row_stride, d, heads, rows);
    if (!rows)
        v->data = &none; /* nothing is read there, but C forbids even NULL + 0 */
}

static void clear_out(rdk_view *v, const rdk_attention_desc *d) {
    clear_unused(&v->batch_stride, &v->head_stride, &v->row_stride, d, d->q_heads, d->q_len);
}

static rdk_status run_ranges(const rdk_table *t, rdk_attention_desc *d, const rdk_sight *ranges) {
    if (!has_queries(d))
        return RDK_OK;
    clear_in(&d->q, d, d->q_heads, d->q_len);
    clear_in(&d->k, d, d->kv_heads, d->kv_len);
    clear_in(&d->v, d, d->kv_heads, d->kv_len);
    clear_out(&d->out, d);
    clear_out(&d->lse, d);
    clear_out(&d->weights, d);
    if (!d->kv_len)
        d->weights.data = NULL;
    rdk_problem problem;
    rdk_plan plan;
    rdk_fpenv caller = rdk_fpenv_enter();
    rdk_problem_of(&problem, d);
    problem.sight.ranges = ranges;
    const bool streams = t->attention_streaming && rdk_streams(&problem);
    rdk_plan_make(&plan, &problem, streams ? t->streaming_isa : t->kernel_isa[RDK_OP_ATTENTION],
                  t->machine);
    (streams ? t->attention_streaming : t->attention)(&plan, 0, plan.tasks, d->scratch);
    rdk_fpenv_leave(caller);
    return RDK_OK;
}

static rdk_status attention_run(const rdk_table *t, rdk_attention_desc *d) {
    return run_ranges(t, d, NULL);
}

RDK_OPERATION(attention)

rdk_status rdk_attention_ranges_with(const rdk_table *t, const rdk_attention_desc *desc,
                                     const rdk_sight *ranges) {
    rdk_attention_desc d;
    const rdk_status s = attention_examine(&t, &d, desc).status;
    return s == RDK_OK ? run_ranges(t, &d, ranges) : s;
}

rdk_status rdk_attention_scratch(const rdk_attention_desc *desc, size_t *bytes) {
    rdk_attention_desc d;
    rdk_status s = attention_copy(&d, desc);
    if (s == RDK_OK)
        s = bytes ? check_numbers(&d, DIMS).status : RDK_ERR_NULL;
    if (s == RDK_OK)
        *bytes = scratch_bytes(&d);
    return s;
}
