/* A call cut into calls. */
#include "bench/split.h"

#include "bench/inputs.h"

static int at_most(int64_t n, int most) {
    return n < most ? (int)n : most;
}

int64_t part_begin(int64_t all, int i, int parts) {
    return all * i / parts;
}

/* ---- Softmax --------------------------------------------------------------------------------- */

int softmax_parts(const rdk_softmax_desc *d, int threads) {
    return at_most(d->rows, threads);
}

static size_t row_bytes(int64_t stride, rdk_type type) {
    return (size_t)stride * type_size(type);
}

/* The benches have no other operands of rows. */
rdk_softmax_desc softmax_part(const rdk_softmax_desc *d, int i, int parts) {
    rdk_softmax_desc part = *d;
    int64_t first = part_begin(d->rows, i, parts);
    part.rows = part_begin(d->rows, i + 1, parts) - first;
    part.x = (const char *)d->x + (size_t)first * row_bytes(d->x_stride, d->x_type);
    part.y = (char *)d->y + (size_t)first * row_bytes(d->y_stride, d->y_type);
    if (d->bias)
        part.bias = (const char *)d->bias + (size_t)first * row_bytes(d->bias_stride, d->bias_type);
    return part;
}

/* ---- Attention ------------------------------------------------------------------------------- */

/* What can be cut, the coarsest first. */
typedef enum cut { BY_BATCH, BY_KV_HEADS, BY_HEADS_OF_A_GROUP, BY_QUERIES } cut;

static cut cut_of(const rdk_attention_desc *d) {
    return d->batch > 1      ? BY_BATCH
           : d->kv_heads > 1 ? BY_KV_HEADS
           : d->q_heads > 1  ? BY_HEADS_OF_A_GROUP
                             : BY_QUERIES;
}

static int64_t pieces(const rdk_attention_desc *d) {
    const int64_t counts[] = {d->batch, d->kv_heads, d->q_heads, d->q_len};
    return counts[cut_of(d)];
}

int attention_parts(const rdk_attention_desc *d, int threads) {
    return at_most(pieces(d), threads);
}

static void move_kv(rdk_attention_desc *d, int64_t k, int64_t v) {
    d->k.data = (const float *)d->k.data + k;
    d->v.data = (const float *)d->v.data + v;
}

static void move_q(rdk_attention_desc *d, int64_t q, int64_t out) {
    d->q.data = (const float *)d->q.data + q;
    d->out.data = (float *)d->out.data + out;
}

static void take_batches(rdk_attention_desc *d, int64_t first, int64_t count) {
    move_kv(d, first * d->k.batch_stride, first * d->v.batch_stride);
    move_q(d, first * d->q.batch_stride, first * d->out.batch_stride);
    d->batch = count;
}

static void take_kv_heads(rdk_attention_desc *d, int64_t first, int64_t count) {
    int64_t group = d->q_heads / d->kv_heads;
    move_kv(d, first * d->k.head_stride, first * d->v.head_stride);
    move_q(d, first * group * d->q.head_stride, first * group * d->out.head_stride);
    d->kv_heads = count;
    d->q_heads = count * group;
}

static void take_heads(rdk_attention_desc *d, int64_t first, int64_t count) {
    move_q(d, first * d->q.head_stride, first * d->out.head_stride);
    d->q_heads = count;
}

static void take_queries(rdk_attention_desc *d, int64_t first, int64_t count) {
    move_q(d, first * d->q.row_stride, first * d->out.row_stride);
    if (d->causal == RDK_CAUSAL_BOTTOM_RIGHT) {
        d->causal = RDK_CAUSAL_FROM_POSITION;
        d->q_pos = d->key_pos0 + d->kv_len - d->q_len;
    }
    d->q_pos += first;
    d->q_len = count;
}

rdk_attention_desc attention_part(const rdk_attention_desc *d, int i, int parts) {
    static void (*const TAKE[])(rdk_attention_desc *, int64_t,
                                int64_t) = {take_batches, take_kv_heads, take_heads, take_queries};
    rdk_attention_desc part = *d;
    int64_t all = pieces(d), first = part_begin(all, i, parts);
    TAKE[cut_of(d)](&part, first, part_begin(all, i + 1, parts) - first);
    part.scratch_size = d->scratch_size / (size_t)parts / 64 * 64;
    part.scratch = (char *)d->scratch + (size_t)i * part.scratch_size;
    return part;
}
