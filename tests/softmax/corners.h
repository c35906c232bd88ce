/* The corner table of docs/arithmetic.md, section 7, with what each row of it gives. */
#ifndef RDK_SOFTMAX_CORNERS_H
#define RDK_SOFTMAX_CORNERS_H

#include <stdint.h>

#include "tests/lib/bits.h"

enum { LENGTHS = 4, MOST = 130 };
static const int LENGTH[LENGTHS] = {1, 3, 17, MOST};

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
#define MINUS_ZERO 0x80000000u
#define P300 0x43960000u
#define M1E9 0xce6e6b28u
#define M10000 0xc61c4000u

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

#endif
