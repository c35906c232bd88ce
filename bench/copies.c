/* How many copies of K and V no cache holds. */
#define _DEFAULT_SOURCE /* for the cache's size in sysconf() */
#include "bench/copies.h"

#include <unistd.h>

/* Bytes; a guess where the system does not say, or says so little that it is not to be believed. */
static size_t last_level_cache(void) {
    long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes > 64l << 20 ? (size_t)bytes : (size_t)64 << 20;
}

/* So many that what a cache keeps of one is gone when its turn comes again; 512 MB at most. */
int copies_of(const shape *s) {
    size_t bytes = (size_t)shape_bytes(s), want = 4 * last_level_cache(), most = (size_t)512 << 20;
    if (!s->memory)
        return 1;
    size_t copies = ((want < most ? want : most) + bytes - 1) / bytes;
    return copies > MAX_COPIES ? MAX_COPIES : (int)copies;
}
