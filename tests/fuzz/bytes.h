/* Numbers from fuzzed bytes; when there are no more bytes, 0. */
#ifndef RDK_FUZZ_BYTES_H
#define RDK_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct bytes {
    const uint8_t *p;
    size_t left;
} bytes;

static inline int64_t take(bytes *b) {
    if (!b->left)
        return 0;
    b->left--;
    return *b->p++;
}

static inline int64_t take_below(bytes *b, int64_t n) {
    return take(b) % n;
}

static inline bool take_flag(bytes *b) {
    return take(b) & 1;
}

static inline int64_t take_two(bytes *b) {
    int64_t low = take(b);
    return low | take(b) << 8;
}

/* Any float: one of the usual, or four bytes. */
static inline float take_float(bytes *b) {
    static const float USUAL[] = {0, 0, 0, 1, 0.125f, -1, 3.5f, 1e-38f, 100, -1e6f, 1e30f};
    int64_t kind = take(b);
    float f;
    if (kind < 128)
        return USUAL[kind % (int64_t)(sizeof USUAL / sizeof *USUAL)];
    uint32_t u = (uint32_t)take_two(b);
    u |= (uint32_t)take_two(b) << 16;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* Numbers that sizes, strides and positions may not be, or hardly. */
static inline int64_t take_wild(bytes *b) {
    static const int64_t WILD[] = {-1,        INT64_MIN,        INT64_MAX, (int64_t)1 << 31,
                                   1024,      (int64_t)1 << 61, 1025,      ((int64_t)1 << 61) + 1,
                                   INT32_MIN, (int64_t)1 << 62, 1 << 20,   ((int64_t)1 << 31) + 1};
    int64_t kind = take(b), small = take_below(b, 5) - 2;
    if (kind < 128)
        return kind;
    int64_t wild = WILD[kind % (int64_t)(sizeof WILD / sizeof *WILD)];
    bool overflows = small > 0 ? wild > INT64_MAX - small : wild < INT64_MIN - small;
    return overflows ? wild : wild + small;
}

#endif
