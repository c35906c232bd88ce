/* The golden cases (docs/golden.md): small calls with fixed inputs, and the hash each must give. */
#ifndef RDK_GOLDEN_H
#define RDK_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

#define GOLDEN_TEXT 160 /* room for what golden_op's `name` or `parameters` write */

/* How the calls are made. */
typedef struct golden_runner {
    rdk_status (*softmax)(void *context, const rdk_softmax_desc *desc);
    rdk_status (*attention)(void *context, const rdk_attention_desc *desc);
    void *context;
} golden_runner;

/* The cases of an operation, 0 <= i < count(). */
typedef struct golden_op {
    const char *name;
    int (*count)(void);

    /* Roughly what case i costs an implementation: weights, or multiply-adds. */
    int64_t (*work)(int i);

    /* Both write into `text` and return it: a name without spaces; what the name does not say. */
    const char *(*case_name)(int i, char text[GOLDEN_TEXT]);
    const char *(*parameters)(int i, char text[GOLDEN_TEXT]);

    /* The hash of what `run` writes for case i; 0, which no case has, if `run` gives an error. */
    uint64_t (*hash)(int i, const golden_runner *run);

    const uint64_t *expected; /* one hash per case, then that of all */
    size_t expected_count;
} golden_op;

extern const golden_op golden_softmax, golden_attention;
extern const golden_op *const GOLDEN_OPS[RDK_OP_COUNT]; /* by rdk_op */

/* The committed hash of case i, and that of all cases together. 0 if none is committed. */
uint64_t golden_expected(const golden_op *op, int i);
uint64_t golden_expected_total(const golden_op *op);

/* The hash of all cases: begin with GOLDEN_SEED, then add the hash of each in order. */
#define GOLDEN_SEED UINT64_C(0xcbf29ce484222325)
uint64_t golden_add(uint64_t total, uint64_t hash);

#endif
