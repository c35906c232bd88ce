/* What the attention kernels share: a query and what it sees, a state of its sums, and the chunk that
 * needs no speed. */
#ifndef RDK_ATTENTION_H
#define RDK_ATTENTION_H

#include "kernels/contract.h"
#include "kernels/kernels.h"

RDK_ATTENTION_KERNEL(rdk_attention_scalar);
RDK_ATTENTION_KERNEL(rdk_attention_avx2);
RDK_ATTENTION_KERNEL(rdk_attention_avx512);
RDK_ATTENTION_KERNEL(rdk_attention_neon);
RDK_ATTENTION_KERNEL(rdk_attention_avx512_emulated);
RDK_ATTENTION_KERNEL(rdk_attention_neon_emulated);

/* One query, and the keys and values of its head. */
typedef struct rdk_query {
    const char *q, *k, *v;  /* k and v: of key 0 */
    int64_t k_step, v_step; /* bytes from one key to the next */
    int64_t d_qk, d_v;
    int64_t key_pos0; /* the position of key 0 */
    int64_t visible;  /* the query sees keys 0 ... visible - 1 */
    float scale;      /* what q is multiplied with, so that scores are logits in base 2 */
} rdk_query;

/* The sums over some keys: l of their weights, o of their values times weights, both relative to the
 * exponent M. M is an integer, or -inf where l = 0. */
typedef struct rdk_state {
    double M, l;
    bool cold; /* a chunk of it was */
    float o[RDK_MAX_HEAD_DIM];
} rdk_state;

/* How many keys query i sees: those at or before its position. */
static inline int64_t rdk_attention_visible(const rdk_attention_desc *d, int64_t i) {
    int64_t seen = d->kv_len;
    if (d->causal == RDK_CAUSAL_BOTTOM_RIGHT)
        seen = d->kv_len - d->q_len + i + 1;
    else if (d->causal == RDK_CAUSAL_FROM_POSITION)
        seen = d->q_pos + i - d->key_pos0 + 1;
    return seen < 0 ? 0 : seen > d->kv_len ? d->kv_len : seen;
}

/* scale * log2(e): what queries are multiplied with, so that scores are logits in base 2. */
float rdk_attention_scale(const rdk_attention_desc *d);

/* Query i of head h in batch b. */
rdk_query rdk_attention_query(const rdk_attention_desc *d, int64_t b, int64_t h, int64_t i);

/* The keys of one chunk (positions from chunk * RDK_CHUNK on) by the reference, whatever they hold; one
 * at least is visible. Vector paths hand over their odd chunks: those that are cold, and those that
 * hold a NaN. */
void rdk_attention_chunk_scalar(const rdk_query *q, int64_t chunk, rdk_state *s);

/* The row of `kv_len` weights, by the reference; cold if any chunk of the row was. */
void rdk_attention_weights_scalar(const rdk_query *q, double M, double l, bool cold, char *weights,
                                  int64_t kv_len);

/* The log-sum-exp of a state. */
float rdk_attention_lse(double M, double l);

/* Element (b, h, i) of a view is the row that begins here. */
static inline char *rdk_view_row(const rdk_view *v, int64_t b, int64_t h, int64_t i) {
    return (char *)v->data + (b * v->batch_stride + h * v->head_stride + i * v->row_stride) * 4;
}

static inline const char *rdk_const_view_row(const rdk_const_view *v, int64_t b, int64_t h,
                                             int64_t i) {
    return (const char *)v->data +
           (b * v->batch_stride + h * v->head_stride + i * v->row_stride) * 4;
}

#endif
