/* The system under the bench, by POSIX and the C library's extensions; elsewhere its name alone. */
#define _DEFAULT_SOURCE /* for the caches in sysconf() */
#include "bench/host.h"

#ifdef _WIN32

const char *host_system(void) {
    return "Windows";
}

size_t host_cache(int level) {
    (void)level;
    return 0;
}

#else

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *host_system(void) {
    static char text[256];
    struct utsname name;
    if (uname(&name) < 0)
        return "unknown";
    snprintf(text, sizeof text, "%s %s %s", name.sysname, name.release, name.machine);
    text[strcspn(text, "\"\\")] = 0;
    return text;
}

size_t host_cache(int level) {
    long bytes = 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int NAMES[HOST_CACHES] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                           _SC_LEVEL3_CACHE_SIZE};
    bytes = sysconf(NAMES[level - 1]);
#endif
    return bytes > 0 ? (size_t)bytes : 0;
}

#endif
