/* The corner table of docs/arithmetic.md, section 7: every row of it on every path, with its bits.
 *
 * A corner is a row in which one column, `here`, has one input and the `rest` another. It is run in
 * several lengths and places, with and without hidden columns that hold NaN and Inf, with the scale
 * in either field, in every mode and, where the types can hold the inputs, in every type. */
#include "tests/lib/suite.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/paths.h"
#include "tests/softmax/corners.h"

enum { ROWS = 2, HIDDEN = 19, CELLS = MOST + HIDDEN };

static path paths[RDK_MAX_PATHS];
static int path_count;

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct setup {
    const corner *corner;
    int length; /* an index */
    int at;     /* of `here` */
    int hidden; /* columns */
    bool by_row;
    rdk_softmax_mode mode;
    rdk_type x_type, y_type, bias_type;
} setup;

static uint32_t x_memory[CELLS], bias_memory[CELLS], y_memory[ROWS * CELLS];
static float lse_memory[ROWS];

static bool is_nan(uint32_t v) {
    return (v & 0x7fffffff) > INF;
}

/* The bits of v in a narrow type; a NaN keeps its sign and whether it signals. */
static uint32_t narrow(uint32_t v, rdk_type type) {
    uint32_t exponent = type == RDK_F16 ? 0x7c00 : 0x7f80, quiet = type == RDK_F16 ? 0x200 : 0x40;
    if (type == RDK_F32)
        return v;
    if (is_nan(v))
        return (v >> 16 & 0x8000) | exponent | (v & 0x400000 ? quiet : 1);
    return type == RDK_F16 ? rdk_f32_to_f16(rdk_float(v)) : rdk_f32_to_bf16(rdk_float(v));
}

static bool holds(rdk_type type, uint32_t v) {
    uint16_t h = (uint16_t)narrow(v, type);
    return type == RDK_F32 || is_nan(v) || rdk_bits(rdk_load(&h, type, 0)) == v;
}

static void put(void *to, rdk_type type, int i, uint32_t v) {
    uint32_t bits = narrow(v, type);
    uint16_t half = (uint16_t)bits;
    if (type == RDK_F32)
        memcpy((char *)to + 4 * i, &bits, 4);
    else
        memcpy((char *)to + 2 * i, &half, 2);
}

static uint32_t get(const void *from, rdk_type type, int i) {
    uint32_t bits;
    uint16_t half;
    if (type == RDK_F32) {
        memcpy(&bits, (const char *)from + 4 * i, 4);
        return bits;
    }
    memcpy(&half, (const char *)from + 2 * i, 2);
    return half;
}

static uint32_t canonical(uint32_t v, rdk_type type) {
    if (is_nan(v))
        return type == RDK_F32 ? 0x7fc00000 : type == RDK_F16 ? 0x7e00 : 0x7fc0;
    return narrow(v, type);
}

/* The hidden columns hold what would spoil the row if it were read. */
static void fill(const setup *s) {
    static const uint32_t SPOILT[] = {QUIET, INF, SIGNALLING, MAX, MINUS_INF};
    int n = LENGTH[s->length];
    for (int j = 0; j < n + s->hidden; j++) {
        const column *c = j == s->at ? &s->corner->here : &s->corner->rest;
        put(x_memory, s->x_type, j, j < n ? c->x : SPOILT[j % 5]);
        put(bias_memory, s->bias_type, j, j < n ? c->bias : SPOILT[j / 2 % 3]);
    }
    memset(y_memory, 0xa5, sizeof y_memory);
    memset(lse_memory, 0xa5, sizeof lse_memory);
}

static uint32_t expected(const setup *s, int j) {
    const outcome *w = &s->corner->want;
    bool log = s->mode == RDK_LOG_SOFTMAX;
    if (j >= LENGTH[s->length])
        return log ? MINUS_INF : 0;
    if (j == s->at)
        return (log ? w->log_here : w->y_here)[s->length];
    return (log ? w->log_rest : w->y_rest)[s->length];
}

static bool wrong(const path *p, const setup *s, const char *what, int at, uint32_t got,
                  uint32_t want) {
    static const char *const TYPE[] = {"f32", "f16", "bf16"}, *const MODE[] = {"", "log, ",
                                                                               "LSE, "};
    printf(
        "\n%s, %s: %s[%d] is %08x, not %08x\n    %s%d columns, here at %d, %d hidden, x %s, y %s, "
        "bias %s, %s\n",
        p->name, s->corner->name, what, at, (unsigned)got, (unsigned)want, MODE[s->mode],
        LENGTH[s->length], s->at, s->hidden, TYPE[s->x_type], TYPE[s->y_type], TYPE[s->bias_type],
        s->by_row ? "row_scale" : "scale");
    return false;
}

