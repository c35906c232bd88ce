/* The vocabulary must vanish: a call left over would cost more than the work. */
#ifndef RDK_INLINE_H
#define RDK_INLINE_H

#include <stdint.h>

#define RDK_INLINE static inline __attribute__((always_inline, unused))

#endif
