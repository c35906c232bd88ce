/* The peers there may be, and their common parts. */
#ifndef RDK_BENCH_PEER_LIST_H
#define RDK_BENCH_PEER_LIST_H

#include <stdbool.h>

#include "bench/peers/peer.h"

extern const peer peer_onednn, peer_xnnpack, peer_openblas, peer_plain;

/* Whether the work is softmax or log-softmax of whole rows, with x and y of one type, and
 * at most a scale and a bias. */
bool softmax_is_dense(const rdk_softmax_desc *d);

#endif
