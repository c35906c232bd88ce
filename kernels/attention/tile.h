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

/* Memory that will be read soon, line by line, in two places at once: two streams are more than one to memory.
 * Lines are asked for between the steps of a tile: a burst of them would wait for memory, and the sums with it. */
typedef struct stream {
    const char *p;
    int64_t twin;        /* bytes from p to the other place */
    int64_t left;        /* lines of all rows, in each place */
    int64_t row, in_row; /* lines of a row; those left of this one */
    int64_t gap;         /* bytes from the end of a row's last line to the next row */
} stream;

RDK_INLINE stream stream_of(const char *p, int64_t twin, int64_t row_bytes, int64_t row_step,
                            int64_t rows) {
    int64_t lines = (row_bytes + RDK_LINE - 1) / RDK_LINE;
    stream s = {p, twin, lines * rows, lines, lines, row_step - lines * RDK_LINE};
    if (rows <= 0)
        s.left = 0;
    return s;
}

/* The next n lines of each place, n a constant; at the end of a row perhaps some behind it. */
RDK_INLINE void stream_fetch(stream *s, const int n) {
    if (s->left <= 0)
        return;
    RDK_UNROLL
    for (int i = 0; i < n; i++) {
        __builtin_prefetch(s->p + i * RDK_LINE, 0, 2);
        __builtin_prefetch(s->p + s->twin + i * RDK_LINE, 0, 2);
    }
    s->p += n * RDK_LINE;
    s->left -= n;
    s->in_row -= n;
    if (s->in_row <= 0) {
        s->p += s->gap + s->in_row * RDK_LINE;
        s->in_row = s->row;
    }
}

/* After lines have been fetched up to p by other means; no gaps lie between rows. */
RDK_INLINE void stream_fetched(stream *s, const char *p) {
    s->left -= (p - s->p) / RDK_LINE;
    s->p = p;
}

typedef struct tile {
    const char *a;
    int64_t a_row,
        a_step; /* bytes from row to row, and from step to step of a chain; a chain begins beside the other */
    const char *b;
    int64_t b_chain, b_step; /* bytes from chain to chain, and from step to step of a chain */
    float *c;
    int64_t c_row; /* floats */
    int64_t times; /* so many tiles, one below the other */
    int64_t steps;
    int64_t
        chains; /* a power of two. Step s is of chain s mod chains; each begins at +0 and is added to c */
    const float *shrink; /* NULL: c begins at +0; else c[r] is first multiplied with shrink[r] */
    stream *fetch;       /* what to fetch meanwhile */
} tile;

/* Steps of chain i of n. */
RDK_INLINE int64_t chain_steps(int64_t steps, int64_t n, int64_t i) {
    return (steps + n - 1 - i) >> __builtin_ctzll((uint64_t)n);
}

/* As `shrink`: c goes on as it is. */
static const float TILE_AS_IT_IS[8] = {1, 1, 1, 1, 1, 1, 1, 1};

typedef void tile_function(const tile *t);

/* The scores of FEW_KEYS_OF[queries] keys for up to FEW queries, where an ISA has something better for them than a tile
 * with most of its columns empty. */
typedef struct few {
    const char *key;
    int64_t key_step;   /* bytes */
    const float *q;     /* side by side, as wide as the group */
    const float *quads; /* by four elements, FEW queries each */
    int64_t d, chains;
    float *c; /* [query][RDK_BLOCK keys] */
    stream *fetch;
} few;

typedef void few_function(const few *f);

#endif