static bool compare(const path *p, const setup *s, int stride) {
    for (int r = 0; r < ROWS; r++) {
        uint32_t lse = rdk_bits(lse_memory[r]), want_lse = s->corner->want.lse[s->length];
        if (lse != want_lse)
            return wrong(p, s, "lse", r, lse, want_lse);
        for (int j = 0; j < stride && s->mode != RDK_SOFTMAX_LSE; j++) {
            uint32_t got = get(y_memory, s->y_type, r * stride + j);
            uint32_t want = canonical(expected(s, j), s->y_type);
            if (got != want)
                return wrong(p, s, "y", j, got, want);
        }
    }
    return true;
}

static bool run(const path *p, const setup *s) {
    int n = LENGTH[s->length], cols = n + s->hidden;
    int64_t visible[ROWS] = {n, n};
    float scale = rdk_float(s->corner->scale), row_scale[ROWS];
    memcpy(&row_scale[0], &s->corner->scale, 4); /* bits: it may be a signalling NaN */
    memcpy(&row_scale[1], &s->corner->scale, 4);
    rdk_softmax_desc d = {.size = sizeof d, .mode = s->mode, .rows = ROWS, .cols = cols};
    fill(s);
    d.x = x_memory, d.x_type = s->x_type; /* stride 0: one row for all */
    d.y = y_memory, d.y_type = s->y_type, d.y_stride = cols;
    if (s->corner->here.bias != NO_BIAS)
        d.bias = bias_memory, d.bias_type = s->bias_type;
    d.visible = s->hidden ? visible : NULL;
    if (s->by_row)
        d.row_scale = row_scale;
    else
        d.scale = scale;
    d.lse = lse_memory;
    rdk_status status = rdk_softmax_with(&p->table, &d);
    if (status != RDK_OK)
        return wrong(p, s, "status", 0, (uint32_t)status, RDK_OK);
    return compare(p, s, cols);
}

static bool run_types(const path *p, setup s) {
    const column *here = &s.corner->here, *rest = &s.corner->rest;
    bool biased = here->bias != NO_BIAS;
    for (s.x_type = RDK_F32; s.x_type <= RDK_BF16; s.x_type++) {
        if (!holds(s.x_type, here->x) || !holds(s.x_type, rest->x))
            continue;
        for (s.bias_type = RDK_F32; s.bias_type <= (biased ? RDK_BF16 : RDK_F32); s.bias_type++) {
            if (s.bias_type != RDK_F32 && s.bias_type != s.x_type)
                continue;
            if (!holds(s.bias_type, here->bias) || !holds(s.bias_type, rest->bias))
                continue;
            for (s.y_type = RDK_F32; s.y_type <= RDK_BF16; s.y_type++)
                for (s.mode = RDK_SOFTMAX; s.mode <= RDK_SOFTMAX_LSE; s.mode++)
                    if (!run(p, &s))
                        return false;
        }
    }
    return true;
}

static bool run_places(const path *p, setup s) {
    int n = LENGTH[s.length], at[] = {0, n / 2, n - 1};
    for (int i = 0; i < (n > 1 ? 3 : 1); i++)
        for (s.hidden = 0; s.hidden <= HIDDEN; s.hidden += HIDDEN) {
            s.at = at[i];
            if (!run_types(p, s))
                return false;
        }
    return true;
}

TEST has_its_bits(const path *p, const corner *c) {
    setup s = {.corner = c};
    for (s.length = 0; s.length < LENGTHS; s.length++)
        for (int by_row = 0; by_row <= 1; by_row++) {
            if (c->field == (by_row ? SCALE : ROW_SCALE))
                continue;
            s.by_row = by_row;
            ASSERT(run_places(p, s));
        }
    PASS();
}

/* ---- Rows that are no corner ----------------------------------------------------------------- */

