/* Lines of memory that tiles fetch beside their sums. No bit of a result depends on this file. */
#ifndef RDK_STREAM_H
#define RDK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/vec/inline.h"

enum { RDK_LINE = 64 }; /* bytes that memory moves at once */

/* Memory that will be read soon, line by line, in two places in turn: memory gives two streams of
 * lines faster than one. Lines are asked for between the steps of a tile: a burst of prefetches
 * would wait for memory, and the sums with it. */
typedef struct stream {
    const char *p;
    int64_t second;      /* bytes from p to the second place */
    int64_t left;        /* lines of all rows, in each place */
    int64_t row, in_row; /* lines of a row; those left of this one */
    int64_t gap;         /* bytes from the end of a row's last line to the next row */
} stream;

RDK_INLINE stream stream_of(const char *p, int64_t second, int64_t row_bytes, int64_t row_step,
                            int64_t rows) {
    int64_t lines = (row_bytes + RDK_LINE - 1) / RDK_LINE;
    stream s = {p, second, lines * rows, lines, lines, row_step - lines * RDK_LINE};
    if (rows <= 0)
        s.left = 0;
    return s;
}

/* Fetches the next n lines of each place, n a constant; at the end of a row perhaps some behind. */
RDK_INLINE void stream_fetch(stream *s, const int n) {
    if (s->left <= 0)
        return;
    RDK_UNROLL
    for (int i = 0; i < n; i++) {
        __builtin_prefetch(s->p + i * RDK_LINE, 0, 2);
        __builtin_prefetch(s->p + s->second + i * RDK_LINE, 0, 2);
    }
    s->p += n * RDK_LINE;
    s->left -= n;
    s->in_row -= n;
    if (s->in_row <= 0) {
        s->p += s->gap + s->in_row * RDK_LINE;
        s->in_row = s->row;
    }
}

/* How often each line is asked for. Assembly compares with these numbers, as eight bytes. */
enum fetch_rate { FETCH_NEVER, FETCH_ONCE, FETCH_OFTEN };

RDK_INLINE int64_t fetch_rate_of(const stream *s, bool often) {
    return s->left <= 0 ? FETCH_NEVER : often ? FETCH_OFTEN : FETCH_ONCE;
}

/* Notes that lines up to p have been fetched by other means, where no gaps lie between rows. */
RDK_INLINE void stream_fetched(stream *s, const char *p) {
    s->left -= (p - s->p) / RDK_LINE;
    s->p = p;
}

/* The same stream by addresses, for assembly that fetches line by line. */
typedef struct lines_ahead {
    const char *end, *row_end; /* behind the last line of all, and of this row */
    int64_t row, row_step;     /* bytes of a row's lines, and from row to row */
    int64_t gap;               /* row_step - row */
} lines_ahead;

RDK_INLINE lines_ahead lines_of(const stream *s) {
    const int64_t row = s->row * RDK_LINE;
    lines_ahead l = {s->p, s->p, row, row + s->gap, s->gap};
    if (s->left > 0) { /* else p may be NULL, from where C forbids even a step of 0 */
        l.row_end = s->p + s->in_row * RDK_LINE;
        int64_t after_row = s->left - s->in_row; /* of whole rows */
        l.end = l.row_end + (s->gap ? after_row / s->row * l.row_step : after_row * RDK_LINE);
    }
    return l;
}

/* Notes that lines up to p have been fetched. Where there are gaps, p is in the row that ends at
 * l->row_end. */
RDK_INLINE void stream_follow(stream *s, const char *p, const lines_ahead *l) {
    if (s->left <= 0)
        return;
    if (l->gap == 0) {
        stream_fetched(s, p);
        return;
    }
    const int64_t in_row = (l->row_end - p) / RDK_LINE;
    const char *row_end = s->p + s->in_row * RDK_LINE;
    s->left -= s->in_row - in_row;
    if (l->row_end != row_end)
        s->left -= (l->row_end - row_end) / l->row_step * s->row;
    s->p = p;
    s->in_row = in_row;
}

#endif
