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

enum { LENGTHS = 4, ROWS = 2, MOST = 130, HIDDEN = 19, CELLS = MOST + HIDDEN };
static const int LENGTH[LENGTHS] = {1, 3, 17, MOST};

static path paths[RDK_MAX_PATHS];
static int path_count;

/* ---- Corners --------------------------------------------------------------------------------- */

typedef struct column {
    uint32_t x, bias; /* bits of floats */
} column;

typedef enum scale_field { EITHER, SCALE, ROW_SCALE } scale_field;

/* Bits of floats, for each length. A row of one column has only `here`. */
typedef struct outcome {
    uint32_t y_here[LENGTHS], y_rest[LENGTHS], log_here[LENGTHS], log_rest[LENGTHS], lse[LENGTHS];
} outcome;

typedef struct corner {
    const char *name;
    column here, rest;
    uint32_t scale;
    scale_field field;
    outcome want;
} corner;

#define NO_BIAS 0xffffffffu /* in both columns: the row has none */
#define ONE 0x3f800000u
#define MINUS_ZERO 0x80000000u
#define INF 0x7f800000u
#define MINUS_INF 0xff800000u
#define QUIET 0x7fc00000u
#define MINUS_QUIET 0xffc54321u
#define SIGNALLING 0x7f800001u
#define MINUS_SIGNALLING 0xffa12345u
#define MAX 0x7f7fffffu /* FLT_MAX */
#define MINUS_MAX 0xff7fffffu
#define P300 0x43960000u
#define P1E30 0x7149f2cau
#define M1E30 0xf149f2cau
#define M1E9 0xce6e6b28u
#define M10000 0xc61c4000u
#define M1000 0xc47a0000u
#define M1 0xbf800000u
#define LN2 0x3f317218u /* a scale for which ch is 1 */

#define UNBIASED(v)                                                                                \
    { v, NO_BIAS }
#define FOUR(a, b, c, d)                                                                           \
    { a, b, c, d }
#define SAME(v) FOUR(v, v, v, v)

#define NOTHING                                                                                    \
    { SAME(0), SAME(0), SAME(MINUS_INF), SAME(MINUS_INF), SAME(MINUS_INF) }
#define ALL_NAN                                                                                    \
    { SAME(QUIET), SAME(QUIET), SAME(QUIET), SAME(QUIET), SAME(QUIET) }

/* `here` has all the weight there is, to the last bit. */
#define ALONE(y_rest, log_here, log_rest, lse)                                                     \
    { SAME(ONE), SAME(y_rest), SAME(log_here), SAME(log_rest), SAME(lse) }

/* `here` has no weight, the rest are logits of 0. */
#define OUT(y_1, log_here, lse_1)                                                                  \
    {                                                                                              \
        FOUR(y_1, 0, 0, 0), FOUR(0, 0x3f000000, 0x3d800000, 0x3bfe03f8), log_here,                 \
            FOUR(0, 0xbf317218, 0xc0317218, 0xc09b8395),                                           \
            FOUR(lse_1, 0x3f317218, 0x40317218, 0x409b8395)                                        \
    }
#define GONE OUT(0, SAME(MINUS_INF), MINUS_INF)

/* Every logit is the same. */
#define SHARED(y, log, lse)                                                                        \
    { y, y, log, log, lse }
#define SHARES FOUR(ONE, 0x3eaaaaab, 0x3d70f0f1, 0x3bfc0fc1) /* 1/n */
#define MINUS_LN(log_1) FOUR(log_1, 0xbf8c9f54, 0xc035535e, 0xc09bc2d8)
#define LN FOUR(0, 0x3f8c9f54, 0x4035535e, 0x409bc2d8)
#define EQUAL SHARED(SHARES, MINUS_LN(0), LN)

