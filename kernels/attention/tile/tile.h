/* What a register tile computes, for every ISA: a few rows of a small matrix product,
 *
 *     c[r][i] (+)= sum over s of a[r][s] * b[s][i]        in ascending order of s, one fma each
 *
 * For scores the rows of a are keys and the columns of b queries. For sums of values the rows of a
 * are the weights of queries, and b is V. */
#ifndef RDK_TILE_H
#define RDK_TILE_H

#include "kernels/attention/plan.h"
#include "kernels/attention/tile/stream.h"
#include "kernels/vec/inline.h"

/* Where a row of results goes, and what its sums are multiplied with. */
typedef struct tile_result {
    char *row;
    rdk_inverse inverse;
} tile_result;

/* Where elements of TILE_LANES rows go, transposed. Of elements j = 0, 1, ... those of all rows are
 * put side by side, at even[j / 2 * step], or at odd[j / 2 * step] if j is odd. */
typedef struct tile_transposed {
    float *even, *odd;
    int64_t step;
} tile_transposed;

/* What a tile is for. Strides do not tell: keys may lie one float apart, as the weights of a
 * key's queries do. */
typedef enum tile_kind {
    TILE_SCORES,          /* a: keys, b: queries side by side, c: scores by key */
    TILE_VALUES,          /* a: weights by key, b: values, c: sums */
    TILE_VALUES_COPY,     /* the same, and b is also copied to `copy` */
    TILE_RESULTS,         /* the same, and the results go to `results`; c is not written */
    TILE_VALUES_BY_QUERY, /* as TILE_VALUES; a: weights by query, RDK_BLOCK floats apart */
} tile_kind;

typedef enum tile_outcome {
    TILE_DONE,
    TILE_DONE_WITH_MAX, /* TILE_SCORES: the largest scores and their sum were also put at `notes` */
    TILE_NOT_POSSIBLE,  /* TILE_VALUES_COPY and TILE_RESULTS: nothing was done */
} tile_outcome;

typedef struct tile {
    tile_kind kind;
    const char *a;
    int64_t a_row, a_step; /* bytes from row to row, and from step to step of a chain */
    const char *b;
    int64_t b_row, b_step; /* bytes from a step to the next one, and to the next one of its chain */
    bool by_chain;         /* steps of b lie chain by chain */
    float *c;
    int64_t c_row;       /* floats */
    int64_t times;       /* tiles in a column, one below the other; at least one */
    int64_t across;      /* such columns, side by side; at least one */
    int64_t b_across;    /* bytes from the b of a column to that of the next one */
    char *copy;          /* where all steps of b are put without gaps */
    int64_t copy_across; /* bytes from the copy of a column to that of the next one */
    int64_t steps;
    int64_t chains; /* 1 or 2, step by step in turn; each begins at +0 and is added to c */
    float *from;    /* NULL, or sums of earlier steps, laid out as c, that the sums begin with */
    const float *factors; /* NULL: sums are put at c; else they are added to c[r] * factors[r] */
    stream *fetch;        /* what to fetch meanwhile */
    bool often;           /* each of its lines is worth asking for several times */
    const tile_result *results; /* one for each row */
    /* Of scores: the largest of each column so far; TILE_GROUP floats on, a sum of all that is NaN
     * if one is. Of results: such a sum. */
    float *notes;
} tile;

/* A chain of a tile, on the way from one to the next. */
typedef struct chain {
    int64_t first, steps; /* which step is its first, how many it has */
    int64_t before;       /* steps of the chains before it */
    int64_t piece, i;     /* the step its piece begins with, and its number in the piece */
} chain;

/* Goes to the next chain, if there is one: the second one of a piece, or the first of the
 * next. A piece of one step has no second. */
RDK_INLINE bool next_chain(chain *c, int64_t all, int64_t n) {
    int64_t end = rdk_piece_end(c->piece, all);
    if (++c->i == n || c->piece + c->i == end) {
        c->i = 0;
        c->piece = end;
        if (end == all)
            return false;
        end = rdk_piece_end(end, all);
    }
    c->before += c->steps;
    c->first = c->piece + c->i;
    c->steps = n == 1 ? end - c->piece : (end - c->first + 1) >> 1;
    return true;
}

RDK_INLINE chain first_chain(int64_t all, int64_t n) {
    chain c = {.i = -1};
    next_chain(&c, all, n);
    return c;
}

/* `factors` that leave c as it is, one for each row of a group. */
#define TILE_EIGHT_ONES 1, 1, 1, 1, 1, 1, 1, 1
static const float TILE_ONES[] = {TILE_EIGHT_ONES, TILE_EIGHT_ONES, TILE_EIGHT_ONES,
                                  TILE_EIGHT_ONES, TILE_EIGHT_ONES, TILE_EIGHT_ONES};

/* Where the steps of a chain begin in b. */
RDK_INLINE const char *chain_in_b(const tile *t, const chain *c) {
    return t->b + (t->by_chain ? c->before : c->first) * t->b_row;
}

typedef void tile_function(const tile *t);

/* Whether only a tile in assembly can do it. */
RDK_INLINE bool wants_assembly(const tile *t) {
    return t->kind == TILE_VALUES_COPY || t->kind == TILE_RESULTS;
}

/* What a thin function is given: it scores thin_keys() keys with up to THIN queries, where an ISA
 * has something better for these than a tile with most of its columns empty. */
typedef struct thin {
    const char *key;
    int64_t key_step;   /* bytes */
    int64_t times;      /* how often thin_keys() keys follow each other */
    const float *q;     /* side by side, as wide as the group */
    const float *quads; /* by four elements, THIN queries each */
    int64_t d, chains;
    float *c; /* [query][RDK_BLOCK keys] */
    stream *fetch;
    bool often;
} thin;

typedef void thin_function(const thin *f);

/* Does f->times times `keys` keys, with a function that does `keys` keys once. */
RDK_INLINE void thin_in_turn(const thin *f, int64_t keys, thin_function *run) {
    thin one = *f;
    for (int64_t i = 0; i < f->times; i++, one.key += keys * one.key_step, one.c += keys)
        run(&one);
}

#endif
