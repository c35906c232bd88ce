/* Figures of softmax: what was measured, the table, the JSON lines. */
#ifndef RDK_BENCH_REPORT_SOFTMAX_H
#define RDK_BENCH_REPORT_SOFTMAX_H

#include <stdint.h>

#include "bench/report.h"

/* A measured kernel. All times are of one call, best of `repeats` but for `median`. */
typedef struct result {
    const char *work, *isa, *type;
    double elements;        /* of one call */
    double seconds, median; /* of one call */
    double copy, read;      /* seconds per element: memcpy of x to y, the best plain read of x */
    double scalar;          /* seconds per element of the scalar path */
    double peak;            /* FLOP/s of the ISA's FMA loop; 0 where there is none */
    double flop;            /* per element that no kernel can do without */
    int repeats;
    int64_t rows_checked;
} result;

/* Nanoseconds per element. */
double result_ns(const result *r);

/* The time that the machine's limits leave to the kernel, over the time it took; more than 1 is a
 * broken measurement. *which names the limit that binds. */
double result_fraction(const result *r, const char **which);

void report_table(const result *list, int count);

/* Prints result i of a list, for report_json(). */
void result_json(FILE *f, const void *list, int i);

#endif
