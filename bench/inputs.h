/* Memory for the benches, and numbers to put there. */
#ifndef RDK_BENCH_INPUTS_H
#define RDK_BENCH_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

/* "f32", "f16", "bf16". */
const char *type_name(rdk_type type);

/* Bytes of an element. */
size_t type_size(rdk_type type);

/* Numbers close to N(0, 1), the same everywhere for the same seed. */
void fill(void *to, rdk_type type, int64_t count, uint64_t seed);

enum { SLACK = 64 };

/* As a caller would: aligned to a cache line, wherever malloc puts it. Large buffers therefore
 * often begin at the same place of a page; nothing is done about that, nor about huge pages.
 * The SLACK bytes behind it may be read: there are libraries that do.
 * Never NULL: without memory the program ends. */
void *allocate(size_t bytes);

/* `count` numbers, allocated. */
void *new_input(int64_t count, rdk_type type, uint64_t seed);

#endif
