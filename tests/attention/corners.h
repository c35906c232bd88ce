/* The corner table of docs/arithmetic.md, section 11, with what each row of it gives. */
#ifndef RDK_ATTENTION_CORNERS_H
#define RDK_ATTENTION_CORNERS_H

#include <stdint.h>

#include "tests/lib/bits.h"

#define TWO 0x40000000u
#define THREE 0x40400000u
#define P1000 0x447a0000u
#define P2_16 0x47800000u
#define M2_16 0xc7800000u
#define P2_21 0x4a000000u
#define M2_21 0xca000000u
#define P2_60 0x5d800000u
#define MINUS_LN2 0xbf317218u

/* What becomes of the weights. */
typedef enum outcome {
    NOTHING, /* none has any */
    ALL_NAN,
    ALONE, /* `here` has all there is */
    GONE,  /* the rest share it, `here` has none */
    SHARE  /* all keys share it */
} outcome;

/* Bits of floats. A query and its keys have two columns that count. */
typedef struct corner {
    const char *name;
    uint32_t q[2], here[2], rest[2], scale;
    outcome outcome;
    uint32_t lse; /* ALONE; SHARE and GONE, unless 0: the logarithm of how many */
    uint32_t value_here, value_rest; /* unless both are 0: what the second column of v holds, */
    uint32_t out;                    /* and of out */
} corner;

#define ONLY(x)                                                                                    \
    { x, 0 }

#define WEIGHTS(outcome, lse) outcome, lse, 0, 0, 0 /* no values of its own */

