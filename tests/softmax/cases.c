#include "tests/softmax/cases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/contract.h"

/* ---- Inputs beside x ------------------------------------------------------------------------- */

static void fill_bias(char *p, rdk_type type, int64_t n, bias_kind kind, rng *r) {
    for (int64_t j = 0; j < n; j++) {
        float v = 0;
        switch (kind) {
        case BIAS_NORMAL:
            v = normal(r) * 4;
            break;
        case BIAS_RAMP:
            v = (float)-j * 0.5f;
            break;
        case BIAS_MASK_INF:
            v = chance(r, 50) ? 0 : -INFINITY;
            break;
        case BIAS_MASK_FINITE:
            v = PICK(r, 0, 0, -10000, -1e9f, -FLT_MAX);
            break;
        case BIAS_ALL_INF:
            v = -INFINITY;
            break;
        case BIAS_ALL_FINITE:
            v = -1e9f;
            break;
        case BIAS_ABSENT_EDGE:
            v = chance(r, 30) ? normal(r) : base2(r, -0x1p+16, 1);
            if (chance(r, 30))
                v = RDK_ABSENT;
            break;
        case BIAS_COLD:
            v = chance(r, 50) ? normal(r) : base2(r, 65536, 1);
            break;
        default:
            v = normal(r);
        }
        rdk_store(p, type, j, v);
        if (kind == BIAS_SPECIAL && chance(r, 20))
            put_bits(p, type, j, type == RDK_F32 ? 0x80000001 : 0x8001);
        if (kind == BIAS_SPECIAL && chance(r, 5))
            rdk_store(p, type, j, PICK(r, INFINITY, -0.0f, 60000));
        if (kind == BIAS_SPECIAL && chance(r, 3))
            put_nan(p, type, j, r);
        if (kind == BIAS_BITS)
            put_bits(p, type, j, (uint32_t)rng_next(r));
    }
}

static void fill_row_scale(float *p, int64_t rows, row_scale_kind kind, rng *r) {
    for (int64_t i = 0; i < rows; i++)
        p[i] = kind == ROW_SCALE_NORMAL || chance(r, 40)
                   ? normal(r)
                   : PICK(r, 0, -0.0f, 1, 0.125f, -1, 1e-38f, 0x1p-149f, 1e30f, FLT_MAX, INFINITY,
                          -INFINITY, NAN);
}

static int64_t visible_of(const softmax_case *c, int64_t row, rng *r) {
    int64_t n = c->visible == VISIBLE_FIXED    ? c->visible_count
                : c->visible == VISIBLE_CAUSAL ? c->visible_count + row
                                               : rng_below(r, c->cols + 1);
    return n < c->cols ? n : c->cols;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void memory_map(memory *m) {
    static const char *const NAMES[] = {"x", "y", "bias", "row_scale", "visible", "lse"};
    m->count = BUFFER_COUNT;
    for (int i = 0; i < BUFFER_COUNT; i++)
        guard_map(&m->buffer[i], NAMES[i], i <= BUFFER_BIAS ? 1 << 20 : 1 << 16);
}

static void *place(memory *m, int which, size_t bytes, int away, bool at_end) {
    m->used[which] = true;
    return guard_place(&m->buffer[which], bytes, (size_t)away, at_end);
}

/* Elements up to the last that is looked at. */
static size_t extent(const rdk_softmax_desc *d, int64_t stride) {
    int64_t last = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        int64_t n = d->visible ? d->visible[i] : d->cols;
        if (n && i * stride + n > last)
            last = i * stride + n;
    }
    return (size_t)last;
}

static size_t whole_extent(const rdk_softmax_desc *d, int64_t stride) {
    return d->rows && d->cols ? (size_t)((d->rows - 1) * stride + d->cols) : 0;
}

static float scale_of(const rdk_softmax_desc *d, int64_t row) {
    return d->row_scale ? d->row_scale[row] : d->scale == 0 ? 1 : d->scale;
}

static void build_row_inputs(const softmax_case *c, memory *m, rdk_softmax_desc *d, rng *r) {
    if (c->row_scale) {
        float *p = place(m, BUFFER_ROW_SCALE, (size_t)c->rows * sizeof *p, 0, c->at_end);
        fill_row_scale(p, c->rows, c->row_scale, r);
        d->row_scale = p;
    }
    if (c->visible) {
        int64_t *p = place(m, BUFFER_VISIBLE, (size_t)c->rows * sizeof *p, 0, c->at_end);
        for (int64_t i = 0; i < c->rows; i++)
            p[i] = visible_of(c, i, r);
        d->visible = p;
    }
    if (c->lse)
        d->lse = place(m, BUFFER_LSE, (size_t)c->rows * sizeof *d->lse, 0, c->at_end);
}

