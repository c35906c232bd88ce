/* A softmax call as plain numbers: every case can be drawn from a seed,
 * printed, and built again. */
#ifndef RDK_SOFTMAX_CASES_H
#define RDK_SOFTMAX_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "rootdk/rootdk.h"
#include "tests/lib/run.h"
#include "tests/lib/values.h"

/* ---- Cases ----------------------------------------------------------------------------------- */

typedef enum bias_kind {
    BIAS_NONE,
    BIAS_NORMAL,
    BIAS_RAMP,        /* 0, -1, -2, ...: ALiBi */
    BIAS_MASK_INF,    /* 0 or -inf */
    BIAS_MASK_FINITE, /* 0, -10000, -1e9 or the least float */
    BIAS_ALL_INF,     /* everything masked */
    BIAS_ALL_FINITE,  /* everything masked, by -1e9 */
    BIAS_ABSENT_EDGE, /* around -2^16 in base 2 */
    BIAS_COLD,        /* large enough to make the row cold */
    BIAS_SPECIAL,     /* NaN, +inf, -0, subnormals among others */
    BIAS_BITS,        /* any bits at all */
    BIAS_COUNT
} bias_kind;

typedef enum visible_kind {
    VISIBLE_NULL,
    VISIBLE_FIXED, /* visible_count in each row, at most cols */
    VISIBLE_RANDOM,
    VISIBLE_CAUSAL, /* one more in each row */
    VISIBLE_COUNT
} visible_kind;

typedef enum row_scale_kind {
    ROW_SCALE_NULL,
    ROW_SCALE_NORMAL,
    ROW_SCALE_SPECIAL, /* 0, negative, tiny, huge, inf, NaN among others */
    ROW_SCALE_COUNT
} row_scale_kind;

typedef struct softmax_case {
    int64_t rows, cols;
    int x_pad, y_pad, bias_pad;    /* stride - cols */
    bool x_repeat, bias_repeat;    /* stride 0 instead */
    int x_away, y_away, bias_away; /* bytes between the buffer and the page's edge */
    bool at_end;                   /* buffers end, not start, at a forbidden page */
    bool in_place;
    rdk_type x_type, y_type, bias_type;
    rdk_softmax_mode mode;
    float scale;
    row_scale_kind row_scale;
    bias_kind bias;
    visible_kind visible;
    int64_t visible_count;
    bool lse;
    bool y_null; /* mode LSE: y is NULL */
    family family;
    uint64_t seed; /* of the values */
} softmax_case;

/* 3 x 70, f32 in and out, normal values, nothing else. */
softmax_case case_default(void);

/* The index-th random case of a seed; its neighbours do not matter. Mostly small. */
softmax_case case_draw(uint64_t seed, uint64_t index);

/* Everything a case says, on one line. */
void case_describe(const softmax_case *c, char *text, size_t size);

const char *type_name(rdk_type type);

/* ---- A case in memory ------------------------------------------------------------------------ */

enum {
    BUFFER_X,
    BUFFER_Y,
    BUFFER_BIAS,
    BUFFER_ROW_SCALE,
    BUFFER_VISIBLE,
    BUFFER_LSE,
    BUFFER_COUNT
};

void memory_map(memory *m);

/* Fills the buffers and gives the descriptor. x and bias end with the last visible element of the
 * last row, so that at_end whoever looks at a hidden column faults. */
rdk_softmax_desc case_build(const softmax_case *c, memory *m);

/* The buffer that y is in: x's in place; NULL if nothing is written. */
const guarded *memory_y(const memory *m, const rdk_softmax_desc *d);

#endif