TEST nothing_visible(const path *p) {
    int64_t none[ROWS] = {0, 0};
    for (int cols = 0; cols <= MOST; cols += 13)
        for (rdk_softmax_mode mode = RDK_SOFTMAX; mode <= RDK_SOFTMAX_LSE; mode++) {
            rdk_softmax_desc d = {.size = sizeof d, .mode = mode, .rows = ROWS, .cols = cols};
            d.x = x_memory, d.y = y_memory, d.y_stride = cols;
            d.bias = cols % 2 ? bias_memory : NULL;
            d.visible = none, d.lse = lse_memory;
            memset(x_memory, 0xff, sizeof x_memory); /* NaN */
            memset(bias_memory, 0xff, sizeof bias_memory);
            memset(y_memory, 0xa5, sizeof y_memory);
            memset(lse_memory, 0xa5, sizeof lse_memory);
            ASSERT_EQ(RDK_OK, rdk_softmax_with(&p->table, &d));
            for (int r = 0; r < ROWS; r++)
                ASSERT_EQ(MINUS_INF, rdk_bits(lse_memory[r]));
            for (int i = 0; i < ROWS * cols && mode != RDK_SOFTMAX_LSE; i++)
                ASSERT_EQ(mode == RDK_SOFTMAX ? 0 : MINUS_INF, y_memory[i]);
        }
    PASS();
}

/* Both logits are 0, whatever the sizes that cancel. */
TEST cancelled_bias_gives_halves(const path *p) {
    static const float SIZE[] = {1, 1000, 1e5f, 1e9f, 1e30f};
    for (size_t i = 0; i < sizeof SIZE / sizeof SIZE[0]; i++) {
        float x[2] = {-SIZE[i], 0}, bias[2] = {SIZE[i], 0}, lse;
        uint32_t y[2];
        rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = 2, .scale = 1};
        d.x = x, d.bias = bias, d.y = y, d.lse = &lse;
        ASSERT_EQ(RDK_OK, rdk_softmax_with(&p->table, &d));
        ASSERT_EQ(0x3f000000, y[0]);
        ASSERT_EQ(0x3f000000, y[1]);
        ASSERT_EQ(0x3f317218, rdk_bits(lse));
    }
    PASS();
}

/* y of two columns, `top` and `top` - 3, as logits or half of each as a bias; the whole
 * as a bias might be absent. */
static bool three_apart(const path *p, uint32_t top, bool biased, uint32_t y[2]) {
    float z[2] = {rdk_float(top), rdk_float(top) - 3}, half[2] = {z[0] / 2, z[1] / 2};
    rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = 2, .y = y};
    d.x = biased ? half : z;
    d.bias = biased ? half : NULL;
    return rdk_softmax_with(&p->table, &d) == RDK_OK;
}

static uint32_t distance(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

/* The last hot row and the first cold one have the same exact weights. */
TEST hot_and_cold_agree(const path *p) {
    static const uint32_t LAST[] = {0x47317218, 0xc7317218}; /* of T = 65536 and -65536, rounded */
    for (int i = 0; i < 2; i++)
        for (int biased = 0; biased < 2; biased++) {
            uint32_t hot[2], cold[2];
            ASSERT(three_apart(p, LAST[i], biased, hot));
            ASSERT(three_apart(p, LAST[i] + 1, biased, cold));
            for (int j = 0; j < 2; j++)
                ASSERT(distance(hot[j], cold[j]) <= 4);
            ASSERT(distance(hot[0], 0x3f73dbe6) <= 4); /* 1 / (1 + exp(-3)) */
        }
    PASS();
}

/* ---- All ------------------------------------------------------------------------------------- */

static void run_list(const corner *list) {
    for (const corner *c = list; c->name; c++)
        for (int i = 0; i < path_count; i++)
            if (rdk_path_is_wanted(&paths[i]))
                RUN_TESTp(has_its_bits, &paths[i], c);
}

SUITE(corners) {
    run_list(NOTHING_LEFT);
    run_list(NAN_ROWS);
    run_list(ONE_COLUMN);
    run_list(OTHERS);
    run_list(EQUALS);
    for (int i = 0; i < path_count; i++) {
        if (!rdk_path_is_wanted(&paths[i]))
            continue;
        RUN_TESTp(nothing_visible, &paths[i]);
        RUN_TESTp(cancelled_bias_gives_halves, &paths[i]);
        RUN_TESTp(hot_and_cold_agree, &paths[i]);
    }
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    path_count = rdk_paths(paths);
    RUN_SUITE(corners);
    RDK_MAIN_END();
}
