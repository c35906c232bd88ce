/* Extents: bounds first, then piece by piece, as deep as the answer needs. */
#include "dispatch/extent.h"

/* From the first byte to behind the last. */
static int64_t span_within(const rdk_extent *e, int dim) {
    int64_t span = e->length;
    for (int i = dim; i < e->dims; i++)
        span += (e->dim[i].count - 1) * e->dim[i].stride;
    return span;
}

static int64_t span_of(const rdk_extent *e) {
    return span_within(e, 0);
}

static rdk_status has_addresses(const rdk_extent *e) {
    return (uint64_t)span_of(e) <= UINTPTR_MAX - e->first ? RDK_OK : RDK_ERR_SIZE;
}

rdk_status rdk_extent_begin(rdk_extent *e, const void *p, int64_t size, int64_t length) {
    *e = (rdk_extent){.first = (uintptr_t)p};
    if (length > PTRDIFF_MAX / size)
        return RDK_ERR_SIZE;
    e->length = length * size;
    return has_addresses(e);
}

rdk_status rdk_extent_repeat(rdk_extent *e, int64_t size, int64_t count, int64_t stride) {
    if (count == 0)
        e->length = 0;
    if (e->length == 0)
        e->dims = 0;
    if (count <= 1 || e->length == 0)
        return RDK_OK;
    if (stride > (PTRDIFF_MAX - span_of(e)) / size / (count - 1))
        return RDK_ERR_SIZE;
    int at = e->dims++;
    for (; at > 0 && e->dim[at - 1].stride < stride * size; at--)
        e->dim[at] = e->dim[at - 1];
    e->dim[at].count = count;
    e->dim[at].stride = stride * size;
    return has_addresses(e);
}

bool rdk_extent_nests(const rdk_extent *e) {
    for (int i = 0; i < e->dims; i++)
        if (e->dim[i].stride < span_within(e, i + 1))
            return false;
    return true;
}

/* Element i of the outermost dimension. */
static rdk_extent part_of(const rdk_extent *e, int64_t i) {
    rdk_extent part = *e;
    part.first += (uintptr_t)(i * e->dim[0].stride);
    part.dims--;
    for (int k = 0; k < part.dims; k++)
        part.dim[k] = e->dim[k + 1];
    return part;
}

/* Splits a, whose parts may reach b only within a few indices, found by division. */
static bool a_part_overlaps(const rdk_extent *a, const rdk_extent *b) {
    int64_t stride = a->dim[0].stride, last = a->dim[0].count - 1, first = 0;
    uintptr_t b_end = b->first + (uintptr_t)span_of(b);
    uintptr_t part = (uintptr_t)span_within(a, 1);
    if (stride == 0) /* the same bytes again and again */
        last = 0;
    else if (a->first + part <= b->first)
        first = (int64_t)((b->first - a->first - part) / (uintptr_t)stride) + 1;
    if (stride != 0 && (int64_t)((b_end - a->first - 1) / (uintptr_t)stride) < last)
        last = (int64_t)((b_end - a->first - 1) / (uintptr_t)stride);
    for (int64_t i = first; i <= last; i++) {
        rdk_extent p = part_of(a, i);
        if (rdk_extents_overlap(&p, b))
            return true;
    }
    return false;
}

bool rdk_extents_overlap(const rdk_extent *a, const rdk_extent *b) {
    if (!a->length || !b->length)
        return false;
    if (a->first + (uintptr_t)span_of(a) <= b->first ||
        b->first + (uintptr_t)span_of(b) <= a->first)
        return false;
    if (!a->dims && !b->dims)
        return true;
    bool split_a = a->dims && (!b->dims || span_of(a) >= span_of(b));
    return split_a ? a_part_overlaps(a, b) : a_part_overlaps(b, a);
}
