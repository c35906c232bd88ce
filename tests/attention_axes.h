/* The axes of attention: each walks one property of a case in full, the rest at its default. */
#ifndef RDK_ATTENTION_AXES_H
#define RDK_ATTENTION_AXES_H

#include "tests/attention_cases.h"

/* Gets every case of a walk; false ends it. */
typedef bool attention_visitor(void *context, const attention_case *c);

typedef struct attention_axis {
    const char *name;
    bool (*walk)(attention_visitor *visit, void *context); /* false if a visit said so */
} attention_axis;

extern const attention_axis ATTENTION_AXES[]; /* the last has no name */

/* Cases first .. first + count - 1 drawn from a seed. */
bool attention_walk_draws(uint64_t seed, uint64_t first, uint64_t count, attention_visitor *visit,
                          void *context);

#endif
