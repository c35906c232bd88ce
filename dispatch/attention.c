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

static rdk_status copy_desc(rdk_attention_desc *to, const rdk_attention_desc *from) {
    const size_t least = offsetof(rdk_attention_desc, scratch_size) + sizeof from->scratch_size;
    return rdk_copy_desc(to, sizeof *to, least, from);
}

static bool count_is_wrong(int64_t n) {
    return n < 0 || n > MAX_COUNT;
}

static bool dim_is_wrong(int64_t n) {
    return n < 1 || n > RDK_MAX_HEAD_DIM;
}

static bool dims_are_wrong(const rdk_attention_desc *d) {
    return dim_is_wrong(d->d_qk) || dim_is_wrong(d->d_v);
}

static bool strides_are_wrong(int64_t batch_stride, int64_t head_stride, int64_t row_stride) {
    return batch_stride < 0 || head_stride < 0 || row_stride < 0;
}

static bool in_is_wrong(const rdk_const_view *v) {
    return strides_are_wrong(v->batch_stride, v->head_stride, v->row_stride);
}

static bool out_is_wrong(const rdk_view *v) {
    return strides_are_wrong(v->batch_stride, v->head_stride, v->row_stride);
}

static size_t scratch_bytes(const rdk_attention_desc *d) {
    return rdk_scratch_of(d->d_qk, d->d_v).bytes;
}

static bool has_queries(const rdk_attention_desc *d) {
    return d->batch && d->q_heads && d->q_len;
}

static rdk_status check_counts(const rdk_attention_desc *d) {
    if (d->causal < RDK_CAUSAL_NONE || d->causal > RDK_CAUSAL_FROM_POSITION)
        return RDK_ERR_MODE;
    if (count_is_wrong(d->batch) || count_is_wrong(d->q_heads) || count_is_wrong(d->kv_heads) ||
        count_is_wrong(d->q_len) || count_is_wrong(d->kv_len) || dims_are_wrong(d))
        return RDK_ERR_SIZE;
    if (d->q_pos < -MAX_POSITION || d->q_pos > MAX_POSITION || d->key_pos0 < 0 ||
        d->key_pos0 > MAX_POSITION)
        return RDK_ERR_SIZE;
    if (d->kv_heads ? d->q_heads % d->kv_heads : d->q_heads)
        return RDK_ERR_HEADS;
    return RDK_OK;
}

static rdk_status check_views(const rdk_attention_desc *d) {
    if (d->q.type != RDK_F32 || d->k.type != RDK_F32 || d->v.type != RDK_F32 ||
        d->out.type != RDK_F32 || (d->lse.data && d->lse.type != RDK_F32) ||
        (d->weights.data && d->weights.type != RDK_F32))
        return RDK_ERR_TYPE;
    if (has_queries(d) && (!d->q.data || !d->out.data || !d->scratch))
        return RDK_ERR_NULL;
    if (has_queries(d) && d->kv_len && (!d->k.data || !d->v.data))
        return RDK_ERR_NULL;
    if (in_is_wrong(&d->q) || in_is_wrong(&d->k) || in_is_wrong(&d->v) || out_is_wrong(&d->out) ||
        (d->lse.data && out_is_wrong(&d->lse)) || (d->weights.data && out_is_wrong(&d->weights)))
        return RDK_ERR_STRIDE;
    return RDK_OK;
}

/* batch x heads x rows pieces of `length` floats. */
static rdk_status extent_of(rdk_extent *e, const rdk_attention_desc *d, const rdk_const_view *v,
                            int64_t heads, int64_t rows, int64_t length) {
    rdk_status s = rdk_extent_begin(e, v->data, 4, d->batch && heads && rows ? length : 0);
    if (s == RDK_OK)
        s = rdk_extent_repeat(e, 4, rows, v->row_stride);
    if (s == RDK_OK)
        s = rdk_extent_repeat(e, 4, heads, v->head_stride);
    return s == RDK_OK ? rdk_extent_repeat(e, 4, d->batch, v->batch_stride) : s;
}

static rdk_status out_extent_of(rdk_extent *e, const rdk_attention_desc *d, const rdk_view *v,
                                int64_t length) {
    rdk_const_view c = {v->data, v->batch_stride, v->head_stride, v->row_stride, v->type};
    if (!v->data)
        length = 0;
    rdk_status s = extent_of(e, d, &c, d->q_heads, d->q_len, length);
    return s == RDK_OK && rdk_extent_tight_stride(e) >= 0 ? RDK_ERR_STRIDE : s;
}

enum { Q, K, V, INPUTS };
enum { OUT, LSE, WEIGHTS, SCRATCH, OUTPUTS };

static rdk_status check_extents(const rdk_attention_desc *d, rdk_extent in[INPUTS],
                                rdk_extent out[OUTPUTS]) {
    rdk_status s = extent_of(&in[Q], d, &d->q, d->q_heads, d->q_len, d->d_qk);
    if (s == RDK_OK)
        s = extent_of(&in[K], d, &d->k, d->kv_heads, d->kv_len, d->d_qk);
    if (s == RDK_OK)
        s = extent_of(&in[V], d, &d->v, d->kv_heads, d->kv_len, d->d_v);
    if (s == RDK_OK)
        s = out_extent_of(&out[OUT], d, &d->out, d->d_v);
    if (s == RDK_OK)
        s = out_extent_of(&out[LSE], d, &d->lse, 1);
    if (s == RDK_OK)
        s = out_extent_of(&out[WEIGHTS], d, &d->weights, d->kv_len);
    if (s == RDK_OK)
        s = rdk_extent_begin(&out[SCRATCH], d->scratch, 1,
                             has_queries(d) ? (int64_t)scratch_bytes(d) : 0);
    return s;
}

static rdk_status check_memory(const rdk_attention_desc *d) {
    rdk_extent in[INPUTS], out[OUTPUTS];
    if (has_queries(d) && d->scratch_size < scratch_bytes(d))
        return RDK_ERR_SCRATCH;
    rdk_status s = check_extents(d, in, out);
    if (s != RDK_OK)
        return s;
    for (int o = 0; o < OUTPUTS; o++) {
        for (int i = 0; i < INPUTS; i++)
            if (rdk_extents_overlap(&out[o], &in[i]))
                return RDK_ERR_OVERLAP;
        for (int i = 0; i < o; i++)
            if (rdk_extents_overlap(&out[o], &out[i]))
                return RDK_ERR_OVERLAP;
    }
    return RDK_OK;
}

static rdk_status check(const rdk_attention_desc *d) {
    rdk_status s = check_counts(d);
    if (s == RDK_OK)
        s = check_views(d);
    return s == RDK_OK ? check_memory(d) : s;
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

static rdk_status run(const rdk_table *t, rdk_attention_desc *d) {
    return run_ranges(t, d, NULL);
}

RDK_OPERATION(attention)

rdk_status rdk_attention_ranges_with(const rdk_table *t, const rdk_attention_desc *desc,
                                     const rdk_sight *ranges) {
    rdk_attention_desc d;
    rdk_status s = copy_desc(&d, desc);
    if (s == RDK_OK)
        s = check(&d);
    return s == RDK_OK ? run_ranges(t, &d, ranges) : s;
}

rdk_status rdk_attention_scratch(const rdk_attention_desc *desc, size_t *bytes) {
    rdk_attention_desc d;
    rdk_status s = copy_desc(&d, desc);
    if (s != RDK_OK)
        return s;
    if (!bytes)
        return RDK_ERR_NULL;
    if (dims_are_wrong(&d))
        return RDK_ERR_SIZE;
    *bytes = scratch_bytes(&d);
    return RDK_OK;
}
