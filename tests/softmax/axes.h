/* The axes of softmax: each walks one property of a case in full, the rest at its default. */
#ifndef RDK_SOFTMAX_AXES_H
#define RDK_SOFTMAX_AXES_H

#include "tests/lib/axis.h"
#include "tests/softmax/cases.h"

extern const axis BITS_AXES[], MEMORY_AXES[]; /* the last has no name */

/* Cases first .. first + count - 1 drawn from a seed. */
bool walk_draws(uint64_t seed, uint64_t first, uint64_t count, visitor *visit, void *context);

#endif
