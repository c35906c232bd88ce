/* What the parts of attention_build() share. */
#ifndef RDK_ATTENTION_BUILD_H
#define RDK_ATTENTION_BUILD_H

#include "tests/attention/cases.h"

/* A batch x heads x rows array of pieces of `width`. */
typedef struct shape {
    int64_t count[LAYOUT_DIMS]; /* batch, heads, rows */
    int64_t width;
} shape;

shape shape_of(const attention_case *c, int operand);

/* Writes q, k and v where the descriptor says; with v_in_k, where v lies within k, k alone. */
void fill_inputs(const attention_case *c, const rdk_attention_desc *d, bool v_in_k);

#endif
