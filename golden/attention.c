/* The golden cases of attention: docs/golden.md, "Attention". */
#include "golden/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The list of cases: docs/golden.md, "Attention: the cases" ------------------------------- */

typedef struct range {
    int64_t first, count;
} range;

/* The sizes, in the order in which they are drawn. */
enum { BATCH, KV_HEADS, GROUP, Q_LEN, KV_LEN, D_QK, D_V, KEY_POS0, SIZES };

static const struct kind {
    const char *name;
    int cases;
    range sizes[SIZES];
} KINDS[] = {
    {"small", 110, {{1, 2}, {1, 2}, {1, 3}, {0, 5}, {0, 35}, {1, 18}, {1, 18}, {0, 20}}},
    {"rows", 22, {{1, 1}, {1, 1}, {1, 16}, {1, 6}, {17, 24}, {1, 4}, {1, 4}, {0, 20}}},
    {"deep", 22, {{1, 1}, {1, 1}, {1, 3}, {1, 2}, {1, 20}, {1, 250}, {1, 140}, {0, 20}}},
    {"chains", 11, {{1, 1}, {1, 1}, {1, 3}, {1, 2}, {1, 20}, {48, 2}, {1, 8}, {0, 20}}},
    {"blocks", 66, {{1, 1}, {1, 2}, {1, 2}, {1, 2}, {1, 150}, {1, 9}, {1, 9}, {90, 300}}},
    {"chunks", 66, {{1, 1}, {1, 2}, {1, 3}, {1, 3}, {1, 86}, {1, 6}, {1, 6}, {920, 108}}},
    {"pairs", 55, {{1, 1}, {1, 2}, {1, 4}, {1, 4}, {3, 5}, {1, 4}, {1, 16}, {1021, 3}}},
    {"far", 11, {{1, 1}, {1, 1}, {1, 2}, {1, 3}, {20, 40}, {1, 4}, {1, 4}, {1099511627756, 20}}},
    {"long", 22, {{1, 1}, {1, 1}, {1, 2}, {1, 1}, {900, 1300}, {1, 2}, {1, 2}, {0, 1024}}},
};

typedef enum family {
    PLAIN,
    WIDE,
    COLD,
    MIXED,
    EQUAL,
    MINUS,
    POISON,
    TINY,
    STEPS,
    VAST,
    ZEROS,
    FAMILIES
} family;
static const char *const FAMILY_NAMES[FAMILIES] = {
    "plain", "wide", "cold", "mixed", "equal", "minus", "poison", "tiny", "steps", "vast", "zeros",
};

/* Bits of f32. */
static const uint32_t SCALES[17] = {
    0x00000000, /* 0 */
    0x3f800000, /* 1 */
    0x00000000, /* 0 */
    0xbf800000, /* -1 */
    0x00000000, /* 0 */
    0x3e000000, /* 1/8 */
    0x80000000, /* -0 */
    0x7fc00000, /* NaN */
    0x3dcccccd, /* 0.1 */
    0x00000000, /* 0 */
    0xc0490fdb, /* -pi */
    0x40800000, /* 4 */
    0x00000000, /* 0 */
    0x7f7fffff, /* the largest: finite, but not times log2(e) */
    0x3a83126f, /* 0.001 */
    0x00000000, /* 0 */
    0x44800000, /* 1024 */
};

enum { LSE = 1, WEIGHTS = 2, ROWS_FIRST = 4, PADDED = 8 };

typedef struct golden {
    const struct kind *kind;
    int64_t size[SIZES], q_heads, q_pos;
    family family;
    rdk_causal causal;
    uint32_t scale;
    unsigned options;
    uint64_t state; /* of the generator, after the sizes */
} golden;

static int count(void) {
    int n = 0;
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++)
        n += KINDS[k].cases;
    return n;
}

static const struct kind *kind_of(int i) {
    const struct kind *k = KINDS;
    for (; i >= k->cases; k++)
        i -= k->cases;
    return k;
}

static int64_t draw_in(uint64_t *state, int64_t first, int64_t values) {
    return first + (int64_t)(golden_draw(state) % (uint64_t)values);
}

