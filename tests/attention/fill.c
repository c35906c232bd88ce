/* What is in the inputs of a case. */
#include "tests/attention/build.h"

#include <math.h>
#include <string.h>

#include "kernels/contract.h"

enum { MAX_KEYS = 1 << 14 };

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

void fill_inputs(const attention_case *c, const rdk_attention_desc *d, bool v_in_k) {
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