static const corner NOTHING_LEFT[] = {
    {"every logit -inf", UNBIASED(MINUS_INF), UNBIASED(MINUS_INF), ONE, EITHER, NOTHING},
    {"every logit -inf, by the scale", UNBIASED(INF), UNBIASED(INF), M1, EITHER, NOTHING},
    {"-inf, bias 0", {MINUS_INF, 0}, {MINUS_INF, 0}, ONE, EITHER, NOTHING},
    {"-inf, rest absent", {MINUS_INF, 0}, {0, MINUS_INF}, ONE, EITHER, NOTHING},
    {"bias -inf", {0, MINUS_INF}, {0, MINUS_INF}, ONE, EITHER, NOTHING},
    {"bias -1e9", {0, M1E9}, {0, M1E9}, ONE, EITHER, NOTHING},
    {"bias -FLT_MAX", {0, MINUS_MAX}, {0, MINUS_MAX}, ONE, EITHER, NOTHING},
    {"bias at the edge, absent", {0, 0xc7317218}, {0, 0xc7317218}, ONE, EITHER, NOTHING},
    {"absent NaN and Inf", {QUIET, MINUS_INF}, {INF, M1E9}, ONE, EITHER, NOTHING},
    {"absent FLT_MAX", {MAX, MINUS_INF}, {MAX, MINUS_MAX}, ONE, EITHER, NOTHING},
    {"absent, scale NaN", {0, MINUS_INF}, {0, M1E9}, QUIET, EITHER, NOTHING},
    {"absent, scale inf", {1, MINUS_INF}, {0, M1E9}, INF, EITHER, NOTHING},
    {"absent, row_scale 0", {INF, MINUS_INF}, {0, M1E9}, 0, ROW_SCALE, NOTHING},
    {"every logit -FLT_MAX", UNBIASED(MINUS_MAX), UNBIASED(MINUS_MAX), ONE, EITHER, NOTHING},
    {"every logit FLT_MAX, scale -1", UNBIASED(MAX), UNBIASED(MAX), M1, EITHER, NOTHING},
    {"-FLT_MAX and -inf", UNBIASED(MINUS_MAX), UNBIASED(MINUS_INF), ONE, EITHER, NOTHING},
    {"first past the range", UNBIASED(0xff317218), UNBIASED(0xff317218), ONE, EITHER, NOTHING},
    {"-FLT_MAX, bias 0", {MINUS_MAX, 0}, {MINUS_MAX, 0}, ONE, EITHER, NOTHING},
    {0},
};

