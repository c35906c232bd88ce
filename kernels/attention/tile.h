/* What a register tile computes, for every ISA: a few rows of a small matrix product.
 *
 *     c[r][i] (+)= sum over s of a[r][s] * b[s][i]        in ascending order of s, one fma each
 *
 * for `rows` rows and `panels` panels of 16 columns. Scores: a = queries, b = keys in panels. Output:
 * a = weights, b = values. Each ISA's tile_<isa>.h gives tile_run(), the transposition, and its shapes. */
#ifndef RDK_TILE_H
#define RDK_TILE_H

#include "kernels/contract.h"
#include "kernels/vec/inline.h"

typedef struct tile {
    const float *a;
    int64_t a_step; /* floats from row to row; along a row they are contiguous */
    const char *b;
    int64_t b_step, b_panel; /* bytes from step to step, and from panel to panel */
    float *c;
    int64_t c_step; /* floats from row to row; panels are contiguous */
    int64_t steps;
    const float *shrink; /* NULL: c begins at +0; else c[r] is first multiplied with shrink[r] */
} tile;

#endif
