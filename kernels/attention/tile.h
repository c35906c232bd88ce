/* What a register tile computes, for every ISA: a few rows of a small matrix product,
 *
 *     c[r][i] (+)= sum over s of a[r][s] * b[s][i]        in ascending order of s, one fma each
 *
 * Scores: rows are keys, and a column for each query. Output: rows are queries, a their weights, b values. */
#ifndef RDK_TILE_H
#define RDK_TILE_H

#include "kernels/contract.h"
#include "kernels/vec/inline.h"

enum { RDK_LINE = 64 }; /* bytes that memory moves at once */

/* Memory that will be read soon, line by line. Lines are asked for one at a time, between the steps of a
 * tile: a burst of them would wait for memory, and the sums with it. */
typedef struct stream {
    const char *p;
    int64_t left;        /* lines of all rows */
    int64_t row, in_row; /* lines of a row; those left of this one */
    int64_t gap;         /* bytes from the end of a row's last line to the next row */
} stream;

RDK_INLINE stream stream_of(const char *p, int64_t row_bytes, int64_t row_step, int64_t rows) {
    int64_t lines = (row_bytes + RDK_LINE - 1) / RDK_LINE;
    stream s = {p, lines * rows, lines, lines, row_step - lines * RDK_LINE};
    if (rows <= 0)
        s.left = 0;
    return s;
}

/* Up to n lines, which stream_fetch() will then be called for; returns how many. */
RDK_INLINE int64_t stream_take(stream *s, int64_t n) {
    n = n < s->left ? n : s->left;
    s->left -= n;
    return n;
}

/* One line. */
RDK_INLINE void stream_fetch(stream *s) {
    __builtin_prefetch(s->p, 0, 2);
    s->p += RDK_LINE;
    if (--s->in_row == 0) {
        s->p += s->gap;
        s->in_row = s->row;
    }
}

typedef struct tile {
    const char *a;
    int64_t a_row, a_step; /* bytes from row to row, and from step to step */
    const char *b;
    int64_t b_step; /* bytes */
    float *c;
    int64_t c_row; /* floats */
    int64_t steps;
    const float *shrink; /* NULL: c begins at +0; else c[r] is first multiplied with shrink[r] */
    stream *fetch;       /* NULL, or what to fetch meanwhile */
} tile;

typedef void tile_function(const tile *t);

#endif