/* The moduli have no common factor, so that 385 cases meet every pair of choices. */
static golden case_of(int i) {
    golden g = {.kind = kind_of(i), .state = (UINT64_C(1) << 32) + (uint64_t)i};
    for (int s = 0; s < SIZES; s++)
        g.size[s] = draw_in(&g.state, g.kind->sizes[s].first, g.kind->sizes[s].count);
    g.q_heads = g.size[KV_HEADS] * g.size[GROUP];
    g.q_pos = draw_in(&g.state, g.size[KEY_POS0] - 6, g.size[KV_LEN] + 9);
    g.family = (family)(i % FAMILIES);
    g.causal = i % 3;
    g.scale = SCALES[i % 17];
    g.options = (unsigned)(i % 16);
    if (g.family == MIXED || g.family == TINY || g.family == STEPS)
        g.scale = 0x3f800000; /* their values are made for it */
    if (g.family == MIXED)
        g.options |= WEIGHTS;
    return g;
}

/* Multiply-adds; a weight counts as 10. */
static int64_t work(int i) {
    golden g = case_of(i);
    const int64_t *n = g.size;
    int64_t weights = g.options & WEIGHTS ? 20 : 10;
    return n[BATCH] * g.q_heads * n[Q_LEN] * n[KV_LEN] * (n[D_QK] + n[D_V] + weights);
}

static const char *case_name(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    const int64_t *n = g.size;
    snprintf(text, GOLDEN_TEXT, "%s-%s-%lldx%lld:%lldx%lldx%lld-%lld:%lld", g.kind->name,
             FAMILY_NAMES[g.family], (long long)n[BATCH], (long long)g.q_heads,
             (long long)n[KV_HEADS], (long long)n[Q_LEN], (long long)n[KV_LEN], (long long)n[D_QK],
             (long long)n[D_V]);
    return text;
}

static const char *parameters(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    snprintf(text, GOLDEN_TEXT, "causal=%d q_pos=%lld key_pos0=%lld scale=%08x%s%s%s%s",
             (int)g.causal, (long long)g.q_pos, (long long)g.size[KEY_POS0], (unsigned)g.scale,
             g.options & LSE ? " lse" : "", g.options & WEIGHTS ? " weights" : "",
             g.options & ROWS_FIRST ? " bshd" : "", g.options & PADDED ? " padded" : "");
    return text;
}

/* ---- Values: docs/golden.md, "Attention: the values" ----------------------------------------- */

#define MINUS_INFINITY 0xff800000

static uint32_t scaled(uint64_t w, int reach) {
    return golden_scaled(RDK_F32, w, reach);
}

/* Of zeros and of numbers that are nearly zero. */
static uint32_t nearly_zero(uint64_t w) {
    const uint32_t values[4] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff};
    return (w & 7) < 4 ? values[w & 7] : (w & 7) < 6 ? golden_tiny(RDK_F32, w) : scaled(w, 1);
}

/* An element of q in column c. */
static uint32_t q_value(const golden *g, int64_t c, uint64_t w) {
    switch (g->family) {
    case WIDE:
    case POISON:
        return scaled(w, 3);
    case COLD:
        return scaled(w, 11);
    case EQUAL:
        return scaled(w, 9);
    case MIXED:
    case MINUS:
        return c == 0 ? 0x3f800000 : scaled(w, 1);
    case STEPS: /* 1 + (w & 3) / 128 */
        return c == 0 ? 0x3f800000 + ((uint32_t)(w & 3) << 16) : scaled(w, 1);
    case TINY:
        return scaled(w, 127);
    case VAST:
        return scaled(w, 60);
    case ZEROS:
        return nearly_zero(w);
    default:
        return scaled(w, 1);
    }
}

/* Where a key stands, and the draw p of its head. */
typedef struct spot {
    int64_t position;
    uint64_t p;
} spot;

/* Near 0 or near 87, which times log2(e) is near 126: the least exponent of a rescaling. */
static int32_t level(spot at) {
    int64_t block = at.position / 128;
    int32_t high = (int32_t)(at.p >> block % 32 & 1);
    return 87 * high + (int32_t)(at.p >> 32 >> block % 29 & 3);
}

/* Column 0 of a mixed key: every other chunk is far up or far down, on either side of HOT in
 * attention; the others may be all -inf. */
static uint32_t mixed_value(spot at, uint64_t w) {
    static const int FAR[4] = {18, 20, 21, 23};
    int32_t far = (1 << FAR[at.p >> 39 & 3]) + (int32_t)(w >> 60);
    if (((uint64_t)(at.position / 1024) + (at.p >> 35)) % 2 == 0)
        return golden_encode(RDK_F32, at.p >> 36 & 1 ? far : -far, 0);
    return (at.p >> 37 & 3) == 0 ? MINUS_INFINITY : scaled(w, 1);
}

