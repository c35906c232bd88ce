/* An attention call as plain numbers: every case can be drawn, printed, and built again. */
#ifndef RDK_ATTENTION_CASES_H
#define RDK_ATTENTION_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/attention/sight.h"
#include "rootdk/rootdk.h"
#include "tests/lib/run.h"
#include "tests/lib/values.h"

/* Also the buffer of each; an operand that lies inside another one's has none of its own. */
enum {
    OPERAND_Q,
    OPERAND_K,
    OPERAND_V,
    OPERAND_OUT,
    OPERAND_LSE,
    OPERAND_WEIGHTS,
    OPERAND_SCRATCH,
    OPERAND_COUNT
};

enum {
    ARRANGE_BHSD, /* [batch][head][position] */
    ARRANGE_BSHD, /* [batch][position][head] */
    ARRANGE_QKV,  /* BSHD, q, k and v of a position behind each other in one buffer */
    ARRANGE_COUNT
};

/* The kinds of scores. */
enum {
    SCORES_NORMAL,
    SCORES_WIDE,
    SCORES_ROW,       /* one column decides: those of a softmax row of family `row` */
    SCORES_SUBNORMAL, /* products that are, or nearly */
    SCORES_ZEROS,     /* +0 and -0 */
    SCORES_MIXED,     /* some chunks hot, some cold, some cold and low, some nearly cold */
    SCORES_COLD,      /* or around the edge, or nearly, by the seed */
    SCORES_HUGE,      /* inf and inf - inf within the chain */
    SCORES_RISING,    /* from block to block by about HEADROOM; many are flushed, or nearly */
    SCORES_BITS,      /* any bits at all */
    SCORES_COUNT
};

enum {
    VALUES_NORMAL,
    VALUES_SUBNORMAL,
    VALUES_ZEROS,
    VALUES_TINY,       /* negative, and next to nothing: sums underflow to -0 */
    VALUES_HUGE,       /* sums overflow */
    VALUES_INFINITIES, /* here and there */
    VALUES_NAN,        /* here and there */
    VALUES_BITS,
    VALUES_COUNT
};

/* Values put over a few elements, or over all keys and values from one on. */
enum { SPECIAL_NONE, SPECIAL_NAN, SPECIAL_INF, SPECIAL_MINUS_INF, SPECIAL_ANY, SPECIAL_COUNT };
enum {
    SPECIAL_IN_Q = 1 << OPERAND_Q,
    SPECIAL_IN_K = 1 << OPERAND_K,
    SPECIAL_IN_V = 1 << OPERAND_V
};

/* How far batches, heads or rows of an operand lie apart, in terms of `width`, the length of a row.
 * Inputs may overlap. Where an output may not lie like that, it lies as usual. */
enum {
    STRIDE_USUAL, /* behind each other, with `pad` and `gap` */
    STRIDE_0,
    STRIDE_1,
    STRIDE_2,
    STRIDE_HALF,       /* half a width */
    STRIDE_ALMOST,     /* width - 1 */
    STRIDE_WIDTH,      /* rows behind each other, heads and batches among them */
    STRIDE_WIDTH_MORE, /* width + 1; outputs: the usual + 1 */
    STRIDE_BLOCK,      /* RDK_BLOCK, as far as the weights of a query from those of the next */
    STRIDE_FAR,        /* 2048 bytes more than usual */
    STRIDE_PAGES,      /* whole pages */
    STRIDE_COUNT
};

/* Which keys queries see at most, besides causality. */
enum {
    RANGES_NONE,
    RANGES_WINDOW,    /* each query the keys around its own, as many as the seed says */
    RANGES_DOCUMENTS, /* several queries the same keys, the next ones those behind them */
    RANGES_ENDS,      /* a few of the first keys, or of the last */
    RANGES_TO_END,    /* from later and later on, or earlier and earlier, all to the end */
    RANGES_FEW,       /* one key, or mostly none */
    RANGES_ANY,
    RANGES_COUNT
};

typedef struct attention_case {
    int64_t batch, q_heads, kv_heads, q_len, kv_len, d_qk, d_v;
    int64_t causal, q_pos, key_pos0, ranges;
    float scale;
    int64_t arrange;
    int64_t batch_stride[OPERAND_COUNT], head_stride[OPERAND_COUNT], row_stride[OPERAND_COUNT];
    int64_t v_in_k;              /* v.data = k.data, if d_v <= d_qk */
    int64_t pad[OPERAND_COUNT];  /* elements between rows */
    int64_t gap;                 /* elements more between the outer dimensions */
    int64_t away[OPERAND_COUNT]; /* bytes between the buffer and the page's edge */
    int64_t at_end;              /* buffers end, not start, at a forbidden page */
    int64_t lse, weights;        /* whether they are asked for */
    int64_t scores, row, values;
    int64_t special, special_in, special_from; /* from key special_from on; -1: a few elements */
    int64_t special_to;                        /* the keys from this one on have none */
    int64_t special_column; /* the only one that has any, modulo the width; or -1 */
    int64_t seed;           /* of the values */
} attention_case;

/* One head, 3 queries, 37 keys, d 5 and 6, normal values, all outputs. */
attention_case attention_default(void);

/* The index-th random case of a seed; its neighbours do not matter. Mostly small. */
attention_case attention_draw(uint64_t seed, uint64_t index);

/* The kind of stride of an operand along a dimension: 0 batch, 1 head, 2 row. */
int64_t *attention_stride(attention_case *c, int operand, int dim);

/* Makes those strides of inputs 0 whose bit, 3 * operand + dim, is set. */
void attention_zero_strides(attention_case *c, int64_t bits);

/* Operands that their strides make longer than `most` floats get the usual ones. */
void attention_limit_strides(attention_case *c, int64_t most);

/* Multiply-adds, roughly. */
int64_t attention_cost(const attention_case *c);

/* What differs from the default, as name=value words. attention_parse() takes them back, and is
 * false if it does not know one. */
void attention_describe(const attention_case *c, char *text, size_t size);
bool attention_parse(attention_case *c, const char *text);

/* What the queries of all batches see at most; NULL if that is everything. Good until the next
 * call. */
const rdk_sight *attention_ranges(const attention_case *c);

void attention_map(memory *m);

/* Fills the buffers and gives the descriptor. Every buffer ends with its last element; between the
 * rows of inputs is signalling NaN. */
rdk_attention_desc attention_build(const attention_case *c, memory *m);

#endif
