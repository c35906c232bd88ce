/* The axes of attention: each walks one property of a case in full, the rest at its default. */
#ifndef RDK_ATTENTION_AXES_H
#define RDK_ATTENTION_AXES_H

#include "tests/attention/cases.h"
#include "tests/lib/axis.h"

extern const axis ATTENTION_AXES[]; /* the last has no name */

/* Cases first .. first + count - 1 drawn from a seed. */
bool attention_walk_draws(uint64_t seed, uint64_t first, uint64_t count, visitor *visit,
                          void *context);

#endif
