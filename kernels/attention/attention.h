/* The attention kernels, and what the vector paths ask of the reference. */
#ifndef RDK_ATTENTION_H
#define RDK_ATTENTION_H

#include "kernels/attention/plan.h"
#include "kernels/attention/state.h"

/* One query of one head, as the reference works on it. */
typedef struct rdk_query {
    const rdk_problem *of;
    const char *q;
    int64_t batch, kv_head;
    rdk_sight sees;
} rdk_query;

rdk_query rdk_query_of(const rdk_problem *p, int64_t b, int64_t h, int64_t i);

/* Does one chunk (positions from chunk * RDK_CHUNK on) by the reference, whatever its keys hold.
 * The query sees one of them at least. o gets d_v sums. Vector paths hand over chunks that are
 * cold. */
rdk_state rdk_attention_chunk_scalar(const rdk_query *q, int64_t chunk, float *o);

/* Writes a query's row of kv_len weights, by the reference. */
void rdk_attention_weights_scalar(const rdk_query *q, const rdk_state *s, char *weights);

#endif