static void build_x(const softmax_case *c, memory *m, rdk_softmax_desc *d, rng *r) {
    d->x_type = c->x_type;
    d->x_stride = c->x_repeat ? 0 : c->cols + c->x_pad;
    size_t n = c->in_place ? whole_extent(d, d->x_stride) : extent(d, d->x_stride);
    size_t bytes = n * (size_t)rdk_type_size(c->x_type);
    char *p = place(m, BUFFER_X, bytes, c->x_away, c->at_end);
    d->x = p;
    poison(p, c->x_type, n);
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t count = d->visible ? d->visible[i] : c->cols;
        if (count > 0)
            fill_row(p + i * d->x_stride * rdk_type_size(c->x_type), c->x_type, count, c->family,
                     scale_of(d, i), RDK_HOT, r);
    }
}

static void build_bias(const softmax_case *c, memory *m, rdk_softmax_desc *d, rng *r) {
    d->bias_type = c->bias_type;
    d->bias_stride = c->bias_repeat ? 0 : c->cols + c->bias_pad;
    size_t n = extent(d, d->bias_stride);
    char *p =
        place(m, BUFFER_BIAS, n * (size_t)rdk_type_size(c->bias_type), c->bias_away, c->at_end);
    d->bias = p;
    poison(p, c->bias_type, n);
    for (int64_t i = 0; i < c->rows; i++)
        fill_bias(p + i * d->bias_stride * rdk_type_size(c->bias_type), c->bias_type,
                  d->visible ? d->visible[i] : c->cols, c->bias, r);
}

static void build_y(const softmax_case *c, memory *m, rdk_softmax_desc *d) {
    d->y_type = c->y_type;
    d->y_stride = c->cols + c->y_pad;
    size_t n = whole_extent(d, d->y_stride);
    d->y = place(m, BUFFER_Y, n * (size_t)rdk_type_size(c->y_type), c->y_away, c->at_end);
}

rdk_softmax_desc case_build(const softmax_case *c, memory *m) {
    rng r = {c->seed};
    rdk_softmax_desc d = {.size = sizeof d, .mode = c->mode, .rows = c->rows, .cols = c->cols};
    d.scale = c->scale;
    memset(m->used, 0, sizeof m->used);
    build_row_inputs(c, m, &d, &r);
    build_x(c, m, &d, &r);
    if (c->bias)
        build_bias(c, m, &d, &r);
    if (c->in_place) {
        d.y = m->buffer[BUFFER_X].data;
        d.y_type = d.x_type;
        d.y_stride = d.x_stride;
    } else if (!c->y_null) {
        build_y(c, m, &d);
    }
    return d;
}

const guarded *memory_y(const memory *m, const rdk_softmax_desc *d) {
    if (d->mode == RDK_SOFTMAX_LSE)
        return NULL;
    return d->y == d->x ? &m->buffer[BUFFER_X] : &m->buffer[BUFFER_Y];
}

/* ---- Cases ----------------------------------------------------------------------------------- */

softmax_case case_default(void) {
    return (softmax_case){.rows = 3, .cols = 70, .at_end = true, .seed = 1};
}

static void draw_size(softmax_case *c, rng *r) {
    int64_t kind = rng_below(r, 100);
    if (kind < 60) {
        c->rows = 1 + rng_below(r, 4);
        c->cols = rng_below(r, 41);
    } else if (kind < 85) {
        c->rows = rng_below(r, 20);
        c->cols = rng_below(r, 18);
    } else if (kind < 95) {
        c->rows = 1 + rng_below(r, 3);
        c->cols = rng_below(r, 161);
    } else if (kind < 99) {
        c->rows = 1 + rng_below(r, 2);
        c->cols = 100 + rng_below(r, 500);
    } else {
        c->rows = 1;
        c->cols = 600 + rng_below(r, 1500);
    }
}

static int draw_pad(rng *r) {
    return chance(r, 50) ? 0 : (int)rng_below(r, 10);
}

static int draw_away(rng *r) {
    return chance(r, 60) ? 0 : (int)rng_below(r, GUARD_SLACK);
}

