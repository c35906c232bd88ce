/* An axis: a walk over cases of an operation that differ in one property. */
#ifndef RDK_AXIS_H
#define RDK_AXIS_H

#include <stdbool.h>

/* Gets every case of a walk: a softmax_case, or an attention_case; false ends the walk. */
typedef bool visitor(void *context, const void *the_case);

typedef struct axis {
    const char *name;
    bool (*walk)(visitor *visit, void *context); /* false if a visit said so */
} axis;

#endif
