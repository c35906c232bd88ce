/* Figures: what was measured, held against the limits of the machine. */
#ifndef RDK_BENCH_RESULT_H
#define RDK_BENCH_RESULT_H

#include "bench/subject.h"

/* The limits of a work. */
typedef enum limit_kind { LIMIT_FMA, LIMIT_READ, LIMIT_MEMCPY, LIMIT_COUNT } limit_kind;

extern const char *const LIMIT_NAMES[LIMIT_COUNT];

typedef struct result {
    const contender *contender;
    double best, median; /* seconds of the whole work */
    double fractions
        [LIMIT_COUNT]; /* the time that a limit leaves, over the best; 0 where there is none */
    limit_kind limit;  /* that binds */
    bool noisy;        /* the halves of the run do not agree */
    bool disturbed;    /* something else ran meanwhile: here, or where the limit was measured */
} result;

result result_of(const plan *p, const contender *c);

/* Its speed in the unit of such a work, as wide for every unit. */
enum { RESULT_RATE = 32 };
const char *result_rate(const result *r, char text[RESULT_RATE]);

/* Of the limit that binds; more than 1 is a broken measurement. */
double result_fraction(const result *r);

/* Marks everything that the result depends on to be measured again. */
void result_again(const result *r);

#endif
