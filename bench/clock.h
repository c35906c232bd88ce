/* The time. */
#ifndef RDK_BENCH_CLOCK_H
#define RDK_BENCH_CLOCK_H

#include <time.h>

/* Seconds since some moment. */
static inline double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
