/* The bytes of a strided view, one by one: a slow and certain way to see which views overlap. */
#ifndef RDK_BYTES_H
#define RDK_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BYTES_DIMS = 3, BYTES_MAX = 8192 };

/* Pieces of `length` bytes: count[i] of them, stride[i] bytes apart, along each dimension. The
 * first piece begins at byte `first` of BYTES_MAX. */
typedef struct strided {
    int64_t first, length;
    int64_t count[BYTES_DIMS], stride[BYTES_DIMS];
} strided;

/* How many pieces cover each byte. */
static inline void count_bytes(unsigned covers[BYTES_MAX], const strided *s) {
    memset(covers, 0, BYTES_MAX * sizeof *covers);
    for (int64_t i = 0; i < s->count[0]; i++)
        for (int64_t j = 0; j < s->count[1]; j++)
            for (int64_t k = 0; k < s->count[2]; k++)
                for (int64_t c = 0; c < s->length; c++)
                    covers[s->first + i * s->stride[0] + j * s->stride[1] + k * s->stride[2] + c]++;
}

static inline bool covers_share(const unsigned a[BYTES_MAX], const unsigned b[BYTES_MAX]) {
    for (int i = 0; i < BYTES_MAX; i++)
        if (a[i] && b[i])
            return true;
    return false;
}

static inline bool covers_itself(const unsigned a[BYTES_MAX]) {
    for (int i = 0; i < BYTES_MAX; i++)
        if (a[i] > 1)
            return true;
    return false;
}

#endif
