/* Memory that K and V go round in: a call finds in no cache what it reads. */
#ifndef RDK_BENCH_RING_H
#define RDK_BENCH_RING_H

#include "bench/shape.h"

typedef struct ring {
    unsigned char *bytes;
    size_t size, next; /* where the next K and V begin */
} ring;

typedef struct kv {
    const float *k, *v;
} kv;

/* One ring for all of these shapes whose K and V come from memory. It has four times the size of
 * the last-level cache (taken as 64 MB at least), 512 MB at most; for a `quick` look, which cannot
 * tell how fast memory is, 16 MB. It is always large enough for one call. */
ring ring_make(const shape *list, int count, bool quick);
void ring_free(ring *r);

/* Where a call reads that comes first, and where one reads that comes now: what all callers have
 * read longest ago. */
kv ring_first(const ring *r, const shape *s);
kv ring_next(ring *r, const shape *s);
void ring_restart(ring *r);

#endif
