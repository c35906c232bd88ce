/* The golden cases of softmax: docs/golden.md, "Softmax". */
#include "golden/parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- The list of cases: docs/golden.md, "Softmax: the cases" --------------------------------- */

enum { MAX_ROWS = 3, MAX_ELEMENTS = 2049 + 5 };

static const struct {
    int first, last, each; /* column counts, and cases for each of them */
} SIZES[] = {
    {0, 63, 9},    {64, 65, 9},     {127, 129, 9},   {33, 33, 61},
    {255, 257, 5}, {1023, 1025, 3}, {2049, 2049, 2},
};

typedef enum family { PLAIN, WIDE, TINY, HUGE_, EQUAL, MIXED, POISON, FAMILIES } family;
static const char *const FAMILY_NAMES[FAMILIES] = {"plain", "wide",  "tiny",  "huge",
                                                   "equal", "mixed", "poison"};

typedef enum bias_kind {
    NONE,
    BIAS_PLAIN,
    BIAS_MIXED,
    BIAS_HIDDEN,
    BIAS_ODD,
    BIAS_SHARED
} bias_kind;
static const char *const BIAS_NAMES[] = {"none", "plain", "mixed", "hidden", "odd", "shared"};

static const struct bias {
    bias_kind kind;
    rdk_type type;
} BIASES[11] = {
    {NONE, RDK_F32},        {BIAS_PLAIN, RDK_F32}, {BIAS_MIXED, RDK_F16},  {BIAS_PLAIN, RDK_BF16},
    {NONE, RDK_F32},        {BIAS_MIXED, RDK_F32}, {BIAS_PLAIN, RDK_F16},  {BIAS_MIXED, RDK_BF16},
    {BIAS_HIDDEN, RDK_F32}, {BIAS_ODD, RDK_F16},   {BIAS_SHARED, RDK_F32},
};

static const struct mode {
    rdk_softmax_mode mode;
    bool lse;
    const char *name;
} MODES[5] = {
    {RDK_SOFTMAX, false, "softmax"}, {RDK_SOFTMAX, true, "softmax+lse"},
    {RDK_LOG_SOFTMAX, false, "log"}, {RDK_LOG_SOFTMAX, true, "log+lse"},
    {RDK_SOFTMAX_LSE, true, "lse"},
};

/* Bits of f32. A descriptor's `scale` is one of the first 13, a row's one of all. */
static const uint32_t SCALES[16] = {
    0x00000000, /* 0 */
    0x3f800000, /* 1 */
    0x3e000000, /* 1/8 */
    0x3db504f3, /* 128^-0.5 */
    0xbf800000, /* -1 */
    0x40800000, /* 4 */
    0x3dcccccd, /* 0.1 */
    0x44800000, /* 1024 */
    0x3f800001, /* the next after 1 */
    0x80000000, /* -0 */
    0x3a83126f, /* 0.001 */
    0xc0490fdb, /* -pi */
    0x7149f2ca, /* 1e30 */
    0x7fc00000, /* NaN */
    0x7f800000, /* inf */
    0x00000001, /* the least subnormal */
};

enum { VISIBLE = 1, PADDED = 2, ROW_SCALE = 4, IN_PLACE = 8 };

typedef struct golden {
    int rows, cols;
    rdk_type x_type, y_type;
    family family;
    struct bias bias;
    struct mode mode;
    uint32_t scale;
    unsigned options;
} golden;

static int size_of_entry(size_t entry) {
    return (SIZES[entry].last - SIZES[entry].first + 1) * SIZES[entry].each;
}

