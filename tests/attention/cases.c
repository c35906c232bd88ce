#include "tests/attention/cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"

enum {
    MAX_RANGES = 1 << 12,
    MOST_DRAWN = 1 << 15 /* floats */
};

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
