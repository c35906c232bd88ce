#include "tests/lib/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/contract.h"

/* ---- Random numbers -------------------------------------------------------------------------- */

uint64_t rng_next(rng *r) { /* splitmix64 */
    uint64_t z = r->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int64_t rng_below(rng *r, int64_t n) {
    return (int64_t)(rng_next(r) % (uint64_t)n);
}

bool chance(rng *r, int percent) {
    return rng_below(r, 100) < percent;
}

float normal(rng *r) {
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t u = rng_next(r);
        sum += (int64_t)(u & 0xffff) + (int64_t)(u >> 16 & 0xffff) + (int64_t)(u >> 32 & 0xffff) +
               (int64_t)(u >> 48);
    }
    return (float)(sum - 6 * 0xffff) * 0x1p-16f;
}

float pick(rng *r, const float *values, size_t count) {
    return values[rng_below(r, (int64_t)count)];
}

float base2(rng *r, double target, float c) {
    double factor = (double)c * RDK_LOG2E;
    float x = (float)(isfinite(factor) && factor != 0 ? target / factor : target);
    for (int64_t steps = rng_below(r, 5) - 2; steps != 0; steps += steps < 0 ? 1 : -1)
        x = nextafterf(x, steps < 0 ? -INFINITY : INFINITY);
    return x;
}

/* ---- Elements -------------------------------------------------------------------------------- */

void put_bits(char *p, rdk_type type, int64_t i, uint32_t bits) {
    uint16_t half = (uint16_t)bits;
    if (type == RDK_F32)
        memcpy(p + i * 4, &bits, 4);
    else
        memcpy(p + i * 2, &half, 2);
}

void put_nan(char *p, rdk_type type, int64_t i, rng *r) {
    static const uint32_t NANS[][6] = {
        [RDK_F32] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0x7fa12345},
        [RDK_F16] = {0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7fff, 0x7d23},
        [RDK_BF16] = {0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fff, 0x7fa1},
    };
    put_bits(p, type, i, NANS[type][rng_below(r, 6)]);
}

void poison(char *p, rdk_type type, size_t elements) {
    for (size_t i = 0; i < elements; i++)
        put_bits(p, type, (int64_t)i,
                 type == RDK_F32   ? 0x7fa55aa5
                 : type == RDK_F16 ? 0x7da5
                                   : 0x7fa5);
}

/* ---- Rows of logits -------------------------------------------------------------------------- */

const char *const FAMILY_NAMES[FAMILY_COUNT] = {
    "normal",     "wide",        "ascending",  "descending",    "one-hot",       "equal",
    "subnormal",  "zeros",       "infinities", "some -inf",     "all -inf",      "NaN first",
    "NaN last",   "NaN in tail", "cold",       "huge negative", "some very low", "cold edge",
    "flush edge", "ties",        "random bits"};

/* Element j of a row of n of the family, as a float. */
static float value_of(family f, rng *r, int64_t j, int64_t n, float scale, float hot, int64_t at) {
    switch (f) {
    case FAMILY_WIDE:
        return normal(r) * 64;
    case FAMILY_ASCENDING:
        return (float)(j - n / 2) * 0.25f;
    case FAMILY_DESCENDING:
        return (float)(n / 2 - j) * 0.25f;
    case FAMILY_ONE_HOT:
        return j == at ? 30 : -30;
    case FAMILY_SUBNORMAL:
        return rdk_float((uint32_t)(rng_next(r) & 0x807fffff));
    case FAMILY_ZEROS:
        return chance(r, 50) ? 0.0f : -0.0f;
    case FAMILY_INFINITIES:
        return chance(r, 70) ? normal(r) : chance(r, 50) ? INFINITY : -INFINITY;
    case FAMILY_MINUS_INF:
        return chance(r, 50) ? normal(r) : -INFINITY;
    case FAMILY_ALL_MINUS_INF:
        return -INFINITY;
    case FAMILY_COLD:
        return chance(r, 60) ? normal(r) * 8
                             : PICK(r, 70000, -70000, 69999.5f, 1e30f, -1e30f, FLT_MAX, -FLT_MAX);
    case FAMILY_HUGE_NEGATIVE:
        return PICK(r, -1e30f, -1.000001e30f, -FLT_MAX, -1e6f, -1000001, -70000);
    case FAMILY_LOW:
        return chance(r, 50)   ? normal(r) * 8
               : chance(r, 70) ? base2(r, (double)-(0x400000 + rng_below(r, 0x20000000)), scale)
                               : PICK(r, -1e30f, -2.3e38f, -FLT_MAX, -INFINITY);
    case FAMILY_COLD_EDGE:
        return j == at || chance(r, 10) ? base2(r, at % 2 ? hot : -hot, scale)
                                        : base2(r, (at % 2 ? hot : -hot) - 8.0, scale);
    case FAMILY_FLUSH_EDGE:
        return j == at ? base2(r, (double)(at % 7), scale)
                       : base2(r, (double)(at % 7) - 99.0 - 0.25 * (double)rng_below(r, 13), scale);
    case FAMILY_TIES:
        return base2(r, (double)rng_below(r, 40) - 30.5, scale);
    default:
        return normal(r);
    }
}

void fill_row(char *p, rdk_type type, int64_t n, family f, float scale, float hot, rng *r) {
    int64_t at = rng_below(r, n);
    float all = normal(r) * PICK(r, 1, 1, 8, 1000, 0);
    for (int64_t j = 0; j < n; j++) {
        if (f == FAMILY_BITS)
            put_bits(p, type, j, (uint32_t)rng_next(r));
        else
            rdk_store(p, type, j, f == FAMILY_EQUAL ? all : value_of(f, r, j, n, scale, hot, at));
    }
    int64_t tail = n % RDK_LANES ? n % RDK_LANES : n < RDK_LANES ? n : RDK_LANES;
    if (f == FAMILY_NAN_FIRST)
        put_nan(p, type, 0, r);
    if (f == FAMILY_NAN_LAST)
        put_nan(p, type, n - 1, r);
    if (f == FAMILY_NAN_TAIL)
        put_nan(p, type, n - 1 - rng_below(r, tail), r);
}