static const corner CORNERS[] = {
    {"all scores -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, WEIGHTS(NOTHING, 0)},
    {"all scores -inf, from q", ONLY(MINUS_INF), ONLY(ONE), ONLY(TWO), ONE, WEIGHTS(NOTHING, 0)},
    {"all scores -inf, by the scale", ONLY(ONE), ONLY(INF), ONLY(INF), M1, WEIGHTS(NOTHING, 0)},
    {"all scores overflow to -inf", ONLY(P1E30), ONLY(M1E30), ONLY(M1E30), ONE,
     WEIGHTS(NOTHING, 0)},
    {"all scores past the range", ONLY(ONE), ONLY(MINUS_MAX), ONLY(MINUS_MAX), TWO,
     WEIGHTS(NOTHING, 0)},
    {"-inf and past the range", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_MAX), TWO,
     WEIGHTS(NOTHING, 0)},

    {"NaN", ONLY(ONE), ONLY(QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"-NaN", ONLY(ONE), ONLY(MINUS_QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"signalling NaN", ONLY(ONE), ONLY(SIGNALLING), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"-NaN, signalling", ONLY(ONE), ONLY(MINUS_SIGNALLING), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, second column", {ONE, ONE}, {0, QUIET}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest -inf", ONLY(ONE), ONLY(QUIET), ONLY(MINUS_INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest cold", ONLY(ONE), ONLY(QUIET), ONLY(P1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest -1e30", ONLY(ONE), ONLY(SIGNALLING), ONLY(M1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN everywhere", ONLY(ONE), ONLY(QUIET), ONLY(MINUS_QUIET), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN in q", ONLY(QUIET), ONLY(0), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"signalling NaN in q", {0, SIGNALLING}, ONLY(0), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN where q is 0", {0, ONE}, ONLY(QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf where q is 0", {0, ONE}, ONLY(INF), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf in q where keys are 0", {INF, ONE}, {0, ONE}, {0, ONE}, ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf", ONLY(ONE), ONLY(INF), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf, rest -inf", ONLY(ONE), ONLY(INF), ONLY(MINUS_INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf everywhere", ONLY(ONE), ONLY(INF), ONLY(INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf, by the scale", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), M1, WEIGHTS(ALL_NAN, 0)},
    {"+inf, rest cold", ONLY(ONE), ONLY(INF), ONLY(P1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"overflow to +inf", ONLY(P1E30), ONLY(P1E30), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf - inf", {ONE, ONE}, {INF, MINUS_INF}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"1e60 - inf", {P1E30, P1E30}, {P1E30, MINUS_INF}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},

    {"scale NaN", ONLY(ONE), ONLY(0), ONLY(0), QUIET, WEIGHTS(ALL_NAN, 0)},
    {"scale signalling NaN", ONLY(ONE), ONLY(0), ONLY(0), SIGNALLING, WEIGHTS(ALL_NAN, 0)},
    {"scale inf", ONLY(ONE), ONLY(0), ONLY(ONE), INF, WEIGHTS(ALL_NAN, 0)},
    {"scale -inf", ONLY(ONE), ONLY(0), ONLY(ONE), MINUS_INF, WEIGHTS(ALL_NAN, 0)},
    {"ch overflows", ONLY(ONE), ONLY(0), ONLY(ONE), MAX, WEIGHTS(ALL_NAN, 0)},
    {"ch overflows, -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), MAX, WEIGHTS(ALL_NAN, 0)},

    {"-inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"overflow to -inf", ONLY(P1E30), ONLY(M1E30), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-inf, by the scale", ONLY(ONE), ONLY(INF), ONLY(0), M1, WEIGHTS(GONE, 0)},
    {"-1000", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-1e30", ONLY(ONE), ONLY(M1E30), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-FLT_MAX", ONLY(ONE), ONLY(MINUS_MAX), ONLY(0), ONE, WEIGHTS(GONE, 0)},

    {"equal", ONLY(ONE), ONLY(0), ONLY(0), ONE, WEIGHTS(SHARE, 0)},
    {"equal, default scale", ONLY(ONE), ONLY(0), ONLY(0), 0, WEIGHTS(SHARE, 0)},
    {"equal, -0", ONLY(ONE), ONLY(0x80000000), ONLY(0), M1, WEIGHTS(SHARE, 0)},
    {"equal, scale tiny", ONLY(ONE), ONLY(P1000), ONLY(M1000), 1, WEIGHTS(SHARE, 0)},
    {"equal 1e30", ONLY(ONE), ONLY(P1E30), ONLY(P1E30), ONE, WEIGHTS(SHARE, P1E30)},
    {"equal -1e30", ONLY(ONE), ONLY(M1E30), ONLY(M1E30), ONE, WEIGHTS(SHARE, M1E30)},

    {"1000", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, WEIGHTS(ALONE, 0x442d496b)},
    {"-1000 above -inf", ONLY(ONE), ONLY(M1000), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc42d496b)},
    {"scale negative", ONLY(ONE), ONLY(0), ONLY(P1000), M1, WEIGHTS(ALONE, 0)},
    {"scale negative, -1000", ONLY(ONE), ONLY(M1000), ONLY(0), MINUS_LN2,
     WEIGHTS(ALONE, 0x442d496b)},
    {"2^16", ONLY(ONE), ONLY(P2_16), ONLY(0), LN2, WEIGHTS(ALONE, 0x47317218)},
    {"-2^16", ONLY(ONE), ONLY(M2_16), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc7317218)},
    {"above 2^16", ONLY(ONE), ONLY(0x47800080), ONLY(0), LN2, WEIGHTS(ALONE, 0x473172c9)},
    {"below -2^16", ONLY(ONE), ONLY(0xc7800080), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc73172c9)},
    {"2^21, the last hot", ONLY(ONE), ONLY(P2_21), ONLY(0), LN2, WEIGHTS(ALONE, 0x49b17218)},
    {"-2^21, the last hot", ONLY(ONE), ONLY(M2_21), ONLY(MINUS_INF), LN2,
     WEIGHTS(ALONE, 0xc9b17218)},
    {"above 2^21, cold", ONLY(ONE), ONLY(0x4a000004), ONLY(0), LN2, WEIGHTS(ALONE, 0x49b1721e)},
    {"below -2^21, cold", ONLY(ONE), ONLY(0xca000004), ONLY(MINUS_INF), LN2,
     WEIGHTS(ALONE, 0xc9b1721e)},
    {"2^60", ONLY(ONE), ONLY(P2_60), ONLY(0), ONE, WEIGHTS(ALONE, P2_60)},
    {"1e30", ONLY(ONE), ONLY(P1E30), ONLY(0), ONE, WEIGHTS(ALONE, P1E30)},
    {"1e30 above -inf", ONLY(ONE), ONLY(P1E30), ONLY(MINUS_INF), ONE, WEIGHTS(ALONE, P1E30)},
    {"1e30 above -1e30", ONLY(ONE), ONLY(P1E30), ONLY(M1E30), ONE, WEIGHTS(ALONE, P1E30)},
    {"-1e30 above -FLT_MAX", ONLY(ONE), ONLY(M1E30), ONLY(MINUS_MAX), ONE, WEIGHTS(ALONE, M1E30)},
    {"-1e30, scale negative", ONLY(ONE), ONLY(M1E30), ONLY(0), M1, WEIGHTS(ALONE, P1E30)},
    {"past the range in base 2", ONLY(ONE), ONLY(MAX), ONLY(0), TWO, WEIGHTS(ALL_NAN, 0)},
    {"past the range downwards", ONLY(ONE), ONLY(0), ONLY(MINUS_MAX), TWO, WEIGHTS(ALONE, 0)},

    {"value NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, QUIET, ONE, QUIET},
    {"value -NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, MINUS_QUIET, ONE, QUIET},
    {"value signalling NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, SIGNALLING, ONE, QUIET},
    {"value NaN, rest inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, SIGNALLING, INF, QUIET},
    {"value NaN, weight 0", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, GONE, 0, QUIET, ONE, QUIET},
    {"value inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, ONE, INF},
    {"value -inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, MINUS_INF, ONE, MINUS_INF},
    {"values inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, INF, INF},
    {"value inf, weight 0", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, GONE, 0, INF, ONE, QUIET},
    {"value inf, score -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), ONE, GONE, 0, INF, ONE, QUIET},
    {"value inf, cold", ONLY(ONE), ONLY(P1E30), ONLY(P1E30), ONE, SHARE, P1E30, INF, ONE, INF},
    {"value NaN, cold", ONLY(ONE), ONLY(M1E30), ONLY(M1E30), ONE, SHARE, M1E30, QUIET, TWO, QUIET},
    {"value inf, all -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, NOTHING, 0, INF, ONE,
     0},
    {"values NaN, all -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, NOTHING, 0, QUIET,
     QUIET, 0},
    {"value inf, scores NaN", ONLY(ONE), ONLY(QUIET), ONLY(0), ONE, ALL_NAN, 0, INF, ONE, QUIET},
};

/* With these `here` is not the only key: its value meets another, or another's weight of 0. */
static const corner CORNERS_OF_TWO[] = {
    {"inf and -inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, MINUS_INF, QUIET},
    {"rest inf, weights 0", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, ALONE, 0x442d496b, ONE, INF,
     QUIET},
    {"rest NaN, weights 0", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, ALONE, 0x442d496b, ONE,
     SIGNALLING, QUIET},
    {"rest inf, weights 0, cold", ONLY(ONE), ONLY(P1E30), ONLY(0), ONE, ALONE, P1E30, ONE,
     MINUS_INF, QUIET},
};

#endif
