/* The time, and how long something may take. */
#ifndef RDK_BENCH_CLOCK_H
#define RDK_BENCH_CLOCK_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* Seconds since some moment. */
static inline double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether a text is a number of seconds, not negative, that anybody would wait for. */
static inline bool is_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds >= 0 && *seconds < 1e6;
}

#endif
