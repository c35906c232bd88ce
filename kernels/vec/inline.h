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

/* Whether a sanitizer watches, to whom assembly says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RDK_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define RDK_SANITIZED
#endif
#endif

#endif
