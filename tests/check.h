/* One case through every path: the reference first, then the others, all in guarded memory. */
#ifndef RDK_CHECK_H
#define RDK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/axes.h"
#include "tests/cases.h"
#include "tests/paths.h"

typedef struct checker {
    path paths[RDK_MAX_PATHS]; /* paths[0] is the reference */
    int path_count;
    const char *only; /* NULL, or the only path to check */
    bool quiet;       /* do not print reports */
    uint64_t cases[RDK_MAX_PATHS], failures[RDK_MAX_PATHS];
    char report[2048]; /* of the last failure: "avx2: y[0][3]: expected ..." and the case */

    softmax_memory memory;
    char *before[BUFFER_COUNT];   /* windows before the call */
    char *expected[BUFFER_COUNT]; /* windows after the reference */
} checker;

/* With the paths of this process. */
void checker_init(checker *k);

/* False if a path differs, faults or touches what it should not. */
bool check_case(checker *k, const softmax_case *c);

/* Every case of an axis; prints how many. False if any failed. */
bool check_axis(checker *k, const axis *a);

/* "avx2 (native): 1000 cases, 0 failures" for each path. */
void checker_print(const checker *k);

uint64_t checker_failures(const checker *k);

#endif
