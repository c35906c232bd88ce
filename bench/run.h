/* A run: everything is checked, then timed, and the figures are ready to be shown. */
#ifndef RDK_BENCH_RUN_H
#define RDK_BENCH_RUN_H

#include "bench/report.h"

enum { MAX_SHAPES = 128, MAX_RESULTS = MAX_SHAPES * MAX_CONTENDERS };

typedef struct run_options {
    const char *only;         /* a text in the names of the works to measure; NULL: all of them */
    const char *command;      /* what the results say of how they were measured */
    bool isas[RDK_ISA_COUNT]; /* of rootdk's kernels only those */
    double seconds;           /* to spend on measuring, roughly */
    bool quick;               /* smaller works: shows that it works, not how fast it is */
    bool patient;             /* whether what the machine's noise has spoilt is measured again */
} run_options;

/* The caller sets `options` and the shapes; all else is 0 before. */
typedef struct run {
    run_options options;
    shape shapes[MAX_SHAPES];
    int shape_count;
    ring ring;
    subject subjects[MAX_SHAPES];
    int subject_count;
    plan plan;
    result results[MAX_RESULTS];
    int result_count;
    int wrong; /* contenders that were left out */
} run;

/* RUN_NOTHING: there is no such work. Each failure has said why. */
enum { RUN_DONE, RUN_FAILED, RUN_NOTHING };
int run_measure(run *r);

/* After it is done. */
report run_report(const run *r);

void run_free(run *r);

#endif
