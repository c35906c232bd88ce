/* K and V that come from memory. */
#include "bench/ring.h"

#include <stdlib.h>
#include <string.h>

#include "bench/host.h"
#include "bench/inputs.h"

/* Numbers repeat after so many. It is a prime, so that they repeat in no row, head or operand. */
enum { PERIOD = 1000003 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Bytes; a guess where the system does not say, or says so little that it is not to be believed. */
static size_t last_level_cache(void) {
    return most(host_cache(3), (size_t)64 << 20);
}

/* Bytes from K, or V, to what is behind it: large blocks of malloc, too, begin at pages. */
static size_t pages(int64_t floats) {
    return ((size_t)floats * sizeof(float) + SLACK + 4095) / 4096 * 4096;
}

static size_t bytes_of(const shape *s) {
    return pages(shape_k(s)) + pages(shape_v(s));
}

static void fill_ring(ring *r) {
    size_t period = least(r->size, PERIOD * sizeof(float));
    fill(r->bytes, RDK_F32, (int64_t)(period / sizeof(float)), 2);
    for (size_t done = period; done < r->size; done += period)
        memcpy(r->bytes + done, r->bytes, least(period, r->size - done));
}

ring ring_make(const shape *list, int count, bool quick) {
    ring r = {NULL, 0, 0};
    for (int i = 0; i < count; i++)
        if (list[i].memory)
            r.size = most(r.size, bytes_of(&list[i]));
    if (!r.size)
        return r;
    r.size =
        most(r.size, quick ? (size_t)16 << 20 : least(4 * last_level_cache(), (size_t)512 << 20));
    r.bytes = allocate(r.size);
    fill_ring(&r);
    return r;
}

void ring_free(ring *r) {
    free(r->bytes);
}

static kv at(const ring *r, size_t offset, const shape *s) {
    const unsigned char *k = r->bytes + offset;
    return (kv){(const float *)(const void *)k,
                (const float *)(const void *)(k + pages(shape_k(s)))};
}

kv ring_first(const ring *r, const shape *s) {
    return at(r, 0, s);
}

kv ring_next(ring *r, const shape *s) {
    if (r->size - r->next < bytes_of(s))
        r->next = 0;
    size_t offset = r->next;
    r->next += bytes_of(s);
    return at(r, offset, s);
}

void ring_restart(ring *r) {
    r->next = 0;
}
