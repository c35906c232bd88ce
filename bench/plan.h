/* What a bench was asked for, and the samples it takes: options, timings, the FMA peaks. */
#ifndef RDK_BENCH_PLAN_H
#define RDK_BENCH_PLAN_H

#include <stdbool.h>

#include "bench/shim.h"
#include "rootdk/rootdk.h"

enum { PLAN_MAX_BENCHES = 256, PLAN_MAX_NAME = 64 };

/* Benches keep their place, so pointers to them stay good. */
typedef struct plan {
    bool quick;
    const char *only, *json; /* or NULL */
    rdk_isa isa;             /* RDK_ISA_DEFAULT: every one there is */
    int repeats;             /* of what is not slow */
    double sample_seconds;

    bench benches[PLAN_MAX_BENCHES];
    char names[PLAN_MAX_BENCHES][PLAN_MAX_NAME];
    int bench_count;
    bench *peak[RDK_ISA_COUNT]; /* NULL where there is none */
    unsigned char sink[64];
} plan;

/* Reads the options. Returns -1 to go on, or the exit code. */
int plan_parse(plan *p, const char *program, int argc, char **argv);

/* Whether the work of that name was asked for. */
bool plan_wants(const plan *p, const char *work);

/* Whether `isa` can run here and was asked for. */
bool plan_runs(const plan *p, rdk_isa isa);

/* A timing called "what/isa". */
bench *plan_add(plan *p, const char *what, const char *isa, int repeats, void (*run)(void *),
                void *context);

/* The FMA peak of every ISA that runs. */
void plan_add_peaks(plan *p);

/* FLOP/s; 0 where there is no peak. */
double plan_peak(const plan *p, rdk_isa isa);

/* Takes all samples. Returns 0, or -1 with a message if some are missing. */
int plan_sample(plan *p);

/* How samples were taken, and the peaks. */
void plan_report(const plan *p);

#endif
