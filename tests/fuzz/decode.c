#include "tests/fuzz/decode.h"

#include "kernels/contract.h"

enum { MOST_FLOATS = 1 << 17 }; /* of an operand whose strides are odd */

/* ---- Right ones ------------------------------------------------------------------------------ */

softmax_case decode_softmax(bytes *b) {
    softmax_case c = {.rows = take_below(b, 21)};
    int64_t cols = take_two(b);
    c.cols = cols & 0x8000 ? cols % 1200 : cols % 70;
    c.mode = (rdk_softmax_mode)take_below(b, 3);
    c.x_type = (rdk_type)take_below(b, 3);
    c.y_type = (rdk_type)take_below(b, 3);
    c.bias_type = (rdk_type)take_below(b, 3);
    c.family = (family)take_below(b, FAMILY_COUNT);
    c.bias = (bias_kind)take_below(b, BIAS_COUNT);
    c.visible = (visible_kind)take_below(b, VISIBLE_COUNT);
    c.visible_count = take(b) * (c.cols + 1) / 256;
    c.row_scale = (row_scale_kind)take_below(b, ROW_SCALE_COUNT);
    c.scale = take_float(b);
    c.x_pad = (int)take_below(b, 12);
    c.y_pad = (int)take_below(b, 12);
    c.bias_pad = (int)take_below(b, 12);
    c.x_away = (int)take_below(b, GUARD_SLACK);
    c.y_away = (int)take_below(b, GUARD_SLACK);
    c.bias_away = (int)take_below(b, GUARD_SLACK);
    c.at_end = take_flag(b);
    c.in_place = take_below(b, 4) == 3;
    c.x_repeat = !c.in_place && take_below(b, 4) == 3;
    c.bias_repeat = take_flag(b);
    c.lse = c.mode == RDK_SOFTMAX_LSE || take_flag(b);
    c.y_null = c.mode == RDK_SOFTMAX_LSE && !c.in_place && take_flag(b);
    c.seed = (uint64_t)take(b);
    if (c.in_place)
        c.y_type = c.x_type;
    return c;
}

static int64_t decode_dim(bytes *b) {
    int64_t n = take(b);
    return n < 192 ? 1 + n % 24 : n < 252 ? 1 + n : RDK_MAX_HEAD_DIM - 16 + n % 17;
}

/* Floats of q, k and v, interleaved or not, roughly. */
static int64_t room_of(const attention_case *c) {
    int64_t rows = c->q_len > c->kv_len ? c->q_len : c->kv_len;
    int64_t q = c->q_heads * (c->d_qk + 24), kv = c->kv_heads * (c->d_qk + c->d_v + 48);
    return c->batch * rows * (q + kv);
}

static void decode_sizes(bytes *b, attention_case *c) {
    int64_t q = take(b), kv = take_two(b);
    c->batch = take_below(b, 3);
    c->kv_heads = 1 + take_below(b, 3);
    c->q_heads = c->kv_heads * (1 + take_below(b, 5));
    c->q_len = q < 192 ? q % 14 : q;
    c->kv_len = kv & 0x8000 ? kv % 2200 : kv % 300;
    c->d_qk = decode_dim(b);
    c->d_v = decode_dim(b);
    while (attention_cost(c) > 100000 || room_of(c) > 1000000) {
        if (c->q_len > 4)
            c->q_len /= 2;
        else if (c->kv_len > 40)
            c->kv_len /= 2;
        else if (c->batch > 1)
            c->batch = 1;
        else if (c->q_heads > 1)
            c->q_heads = c->kv_heads = 1;
        else
            c->d_qk = c->d_v = 1 + c->d_qk / 2;
    }
}

/* Around the edges of blocks and chunks, and where positions end. */
static void decode_positions(bytes *b, attention_case *c) {
    int64_t kind = take_below(b, 4), near = take_two(b) % (c->kv_len + 2);
    c->causal = take_below(b, 3);
    if (kind == 1)
        c->key_pos0 = near;
    if (kind == 2)
        c->key_pos0 = RDK_CHUNK * (1 + take_below(b, 3)) - near;
    if (kind == 3)
        c->key_pos0 = ((int64_t)1 << 61) - near;
    if (c->key_pos0 < 0)
        c->key_pos0 = 0;
    if (c->causal == RDK_CAUSAL_FROM_POSITION)
        c->q_pos = c->key_pos0 + take_two(b) % (c->kv_len + c->q_len + 3) - c->q_len - 1;
    if (c->q_pos > (int64_t)1 << 61)
        c->q_pos = (int64_t)1 << 61;
}

static void decode_layout(bytes *b, attention_case *c) {
    c->arrange = take_below(b, ARRANGE_COUNT);
    for (int i = 0; i < OPERAND_COUNT; i++) {
        c->pad[i] = i == OPERAND_SCRATCH ? 0 : take_below(b, 12);
        c->away[i] = take_below(b, GUARD_SLACK);
    }
    c->gap = take_below(b, 9);
    c->at_end = take_flag(b);
    c->lse = take_flag(b);
    c->weights = take_flag(b);
    c->v_in_k = take_below(b, 4) == 3;
    if (take_below(b, 4) == 3)
        attention_zero_strides(c, take_two(b) & 0x1ff);
}

/* As many as there are bytes for, up to four. */
static void decode_strides(bytes *b, attention_case *c) {
    for (int64_t n = take_below(b, 5); n > 0; n--) {
        int64_t operand = take_below(b, OPERAND_SCRATCH), dim = take_below(b, LAYOUT_DIMS);
        *attention_stride(c, (int)operand, (int)dim) = take_below(b, STRIDE_COUNT);
    }
    attention_limit_strides(c, MOST_FLOATS);
}

