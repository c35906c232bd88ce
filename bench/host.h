/* The system under the bench, as far as it says what it is. */
#ifndef RDK_BENCH_HOST_H
#define RDK_BENCH_HOST_H

#include <stddef.h>

#define HOST_CACHES 3

/* "Linux 6.1.0 x86_64"; nothing in it needs an escape in JSON. */
const char *host_system(void);

/* Bytes of the data cache of that level, 1 to HOST_CACHES; 0 if the system does not say. */
size_t host_cache(int level);

#endif
