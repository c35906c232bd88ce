/* The must-fail kernels of this build; mutate.py writes them. */
#ifndef RDK_MUTANTS_H
#define RDK_MUTANTS_H

#include <stdbool.h>

#include "kernels/kernels.h"

extern int rdk_mutant; /* which of them runs; 0: the kernels as they are */

typedef struct mutant {
    const char *name;
    int number; /* 0: nothing is wrong */
    /* One of these: the kernel that has this mutant, and others. */
    rdk_softmax_kernel *const *softmax;
    rdk_attention_kernel *const *attention;
} mutant;

extern const mutant MUTANTS[];   /* the last has no name */
extern const rdk_isa MUTANT_ISA; /* of the vector kernels among them */

#endif