static void decode_special_part(bytes *b, attention_case *c) {
    int64_t count = take(b), column = take(b);
    if (count)
        c->special_to = c->special_from + 1 + count * c->kv_len / 256;
    if (column)
        c->special_column = column - 1;
}

attention_case decode_attention(bytes *b) {
    attention_case c = attention_default();
    decode_sizes(b, &c);
    decode_positions(b, &c);
    c.scale = take_float(b);
    c.scores = take_below(b, SCORES_COUNT);
    c.row = take_below(b, FAMILY_COUNT);
    c.values = take_below(b, VALUES_COUNT);
    c.special = take_below(b, 2) ? take_below(b, SPECIAL_COUNT) : SPECIAL_NONE;
    c.special_in = take_below(b, 8);
    c.special_from = take(b) * (c.kv_len + 2) / 256 - 1;
    decode_layout(b, &c);
    c.seed = take(b);
    decode_strides(b, &c);
    decode_special_part(b, &c);
    c.ranges = take_below(b, RANGES_COUNT);
    return c;
}

/* ---- Wrong ones ------------------------------------------------------------------------------ */

/* NULL, or near an operand: any of them, a few elements before its first or after it. */
static char *wild_pointer(bytes *b, const memory *m, int64_t align) {
    int64_t which = take_below(b, m->count + 2), away = (take(b) - 128) * align;
    if (which >= m->count || !m->used[which])
        return NULL;
    return m->buffer[which].data - (uintptr_t)m->buffer[which].data % (uintptr_t)align + away;
}

/* Its negative, which is wrong for most and close to right in size, or anything. */
static void spoil_number(bytes *b, int64_t *n) {
    *n = take_flag(b) && *n > 0 ? -*n : take_wild(b);
}

static void spoil_size(bytes *b, size_t *size, size_t right) {
    static const int AWAY[] = {-8, -1, 8, 0};
    int64_t kind = take_below(b, 8);
    *size = kind < 4 ? right + (size_t)AWAY[kind] : (size_t)take_wild(b);
    if (*size > right && *size <= 4096) /* bytes behind the descriptor would be read */
        *size = right - 8;
}

void spoil_softmax(bytes *b, rdk_softmax_desc *d, const memory *m) {
    int64_t *const numbers[] = {&d->rows, &d->cols, &d->x_stride, &d->y_stride, &d->bias_stride};
    int32_t *const kinds[] = {&d->mode, &d->x_type, &d->y_type, &d->bias_type};
    int64_t what = take_below(b, 16);
    if (what < 5)
        spoil_number(b, numbers[what]);
    else if (what < 9)
        *kinds[what - 5] = (int32_t)take_wild(b);
    else if (what == 9)
        spoil_size(b, &d->size, sizeof *d);
    else if (what == 10)
        d->x = wild_pointer(b, m, 1);
    else if (what == 11)
        d->y = wild_pointer(b, m, 1);
    else if (what == 12)
        d->bias = wild_pointer(b, m, 1);
    else if (what == 13)
        d->lse = (float *)(void *)wild_pointer(b, m, 4);
    else if (what == 14)
        d->row_scale = (const float *)(void *)wild_pointer(b, m, 4);
    else if (m->used[BUFFER_VISIBLE] && m->buffer[BUFFER_VISIBLE].bytes)
        ((int64_t *)(void *)m->buffer[BUFFER_VISIBLE].data)[0] = take_wild(b);
}

static void spoil_view(bytes *b, const memory *m, void **data, int64_t *batch, int64_t *head,
                       int64_t *row, rdk_type *type) {
    int64_t *const strides[] = {batch, head, row};
    int64_t what = take_below(b, 8);
    if (what < 3)
        spoil_number(b, strides[what]);
    else if (what == 3)
        *type = (rdk_type)take_wild(b);
    else
        *data = wild_pointer(b, m, 1);
}

static void spoil_input(bytes *b, const memory *m, rdk_const_view *v) {
    void *data = (void *)(uintptr_t)v->data;
    spoil_view(b, m, &data, &v->batch_stride, &v->head_stride, &v->row_stride, &v->type);
    v->data = data;
}

static void spoil_output(bytes *b, const memory *m, rdk_view *v) {
    spoil_view(b, m, &v->data, &v->batch_stride, &v->head_stride, &v->row_stride, &v->type);
}

void spoil_attention(bytes *b, rdk_attention_desc *d, const memory *m) {
    int64_t *const numbers[] = {&d->batch, &d->q_heads, &d->kv_heads, &d->q_len,   &d->kv_len,
                                &d->d_qk,  &d->d_v,     &d->q_pos,    &d->key_pos0};
    rdk_const_view *const in[] = {&d->q, &d->k, &d->v};
    rdk_view *const out[] = {&d->out, &d->lse, &d->weights};
    int64_t what = take_below(b, 24);
    if (what < 9)
        spoil_number(b, numbers[what]);
    else if (what < 15)
        spoil_input(b, m, in[what % 3]);
    else if (what < 20)
        spoil_output(b, m, out[what % 3]);
    else if (what == 20)
        spoil_size(b, &d->size, sizeof *d);
    else if (what == 21)
        d->causal = (rdk_causal)take_wild(b);
    else if (what == 22)
        d->scratch = wild_pointer(b, m, 1);
    else
        d->scratch_size -= (size_t)take(b);
}
