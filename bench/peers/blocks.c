/* Attention by products of matrices: which rows make one matrix. */
#include "bench/peers/blocks.h"

#include <math.h>
#include <stddef.h>

stacks stacks_of(const rdk_attention_desc *d, int64_t few) {
    int64_t heads = d->q_len <= few ? d->q_heads / d->kv_heads : 1;
    return (stacks){heads, d->q_heads / heads, heads * d->q_len};
}

static bool is_stacked(int64_t head_stride, int64_t row_stride, int64_t q_len) {
    return head_stride == q_len * row_stride;
}

bool stacks_fit(const rdk_attention_desc *d, const stacks *s) {
    bool f32 = d->q.type == RDK_F32 && d->k.type == RDK_F32 && d->v.type == RDK_F32 &&
               d->out.type == RDK_F32;
    bool plain = d->batch == 1 && s->rows > 0 && d->kv_len > 0 && !d->lse.data && !d->weights.data;
    bool stacked = s->heads == 1 || (is_stacked(d->q.head_stride, d->q.row_stride, d->q_len) &&
                                     is_stacked(d->out.head_stride, d->out.row_stride, d->q_len));
    return f32 && plain && stacked && visible_keys(d, 0) > 0;
}

int64_t visible_keys(const rdk_attention_desc *d, int64_t r) {
    int64_t i = r % d->q_len, n = d->kv_len;
    if (d->causal == RDK_CAUSAL_BOTTOM_RIGHT)
        n = d->kv_len - d->q_len + i + 1;
    else if (d->causal == RDK_CAUSAL_FROM_POSITION)
        n = d->q_pos + i - d->key_pos0 + 1;
    return n < 0 ? 0 : n > d->kv_len ? d->kv_len : n;
}

int64_t visible_to_any(const rdk_attention_desc *d, int64_t first, int64_t rows) {
    int64_t last = first + rows - 1;
    bool two_heads = first / d->q_len != last / d->q_len;
    return visible_keys(d, two_heads ? d->q_len - 1 : last);
}

float scale_of(const rdk_attention_desc *d) {
    return d->scale == 0 ? (float)(1 / sqrt((double)d->d_qk)) : d->scale;
}

int64_t stack_offset(const stacks *s, int64_t i, int64_t head_stride) {
    return i * s->heads * head_stride;
}

int64_t stack_kv_offset(const rdk_attention_desc *d, const stacks *s, int64_t i,
                        int64_t head_stride) {
    return i * s->heads / (d->q_heads / d->kv_heads) * head_stride;
}
