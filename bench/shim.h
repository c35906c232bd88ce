/* Give a list of functions, get back how long each takes: from Google Benchmark (shim.cc), or, in
 * the tool, from plain C (sampler.c). */
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

    double
        *samples; /* seconds per call of run(); shim_run() adds to them as long as there is room */
    int count, room;
} bench;

/* Takes every sample of every entry in one random order, so that whatever slows the machine down
 * for a while slows all of them alike. A sample is a call that is not timed, to warm the caches up
 * (unless `cold`), then as many as fill `seconds`; tick() is told of each. Returns 0, or -1 if an
 * entry did not get all its samples. */
int shim_run(bench *const *list, size_t count, double seconds, void (*tick)(void));

#ifdef __cplusplus
}
#endif

#endif
