/* A call cut into calls for several threads, as docs/embedding.md advises. */
#ifndef RDK_BENCH_SPLIT_H
#define RDK_BENCH_SPLIT_H

#include "rootdk/rootdk.h"

/* How many parts a call has for so many threads: fewer if there is not enough to cut. Softmax is
 * cut by rows; attention by batches, else by heads of keys, by heads of a group, or by queries. */
int softmax_parts(const rdk_softmax_desc *d, int threads);
int attention_parts(const rdk_attention_desc *d, int threads);

/* Part i of `parts`. A part of attention has scratch of its own: the descriptor's holds one after
 * the other for all of them. */
rdk_softmax_desc softmax_part(const rdk_softmax_desc *d, int i, int parts);
rdk_attention_desc attention_part(const rdk_attention_desc *d, int i, int parts);

/* From where to where part i of some things goes. */
int64_t part_begin(int64_t all, int i, int parts);

#endif
