/* Where the operands of a case lie. */
#include "tests/attention/build.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"

enum {
    ROOM = 1 << 23,
    FAR = 512,
    PAGE = 1024 /* floats */
};

/* ---- Views ----------------------------------------------------------------------------------- */

shape shape_of(const attention_case *c, int operand) {
    bool of_keys = operand == OPERAND_K || operand == OPERAND_V;
    shape s = {{c->batch, of_keys ? c->kv_heads : c->q_heads, of_keys ? c->kv_len : c->q_len}, 1};
    if (operand == OPERAND_Q || operand == OPERAND_K)
        s.width = c->d_qk;
    if (operand == OPERAND_V || operand == OPERAND_OUT)
        s.width = c->d_v;
    if (operand == OPERAND_WEIGHTS)
        s.width = c->kv_len;
    return s;
}

typedef struct strides {
    int64_t of[LAYOUT_DIMS];
} strides;

int64_t *attention_stride(attention_case *c, int operand, int dim) {
    int64_t *const of[] = {c->batch_stride, c->head_stride, c->row_stride};
    return &of[dim][operand];
}

void attention_zero_strides(attention_case *c, int64_t bits) {
    for (int i = 0; i < 3 * LAYOUT_DIMS; i++)
        if (bits >> i & 1)
            *attention_stride(c, i / LAYOUT_DIMS, i % LAYOUT_DIMS) = STRIDE_0;
}

static bool is_input(int operand) {
    return operand <= OPERAND_V;
}

static int64_t input_stride(int64_t kind, int64_t usual, int64_t width) {
    switch (kind) {
    case STRIDE_0:
        return 0;
    case STRIDE_1:
        return 1;
    case STRIDE_2:
        return 2;
    case STRIDE_HALF:
        return width / 2;
    case STRIDE_ALMOST:
        return width - 1;
    case STRIDE_WIDTH:
        return width;
    case STRIDE_WIDTH_MORE:
        return width + 1;
    case STRIDE_BLOCK:
        return RDK_BLOCK;
    case STRIDE_FAR:
        return usual + FAR;
    case STRIDE_PAGES:
        return (usual + PAGE - 1) / PAGE * PAGE;
    default:
        return usual;
    }
}

/* `usual` is the least that keeps an output from overlapping itself. */
static int64_t output_stride(int64_t kind, int64_t usual, int64_t width) {
    int64_t wanted = input_stride(kind, usual, width);
    return kind == STRIDE_WIDTH_MORE ? usual + 1 : wanted > usual ? wanted : usual;
}

static int64_t stride_of(const attention_case *c, int operand, int dim, int64_t usual) {
    const int64_t *const kinds[] = {c->batch_stride, c->head_stride, c->row_stride};
    int64_t kind = kinds[dim][operand], width = shape_of(c, operand).width;
    return is_input(operand) ? input_stride(kind, usual, width) : output_stride(kind, usual, width);
}

/* The span of `count` rows or heads that do not overlap; what is outside
 * them usually lies behind. */
static int64_t span(int64_t count, int64_t usual, int64_t stride) {
    return count * (stride > usual ? stride : usual);
}

static strides strides_apart(const attention_case *c, int operand) {
    shape s = shape_of(c, operand);
    strides t;
    int inner = c->arrange == ARRANGE_BHSD ? 2 : 1, middle = 3 - inner;
    int64_t usual = s.width + c->pad[operand];
    t.of[inner] = stride_of(c, operand, inner, usual);
    usual = span(s.count[inner], usual, t.of[inner]) + c->gap;
    t.of[middle] = stride_of(c, operand, middle, usual);
    usual = span(s.count[middle], usual, t.of[middle]) + c->gap;
    t.of[0] = stride_of(c, operand, 0, usual);
    return t;
}

/* In the interleaved buffer a row is as long as q, k and v of a position together. */
static strides strides_interleaved(const attention_case *c, int operand) {
    shape q = shape_of(c, OPERAND_Q), k = shape_of(c, OPERAND_K), v = shape_of(c, OPERAND_V);
    int64_t row =
        q.count[1] * q.width + k.count[1] * k.width + v.count[1] * v.width + c->pad[OPERAND_Q];
    strides t;
    t.of[1] = stride_of(c, operand, 1, shape_of(c, operand).width);
    t.of[2] = stride_of(c, operand, 2, row);
    row = span(c->q_len > c->kv_len ? c->q_len : c->kv_len, row, t.of[2]);
    t.of[0] = stride_of(c, operand, 0, row + c->gap);
    return t;
}

static strides strides_of(const attention_case *c, int operand) {
    return c->arrange == ARRANGE_QKV && is_input(operand) ? strides_interleaved(c, operand)
                                                          : strides_apart(c, operand);
}

/* Elements up to the last that belongs to a row. */
static int64_t extent(const shape *s, const strides *t) {
    int64_t last = s->width;
    for (int i = 0; i < LAYOUT_DIMS; i++) {
        if (!s->count[i])
            return 0;
        last += (s->count[i] - 1) * t->of[i];
    }
    return last;
}

