/* The bytes that a strided view covers, and whether two views share one. */
#ifndef RDK_EXTENT_H
#define RDK_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rootdk/rootdk.h"

#define RDK_EXTENT_DIMS 3

/* Pieces of `length` bytes, repeated along each dimension; the largest stride comes first. Where
 * there are no pieces, length is 0. */
typedef struct rdk_extent {
    uintptr_t first;
    int64_t length;
    int dims;
    struct {
        int64_t count, stride; /* 2 or more; bytes, 0 or more */
    } dim[RDK_EXTENT_DIMS];
} rdk_extent;

/* `length` elements of `size` bytes at p, not yet repeated. */
rdk_status rdk_extent_begin(rdk_extent *e, const void *p, int64_t size, int64_t length);

/* Repeats the pieces `count` times, `stride` elements apart, 0 or more. RDK_ERR_SIZE if the last
 * byte could not have an address. */
rdk_status rdk_extent_repeat(rdk_extent *e, int64_t size, int64_t count, int64_t stride);

/* Whether two views share a byte. Exact: a matrix may sit between another's rows. It takes
 * little time for views of any size; views so entangled that too much would have to be
 * tried count as overlapping. */
bool rdk_extents_overlap(const rdk_extent *a, const rdk_extent *b);

/* The smallest stride, in bytes, that does not cover what the dimensions within it span; -1 if all
 * do, so that no two pieces share a byte. A stride of 0 never does. Pieces that interleave without
 * sharing a byte have such a stride, too. */
int64_t rdk_extent_tight_stride(const rdk_extent *e);

#endif
