/* Attention by products of matrices, as the peers do it: which rows make one matrix. */
#ifndef RDK_BENCH_BLOCKS_H
#define RDK_BENCH_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

/* A product of few queries has little to do, so those of all heads that share K and V are stacked
 * to one matrix. Many queries come head by head. */
typedef struct stacks {
    int64_t heads; /* in a stack: 1, or all that share K and V */
    int64_t count; /* of stacks */
    int64_t rows;  /* of a stack */
} stacks;

/* A stack of heads has at most `few` queries of each. */
stacks stacks_of(const rdk_attention_desc *d, int64_t few);

/* Whether the peers can do the work: one batch in f32, rows of a stack one after the other,
 * and no other result than the output. Every query must see a key, since the peers' softmax
 * would divide by an empty sum. */
bool stacks_fit(const rdk_attention_desc *d, const stacks *s);

/* How many keys row r of a stack sees; never less than the row before it, within a head. */
int64_t visible_keys(const rdk_attention_desc *d, int64_t r);

/* The most that any of these rows sees. */
int64_t visible_to_any(const rdk_attention_desc *d, int64_t first, int64_t rows);

/* The scale as the descriptor means it. */
float scale_of(const rdk_attention_desc *d);

/* Where stack i begins, as an offset in floats. */
int64_t stack_offset(const stacks *s, int64_t i, int64_t head_stride);
int64_t stack_kv_offset(const rdk_attention_desc *d, const stacks *s, int64_t i,
                        int64_t head_stride);

#endif
