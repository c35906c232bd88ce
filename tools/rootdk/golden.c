/* The golden cases, built by integer operations alone, so that they are the same everywhere. */
#include "tools/rootdk/golden.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- The list of cases: docs/golden.md, "The cases" ------------------------------------------ */

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

int golden_count(void) {
    int count = 0;
    for (size_t e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
        count += size_of_entry(e);
    return count;
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

int64_t golden_elements(int i) {
    golden g = case_of(i);
    return (int64_t)g.rows * g.cols;
}

static const char *type_name(rdk_type type) {
    return type == RDK_F32 ? "f32" : type == RDK_F16 ? "f16" : "bf16";
}

const char *golden_name(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    snprintf(text, GOLDEN_TEXT, "%s-%s-%s-%s-%dx%d", g.mode.name, FAMILY_NAMES[g.family],
             type_name(g.x_type), type_name(g.y_type), g.rows, g.cols);
    return text;
}

const char *golden_parameters(int i, char text[GOLDEN_TEXT]) {
    golden g = case_of(i);
    snprintf(text, GOLDEN_TEXT, "bias=%s%s%s scale=%08x%s%s%s%s", BIAS_NAMES[g.bias.kind],
             g.bias.kind ? ":" : "", g.bias.kind ? type_name(g.bias.type) : "", (unsigned)g.scale,
             g.options & ROW_SCALE ? " row_scale" : "", g.options & VISIBLE ? " visible" : "",
             g.options & PADDED ? " padded" : "", g.options & IN_PLACE ? " in_place" : "");
    return text;
}

/* ---- Values: docs/golden.md, "Values" -------------------------------------------------------- */

static const struct {
    int bits, digits;                      /* width of the type, and of its significand */
    uint32_t infinity, largest, nan, edge; /* edge: a bias of little more than -2^20 / log2(e) */
} TYPES[3] = {
    {32, 24, 0x7f800000, 0x7f7fffff, 0xffc00001, 0xc9317217},
    {16, 11, 0x7c00, 0x7bff, 0xfe01, 0xfbfe},
    {16, 8, 0x7f80, 0x7f7f, 0xffc1, 0xc931},
};

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t sign_bit(rdk_type type) {
    return (uint32_t)1 << (TYPES[type].bits - 1);
}

/* The exponent field's lowest bit: also 1 in units of the exponent. */
static uint32_t exponent_bit(rdk_type type) {
    return (uint32_t)1 << (TYPES[type].digits - 1);
}

/* The bits of k * 2^e in `type`, which holds it exactly and as a normal number. */
static uint32_t encode(rdk_type type, int32_t k, int e) {
    uint32_t sign = k < 0 ? sign_bit(type) : 0, m = k < 0 ? 0 - (uint32_t)k : (uint32_t)k;
    int top = TYPES[type].digits - 1;
    if (!m)
        return 0;
    for (; m < exponent_bit(type); e--)
        m <<= 1;
    int exponent = e + top + (type == RDK_F16 ? 15 : 127);
    return sign | (uint32_t)exponent << top | (m - exponent_bit(type));
}

/* The top bits of w as a signed integer, scaled to lie in -2^reach .. 2^reach. */
static uint32_t scaled(rdk_type type, uint64_t w, int reach) {
    int digits = TYPES[type].digits;
    int32_t k = (int32_t)(w >> (64 - digits)), half = (int32_t)exponent_bit(type);
    return encode(type, k < half ? k : k - 2 * half, reach - (digits - 1));
}

static uint32_t plain(rdk_type type, uint64_t w) {
    return scaled(type, w, 3);
}

static uint32_t wide(rdk_type type, uint64_t w) {
    return scaled(type, w, 7);
}

static uint32_t raw(rdk_type type, uint64_t w) {
    return (uint32_t)(w >> (64 - TYPES[type].bits));
}

static uint32_t minus(rdk_type type, uint32_t value) {
    return sign_bit(type) | value;
}

/* What one odd column of a row holds. */
static uint32_t odd(rdk_type type, uint64_t p) {
    const uint32_t values[4] = {TYPES[type].nan, TYPES[type].infinity,
                                minus(type, TYPES[type].infinity), TYPES[type].largest};
    return values[p >> 32 & 3];
}

static uint32_t mixed_x(rdk_type type, uint64_t w) {
    const uint32_t values[4] = {0, sign_bit(type), minus(type, TYPES[type].infinity), 1};
    return (w & 7) < 4 ? values[w & 7] : plain(type, w);
}

static uint32_t mixed_bias(rdk_type type, uint64_t w) {
    const uint32_t values[6] = {
        minus(type, TYPES[type].infinity),
        minus(type, TYPES[type].largest),
        encode(type, -1, 13),
        sign_bit(type),
        TYPES[type].edge + (uint32_t)(w >> 3 & 1),
        wide(type, w),
    };
    return (w & 7) < 6 ? values[w & 7] : plain(type, w);
}

/* Column j of a row whose draw is p, by the column's own draw w. */
static uint32_t x_value(const golden *g, uint64_t p, int j, uint64_t w) {
    rdk_type type = g->x_type;
    uint32_t top_exponent_bit = sign_bit(type) >> 1;
    switch (g->family) {
    case WIDE:
        return wide(type, w);
    case TINY:
        return raw(type, w) & (sign_bit(type) | (2 * exponent_bit(type) - 1));
    case HUGE_:
        return (raw(type, w) | top_exponent_bit) & ~exponent_bit(type);
    case EQUAL:
        return p >> 32 & 3 ? plain(type, p) : minus(type, TYPES[type].infinity);
    case MIXED:
        return mixed_x(type, w);
    case POISON:
        return p % (uint64_t)g->cols == (uint64_t)j ? odd(type, p) : plain(type, w);
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
        return row == 0 ? minus(type, TYPES[type].infinity) : plain(type, w);
    case BIAS_ODD:
        return p % (uint64_t)g->cols == (uint64_t)j ? odd(type, p) : plain(type, w);
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

static void put(void *p, rdk_type type, int64_t i, uint32_t value) {
    uint16_t half = (uint16_t)value;
    if (type == RDK_F32)
        memcpy((unsigned char *)p + 4 * i, &value, 4);
    else
        memcpy((unsigned char *)p + 2 * i, &half, 2);
}

static uint32_t get(const void *p, rdk_type type, int64_t i) {
    uint32_t value;
    uint16_t half;
    if (type == RDK_F32) {
        memcpy(&value, (const unsigned char *)p + 4 * i, 4);
        return value;
    }
    memcpy(&half, (const unsigned char *)p + 2 * i, 2);
    return half;
}

static void fill_row(const golden *g, const rdk_softmax_desc *d, buffers *b, int row,
                     uint64_t *state) {
    b->visible[row] = (int64_t)(draw(state) % ((uint64_t)g->cols + 1));
    put(b->row_scale, RDK_F32, row, SCALES[draw(state) & 15]);
    uint64_t p = draw(state);
    for (int j = 0; j < g->cols; j++) {
        uint64_t x = draw(state), bias = draw(state);
        put(b->x, g->x_type, row * d->x_stride + j, x_value(g, p, j, x));
        if (g->bias.kind && (row == 0 || d->bias_stride > 0))
            put(b->bias, g->bias.type, row * d->bias_stride + j, bias_value(g, p, row, j, bias));
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

/* FNV-1a over the `count` low bytes of value, the lowest first. */
static uint64_t hash_bytes(uint64_t hash, uint64_t value, int count) {
    for (int i = 0; i < count; i++)
        hash = (hash ^ (value >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of_outputs(const golden *g, const rdk_softmax_desc *d) {
    uint64_t hash = GOLDEN_SEED;
    bool has_y = d->mode != RDK_SOFTMAX_LSE;
    for (int64_t r = 0; r < d->rows && has_y; r++)
        for (int64_t j = 0; j < d->cols; j++)
            hash = hash_bytes(hash, get(d->y, d->y_type, r * d->y_stride + j),
                              TYPES[g->y_type].bits / 8);
    for (int64_t r = 0; r < d->rows && d->lse; r++)
        hash = hash_bytes(hash, get(d->lse, RDK_F32, r), 4);
    return hash;
}

uint64_t golden_hash(int i, golden_run *run, void *context) {
    golden g = case_of(i);
    rdk_softmax_desc d;
    buffers b;
    uint64_t state = (uint64_t)i;
    memset(&b, 0xa5, sizeof b); /* what is not written must show */
    describe(&g, &d, &b);
    for (int r = 0; r < g.rows; r++)
        fill_row(&g, &d, &b, r, &state);
    return run(context, &d) == RDK_OK ? hash_of_outputs(&g, &d) : 0;
}

/* ---- What is expected ------------------------------------------------------------------------ */

/* One hash per case, then that of all. */
static const uint64_t EXPECTED[] = {
#include "tools/rootdk/golden_softmax.inc"
};

static uint64_t expected_at(size_t i) {
    return i < sizeof EXPECTED / sizeof EXPECTED[0] ? EXPECTED[i] : 0;
}

uint64_t golden_expected(int i) {
#ifdef GOLDEN_SPOILED /* the number of a case: shows that verification can fail */
    if (i == GOLDEN_SPOILED)
        return ~expected_at((size_t)i);
#endif
    return expected_at((size_t)i);
}

uint64_t golden_expected_total(void) {
    return expected_at((size_t)golden_count());
}

uint64_t golden_add(uint64_t total, uint64_t hash) {
    return hash_bytes(total, hash, 8);
}
