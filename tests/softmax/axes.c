#include "tests/softmax/axes.h"

#include <float.h>
#include <math.h>

#include "kernels/contract.h"

/* The state of a walk; go() is false once the visitor has had enough. */
#define GO(c)                                                                                      \
    do {                                                                                           \
        if (!visit(context, &(c)))                                                                 \
            return false;                                                                          \
    } while (0)

#define EACH_TYPE(t) for (rdk_type t = RDK_F32; t <= RDK_BF16; t++)
#define EACH_MODE(m) for (rdk_softmax_mode m = RDK_SOFTMAX; m <= RDK_SOFTMAX_LSE; m++)

static void set_mode(softmax_case *c, rdk_softmax_mode mode) {
    c->mode = mode;
    c->lse = mode != RDK_SOFTMAX;
}

static bool walk_cols(visitor *visit, void *context) {
    static const int64_t EDGES[] = {127,  128,  129,  255,  256,  257,  511,
                                    512,  513,  1023, 1024, 1025, 2047, 2048,
                                    2049, 4095, 4096, 4097, 8191, 8192, 8193};
    softmax_case c = case_default();
    for (int64_t cols = 0; cols <= 130; cols++)
        EACH_MODE(mode)
    for (int biased = 0; biased < 2; biased++) {
        c.cols = cols;
        c.bias = biased ? BIAS_NORMAL : BIAS_NONE;
        c.seed = (uint64_t)cols + 1;
        set_mode(&c, mode);
        GO(c);
    }
    for (size_t i = 0; i < COUNT(EDGES); i++)
        EACH_TYPE(type)
    for (int biased = 0; biased < 2; biased++) {
        c.cols = EDGES[i];
        c.rows = 2;
        c.bias = biased ? BIAS_NORMAL : BIAS_NONE;
        c.y_type = type;
        set_mode(&c, i % 3 ? RDK_SOFTMAX : RDK_LOG_SOFTMAX);
        GO(c);
    }
    return true;
}

static bool walk_rows(visitor *visit, void *context) {
    static const int64_t COLS[] = {0, 1, 5, 16, 64, 130, 600};
    softmax_case c = case_default();
    for (int64_t rows = 0; rows <= 40; rows++)
        for (size_t i = 0; i < COUNT(COLS); i++)
            EACH_TYPE(type) {
                c.rows = rows;
                c.cols = COLS[i];
                c.y_type = type;
                c.lse = rows % 2;
                c.seed = (uint64_t)rows + 1;
                c.family = rows % 3 ? FAMILY_NORMAL : FAMILY_COLD; /* cold rows leave the group */
                GO(c);
            }
    return true;
}

static bool walk_strides(visitor *visit, void *context) {
    static const int PADS[] = {0, 1, 7, 100};
    softmax_case c = case_default();
    EACH_TYPE(type)
    for (size_t x = 0; x < COUNT(PADS) + 1; x++)
        for (size_t y = 0; y < COUNT(PADS); y++)
            for (size_t b = 0; b < COUNT(PADS) + 1; b++) {
                c.x_repeat = x == COUNT(PADS);
                c.x_pad = c.x_repeat ? 0 : PADS[x];
                c.y_pad = PADS[y];
                c.bias = b == 0 ? BIAS_NONE : BIAS_NORMAL;
                c.bias_repeat = b == COUNT(PADS);
                c.bias_pad = c.bias_repeat ? 0 : PADS[b];
                c.x_type = c.bias_type = type;
                c.y_type = (rdk_type)((type + (int)y) % 3);
                GO(c);
            }
    return true;
}

static bool walk_misalignments(visitor *visit, void *context) {
    EACH_TYPE(type)
    for (int away = 0; away < GUARD_SLACK; away++)
        for (int which = 0; which < 8; which++) {
            softmax_case c = case_default();
            c.at_end = which & 4;
            c.x_away = (which & 3) == 0 || (which & 3) == 3 ? away : 0;
            c.y_away = (which & 3) == 1 || (which & 3) == 3 ? away : 0;
            c.bias_away = (which & 3) == 2 ? away : 0;
            c.bias = (which & 3) == 2 ? BIAS_NORMAL : BIAS_NONE;
            c.x_type = c.y_type = c.bias_type = type;
            GO(c);
        }
    return true;
}

static bool walk_in_place(visitor *visit, void *context) {
    softmax_case c = case_default();
    c.in_place = true;
    EACH_TYPE(type)
    for (int64_t cols = 0; cols <= 70; cols++)
        for (int pad = 0; pad < 3; pad++) {
            c.x_type = c.y_type = type;
            c.cols = cols;
            c.x_pad = c.y_pad = pad;
            set_mode(&c, pad == 2 ? RDK_LOG_SOFTMAX : RDK_SOFTMAX);
            c.visible = cols % 3 == 0 ? VISIBLE_RANDOM : VISIBLE_NULL;
            GO(c);
        }
    return true;
}