static void draw_layout(softmax_case *c, rng *r) {
    c->x_pad = draw_pad(r);
    c->y_pad = draw_pad(r);
    c->bias_pad = draw_pad(r);
    c->x_repeat = chance(r, 5);
    c->bias_repeat = chance(r, 30);
    c->x_away = draw_away(r);
    c->y_away = draw_away(r);
    c->bias_away = draw_away(r);
    c->at_end = chance(r, 70);
    c->in_place = chance(r, 20);
    if (c->in_place) {
        c->y_type = c->x_type;
        c->x_repeat = false;
    }
}

static void draw_mode(softmax_case *c, rng *r) {
    c->mode = chance(r, 60) ? RDK_SOFTMAX : chance(r, 70) ? RDK_LOG_SOFTMAX : RDK_SOFTMAX_LSE;
    c->lse = c->mode == RDK_SOFTMAX_LSE || chance(r, 30);
    c->y_null = c->mode == RDK_SOFTMAX_LSE && !c->in_place && chance(r, 50);
}

softmax_case case_draw(uint64_t seed, uint64_t index) {
    rng start = {seed ^ index * 0xd1342543de82ef95};
    rng r = {rng_next(&start)};
    softmax_case c = {.seed = rng_next(&r)};
    draw_size(&c, &r);
    c.x_type = chance(&r, 50) ? RDK_F32 : (rdk_type)rng_below(&r, 3);
    c.y_type = chance(&r, 50) ? RDK_F32 : (rdk_type)rng_below(&r, 3);
    c.bias_type = chance(&r, 50) ? RDK_F32 : (rdk_type)rng_below(&r, 3);
    draw_layout(&c, &r);
    draw_mode(&c, &r);
    c.scale = chance(&r, 50)   ? 0
              : chance(&r, 70) ? PICK(&r, 1, 0.125f, 0.08838834764831845f, -1, 3.5f)
                               : PICK(&r, 1e-38f, 1e-10f, 100, -1e6f, 1e30f, INFINITY, NAN);
    c.row_scale = chance(&r, 80) ? ROW_SCALE_NULL : (row_scale_kind)rng_below(&r, ROW_SCALE_COUNT);
    c.bias = chance(&r, 60) ? BIAS_NONE : (bias_kind)rng_below(&r, BIAS_COUNT);
    c.visible = chance(&r, 60) ? VISIBLE_NULL : (visible_kind)rng_below(&r, VISIBLE_COUNT);
    c.visible_count = rng_below(&r, c.cols + 1);
    c.family = chance(&r, 30) ? FAMILY_NORMAL : (family)rng_below(&r, FAMILY_COUNT);
    return c;
}

/* ---- Words ----------------------------------------------------------------------------------- */

const char *type_name(rdk_type type) {
    return type == RDK_F32 ? "f32" : type == RDK_F16 ? "f16" : "bf16";
}

void case_describe(const softmax_case *c, char *text, size_t size) {
    static const char *const BIASES[BIAS_COUNT] = {
        "none",     "normal",      "ramp", "0/-inf",  "0/-1e9",     "all -inf",
        "all -1e9", "absent edge", "cold", "special", "random bits"};
    static const char *const VISIBLES[] = {"NULL", "fixed", "random", "causal"};
    static const char *const MODES[] = {"softmax", "log-softmax", "lse"};
    static const char *const ROW_SCALES[] = {"NULL", "normal", "special"};
    snprintf(
        text, size,
        "%s %lld x %lld, %s -> %s%s, %s values, seed %#llx, scale %a, row_scale %s, bias %s %s%s, "
        "visible %s %lld, lse %s, pads %d %d %d%s, flush with the %s but %d %d %d bytes",
        MODES[c->mode], (long long)c->rows, (long long)c->cols, type_name(c->x_type),
        type_name(c->y_type),
        c->in_place ? " in place"
        : c->y_null ? " (NULL)"
                    : "",
        FAMILY_NAMES[c->family], (unsigned long long)c->seed, (double)c->scale,
        ROW_SCALES[c->row_scale], BIASES[c->bias], type_name(c->bias_type),
        c->bias_repeat ? " one row" : "", VISIBLES[c->visible], (long long)c->visible_count,
        c->lse ? "yes" : "no", c->x_pad, c->y_pad, c->bias_pad, c->x_repeat ? ", x one row" : "",
        c->at_end ? "end" : "start", c->x_away, c->y_away, c->bias_away);
}