static int count(void) {
    int n = 0;
    for (size_t e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
        n += size_of_entry(e);
    return n;
}

static int cols_of(int i) {
    size_t e = 0;
    for (; i >= size_of_entry(e); e++)
        i -= size_of_entry(e);
    return SIZES[e].first + i / SIZES[e].each;
}

static int rows_of(int i) {
    return i % 17 < 9 ? 1 : i % 17 < 14 ? 2 : 3;
}

/* There are few long rows: none of them is spent on an extreme. */
static void simplify(golden *g, int i) {
    g->rows = 1;
    g->family = i % 2 ? WIDE : PLAIN;
    g->options &= PADDED | IN_PLACE;
}

/* The moduli have no common factor, so that 700 cases meet every pair of choices. */
static golden case_of(int i) {
    golden g = {.cols = cols_of(i)};
    g.rows = rows_of(i);
    g.x_type = i % 9 / 3;
    g.y_type = i % 9 % 3;
    g.family = (family)(i % 7);
    g.bias = BIASES[i % 11];
    g.mode = MODES[i % 5];
    g.scale = SCALES[i % 13];
    g.options = (unsigned)(i % 16);
    if (g.cols > 130)
        simplify(&g, i);
    if (g.x_type != g.y_type || g.mode.mode == RDK_SOFTMAX_LSE)
        g.options &= ~(unsigned)IN_PLACE;
    return g;
}

static int64_t work(int i) {
    golden g = case_of(i);
    return (int64_t)g.rows * g.cols;
}

static const char *type_name(rdk_type type) {
    return type == RDK_F32 ? "f32" : type == RDK_F16 ? "f16" : "bf16";
}

static const char *case_name(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    snprintf(text, GOLDEN_TEXT, "%s-%s-%s-%s-%dx%d", g.mode.name, FAMILY_NAMES[g.family],
             type_name(g.x_type), type_name(g.y_type), g.rows, g.cols);
    return text;
}

static const char *parameters(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    snprintf(text, GOLDEN_TEXT, "bias=%s%s%s scale=%08x%s%s%s%s", BIAS_NAMES[g.bias.kind],
             g.bias.kind ? ":" : "", g.bias.kind ? type_name(g.bias.type) : "", (unsigned)g.scale,
             g.options & ROW_SCALE ? " row_scale" : "", g.options & VISIBLE ? " visible" : "",
             g.options & PADDED ? " padded" : "", g.options & IN_PLACE ? " in_place" : "");
    return text;
}

/* ---- Values: docs/golden.md, "Softmax: the values" ------------------------------------------- */

static uint32_t plain(rdk_type type, uint64_t w) {
    return golden_scaled(type, w, 3);
}

static uint32_t wide(rdk_type type, uint64_t w) {
    return golden_scaled(type, w, 7);
}

/* By type: the last bias above -0x1.62e43p+15; the next value, one bit on, is absent. */
static const uint32_t EDGES[3] = {0xc7317217, 0xf98b, 0xc731};

static uint32_t mixed_x(rdk_type type, uint64_t w) {
    const uint32_t values[4] = {0, golden_sign_bit(type),
                                golden_minus(type, GOLDEN_TYPES[type].infinity), 1};
    return (w & 7) < 4 ? values[w & 7] : plain(type, w);
}

static uint32_t mixed_bias(rdk_type type, uint64_t w) {
    const uint32_t values[6] = {
        golden_minus(type, GOLDEN_TYPES[type].infinity),
        golden_minus(type, GOLDEN_TYPES[type].largest),
        golden_encode(type, -1, 13),
        golden_sign_bit(type),
        EDGES[type] + (uint32_t)(w >> 3 & 1),
        wide(type, w),
    };
    return (w & 7) < 6 ? values[w & 7] : plain(type, w);
}

/* Column j of a row whose draw is p, by the column's own draw w. */
static uint32_t x_value(const golden *g, uint64_t p, int j, uint64_t w) {
    rdk_type type = g->x_type;
    switch (g->family) {
    case WIDE:
        return wide(type, w);
    case TINY:
        return golden_tiny(type, w);
    case HUGE_:
        return golden_huge(type, w);
    case EQUAL:
        return p >> 32 & 3 ? plain(type, p) : golden_minus(type, GOLDEN_TYPES[type].infinity);
    case MIXED:
        return mixed_x(type, w);
    case POISON:
        return p % (uint64_t)g->cols == (uint64_t)j ? golden_odd(type, p) : plain(type, w);
    default:
        return plain(type, w);
    }
}

static uint32_t bias_value(const golden *g, uint64_t p, int row, int j, uint64_t w) {
    rdk_type type = g->bias.type;
    switch (g->bias.kind) {
    case BIAS_MIXED:
        return mixed_bias(type, w);
    case BIAS_HIDDEN:
        return row == 0 ? golden_minus(type, GOLDEN_TYPES[type].infinity) : plain(type, w);
    case BIAS_ODD:
        return p % (uint64_t)g->cols == (uint64_t)j ? golden_odd(type, p) : plain(type, w);
    default:
        return plain(type, w);
    }
}

/* ---- A call ---------------------------------------------------------------------------------- */

typedef struct buffers {
    unsigned char x[4 * MAX_ELEMENTS], y[4 * MAX_ELEMENTS], bias[4 * MAX_ELEMENTS];
    float row_scale[MAX_ROWS], lse[MAX_ROWS];
    int64_t visible[MAX_ROWS];
} buffers;

static void fill_row(const golden *g, const rdk_softmax_desc *d, buffers *b, int row,
                     uint64_t *state) {
    b->visible[row] = (int64_t)(golden_draw(state) % ((uint64_t)g->cols + 1));
    golden_put(b->row_scale, RDK_F32, row, SCALES[golden_draw(state) & 15]);
    uint64_t p = golden_draw(state);
    for (int j = 0; j < g->cols; j++) {
        uint64_t x = golden_draw(state), bias = golden_draw(state);
        golden_put(b->x, g->x_type, row * d->x_stride + j, x_value(g, p, j, x));
        if (g->bias.kind && (row == 0 || d->bias_stride > 0))
            golden_put(b->bias, g->bias.type, row * d->bias_stride + j,
                       bias_value(g, p, row, j, bias));
    }
}

/* Strides and y in place of x: nothing of this may change what is computed. */
static void lay_out(const golden *g, rdk_softmax_desc *d, buffers *b) {
    int pad = g->options & PADDED ? 1 : 0;
    d->rows = g->rows;
    d->cols = g->cols;
    d->x = b->x;
    d->x_stride = g->cols + 3 * pad;
    d->y = g->options & IN_PLACE ? b->x : b->y;
    d->y_stride = g->options & IN_PLACE ? d->x_stride : g->cols + 5 * pad;
    d->bias = g->bias.kind ? b->bias : NULL;
    d->bias_stride = g->bias.kind == BIAS_SHARED ? 0 : g->cols + pad;
}

static void describe(const golden *g, rdk_softmax_desc *d, buffers *b) {
    *d = (rdk_softmax_desc){.size = sizeof *d, .mode = g->mode.mode};
    d->x_type = g->x_type;
    d->y_type = g->y_type;
    d->bias_type = g->bias.type;
    memcpy(&d->scale, &g->scale, sizeof d->scale);
    d->row_scale = g->options & ROW_SCALE ? b->row_scale : NULL;
    d->visible = g->options & VISIBLE ? b->visible : NULL;
    d->lse = g->mode.lse ? b->lse : NULL;
    lay_out(g, d, b);
}

static uint64_t hash_of_outputs(const rdk_softmax_desc *d) {
    uint64_t h = GOLDEN_SEED;
    bool has_y = d->mode != RDK_SOFTMAX_LSE;
    for (int64_t r = 0; r < d->rows && has_y; r++)
        for (int64_t j = 0; j < d->cols; j++)
            h = golden_hash_element(h, d->y, d->y_type, r * d->y_stride + j);
    for (int64_t r = 0; r < d->rows && d->lse; r++)
        h = golden_hash_element(h, d->lse, RDK_F32, r);
    return h;
}

static uint64_t hash(int i, const golden_runner *run) {
    golden g = case_of(i);
    rdk_softmax_desc d;
    buffers b;
    uint64_t state = (uint64_t)i;
    memset(&b, 0xa5, sizeof b); /* what is not written must show */
    describe(&g, &d, &b);
    for (int r = 0; r < g.rows; r++)
        fill_row(&g, &d, &b, r, &state);
    return run->softmax(run->context, &d) == RDK_OK ? hash_of_outputs(&d) : 0;
}

/* ---- What is expected ------------------------------------------------------------------------ */

static const uint64_t EXPECTED[] = {
#include "golden/softmax.inc"
};

const golden_op golden_softmax = {
    "softmax",  count, work,     case_name,
    parameters, hash,  EXPECTED, sizeof EXPECTED / sizeof EXPECTED[0]};