static bool walk_types(visitor *visit, void *context) {
    static const int64_t COLS[] = {1, 15, 16, 17, 31, 33, 70, 129, 300, 2050};
    EACH_TYPE(x)
    EACH_TYPE(y)
    EACH_TYPE(bias)
    for (size_t i = 0; i < COUNT(COLS); i++)
        EACH_MODE(mode) for (int kind = 0; kind < 3; kind++) {
            softmax_case c = case_default();
            c.x_type = x;
            c.y_type = y;
            c.bias_type = bias;
            c.cols = COLS[i];
            c.rows = COLS[i] > 1000 ? 1 : 3;
            c.bias = kind == 0 ? BIAS_NONE : kind == 1 ? BIAS_NORMAL : BIAS_MASK_INF;
            set_mode(&c, mode);
            GO(c);
        }
    return true;
}

static bool walk_biases(visitor *visit, void *context) {
    for (bias_kind kind = BIAS_NONE; kind < BIAS_COUNT; kind++)
        EACH_TYPE(type)
    EACH_MODE(mode)
    for (int64_t cols = 1; cols <= 70; cols += cols < 20 ? 1 : 7)
        for (int repeat = 0; repeat < 2; repeat++) {
            softmax_case c = case_default();
            c.bias = kind;
            c.bias_type = type;
            c.bias_repeat = repeat;
            c.cols = cols;
            c.seed = (uint64_t)cols + 1;
            set_mode(&c, mode);
            GO(c);
        }
    return true;
}

static bool walk_visible(visitor *visit, void *context) {
    EACH_MODE(mode)
    for (int biased = 0; biased < 2; biased++)
        for (int64_t n = 0; n <= 70; n++)
            for (visible_kind kind = VISIBLE_FIXED; kind < VISIBLE_COUNT; kind++) {
                softmax_case c = case_default();
                c.visible = kind;
                c.visible_count = n;
                c.seed = (uint64_t)n + 1;
                c.bias = biased ? BIAS_NORMAL : BIAS_NONE;
                c.x_type = c.bias_type = (rdk_type)(n % 3);
                c.y_type = (rdk_type)(n / 3 % 3);
                set_mode(&c, mode);
                GO(c);
            }
    return true;
}

static bool walk_families(visitor *visit, void *context) {
    static const int64_t COLS[] = {1, 7, 16, 23, 70, 128, 200, 2100};
    for (family f = 0; f < FAMILY_COUNT; f++)
        for (size_t i = 0; i < COUNT(COLS); i++)
            EACH_TYPE(x) EACH_MODE(mode) for (uint64_t seed = 1; seed <= 8; seed++) {
                softmax_case c = case_default();
                c.family = f;
                c.cols = COLS[i];
                c.rows = COLS[i] > 1000 ? 1 : 3;
                c.x_type = x;
                c.y_type = (rdk_type)(seed % 3);
                c.bias = seed % 4 == 3 ? BIAS_NORMAL : BIAS_NONE;
                c.seed = seed;
                set_mode(&c, mode);
                GO(c);
                if (COLS[i] > 1000)
                    break;
            }
    return true;
}

static bool walk_scales(visitor *visit, void *context) {
    static const float SCALES[] = {0,       -0.0f,     1,         0.125f,  -1,
                                   -0.125f, 0x1p-149f, 1e-38f,    -1e-38f, 1e-6f,
                                   1000,    -1000,     70000,     1e20f,   -1e20f,
                                   FLT_MAX, INFINITY,  -INFINITY, NAN,     0.08838834764831845f};
    for (size_t i = 0; i < COUNT(SCALES); i++)
        for (family f = 0; f < FAMILY_COUNT; f++)
            EACH_MODE(mode)
    for (int biased = 0; biased < 2; biased++) {
        softmax_case c = case_default();
        c.scale = SCALES[i];
        c.family = f;
        c.bias = biased ? BIAS_MASK_FINITE : BIAS_NONE;
        set_mode(&c, mode);
        GO(c);
    }
    for (row_scale_kind kind = ROW_SCALE_NORMAL; kind < ROW_SCALE_COUNT; kind++)
        for (family f = 0; f < FAMILY_COUNT; f++)
            EACH_MODE(mode) {
                softmax_case c = case_default();
                c.rows = 40;
                c.row_scale = kind;
                c.family = f;
                set_mode(&c, mode);
                GO(c);
            }
    return true;
}

const axis BITS_AXES[] = {
    {"cols", walk_cols},
    {"rows", walk_rows},
    {"strides", walk_strides},
    {"misalignments", walk_misalignments},
    {"in place", walk_in_place},
    {"types", walk_types},
    {"biases", walk_biases},
    {"visible", walk_visible},
    {"families", walk_families},
    {"scales", walk_scales},
    {0},
};

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Every tail in every type, flush with both ends: 1 and 3 rows, one
 * vector or five before the tail. */
