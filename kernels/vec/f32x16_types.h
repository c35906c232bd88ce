/* Loads and stores of f32x16 from and to any element type, whole or only the first n lanes.
 * Included after an ISA's vocabulary. `type` is a constant wherever speed matters. */
#ifndef RDK_F32X16_TYPES_H
#define RDK_F32X16_TYPES_H

#include <string.h>

#include "rootdk/rootdk.h"

RDK_INLINE f32x16 f32x16_load_as(const char *p, rdk_type type) {
    if (type == RDK_F32)
        return f32x16_load(p);
    return type == RDK_F16 ? f32x16_load_f16(p) : f32x16_load_bf16(p);
}

RDK_INLINE void f32x16_store_as(char *p, rdk_type type, f32x16 v) {
    if (type == RDK_F32)
        f32x16_store(p, v);
    else if (type == RDK_F16)
        f32x16_store_f16(p, v);
    else
        f32x16_store_bf16(p, v);
}

/* Copies fewer than 64 bytes, an even number, and touches no other: six fixed moves that the
 * compiler turns into registers, where a call to memcpy would cost more than the row. */
RDK_INLINE void rdk_copy_few(char *to, const char *from, int bytes) {
    int at = 0;
    if (bytes & 32) {
        memcpy(to, from, 32);
        at = 32;
    }
    if (bytes & 16) {
        memcpy(to + at, from + at, 16);
        at += 16;
    }
    if (bytes & 8) {
        memcpy(to + at, from + at, 8);
        at += 8;
    }
    if (bytes & 4) {
        memcpy(to + at, from + at, 4);
        at += 4;
    }
    if (bytes & 2)
        memcpy(to + at, from + at, 2);
}

/* n is 1 to 15; the other lanes are +0. */
RDK_INLINE f32x16 f32x16_load_first_as(const char *p, rdk_type type, int n) {
    if (type == RDK_F32)
        return f32x16_load_first(p, n);
    char whole[32] = {0};
    rdk_copy_few(whole, p, n * 2);
    return f32x16_load_as(whole, type);
}

/* n is 1 to 15. */
RDK_INLINE void f32x16_store_first_as(char *p, rdk_type type, f32x16 v, int n) {
    char whole[64];
    f32x16_store_as(whole, type, v);
    rdk_copy_few(p, whole, n * (type == RDK_F32 ? 4 : 2));
}

/* Elements from .. to of y become v. */
RDK_INLINE void f32x16_fill(char *y, rdk_type type, int64_t from, int64_t to, float v) {
    int size = type == RDK_F32 ? 4 : 2;
    f32x16 whole = f32x16_set1(v);
    for (; from + 16 <= to; from += 16)
        f32x16_store_as(y + from * size, type, whole);
    if (from < to)
        f32x16_store_first_as(y + from * size, type, whole, (int)(to - from));
}

#endif
