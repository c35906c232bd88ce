/* The comparator: bits against bits, and words for the first that differs. */
#ifndef RDK_COMPARE_H
#define RDK_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"
#include "tests/guard.h"

/* How the elements lie in a buffer: `rows` of `cols`, the rest of each stride is a gap. */
typedef struct layout {
    rdk_type type;
    int64_t rows, cols, stride;
} layout;

/* What the report quotes beside an output. */
typedef struct inputs {
    const rdk_softmax_desc *desc;
    const char *x; /* as it was before the call, which may have been in place */
} inputs;

/* Whether the buffer with its canaries is, byte for byte, what `expected` (an image of its window)
 * says. If not, `report` says where first and how. Gaps and canaries count like elements. With `l`
 * NULL the buffer is an input, which nobody may change. */
bool compare_bits(const guarded *got, const char *expected, const layout *l, const inputs *in,
                  char *report, size_t report_size);

/* Units in the last place between two values of a type; -1 if one is NaN and they differ. */
int64_t ulp_distance(uint32_t a, uint32_t b, rdk_type type);

#endif
