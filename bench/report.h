/* All figures of a run, for the terminal and for programs. */
#ifndef RDK_BENCH_REPORT_H
#define RDK_BENCH_REPORT_H

#include "bench/result.h"

typedef struct report {
    const plan *plan;
    const subject *subjects;
    int subject_count;
    const result *results; /* those of a subject one after the other */
    int result_count;
    const char *command; /* that measured them */
} report;

/* The best bandwidth of any work in bytes per second, 0 if there is none. For memcpy both the bytes
 * read and those written count. */
double bandwidth_of(const report *r, limit_kind kind, bool memory);

/* To the terminal. */
void report_print(const report *r);

/* As one JSON object, whose fields docs/performance.md tells. Returns 0, or -1 with a
 * message if it cannot be written. */
int report_write(const report *r, const char *path);

#endif
