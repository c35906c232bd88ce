/* The options of the programs that compare bits:
 *
 *   [--cases N] [--seed S] [--case K] [--path NAME] [--whole] [greatest's options]
 *
 * --case K runs only the K-th draw of the seed. --whole walks every axis case by case, which
 * 200,000 cases or more do by themselves. RDK_CASES in the environment is a default for N,
 * RDK_SEED for S (tests/lib/seed.h), and RDK_PATH for NAME. */
#ifndef RDK_OPTIONS_H
#define RDK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    uint64_t cases, seed, single;
    bool has_single, whole;
    const char *path; /* NULL, or the only one to check */
} options;

/* Takes these options out of argv, leaves greatest's, and returns how many are left. */
int take_options(options *o, int argc, char **argv);

/* How many draws are left after `walked` cases of the axes. Each path gets `cases` of both
 * together, and some draws in any case. */
uint64_t draws_left(const options *o, uint64_t walked);

#endif
