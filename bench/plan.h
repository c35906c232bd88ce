/* The timings of a run, and how often each is taken: in passes over all of them, so that two halves
 * of a run can be compared. */
#ifndef RDK_BENCH_PLAN_H
#define RDK_BENCH_PLAN_H

#include <stdbool.h>

#include "bench/shim.h"
#include "rootdk/rootdk.h"

enum { PLAN_MAX_TIMINGS = 1024, PLAN_MAX_NAME = 96 };

/* The samples of one function. */
typedef struct timing {
    bench bench;
    char name[PLAN_MAX_NAME];
    double best, median; /* seconds of a call */
    double half[2];      /* the best of every other pass, and of those between */
    bool again;          /* to be taken in extra passes */
} timing;

/* Timings keep their place, so pointers to them stay good. */
typedef struct plan {
    double seconds; /* for all of them, roughly */
    double sample_seconds;
    int passes; /* even */
    int passes_done;
    timing timings[PLAN_MAX_TIMINGS];
    int count;
    timing *peak[RDK_ISA_COUNT]; /* NULL where there is none */
    rdk_isa isas[RDK_ISA_COUNT]; /* whose peaks they are */
} plan;

/* A timing called "what/who". Those that find nothing warm are `cold`. */
timing *plan_add(plan *p, const char *what, const char *who, void (*run)(void *), void *context,
                 bool cold);

/* The FMA peak of every ISA that runs here, by all threads there are. */
void plan_add_peaks(plan *p);

/* FLOP/s of an ISA, 0 where there is no peak; over all passes, or of one half (0 or 1). */
enum { PLAN_ALL = -1 };
double plan_peak(const plan *p, rdk_isa isa, int half);

/* The best time of a call, likewise. */
double timing_seconds(const timing *t, int half);

/* Takes all samples. Returns 0, or -1 with a message if some are missing. */
int plan_sample(plan *p);

/* Two passes more over the peaks and the timings marked `again`; clears the marks. */
int plan_sample_again(plan *p);

void plan_free(plan *p);

#endif
