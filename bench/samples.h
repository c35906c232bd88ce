/* Samples of a time: the best of them, and what lies in their middle. */
#ifndef RDK_BENCH_SAMPLES_H
#define RDK_BENCH_SAMPLES_H

/* The better of `best` and another sample; a `best` of 0 is none yet. */
void samples_keep_best(double *best, double seconds);

/* Into ascending order; then the one that `quarters` quarters of them are below. */
void samples_sort(double *samples, int count);
double samples_quarter(const double *samples, int count, int quarters);

#endif
