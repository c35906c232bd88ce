/* Google Benchmark for C: give a list of functions, get back how long each takes. */
#ifndef RDK_BENCH_SHIM_H
#define RDK_BENCH_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench {
    const char *name; /* no other in the list has it */
    void (*run)(void *context);
    void *context;
    int repeats; /* how many samples to take */
    int cold;    /* not 0: no call before the timed ones, since it would warm nothing up */

    /* Set by shim_run(), in seconds per call of run(). */
    double best, median;
    int collected;
} bench;

/* Takes every sample of every entry in one random order, so that whatever slows the machine down
 * for a while slows all of them alike. A sample is a call that is not timed, to warm the caches up
 * (unless `cold`), then as many as fill `seconds`. Returns 0, or -1 if an entry did not get all its
 * samples. */
int shim_run(bench *list, size_t count, double seconds);

#ifdef __cplusplus
}
#endif

#endif