/* Column c of a key. `first` is the draw of the same column of the head's first key. */
static uint32_t k_value(const golden *g, spot at, int64_t c, uint64_t w, uint64_t first) {
    switch (g->family) {
    case WIDE:
    case POISON:
        return scaled(w, 3);
    case COLD:
        return scaled(w, 11);
    case MIXED:
        return c == 0 ? mixed_value(at, w) : scaled(w, 1);
    case EQUAL:
        return c == 0 ? scaled(w, -5) : scaled(first, 9);
    case MINUS:
        return c == 0 && (at.position / 128 % 3 == 2 || w & 1) ? MINUS_INFINITY : scaled(w, 1);
    case STEPS:
        return c == 0 ? golden_encode(RDK_F32, level(at), 0) : scaled(w, -4);
    case TINY:
        return golden_tiny(RDK_F32, w);
    case VAST:
        return scaled(w, 66);
    case ZEROS:
        return nearly_zero(w);
    default:
        return scaled(w, 1);
    }
}

static uint32_t v_value(const golden *g, spot at, uint64_t w) {
    switch (g->family) {
    case TINY: /* only subnormal */
        return golden_tiny(RDK_F32, w) & ~golden_exponent_bit(RDK_F32);
    case STEPS: /* so large that it is still seen after a step up */
        return level(at) < 87 ? golden_huge(RDK_F32, w) : scaled(w, 1);
    case ZEROS:
        return nearly_zero(w);
    default:
        return scaled(w, 1);
    }
}

/* ---- A call ---------------------------------------------------------------------------------- */

typedef struct strides {
    int64_t batch, head, row, elements; /* the last: of the whole array */
} strides;

/* Of heads x rows rows of `width` in each batch. */
static strides strides_of(const golden *g, int64_t heads, int64_t rows, int64_t width) {
    int64_t pad = g->options & PADDED ? 1 : 0, row = width + 3 * pad;
    strides s = {.head = row, .row = row};
    if (g->options & ROWS_FIRST)
        s.row = heads * row + pad;
    else
        s.head = rows * row + pad;
    s.batch = (g->options & ROWS_FIRST ? rows * s.row : heads * s.head) + 2 * pad;
    s.elements = g->size[BATCH] * s.batch;
    return s;
}

/* What is not written must show. */
static void *memory(size_t bytes) {
    void *p = malloc(bytes + 1);
    if (p)
        memset(p, 0xa5, bytes);
    return p;
}

static rdk_view view_of(const golden *g, int64_t heads, int64_t rows, int64_t width) {
    strides s = strides_of(g, heads, rows, width);
    return (rdk_view){memory(4 * (size_t)s.elements), s.batch, s.head, s.row, RDK_F32};
}

static rdk_const_view read_only(rdk_view v) {
    return (rdk_const_view){v.data, v.batch_stride, v.head_stride, v.row_stride, v.type};
}

typedef struct buffers {
    rdk_view q, k, v;
} buffers;

static int64_t place(const rdk_view *v, int64_t b, int64_t h, int64_t i) {
    return b * v->batch_stride + h * v->head_stride + i * v->row_stride;
}

static void fill_q(const golden *g, const buffers *m, uint64_t *state) {
    for (int64_t b = 0; b < g->size[BATCH]; b++)
        for (int64_t h = 0; h < g->q_heads; h++)
            for (int64_t i = 0; i < g->size[Q_LEN]; i++)
                for (int64_t c = 0; c < g->size[D_QK]; c++)
                    golden_put(m->q.data, RDK_F32, place(&m->q, b, h, i) + c,
                               q_value(g, c, golden_draw(state)));
}

/* Key and value j of a head whose draw is p; `first` has the draws of key 0. */
static void fill_key(const golden *g, const buffers *m, int64_t b, int64_t h, int64_t j, uint64_t p,
                     uint64_t *first, uint64_t *state) {
    spot at = {g->size[KEY_POS0] + j, p};
    for (int64_t c = 0; c < g->size[D_QK]; c++) {
        uint64_t w = golden_draw(state);
        if (j == 0)
            first[c] = w;
        golden_put(m->k.data, RDK_F32, place(&m->k, b, h, j) + c, k_value(g, at, c, w, first[c]));
    }
    for (int64_t c = 0; c < g->size[D_V]; c++)
        golden_put(m->v.data, RDK_F32, place(&m->v, b, h, j) + c,
                   v_value(g, at, golden_draw(state)));
}

