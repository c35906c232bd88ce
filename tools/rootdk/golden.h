/* The golden cases (docs/golden.md): small calls with fixed inputs, and the hash each must give. */
#ifndef RDK_GOLDEN_H
#define RDK_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

#define GOLDEN_TEXT 160 /* room for golden_name() or golden_parameters() */

typedef rdk_status golden_run(void *context, const rdk_softmax_desc *desc);

int golden_count(void);

/* How many elements case i has, rows times columns. */
int64_t golden_elements(int i);

/* Both write into `text` and return it: a name without spaces; what the name does not say. */
const char *golden_name(int i, char text[GOLDEN_TEXT]);
const char *golden_parameters(int i, char text[GOLDEN_TEXT]);

/* The hash of what `run` writes for case i; 0, which no case has, if `run` gives an error. */
uint64_t golden_hash(int i, golden_run *run, void *context);

/* The committed hash of case i, and that of all cases together. 0 if none is committed. */
uint64_t golden_expected(int i);
uint64_t golden_expected_total(void);

/* The hash of all cases: begin with GOLDEN_SEED, then add the hash of each in order. */
#define GOLDEN_SEED UINT64_C(0xcbf29ce484222325)
uint64_t golden_add(uint64_t total, uint64_t hash);

#endif
