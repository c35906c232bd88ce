/* The vocabulary must vanish: a call left over would cost more than the work. */
#ifndef RDK_INLINE_H
#define RDK_INLINE_H

#include <stdint.h>

#define RDK_INLINE static inline __attribute__((always_inline, unused))

/* Before a loop of a few constant steps over registers. */
#ifdef __clang__
#define RDK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RDK_UNROLL _Pragma("GCC unroll 16")
#endif

#endif