/* One odd element in a key or in a value of the head, by the draw p. */
static void poison(const golden *g, const buffers *m, int64_t b, int64_t h, uint64_t p) {
    const rdk_view *view = p >> 34 & 1 ? &m->v : &m->k;
    uint64_t width = (uint64_t)g->size[p >> 34 & 1 ? D_V : D_QK];
    int64_t j = (int64_t)(p % (uint64_t)g->size[KV_LEN]), c = (int64_t)((p >> 40) % width);
    golden_put(view->data, RDK_F32, place(view, b, h, j) + c, golden_odd(RDK_F32, p));
}

static void fill_head(const golden *g, const buffers *m, int64_t b, int64_t h, uint64_t *state) {
    uint64_t first[RDK_MAX_HEAD_DIM], p = golden_draw(state);
    for (int64_t j = 0; j < g->size[KV_LEN]; j++)
        fill_key(g, m, b, h, j, p, first, state);
    if (g->family == POISON && g->size[KV_LEN] > 0)
        poison(g, m, b, h, p);
}

static void fill(const golden *g, const buffers *m) {
    uint64_t state = g->state;
    fill_q(g, m, &state);
    for (int64_t b = 0; b < g->size[BATCH]; b++)
        for (int64_t h = 0; h < g->size[KV_HEADS]; h++)
            fill_head(g, m, b, h, &state);
}

/* The sizes, as the descriptor has them. */
static rdk_attention_desc describe(const golden *g) {
    rdk_attention_desc d = {.size = sizeof d, .causal = g->causal};
    d.batch = g->size[BATCH];
    d.q_heads = g->q_heads;
    d.kv_heads = g->size[KV_HEADS];
    d.q_len = g->size[Q_LEN];
    d.kv_len = g->size[KV_LEN];
    d.d_qk = g->size[D_QK];
    d.d_v = g->size[D_V];
    d.q_pos = g->q_pos;
    d.key_pos0 = g->size[KEY_POS0];
    memcpy(&d.scale, &g->scale, sizeof d.scale);
    return d;
}

static int allocate(const golden *g, rdk_attention_desc *d, buffers *m) {
    *m = (buffers){view_of(g, d->q_heads, d->q_len, d->d_qk),
                   view_of(g, d->kv_heads, d->kv_len, d->d_qk),
                   view_of(g, d->kv_heads, d->kv_len, d->d_v)};
    d->q = read_only(m->q);
    d->k = read_only(m->k);
    d->v = read_only(m->v);
    d->out = view_of(g, d->q_heads, d->q_len, d->d_v);
    int complete = m->q.data && m->k.data && m->v.data && d->out.data;
    if (g->options & LSE)
        complete &= !!(d->lse = view_of(g, d->q_heads, d->q_len, 1)).data;
    if (g->options & WEIGHTS)
        complete &= !!(d->weights = view_of(g, d->q_heads, d->q_len, d->kv_len)).data;
    if (rdk_attention_scratch(d, &d->scratch_size) != RDK_OK)
        return 0;
    d->scratch = memory(d->scratch_size);
    return complete && d->scratch;
}

static void release(const rdk_attention_desc *d, const buffers *m) {
    void *const all[] = {m->q.data,   m->k.data,       m->v.data, d->out.data,
                         d->lse.data, d->weights.data, d->scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static uint64_t hash_of_view(uint64_t h, const rdk_attention_desc *d, const rdk_view *v,
                             int64_t width) {
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t head = 0; head < d->q_heads; head++)
            for (int64_t i = 0; i < d->q_len; i++)
                for (int64_t c = 0; c < width; c++)
                    h = golden_hash_element(h, v->data, RDK_F32, place(v, b, head, i) + c);
    return h;
}

static uint64_t hash_of_outputs(const rdk_attention_desc *d) {
    uint64_t h = hash_of_view(GOLDEN_SEED, d, &d->out, d->d_v);
    if (d->lse.data)
        h = hash_of_view(h, d, &d->lse, 1);
    if (d->weights.data)
        h = hash_of_view(h, d, &d->weights, d->kv_len);
    return h;
}

static uint64_t hash(int i, const golden_runner *run) {
    golden g = case_of(i);
    rdk_attention_desc d = describe(&g);
    buffers m;
    uint64_t h = 0;
    if (allocate(&g, &d, &m)) {
        fill(&g, &m);
        if (run->attention(run->context, &d) == RDK_OK)
            h = hash_of_outputs(&d);
    }
    release(&d, &m);
    return h;
}

/* ---- What is expected ------------------------------------------------------------------------ */

static const uint64_t EXPECTED[] = {
#include "golden/attention.inc"
};

const golden_op golden_attention = {
    "attention", count, work,     case_name,
    parameters,  hash,  EXPECTED, sizeof EXPECTED / sizeof EXPECTED[0]};
