/* The walks of the axes, and what they share. */
#ifndef RDK_ATTENTION_WALK_H
#define RDK_ATTENTION_WALK_H

#include "tests/attention/cases.h"
#include "tests/lib/axis.h"

typedef bool walk(visitor *visit, void *context);

/* sizes.c */
walk walk_rows, walk_keys, walk_key_edges, walk_halves, walk_chains, walk_dims, walk_groups,
    walk_query_blocks, walk_wide_blocks, walk_packed_values, walk_empty;
/* sight.c */
walk walk_positions, walk_bottom_right, walk_specials, walk_specials_of_some, walk_ranges,
    walk_specials_in_ranges;
/* memory.c */
walk walk_zero_strides, walk_strides, walk_pairs_of_strides, walk_expanded, walk_value_in_key,
    walk_gaps, walk_misaligned, walk_full_scratch, walk_outputs;
/* values.c */
walk walk_scales, walk_families, walk_values, walk_hot_edge, walk_cold, walk_references,
    walk_signs_of_zero;

/* ---- What they share ------------------------------------------------------------------------- */

/* The seed is the number of the case in its walk, so that no two have the same values. */
#define GO(c)                                                                                      \
    do {                                                                                           \
        (c).seed++;                                                                                \
        if (!visit(context, &(c)))                                                                 \
            return false;                                                                          \
    } while (0)

#define EACH(type, x, list) for (const type *x = (list); x < (list) + COUNT(list); x++)
#define EACH_CAUSAL(m) for (int64_t m = RDK_CAUSAL_NONE; m <= RDK_CAUSAL_FROM_POSITION; m++)

enum { MOST_FLOATS = 1 << 18 }; /* of an operand */

static inline void set_dims(attention_case *c, int64_t d_qk, int64_t d_v) {
    c->d_qk = d_qk;
    c->d_v = d_v;
}

/* With causal 2 the last query sees all keys but one. */
static inline void set_causal(attention_case *c, int64_t causal) {
    c->causal = causal;
    c->q_pos = causal == RDK_CAUSAL_FROM_POSITION ? c->key_pos0 + c->kv_len - c->q_len - 1 : 0;
}

static inline void set_heads(attention_case *c, int64_t kv_heads, int64_t group) {
    c->kv_heads = kv_heads;
    c->q_heads = kv_heads * group;
}

#endif
