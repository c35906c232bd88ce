/* Threads that work at once. */
#ifndef RDK_BENCH_TEAM_H
#define RDK_BENCH_TEAM_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_THREADS = 64 };

/* So many, the caller one of them; it is one without this. False if the system has none to give. */
bool team_start(int threads);
void team_stop(void);
int team_size(void);

/* part(context, i) for every i below `count`, which is at most team_size(), each on a thread of its
 * own; returns when all are done. */
void team_run(int count, void (*part)(void *context, int i), void *context);

#endif