static bool has_stride(const attention_case *c, int operand) {
    return c->batch_stride[operand] || c->head_stride[operand] || c->row_stride[operand];
}

void attention_limit_strides(attention_case *c, int64_t most) {
    for (int i = 0; i < OPERAND_SCRATCH; i++) {
        shape s = shape_of(c, i);
        strides t = strides_of(c, i);
        if (has_stride(c, i) && extent(&s, &t) > most)
            c->batch_stride[i] = c->head_stride[i] = c->row_stride[i] = STRIDE_USUAL;
    }
}

static rdk_view view_of(char *data, const strides *t) {
    return (rdk_view){data, t->of[0], t->of[1], t->of[2], RDK_F32};
}

static rdk_const_view const_view_of(const char *data, const strides *t) {
    return (rdk_const_view){data, t->of[0], t->of[1], t->of[2], RDK_F32};
}

/* ---- Memory -------------------------------------------------------------------------------- */

void attention_map(memory *m) {
    static const char *const NAMES[] = {"q", "k", "v", "out", "lse", "weights", "scratch"};
    m->count = OPERAND_COUNT;
    for (int i = 0; i < OPERAND_COUNT; i++)
        guard_map(&m->buffer[i], NAMES[i], ROOM);
}

static char *place(const attention_case *c, memory *m, int operand, int64_t bytes) {
    m->used[operand] = true;
    return guard_place(&m->buffer[operand], (size_t)bytes, (size_t)c->away[operand], c->at_end);
}

static char *place_input(const attention_case *c, memory *m, int operand, int64_t elements) {
    char *p = place(c, m, operand, elements * 4);
    poison(p, RDK_F32, (size_t)elements);
    return p;
}

static void place_interleaved(const attention_case *c, memory *m, rdk_attention_desc *d) {
    int64_t k_at = c->q_heads * c->d_qk, v_at = k_at + c->kv_heads * c->d_qk, elements = 0;
    const int64_t at[] = {0, k_at, v_at};
    rdk_const_view *const view[] = {&d->q, &d->k, &d->v};
    strides t[3];
    for (int i = OPERAND_Q; i <= OPERAND_V; i++) {
        shape s = shape_of(c, i);
        t[i] = strides_of(c, i);
        int64_t n = extent(&s, &t[i]);
        if (n && n + at[i] > elements)
            elements = n + at[i];
    }
    char *p = place_input(c, m, OPERAND_Q, elements);
    for (int i = OPERAND_Q; i <= OPERAND_V; i++) {
        shape s = shape_of(c, i);
        *view[i] = const_view_of(extent(&s, &t[i]) ? p + at[i] * 4 : p, &t[i]);
    }
}

static void place_apart(const attention_case *c, memory *m, rdk_attention_desc *d, bool v_in_k) {
    rdk_const_view *const view[] = {&d->q, &d->k, &d->v};
    for (int i = OPERAND_Q; i <= (v_in_k ? OPERAND_K : OPERAND_V); i++) {
        shape s = shape_of(c, i);
        strides t = strides_of(c, i);
        *view[i] = const_view_of(place_input(c, m, i, extent(&s, &t)), &t);
    }
    if (v_in_k)
        d->v = d->k;
}

static rdk_view place_output(const attention_case *c, memory *m, int operand) {
    shape s = shape_of(c, operand);
    strides t = strides_of(c, operand);
    return view_of(place(c, m, operand, extent(&s, &t) * 4), &t);
}

rdk_attention_desc attention_build(const attention_case *c, memory *m) {
    rdk_attention_desc d = {.size = sizeof d, .batch = c->batch, .scale = c->scale};
    bool v_in_k = c->v_in_k && c->d_v <= c->d_qk && c->arrange != ARRANGE_QKV;
    d.q_heads = c->q_heads, d.kv_heads = c->kv_heads;
    d.q_len = c->q_len, d.kv_len = c->kv_len;
    d.d_qk = c->d_qk, d.d_v = c->d_v;
    d.causal = (rdk_causal)c->causal, d.q_pos = c->q_pos, d.key_pos0 = c->key_pos0;
    memset(m->used, 0, sizeof m->used);
    if (c->arrange == ARRANGE_QKV)
        place_interleaved(c, m, &d);
    else
        place_apart(c, m, &d, v_in_k);
    fill_inputs(c, &d, v_in_k);
    d.out = place_output(c, m, OPERAND_OUT);
    if (c->lse)
        d.lse = place_output(c, m, OPERAND_LSE);
    if (c->weights)
        d.weights = place_output(c, m, OPERAND_WEIGHTS);
    if (rdk_attention_scratch(&d, &d.scratch_size) != RDK_OK)
        exit(EXIT_FAILURE);
    d.scratch = place(c, m, OPERAND_SCRATCH, (int64_t)d.scratch_size);
    return d;
}
