/* Figures of attention: what was measured, the table, the JSON lines. */
#ifndef RDK_BENCH_REPORT_ATTENTION_H
#define RDK_BENCH_REPORT_ATTENTION_H

#include <stdint.h>

#include "bench/report.h"

/* A measured kernel. All times are of one call, best of `repeats` but for `median`. */
typedef struct result {
    const char *work, *isa;
    double flop;  /* multiplications and additions of both products; half if causal */
    double bytes; /* of K and V */
    double seconds, median;
    double read; /* seconds of the best plain read of K and V; 0 where it was not measured */
    double peak; /* FLOP/s of the ISA's FMA loop; 0 where there is none */
    int repeats;
    int64_t rows_checked;
} result;

/* What the limits leave over the time taken, 0 where there is no such limit; more than 1 is a
 * broken measurement. */
double result_of_peak(const result *r);
double result_of_read(const result *r);

void report_table(const result *list, int count);

/* Prints result i of a list, for report_json(). */
void result_json(FILE *f, const void *list, int i);

#endif
