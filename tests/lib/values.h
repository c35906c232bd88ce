/* Values for the tests: drawn by integers alone, so that every machine gets the same bits. */
#ifndef RDK_VALUES_H
#define RDK_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Random numbers -------------------------------------------------------------------------- */

typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);
int64_t rng_below(rng *r, int64_t n); /* 0 .. n - 1 */
bool chance(rng *r, int percent);

/* Nearly normal: the sum of twelve uniform numbers. Exact. */
float normal(rng *r);

float pick(rng *r, const float *values, size_t count);
#define PICK(r, ...) pick(r, (const float[]){__VA_ARGS__}, COUNT(((const float[]){__VA_ARGS__})))

/* The x that is `target` in base 2 under scale c, or a few units in the last place off it. */
float base2(rng *r, double target, float c);

/* ---- Elements -------------------------------------------------------------------------------- */

void put_bits(char *p, rdk_type type, int64_t i, uint32_t bits);

/* A NaN of any kind: quiet or signalling, either sign, some payload. */
void put_nan(char *p, rdk_type type, int64_t i, rng *r);

/* Signalling NaNs lie between and behind the rows: a kernel that reads one shows it. */
void poison(char *p, rdk_type type, size_t elements);

/* ---- Rows of logits -------------------------------------------------------------------------- */

typedef enum family {
    FAMILY_NORMAL,
    FAMILY_WIDE,
    FAMILY_ASCENDING,
    FAMILY_DESCENDING,
    FAMILY_ONE_HOT,
    FAMILY_EQUAL,
    FAMILY_SUBNORMAL,
    FAMILY_ZEROS,      /* +0 and -0 */
    FAMILY_INFINITIES, /* +inf and -inf among others */
    FAMILY_MINUS_INF,  /* -inf among others */
    FAMILY_ALL_MINUS_INF,
    FAMILY_NAN_FIRST,
    FAMILY_NAN_LAST,
    FAMILY_NAN_TAIL,      /* somewhere in the last, partial vector */
    FAMILY_COLD,          /* 70000, 1e30, FLT_MAX among others */
    FAMILY_HUGE_NEGATIVE, /* all very low */
    FAMILY_LOW,        /* some very low, where MAGIC rounds to no integer, in a row that is hot */
    FAMILY_COLD_EDGE,  /* maxima around +-hot in base 2 */
    FAMILY_FLUSH_EDGE, /* around 100 below the maximum in base 2 */
    FAMILY_TIES,       /* halfway between two integers in base 2 */
    FAMILY_BITS,       /* any bits at all */
    FAMILY_COUNT
} family;

extern const char *const FAMILY_NAMES[FAMILY_COUNT];

/* A row of n elements, n > 0, that will be multiplied by `scale`. Maxima in +-hot are not cold. */
void fill_row(char *p, rdk_type type, int64_t n, family f, float scale, float hot, rng *r);

#endif
