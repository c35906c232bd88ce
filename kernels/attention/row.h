/* What a vector path keeps of a row in the scratch, besides its query and its sums. A row is one
 * query of one head. */
#ifndef RDK_ATTENTION_ROW_H
#define RDK_ATTENTION_ROW_H

#include "kernels/attention/sight.h"
#include "kernels/attention/state.h"

typedef struct rdk_row {
    int64_t batch, head, query;
    rdk_sight sees;
    rdk_state closed; /* of the chunks that are closed */
} rdk_row;

#endif