static bool walk_tails(visitor *visit, void *context) {
    EACH_TYPE(x)
    EACH_TYPE(y)
    for (int64_t tail = 1; tail <= 64; tail++)
        EACH_MODE(mode) for (int variant = 0; variant < 8; variant++) {
            softmax_case c = case_default();
            c.rows = variant & 1 ? 3 : 1;
            c.at_end = variant & 2;
            c.cols = tail + (variant & 4 ? 64 : 0);
            c.x_type = x;
            c.y_type = y;
            set_mode(&c, mode);
            GO(c);
        }
    return true;
}

static bool walk_bias_tails(visitor *visit, void *context) {
    EACH_TYPE(x)
    EACH_TYPE(bias)
    for (int64_t tail = 1; tail <= 64; tail++)
        for (int variant = 0; variant < 4; variant++) {
            softmax_case c = case_default();
            c.rows = variant & 1 ? 3 : 1;
            c.at_end = variant & 2;
            c.cols = tail;
            c.x_type = x;
            c.bias_type = bias;
            c.bias = BIAS_NORMAL;
            c.bias_repeat = tail % 4 == 3;
            set_mode(&c, tail % 2 ? RDK_SOFTMAX : RDK_LOG_SOFTMAX);
            GO(c);
        }
    return true;
}

/* x and bias lie in the forbidden page from the first hidden column on, cold rows included. */
static bool walk_hidden(visitor *visit, void *context) {
    EACH_TYPE(type)
    EACH_MODE(mode)
    for (int64_t n = 0; n <= 70; n++)
        for (int variant = 0; variant < 4; variant++) {
            softmax_case c = case_default();
            c.rows = variant & 1 ? 4 : 1;
            c.bias = variant & 2 ? BIAS_MASK_INF : BIAS_NONE;
            c.visible = VISIBLE_FIXED;
            c.visible_count = n;
            c.x_type = c.bias_type = type;
            c.y_type = (rdk_type)(n % 3);
            c.family = n % 5 == 4 ? FAMILY_COLD : FAMILY_NORMAL;
            c.scale = n % 7 == 6 ? NAN : 0;
            set_mode(&c, mode);
            GO(c);
        }
    return true;
}

/* Enough rows for several groups, each seeing less or more than the one it is worked on beside. */
static bool walk_groups(visitor *visit, void *context) {
    static const int64_t ROWS[] = {15, 16, 17, 31, 33, 40};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        for (uint64_t seed = 0; seed < 160; seed++) {
            softmax_case c = case_default();
            c.mode = seed / 40 % 2 ? RDK_LOG_SOFTMAX : RDK_SOFTMAX;
            c.bias = seed < 80 ? BIAS_NONE : seed % 3 ? BIAS_NORMAL : BIAS_MASK_FINITE;
            c.rows = ROWS[i];
            c.cols = seed % 2 ? 130 : 70;
            c.visible = VISIBLE_RANDOM;
            c.row_scale = seed % 4 == 3 ? ROW_SCALE_NORMAL : ROW_SCALE_NULL;
            c.seed = seed;
            GO(c);
        }
    return true;
}

/* Gaps between the rows of y, of every length up to more than a vector. */
static bool walk_gaps(visitor *visit, void *context) {
    EACH_TYPE(y)
    for (int pad = 0; pad <= 20; pad++)
        for (int64_t cols = 1; cols <= 40; cols++) {
            softmax_case c = case_default();
            c.rows = 4;
            c.cols = cols;
            c.y_type = y;
            c.y_pad = pad;
            c.x_pad = 20 - pad;
            c.visible = cols % 4 ? VISIBLE_NULL : VISIBLE_RANDOM;
            c.in_place = cols % 5 == 0;
            if (c.in_place) {
                c.x_type = y;
                c.x_pad = pad;
            }
            set_mode(&c, cols % 2 ? RDK_SOFTMAX : RDK_LOG_SOFTMAX);
            GO(c);
        }
    return true;
}

static bool walk_lse_only(visitor *visit, void *context) {
    EACH_TYPE(x)
    for (int64_t cols = 0; cols <= 70; cols++)
        for (int64_t rows = 0; rows <= 18; rows += rows < 3 ? 1 : 5) {
            softmax_case c = case_default();
            c.rows = rows;
            c.cols = cols;
            c.x_type = x;
            c.y_null = true;
            c.bias = cols % 3 ? BIAS_NONE : BIAS_NORMAL;
            set_mode(&c, RDK_SOFTMAX_LSE);
            GO(c);
        }
    return true;
}

const axis MEMORY_AXES[] = {
    {"tails", walk_tails},
    {"bias tails", walk_bias_tails},
    {"hidden columns", walk_hidden},
    {"groups", walk_groups},
    {"gaps", walk_gaps},
    {"LSE only", walk_lse_only},
    {0},
};

bool walk_draws(uint64_t seed, uint64_t first, uint64_t count, visitor *visit, void *context) {
    for (uint64_t i = first; i < first + count; i++) {
        softmax_case c = case_draw(seed, i);
        GO(c);
    }
    return true;
}
