/* What the tiles of AVX2 and of AVX-512 have in common. Included by tile_<isa>.h after it has
 * defined
 *
 *     tile_vec          a vector
 *     TILE_MM(op)       the intrinsic of an operation on it, as _mm256_##op##_ps */
#ifndef RDK_TILE_X86_H
#define RDK_TILE_X86_H

RDK_INLINE tile_vec tile_zero(void) {
    return TILE_MM(setzero)();
}

RDK_INLINE tile_vec tile_load(const void *p) {
    return TILE_MM(loadu)((const float *)p);
}

RDK_INLINE void tile_store(float *p, tile_vec v) {
    TILE_MM(storeu)(p, v);
}

RDK_INLINE tile_vec tile_splat(const void *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return TILE_MM(set1)(x);
}

RDK_INLINE tile_vec tile_add(tile_vec x, tile_vec y) {
    return TILE_MM(add)(x, y);
}

RDK_INLINE tile_vec tile_mul(tile_vec x, tile_vec y) {
    return TILE_MM(mul)(x, y);
}

RDK_INLINE tile_vec tile_fma(tile_vec x, tile_vec y, tile_vec z) {
    return TILE_MM(fmadd)(x, y, z);
}

/* An element of a, for tile_fma_one(): here in all lanes. */
typedef tile_vec tile_one;
#define tile_take tile_splat

/* gcc moves no loads ahead on x86, and a pin would be in its way. */
#if defined(__clang__) && !defined(RDK_EMULATED)
#define TILE_PIN(v) __asm__ volatile("" : "+v"(v))
#else
#define TILE_PIN(v) (void)(v)
#endif

#include "kernels/attention/tile/thin_x86.h"

#endif
