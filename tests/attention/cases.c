#include "tests/attention/cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"

enum {
    MAX_KEYS = 1 << 14,
    MAX_RANGES = 1 << 12,
    ROOM = 1 << 23,
    FAR = 512,
    PAGE = 1024,         /* floats */
    MOST_DRAWN = 1 << 15 /* floats */
};

/* ---- Views ----------------------------------------------------------------------------------- */

/* A batch x heads x rows array of pieces of `width`. */
typedef struct shape {
    int64_t count[LAYOUT_DIMS]; /* batch, heads, rows */
    int64_t width;
} shape;

static shape shape_of(const attention_case *c, int operand) {
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

/* ---- Values ---------------------------------------------------------------------------------- */

static bool holds_each_once(const rdk_const_view *v, int64_t b, int64_t h, int64_t i) {
    return (!b || v->batch_stride) && (!h || v->head_stride) && (!i || v->row_stride);
}

static char *row_of(const rdk_const_view *v, int64_t b, int64_t h, int64_t i) {
    return (char *)(uintptr_t)v->data +
           (b * v->batch_stride + h * v->head_stride + i * v->row_stride) * 4;
}

/* Writes row i of a view of `width` columns. */
typedef void filler(const attention_case *c, char *row, int64_t width, int64_t i, rng *r);

/* Each row once, however many indices lead to it. */
static void fill_rows(const attention_case *c, int operand, const rdk_const_view *v, filler *fill,
                      rng *r) {
    shape s = shape_of(c, operand);
    for (int64_t b = 0; b < s.count[0]; b++)
        for (int64_t h = 0; h < s.count[1]; h++)
            for (int64_t i = 0; i < s.count[2]; i++)
                if (holds_each_once(v, b, h, i))
                    fill(c, row_of(v, b, h, i), s.width, i, r);
}

static float zero(rng *r) {
    return chance(r, 50) ? 0.0f : -0.0f;
}

static float subnormal(rng *r) {
    return rdk_float((uint32_t)(rng_next(r) & 0x807fffff));
}

/* The column that decides if the scores are those of a softmax row. */
static int64_t deciding(const attention_case *c) {
    return (int64_t)((uint64_t)c->seed % (uint64_t)c->d_qk);
}

static float query_value(const attention_case *c, int64_t column, rng *r) {
    switch (c->scores) {
    case SCORES_WIDE:
        return normal(r) * 8;
    case SCORES_ROW:
        return column == deciding(c) ? PICK(r, 1, 1, 1, 0.5f, 2, -1) : zero(r);
    case SCORES_ZEROS:
        return zero(r);
    case SCORES_MIXED:
        return fabsf(normal(r)) + 0.125f; /* so that the sign of a score is the key's */
    case SCORES_HUGE:
        return normal(r) * 1e3f;
    case SCORES_RISING:
        return column == deciding(c) ? PICK(r, 1, 1, 0.9375f, 1.0625f, 0.5f) : zero(r);
    default:
        return normal(r);
    }
}

/* Scores of these times something normal are past HOT, or most are not, but past softmax's. */
#define COLD (16 * RDK_ATTENTION_HOT)
#define NEARLY_COLD (RDK_ATTENTION_HOT / 8)

/* With a scale of ln(2) these are the scores, in base 2, of a query of 1. */
static float rising(const attention_case *c, int64_t position, rng *r) {
    int64_t block = position / RDK_BLOCK;
    rng of_block = {(uint64_t)c->seed ^ (uint64_t)block};
    float level = (float)(block % 1000 * RDK_HEADROOM) + (float)rng_below(&of_block, 9) * 0.125f;
    return level - (chance(r, 10) ? 0 : 88 + (float)rng_below(r, 100) * 0.25f);
}

static float key_value(const attention_case *c, int64_t position, rng *r) {
    rng of_chunk = {(uint64_t)c->seed ^ (uint64_t)(position / RDK_CHUNK)};
    switch (c->scores) {
    case SCORES_WIDE:
        return normal(r) * 8;
    case SCORES_SUBNORMAL:
        return subnormal(r);
    case SCORES_ZEROS:
        return zero(r);
    case SCORES_MIXED:
        switch (rng_below(&of_chunk, 6)) {
        case 0:
            return normal(r) * COLD;
        case 1:
            return -fabsf(normal(r)) * COLD - COLD;
        case 2:
            return normal(r) * NEARLY_COLD;
        case 3:
            return -fabsf(normal(r)) * NEARLY_COLD - NEARLY_COLD;
        default:
            return normal(r);
        }
    case SCORES_COLD:
        return normal(r) * (const float[]){COLD, NEARLY_COLD, RDK_ATTENTION_HOT}[c->seed % 3];
    case SCORES_HUGE:
        return normal(r) * 1e37f;
    case SCORES_RISING:
        return rising(c, position, r);
    default:
        return normal(r);
    }
}

static float value_value(const attention_case *c, rng *r) {
    switch (c->values) {
    case VALUES_SUBNORMAL:
        return subnormal(r);
    case VALUES_ZEROS:
        return zero(r);
    case VALUES_TINY:
        return PICK(r, -0.0f, -0.0f, -0x1p-149f, -0x1p-148f);
    case VALUES_HUGE:
        return normal(r) * 1e38f;
    case VALUES_INFINITIES:
        return chance(r, 2) ? PICK(r, INFINITY, -INFINITY) : normal(r);
    default:
        return normal(r);
    }
}

static void fill_query(const attention_case *c, char *row, int64_t width, int64_t i, rng *r) {
    (void)i;
    for (int64_t x = 0; x < width; x++)
        if (c->scores == SCORES_BITS)
            put_bits(row, RDK_F32, x, (uint32_t)rng_next(r));
        else
            rdk_store(row, RDK_F32, x, query_value(c, x, r));
}

static void fill_key(const attention_case *c, char *row, int64_t width, int64_t j, rng *r) {
    for (int64_t x = 0; x < width; x++)
        if (c->scores == SCORES_BITS)
            put_bits(row, RDK_F32, x, (uint32_t)rng_next(r));
        else
            rdk_store(row, RDK_F32, x, key_value(c, c->key_pos0 + j, r));
}

static void fill_value(const attention_case *c, char *row, int64_t width, int64_t j, rng *r) {
    (void)j;
    for (int64_t x = 0; x < width; x++)
        if (c->values == VALUES_BITS)
            put_bits(row, RDK_F32, x, (uint32_t)rng_next(r));
        else if (c->values == VALUES_NAN && chance(r, 2))
            put_nan(row, RDK_F32, x, r);
        else
            rdk_store(row, RDK_F32, x, value_value(c, r));
}

/* The deciding column of all keys of all heads. */
static void fill_deciding(const attention_case *c, const rdk_const_view *v, rng *r) {
    static char row[MAX_KEYS * 4];
    float scale = c->scale == 0 ? (float)(1 / sqrt((double)c->d_qk)) : c->scale;
    float hot = c->seed % 4 ? RDK_ATTENTION_HOT : RDK_HOT; /* softmax's is none here */
    for (int64_t b = 0; c->kv_len && b < c->batch; b++)
        for (int64_t h = 0; h < c->kv_heads; h++) {
            fill_row(row, RDK_F32, c->kv_len, (family)c->row, scale, hot, r);
            for (int64_t j = 0; j < c->kv_len; j++)
                memcpy(row_of(v, b, h, j) + deciding(c) * 4, row + j * 4, 4);
        }
}

static void put_special(const attention_case *c, char *row, int64_t x, rng *r) {
    int64_t kind = c->special == SPECIAL_ANY ? 1 + rng_below(r, SPECIAL_ANY - 1) : c->special;
    if (kind == SPECIAL_NAN)
        put_nan(row, RDK_F32, x, r);
    else
        rdk_store(row, RDK_F32, x, kind == SPECIAL_INF ? INFINITY : -INFINITY);
}

static void fill_special(const attention_case *c, char *row, int64_t width, int64_t j, rng *r) {
    bool has_any = j >= c->special_from && j < c->special_to;
    for (int64_t x = 0; has_any && x < width; x++)
        if (c->special_column < 0 || x == c->special_column % width)
            put_special(c, row, x, r);
}

static void put_specials(const attention_case *c, int operand, const rdk_const_view *v, rng *r) {
    shape s = shape_of(c, operand);
    if (!(c->special_in & 1 << operand) || !s.count[0] || !s.count[1] || !s.count[2])
        return;
    for (int64_t n = 1 + rng_below(r, 3); c->special_from < 0 && n > 0; n--) {
        int64_t b = rng_below(r, s.count[0]), h = rng_below(r, s.count[1]);
        put_special(c, row_of(v, b, h, rng_below(r, s.count[2])), rng_below(r, s.width), r);
    }
    if (c->special_from >= 0 && operand != OPERAND_Q)
        fill_rows(c, operand, v, fill_special, r);
}

static void fill_inputs(const attention_case *c, const rdk_attention_desc *d, bool v_in_k) {
    rng r = {(uint64_t)c->seed};
    fill_rows(c, OPERAND_Q, &d->q, fill_query, &r);
    fill_rows(c, OPERAND_K, &d->k, fill_key, &r);
    if (c->scores == SCORES_ROW)
        fill_deciding(c, &d->k, &r);
    if (!v_in_k)
        fill_rows(c, OPERAND_V, &d->v, fill_value, &r);
    if (!c->special)
        return;
    put_specials(c, OPERAND_Q, &d->q, &r);
    put_specials(c, OPERAND_K, &d->k, &r);
    put_specials(c, OPERAND_V, &d->v, &r);
}

/* ---- Ranges -------------------------------------------------------------------------------- */

static int64_t between(rng *r, int64_t least, int64_t most) {
    return least + rng_below(r, most - least + 1);
}

/* Like the keys, the queries are spread over the whole length. */
static rdk_sight window_of(const attention_case *c, int64_t i) {
    const int64_t left = c->seed % 97, right = c->seed / 97 % 61 - 7;
    const int64_t key = i * c->kv_len / c->q_len;
    return (rdk_sight){key - left, key + right + 1};
}

static rdk_sight ends_of(const attention_case *c, rng *r) {
    const int64_t some = between(r, 0, 9);
    return chance(r, 50) ? (rdk_sight){some / 3, some} : (rdk_sight){c->kv_len - some, c->kv_len};
}

/* Bounds may lie outside the keys, and in any order. */
static rdk_sight any_range(const attention_case *c, rng *r) {
    const int64_t first = between(r, -3, c->kv_len + 3);
    return (rdk_sight){first, between(r, chance(r, 80) ? first : -3, c->kv_len + 3)};
}

static rdk_sight range_of(const attention_case *c, int64_t i, rdk_sight before, rng *r) {
    switch (c->ranges) {
    case RANGES_WINDOW:
        return window_of(c, i);
    case RANGES_DOCUMENTS:
        return i && chance(r, 80) ? before
                                  : (rdk_sight){i ? before.end : 0, between(r, 0, c->kv_len)};
    case RANGES_ENDS:
        return ends_of(c, r);
    case RANGES_TO_END:
        return (rdk_sight){(c->seed % 2 ? i : c->q_len - 1 - i) * c->kv_len / c->q_len, c->kv_len};
    case RANGES_FEW: {
        const int64_t key = rng_below(r, c->kv_len + 1);
        return (rdk_sight){key, key + chance(r, 30)};
    }
    default:
        return any_range(c, r);
    }
}

const rdk_sight *attention_ranges(const attention_case *c) {
    static rdk_sight ranges[MAX_RANGES];
    rng r = {(uint64_t)c->seed};
    if (!c->ranges)
        return NULL;
    if (c->batch * c->q_len > MAX_RANGES)
        exit(EXIT_FAILURE);
    for (int64_t i = 0; i < c->batch * c->q_len; i++)
        ranges[i] = range_of(c, i % c->q_len, i ? ranges[i - 1] : (rdk_sight){0, 0}, &r);
    return ranges;
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

/* ---- Cases ----------------------------------------------------------------------------------- */

attention_case attention_default(void) {
    attention_case c = {.batch = 1, .q_heads = 1, .kv_heads = 1, .q_len = 3, .kv_len = 37};
    c.d_qk = 5;
    c.d_v = 6;
    c.at_end = c.lse = c.weights = true;
    c.special_from = c.special_column = -1;
    c.special_to = INT64_MAX;
    c.seed = 1;
    return c;
}

int64_t attention_cost(const attention_case *c) {
    return c->batch * c->q_heads * c->q_len * (c->kv_len * (c->d_qk + c->d_v + 10) + c->d_v);
}

/* Most are tiny; the others are large in one or two directions. */
static void draw_sizes(attention_case *c, rng *r) {
    static const struct {
        int percent, batch, kv_heads, group, q_len, kv_len, d;
    } MOST[] = {
        {40, 2, 2, 4, 8, 40, 20},   {12, 1, 1, 2, 80, 40, 8}, {15, 1, 1, 3, 6, 300, 16},
        {12, 1, 1, 2, 7, 40, 130},  {8, 2, 2, 16, 5, 60, 24}, {5, 1, 1, 2, 4, 2200, 6},
        {5, 1, 1, 2, 14, 150, 300}, {3, 3, 1, 5, 500, 20, 4},
    };
    int64_t kind = rng_below(r, 100);
    size_t i = 0;
    for (; kind >= MOST[i].percent; i++)
        kind -= MOST[i].percent;
    c->batch = between(r, 1, MOST[i].batch);
    c->kv_heads = between(r, 1, MOST[i].kv_heads);
    c->q_heads = c->kv_heads * (chance(r, 40) ? 1 : between(r, 1, MOST[i].group));
    c->q_len = between(r, 1, MOST[i].q_len);
    c->kv_len = between(r, chance(r, 5) ? 0 : 1, MOST[i].kv_len);
    c->d_qk = between(r, 1, MOST[i].d);
    c->d_v = chance(r, 40) ? c->d_qk : between(r, 1, MOST[i].d);
}

/* Halves what is largest until the reference has no more than `budget` to do. */
static void cut_to(attention_case *c, int64_t budget) {
    while (attention_cost(c) > budget) {
        if (c->batch > 1)
            c->batch = 1;
        else if (c->q_len > 12 && c->q_len * 2 > c->kv_len)
            c->q_len = (c->q_len + 1) / 2;
        else if (c->kv_len > 2 * (c->d_qk + c->d_v) || c->d_qk + c->d_v < 8)
            c->kv_len = (c->kv_len + 1) / 2;
        else if (c->d_qk > c->d_v)
            c->d_qk = (c->d_qk + 1) / 2;
        else
            c->d_v = (c->d_v + 1) / 2;
    }
}

/* Near the edge of a block or a chunk, so that few keys cross it. */
static int64_t draw_position(const attention_case *c, rng *r) {
    int64_t kind = rng_below(r, 100), edge;
    if (kind < 45)
        return 0;
    if (kind < 55)
        return rng_below(r, 2000);
    if (kind < 58)
        return (int64_t)(rng_next(r) >> 4);
    edge = kind < 85 ? RDK_CHUNK * between(r, 1, 3) : RDK_BLOCK * between(r, 1, 20);
    edge -= rng_below(r, c->kv_len + 2);
    return edge < 0 ? 0 : edge;
}

static void draw_positions(attention_case *c, rng *r) {
    c->key_pos0 = draw_position(c, r);
    c->causal = chance(r, 40) ? RDK_CAUSAL_NONE : between(r, 1, 2);
    c->q_pos = c->key_pos0 + between(r, -c->q_len - 2, c->kv_len + 2);
    if (c->causal != RDK_CAUSAL_FROM_POSITION)
        c->q_pos = 0;
}

static void draw_layout(attention_case *c, rng *r) {
    c->arrange = rng_below(r, ARRANGE_COUNT);
    for (int i = 0; i < OPERAND_COUNT; i++) {
        c->pad[i] = i == OPERAND_SCRATCH || chance(r, 50) ? 0 : rng_below(r, 10);
        c->away[i] = chance(r, 60) ? 0 : chance(r, 50) ? 4 * rng_below(r, 16) : rng_below(r, 64);
    }
    c->gap = chance(r, 60) ? 0 : rng_below(r, 9);
    c->at_end = chance(r, 60);
    c->lse = chance(r, 60);
    c->weights = chance(r, 25);
    c->v_in_k = chance(r, 8);
    if (chance(r, 10))
        attention_zero_strides(c, (int64_t)(rng_next(r) & rng_next(r) & 0x1ff));
    if (chance(r, 5)) { /* one head of keys and values, expanded */
        c->kv_heads = c->q_heads;
        c->head_stride[OPERAND_K] = c->head_stride[OPERAND_V] = STRIDE_0;
    }
}

/* One of the odd strides, or some; rows of inputs more often than others. */
static void draw_strides(attention_case *c, rng *r) {
    for (int64_t n = chance(r, 25) ? between(r, 1, 4) : 0; n > 0; n--) {
        int64_t operand = rng_below(r, chance(r, 75) ? OPERAND_V + 1 : OPERAND_SCRATCH);
        int64_t dim = chance(r, 50) ? 2 : rng_below(r, 2);
        *attention_stride(c, (int)operand, (int)dim) = rng_below(r, STRIDE_COUNT);
    }
    attention_limit_strides(c, MOST_DRAWN);
}

static void draw_values(attention_case *c, rng *r) {
    c->scale = chance(r, 60)   ? 0
               : chance(r, 70) ? PICK(r, 1, 0.125f, -1, 3.5f, -0.0f, 0.08838834764831845f)
                               : PICK(r, 1e-38f, 0x1p-149f, 1e-10f, 100, -1e6f, 1e30f, FLT_MAX,
                                      INFINITY, -INFINITY, NAN);
    c->scores = chance(r, 55) ? SCORES_NORMAL : rng_below(r, SCORES_COUNT);
    c->row = c->scores == SCORES_ROW ? rng_below(r, FAMILY_COUNT) : 0;
    c->values = chance(r, 75) ? VALUES_NORMAL : rng_below(r, VALUES_COUNT);
    if (!chance(r, 15))
        return;
    c->special = between(r, 1, SPECIAL_COUNT - 1);
    c->special_in = between(r, 1, 7);
    c->special_from = chance(r, 30) ? -1 : rng_below(r, c->kv_len + 1);
}

/* Of the keys that have special values, and of their columns. */
static void draw_special_part(attention_case *c, rng *r) {
    if (c->special_from >= 0 && chance(r, 40))
        c->special_to = c->special_from + 1 + rng_below(r, c->kv_len + 1);
    if (c->special_from >= 0 && chance(r, 40))
        c->special_column = rng_below(r, RDK_MAX_HEAD_DIM);
}

attention_case attention_draw(uint64_t seed, uint64_t index) {
    rng start = {seed ^ index * 0xd1342543de82ef95};
    rng r = {rng_next(&start)};
    attention_case c = attention_default();
    c.seed = (int64_t)(rng_next(&r) >> 1);
    draw_sizes(&c, &r);
    cut_to(&c, chance(&r, 4) ? 200000 : 30000);
    draw_positions(&c, &r);
    draw_layout(&c, &r);
    draw_values(&c, &r);
    draw_strides(&c, &r);
    draw_special_part(&c, &r);
    c.ranges = chance(&r, 75) ? RANGES_NONE : rng_below(&r, RANGES_COUNT);
    return c;
}

/* ---- Words ----------------------------------------------------------------------------------- */

#define FIELD(name)                                                                                \
    { #name, offsetof(attention_case, name) }
#define FIELDS_OF(name)                                                                            \
    FIELD(name[OPERAND_Q]), FIELD(name[OPERAND_K]), FIELD(name[OPERAND_V]),                        \
        FIELD(name[OPERAND_OUT]), FIELD(name[OPERAND_LSE]), FIELD(name[OPERAND_WEIGHTS]),          \
        FIELD(name[OPERAND_SCRATCH])

static const struct {
    const char *name;
    size_t at;
} FIELDS[] = {
    FIELD(batch),
    FIELD(q_heads),
    FIELD(kv_heads),
    FIELD(q_len),
    FIELD(kv_len),
    FIELD(d_qk),
    FIELD(d_v),
    FIELD(causal),
    FIELD(q_pos),
    FIELD(key_pos0),
    FIELD(ranges),
    FIELD(arrange),
    FIELD(v_in_k),
    FIELD(gap),
    FIELD(at_end),
    FIELD(lse),
    FIELD(weights),
    FIELD(scores),
    FIELD(row),
    FIELD(values),
    FIELD(special),
    FIELD(special_in),
    FIELD(seed),
    FIELD(special_from),
    FIELDS_OF(pad),
    FIELDS_OF(away),
    FIELDS_OF(batch_stride),
    FIELDS_OF(head_stride),
    FIELDS_OF(row_stride),
    FIELD(special_to),
    FIELD(special_column),
};

static int64_t *field(attention_case *c, size_t i) {
    return (int64_t *)(void *)((char *)c + FIELDS[i].at);
}

void attention_describe(const attention_case *c, char *text, size_t size) {
    attention_case usual = attention_default(), copy = *c;
    int used = snprintf(text, size, "scale=%a", (double)c->scale);
    for (size_t i = 0; i < COUNT(FIELDS); i++)
        if ((FIELDS[i].at < offsetof(attention_case, causal) ||
             *field(&copy, i) != *field(&usual, i)) &&
            used < (int)size)
            used += snprintf(text + used, size - (size_t)used, " %s=%lld", FIELDS[i].name,
                             (long long)*field(&copy, i));
}

bool attention_parse(attention_case *c, const char *text) {
    *c = attention_default();
    while (*text) {
        size_t length = strcspn(text, "="), i = 0;
        char *end;
        if (length == 5 && !strncmp(text, "scale", 5)) {
            c->scale = strtof(text + 6, &end);
        } else {
            while (i < COUNT(FIELDS) &&
                   (strncmp(text, FIELDS[i].name, length) != 0 || FIELDS[i].name[length] != '\0'))
                i++;
            if (i == COUNT(FIELDS) || text[length] != '=')
                return false;
            *field(c, i) = strtoll(text + length + 1, &end, 0);
        }
        text = end + strspn(end, " ");
    }
    return true;
}
