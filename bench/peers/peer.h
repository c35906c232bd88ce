/* Peers: other libraries that compute the same call, on the same operands, in the same process. */
#ifndef RDK_BENCH_PEER_H
#define RDK_BENCH_PEER_H

#include "rootdk/rootdk.h"

/* A prepared call. All that does not depend on the operands' values was done before: primitives
 * and scratch of the peer. It runs on the one thread that prepared it. The operands of its
 * descriptor must outlive it (the descriptor need not) and be followed by SLACK bytes, as those of
 * allocate() are (bench/inputs.h). */
typedef struct peer_call peer_call;
struct peer_call {
    const char *how; /* which of the peer's ways, for example "matmul + softmax + matmul" */
    void (*run)(peer_call *call);
    /* From now on attention reads these, of the same layout; NULL for softmax. */
    void (*set_kv)(peer_call *call, const float *k, const float *v);
    void (*discard)(peer_call *call);
};

typedef struct peer {
    const char *name; /* "oneDNN" */
    const char *(*version)(void);
    /* The call that does what rdk_softmax or rdk_attention does on these operands. NULL if the peer
     * has none: another type, a bias that it cannot add, a layout that it cannot read. */
    peer_call *(*softmax)(const rdk_softmax_desc *desc);
    peer_call *(*attention)(const rdk_attention_desc *desc);
} peer;

/* The peers that were built in. */
const peer *const *peers(int *count);

/* The peers that were not, and why. */
typedef struct peer_absence {
    const char *name, *reason;
} peer_absence;

const peer_absence *peers_absent(int *count);

#endif
