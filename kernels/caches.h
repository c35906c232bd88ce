/* What kernels know of the caches of the CPU that they run on. Speed depends on it, and no bit does. */
#ifndef RDK_CACHES_H
#define RDK_CACHES_H

#include <stdint.h>

/* Bytes of a core's L2, or 0 where nobody knows. Written before the first call of a kernel. */
extern int64_t rdk_l2_size;

#endif
