/* A few works of usual sizes. */
#include "bench/works.h"

#define SOFTMAX(ROWS, COLS) .group = "softmax", .op = RDK_OP_SOFTMAX, .rows = ROWS, .cols = COLS
#define ATTENTION(heads, kv, queries, keys, d)                                                     \
    .group = "attention", .op = RDK_OP_ATTENTION, .batch = 1, .q_heads = heads, .kv_heads = kv,    \
    .nq = queries, .nk = keys, .d_qk = d, .d_v = d

const shape WORKS[WORK_COUNT] = {
    {"softmax, 4096 rows of 64", SOFTMAX(4096, 64)},
    {"softmax, 1024 rows of 1024", SOFTMAX(1024, 1024)},
    {"prefill, 12 heads of 64, n=128", ATTENTION(12, 12, 128, 128, 64)},
    {"prefill, 8 heads of 128, n=512", ATTENTION(8, 8, 512, 512, 128)},
    {"causal, 8 heads of 128, n=512", ATTENTION(8, 8, 512, 512, 128), .causal = true},
    {"decode, 12 heads of 64, n=512", ATTENTION(12, 12, 1, 512, 64), .layers = 12, .memory = true},
    {"decode, 32/8 heads of 128, n=1024", ATTENTION(32, 8, 1, 1024, 128), .layers = 32,
     .memory = true},
};
