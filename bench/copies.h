/* Copies of operands that a call finds in no cache. */
#ifndef RDK_BENCH_COPIES_H
#define RDK_BENCH_COPIES_H

#include "bench/shape.h"

enum { MAX_COPIES = 8 };

/* How many copies of K and V calls take in turn: 1, unless the shape says that they come from memory. */
int copies_of(const shape *s);

#endif
