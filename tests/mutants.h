/* The must-fail kernels of this build; mutate.py writes them. */
#ifndef RDK_MUTANTS_H
#define RDK_MUTANTS_H

#include "kernels/kernels.h"

typedef struct mutant {
    const char *name;
    rdk_softmax_kernel *softmax;
} mutant;

extern const mutant MUTANTS[]; /* the last has no name */

#endif
