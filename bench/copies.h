/* Copies of operands that a call finds in no cache. */
#ifndef RDK_BENCH_COPIES_H
#define RDK_BENCH_COPIES_H

#include "bench/shape.h"

enum { MAX_COPIES = 8 };

/* How many copies of K and V the calls take in turn: 1, unless the shape wants them from memory. */
int copies_of(const shape *s);

#endif
