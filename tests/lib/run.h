/* One call through every path: the reference first, then the others, all in guarded memory. */
#ifndef RDK_RUN_H
#define RDK_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/compare.h"
#include "tests/lib/guard.h"
#include "tests/lib/paths.h"

enum { MAX_BUFFERS = 8 };

/* The operands of a call. */
typedef struct memory {
    guarded buffer[MAX_BUFFERS];
    bool used[MAX_BUFFERS];
    int count;
} memory;

typedef struct checker {
    path paths[RDK_MAX_PATHS]; /* paths[0] is the reference */
    int path_count;
    const char *only; /* NULL, or the only path to check */
    bool quiet;       /* do not print reports */
    uint64_t cases[RDK_MAX_PATHS], failures[RDK_MAX_PATHS];
    char report[4096]; /* of the last failure: "avx2: y[0][3]: expected ..." and the case */

    memory memory;
    char *before[MAX_BUFFERS];   /* windows before the call */
    char *expected[MAX_BUFFERS]; /* windows after the reference */
} checker;

/* A call whose operands lie in the checker's memory. */
typedef struct job {
    rdk_status (*call)(const rdk_table *table, const void *desc);
    const void *desc;
    layout layout[MAX_BUFFERS]; /* of an output; that of an input has no elements */
    int scratch;                /* the buffer that holds anything afterwards, or -1 */
    /* Adds to the report the operands of the element that differs; may be NULL. */
    void (*explain)(const checker *k, const struct job *j, int buffer, const element *e,
                    char *report, size_t size);
    /* Everything the case says, on one line. */
    void (*describe)(const void *the_case, char *text, size_t size);
    const void *the_case;
} job;

/* The paths of this process, and copies of `k->memory`, which must be mapped. */
void checker_begin(checker *k);

/* False if a path differs, faults or touches what it should not. */
bool check_job(checker *k, const job *j);

/* "avx2 (native): 1000 cases, 0 failures" for each path. */
void checker_print(const checker *k);

uint64_t checker_failures(const checker *k);

#endif