static const corner NAN_ROWS[] = {
    {"NaN", UNBIASED(QUIET), UNBIASED(0), ONE, EITHER, ALL_NAN},
    {"-NaN", UNBIASED(MINUS_QUIET), UNBIASED(0), ONE, EITHER, ALL_NAN},
    {"signalling NaN", UNBIASED(SIGNALLING), UNBIASED(0), ONE, EITHER, ALL_NAN},
    {"-NaN, signalling", UNBIASED(MINUS_SIGNALLING), UNBIASED(0), ONE, EITHER, ALL_NAN},
    {"NaN, rest -inf", UNBIASED(QUIET), UNBIASED(MINUS_INF), ONE, EITHER, ALL_NAN},
    {"NaN, rest cold", UNBIASED(QUIET), UNBIASED(P1E30), ONE, EITHER, ALL_NAN},
    {"NaN, rest -1e30", UNBIASED(SIGNALLING), UNBIASED(M1E30), ONE, EITHER, ALL_NAN},
    {"NaN everywhere", UNBIASED(QUIET), UNBIASED(QUIET), ONE, EITHER, ALL_NAN},
    {"NaN, bias 0", {QUIET, 0}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"NaN, rest absent", {QUIET, 0}, {0, MINUS_INF}, ONE, EITHER, ALL_NAN},
    {"NaN, bias -10000", {QUIET, M10000}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias NaN", {0, QUIET}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias -NaN", {0, MINUS_QUIET}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias signalling NaN", {0, SIGNALLING}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias NaN, x -inf", {MINUS_INF, QUIET}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias NaN, rest absent", {0, QUIET}, {0, MINUS_INF}, ONE, EITHER, ALL_NAN},
    {"bias NaN, rest cold", {0, QUIET}, {P1E30, 0}, ONE, EITHER, ALL_NAN},
    {"-inf and bias +inf", {MINUS_INF, INF}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"-inf and bias +inf, rest -inf", {MINUS_INF, INF}, {MINUS_INF, 0}, ONE, EITHER, ALL_NAN},
    {"+inf", UNBIASED(INF), UNBIASED(0), ONE, EITHER, ALL_NAN},
    {"+inf, rest -inf", UNBIASED(INF), UNBIASED(MINUS_INF), ONE, EITHER, ALL_NAN},
    {"+inf everywhere", UNBIASED(INF), UNBIASED(INF), ONE, EITHER, ALL_NAN},
    {"bias +inf", {0, INF}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"bias +inf, x -1e30", {M1E30, INF}, {0, 0}, ONE, EITHER, ALL_NAN},
    {"-inf, scale -1", UNBIASED(MINUS_INF), UNBIASED(0), M1, EITHER, ALL_NAN},
    {"+inf, row_scale 0", UNBIASED(INF), UNBIASED(0), 0, ROW_SCALE, ALL_NAN},
    {"-inf, row_scale 0", UNBIASED(MINUS_INF), UNBIASED(0), 0, ROW_SCALE, ALL_NAN},
    {"-inf, row_scale -0, bias", {MINUS_INF, 0}, {0, 0}, MINUS_ZERO, ROW_SCALE, ALL_NAN},
    {"NaN, row_scale 0", UNBIASED(QUIET), UNBIASED(0), 0, ROW_SCALE, ALL_NAN},
    {"scale NaN", UNBIASED(0), UNBIASED(0), QUIET, EITHER, ALL_NAN},
    {"scale signalling NaN", UNBIASED(0), UNBIASED(0), SIGNALLING, EITHER, ALL_NAN},
    {"scale inf", UNBIASED(0), UNBIASED(0), INF, EITHER, ALL_NAN},
    {"scale -inf", UNBIASED(ONE), UNBIASED(0), MINUS_INF, EITHER, ALL_NAN},
    {"scale inf, rest -inf", UNBIASED(0), UNBIASED(MINUS_INF), INF, EITHER, ALL_NAN},
    {"scale 3e38", UNBIASED(0), UNBIASED(0), 0x7f61b1e6, EITHER, ALL_NAN},
    {"scale -3e38", UNBIASED(0), UNBIASED(ONE), 0xff61b1e6, EITHER, ALL_NAN},
    {"scale at the edge", UNBIASED(0), UNBIASED(0), 0x7f317218, EITHER, ALL_NAN},
    {"scale NaN, bias 0", {0, 0}, {0, 0}, QUIET, EITHER, ALL_NAN},
    {0},
};

/* k = -100 is kept, -101 is not: neighbouring floats. */
static const corner ONE_COLUMN[] = {
    {"0 and -inf", UNBIASED(0), UNBIASED(MINUS_INF), ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"-0 and -inf", UNBIASED(MINUS_ZERO), UNBIASED(MINUS_INF), ONE, EITHER,
     ALONE(0, 0, MINUS_INF, 0)},
    {"0 and -FLT_MAX", UNBIASED(0), UNBIASED(MINUS_MAX), ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"0 and the least in range", UNBIASED(0), UNBIASED(0xff317217), ONE, EITHER,
     ALONE(0, 0, 0xff317217, 0)},
    {"0 and the least in range, bias 0",
     {0, 0},
     {0xff317217, 0},
     ONE,
     EITHER,
     ALONE(0, 0, 0xff317217, 0)},
    {"0 and -FLT_MAX, bias 0", {0, 0}, {MINUS_MAX, 0}, ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"0 and -1e8", UNBIASED(0), UNBIASED(0xccbebc20), ONE, EITHER, ALONE(0, 0, 0xccbebc20, 0)},
    {"0 and -1e8, bias 1", {0, 0}, {0xccbebc20, ONE}, ONE, EITHER, ALONE(0, 0, 0xccbebc20, 0)},
    {"bias 0 and -65504", {0, 0}, {0, 0xc77fe000}, ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"1e30 and 0", UNBIASED(P1E30), UNBIASED(0), ONE, EITHER, ALONE(0, 0, M1E30, P1E30)},
    {"1e30 and -inf", UNBIASED(P1E30), UNBIASED(MINUS_INF), ONE, EITHER,
     ALONE(0, 0, MINUS_INF, P1E30)},
    {"FLT_MAX and 0, scale 2", UNBIASED(MAX), UNBIASED(0), 0x40000000, EITHER,
     ALONE(0, 0, MINUS_INF, INF)},
    {"300 and 0, scale 0", UNBIASED(P300), UNBIASED(0), 0, SCALE,
     ALONE(0, 0x32bf83b0, 0xc3960000, P300)},
    {"300 and 0, scale -0", UNBIASED(P300), UNBIASED(0), MINUS_ZERO, SCALE,
     ALONE(0, 0x32bf83b0, 0xc3960000, P300)},
    {"300 and 0, scale 1", UNBIASED(P300), UNBIASED(0), ONE, EITHER,
     ALONE(0, 0x32bf83b0, 0xc3960000, P300)},
    {"-5 and 200, scale -1", UNBIASED(0xc0a00000), UNBIASED(0x43480000), M1, EITHER,
     ALONE(0, 0xb2b30318, 0xc34d0000, 0x40a00000)},
    {"bias 300 and 0", {0, P300}, {0, 0}, ONE, EITHER, ALONE(0, 0x32bf83b0, 0xc3960000, P300)},
    {"bias 300 and 0, row_scale 0",
     {MAX, P300},
     {M1, 0},
     0,
     ROW_SCALE,
     ALONE(0, 0x32bf83b0, 0xc3960000, P300)},
    {"bias 0 and -inf", {0, 0}, {0, MINUS_INF}, ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"bias 0, and NaN absent", {0, 0}, {QUIET, M1E9}, ONE, EITHER, ALONE(0, 0, MINUS_INF, 0)},
    {"bias 0 and -10000", {0, 0}, {0, M10000}, ONE, EITHER, ALONE(0, 0, M10000, 0)},
    {"bias 0 and the least present",
     {0, 0},
     {0, 0xc7317217},
     ONE,
     EITHER,
     ALONE(0, 0, 0xc7317217, 0)},
    {"1e30, and NaN absent",
     {P1E30, 0},
     {QUIET, MINUS_INF},
     ONE,
     EITHER,
     ALONE(0, 0, MINUS_INF, P1E30)},
    {"k = -100", UNBIASED(0), UNBIASED(0xc28b5294), ONE, EITHER,
     ALONE(0x0d35053d, 0, 0xc28b5294, 0)},
    {"k = -101", UNBIASED(0), UNBIASED(0xc28b5295), ONE, EITHER, ALONE(0, 0, 0xc28b5295, 0)},
    {"k = -100, bias", {0, 0}, {0, 0xc28b5295}, ONE, EITHER, ALONE(0x0d3504e3, 0, 0xc28b5295, 0)},
    {"k = -101, bias", {0, 0}, {0, 0xc28b5296}, ONE, EITHER, ALONE(0, 0, 0xc28b5296, 0)},
    {"k = -100, cold", UNBIASED(0x48435000), UNBIASED(0x48433e96), ONE, EITHER,
     ALONE(0x0d35ef2d, 0x327ce9d8, 0xc28b5000, 0x48435000)},
    {"k = -101, cold", UNBIASED(0x48435000), UNBIASED(0x48433e95), ONE, EITHER,
     ALONE(0, 0x327ce9d8, 0xc28b5800, 0x48435000)},
    {0},
};

static const corner OTHERS[] = {
    {"one logit -inf", UNBIASED(MINUS_INF), UNBIASED(0), ONE, EITHER, GONE},
    {"one logit -inf, bias 0", {MINUS_INF, 0}, {0, 0}, ONE, EITHER, GONE},
    {"one logit -FLT_MAX", UNBIASED(MINUS_MAX), UNBIASED(0), ONE, EITHER, GONE},
    {"one logit -1000", UNBIASED(M1000), UNBIASED(0), ONE, EITHER,
     OUT(ONE, FOUR(0xb0815900, 0xc47a2c5d, 0xc47ab172, 0xc47b3708), M1000)},
    {"bias -inf", {0, MINUS_INF}, {0, 0}, ONE, EITHER, GONE},
    {"bias -1e9", {0, M1E9}, {0, 0}, ONE, EITHER, GONE},
    {"bias -FLT_MAX", {0, MINUS_MAX}, {0, 0}, ONE, EITHER, GONE},
    {"bias at the edge, absent", {0, 0xc7317218}, {0, 0}, ONE, EITHER, GONE},
    {"bias at the edge, present",
     {0, 0xc7317217},
     {0, 0},
     ONE,
     EITHER,
     OUT(ONE, FOUR(0xb1b0bf9c, 0xc73172c9, 0xc73174dd, 0xc73176f3), 0xc7317217)},
    {"bias -10000",
     {0, M10000},
     {0, 0},
     ONE,
     EITHER,
     OUT(ONE, FOUR(0xb3363a6e, 0xc61c42c6, 0xc61c4b17, 0xc61c5370), M10000)},
    {"absent NaN", {QUIET, MINUS_INF}, {0, 0}, ONE, EITHER, GONE},
    {"absent signalling NaN", {SIGNALLING, M1E9}, {0, 0}, ONE, EITHER, GONE},
    {"absent +inf", {INF, MINUS_INF}, {0, 0}, ONE, EITHER, GONE},
    {"absent +inf, -1e9", {INF, M1E9}, {0, 0}, ONE, EITHER, GONE},
    {"absent -inf", {MINUS_INF, MINUS_MAX}, {0, 0}, ONE, EITHER, GONE},
    {"absent FLT_MAX", {MAX, MINUS_MAX}, {0, 0}, ONE, EITHER, GONE},
    {"absent 1e30", {P1E30, M1E9}, {0, 0}, ONE, EITHER, GONE},
    {"absent NaN, row_scale 0", {QUIET, MINUS_INF}, {P300, 0}, 0, ROW_SCALE, GONE},
    {0},
};

/* With ch = 1 a T of 65536 can be had exactly: the last hot row, and the first cold one. */
static const corner EQUALS[] = {
    {"0", UNBIASED(0), UNBIASED(0), ONE, EITHER, EQUAL},
    {"-0", UNBIASED(MINUS_ZERO), UNBIASED(MINUS_ZERO), ONE, EITHER, EQUAL},
    {"bias 0", {0, 0}, {0, 0}, ONE, EITHER, EQUAL},
    {"1e30", UNBIASED(P1E30), UNBIASED(P1E30), ONE, EITHER,
     SHARED(SHARES, MINUS_LN(0), SAME(P1E30))},
    {"-1e30", UNBIASED(M1E30), UNBIASED(M1E30), ONE, EITHER,
     SHARED(SHARES, MINUS_LN(0), SAME(M1E30))},
    {"FLT_MAX", UNBIASED(MAX), UNBIASED(MAX), ONE, EITHER, SHARED(SHARES, MINUS_LN(0), SAME(MAX))},
    {"FLT_MAX, scale 2", UNBIASED(MAX), UNBIASED(MAX), 0x40000000, EITHER,
     SHARED(SHARES, MINUS_LN(0), SAME(INF))},
    {"lowest in range", UNBIASED(0xff317217), UNBIASED(0xff317217), ONE, EITHER,
     SHARED(SHARES, MINUS_LN(0), SAME(0xff317217))},
    {"least subnormal", UNBIASED(1), UNBIASED(1), ONE, EITHER, SHARED(SHARES, MINUS_LN(1), LN)},
    {"-1e-40", UNBIASED(0x800116c2), UNBIASED(0x800116c2), ONE, EITHER,
     SHARED(SHARES, MINUS_LN(0x800116c2), LN)},
    {"largest subnormal", UNBIASED(0x007fffff), UNBIASED(0x007fffff), ONE, EITHER,
     SHARED(SHARES, MINUS_LN(0x007fffff), LN)},
    {"largest scale", UNBIASED(0x006ce3ee), UNBIASED(0x006ce3ee), 0x7f317217, EITHER,
     SHARED(FOUR(0x3f7fffff, 0x3eaaaaaa, 0x3d70f0f1, 0x3bfc0fc1),
            FOUR(0x320e6020, 0xbf8c9f54, 0xc035535e, 0xc09bc2d7),
            FOUR(0x4016f43e, 0x405d43e8, 0x40a623ce, 0x40e73cf6))},
    {"300 and -7, row_scale 0", UNBIASED(P300), UNBIASED(0xc0e00000), 0, ROW_SCALE, EQUAL},
    {"FLT_MAX and 0, row_scale 0", UNBIASED(MAX), UNBIASED(0), 0, ROW_SCALE, EQUAL},
    {"bias -10000 everywhere",
     {0, M10000},
     {0, M10000},
     ONE,
     EITHER,
     SHARED(FOUR(ONE, 0x3eaaaaab, 0x3d70f0f0, 0x3bfc0fc1),
            FOUR(0xb3363a6e, 0xbf8c9f55, 0xc035535e, 0xc09bc2d8),
            FOUR(M10000, 0xc61c3b9b, 0xc61c34ab, 0xc61c2c88))},
    {"-1e5 + 1e5 and 0", {0xc7c35000, 0x47c35000}, {0, 0}, ONE, EITHER, EQUAL},
    {"-1e7 + 1e7 and 0", {0xcb189680, 0x4b189680}, {0, 0}, ONE, EITHER, EQUAL},
    {"-1e9 + 1e9 and 0", {M1E9, 0x4e6e6b28}, {0, 0}, ONE, EITHER, EQUAL},
    {"0 and -1e9 + 1e9", {0, 0}, {M1E9, 0x4e6e6b28}, ONE, EITHER, EQUAL},
    {"T = 65536", UNBIASED(0x47800000), UNBIASED(0x47800000), LN2, EITHER,
     SHARED(SHARES, FOUR(0x32a3eb5d, 0xbf8c9f54, 0xc035535e, 0xc09bc2d7),
            FOUR(0x47317218, 0x47317331, 0x473174ed, 0x473176f6))},
    {"T above 65536", UNBIASED(0x47800001), UNBIASED(0x47800001), LN2, EITHER,
     SHARED(FOUR(ONE, 0x3eaaaaab, 0x3d70f0f1, 0x3bfc0fc3),
            FOUR(0x32a0fee5, 0xbf8c9f54, 0xc035535e, 0xc09bc2d7),
            FOUR(0x47317219, 0x47317333, 0x473174ef, 0x473176f7))},
    {"T = -65536", UNBIASED(0xc7800000), UNBIASED(0xc7800000), LN2, EITHER,
     SHARED(FOUR(ONE, 0x3eaaaaab, 0x3d70f0f1, 0x3bfc0fc2),
            FOUR(0xb1715ae6, 0xbf8c9f54, 0xc035535f, 0xc09bc2d8),
            FOUR(0xc7317218, 0xc73170ff, 0xc7316f43, 0xc7316d3a))},
    {"T below -65536", UNBIASED(0xc7800001), UNBIASED(0xc7800001), LN2, EITHER,
     SHARED(SHARES, MINUS_LN(0xb2c8143d), FOUR(0xc7317219, 0xc7317100, 0xc7316f44, 0xc7316d3b))},
    {"B at 65536",
     {0, 0x47317218},
     {0, 0x47317218},
     ONE,
     EITHER,
     SHARED(SHARES, FOUR(0x32a4018b, 0xbf8c9f54, 0xc035535e, 0xc09bc2d7),
            FOUR(0x47317218, 0x47317331, 0x473174ed, 0x473176f6))},
    {"B above 65536",
     {0, 0x47317219},
     {0, 0x47317219},
     ONE,
     EITHER,
     SHARED(SHARES, FOUR(0x332e64f8, 0xbf8c9f53, 0xc035535e, 0xc09bc2d8),
            FOUR(0x47317219, 0x47317332, 0x473174ee, 0x473176f7))},
    {0},
};

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
