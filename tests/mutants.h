/* The must-fail kernels of this build; mutate.py writes them. */
#ifndef RDK_MUTANTS_H
#define RDK_MUTANTS_H

#include <stdbool.h>

#include "kernels/kernels.h"

typedef struct mutant {
    const char *name;
    bool is_right;   /* nothing was changed */
    rdk_table table; /* with the one slot of its operation */
} mutant;

extern const mutant MUTANTS[]; /* the last has no name */

#endif
