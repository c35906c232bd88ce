/* Samples of a time. */
#include "bench/samples.h"

#include <stdlib.h>

void samples_keep_best(double *best, double seconds) {
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void samples_sort(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, by_size);
}

double samples_quarter(const double *samples, int count, int quarters) {
    return samples[count * quarters / 4];
}
