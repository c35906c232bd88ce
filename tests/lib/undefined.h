/* Memory whose contents nobody may depend on. MemorySanitizer is told, and valgrind in a
 * build with -DRDK_VALGRIND. */
#ifndef RDK_UNDEFINED_H
#define RDK_UNDEFINED_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define RDK_MSAN
#endif
#endif

#if defined(RDK_MSAN)
#include <sanitizer/msan_interface.h>

static inline void make_undefined(void *p, size_t bytes) {
    __msan_allocated_memory(p, bytes);
}

static inline void make_defined(void *p, size_t bytes) {
    __msan_unpoison(p, bytes);
}

#elif defined(RDK_VALGRIND)
#include <valgrind/memcheck.h>

static inline void make_undefined(void *p, size_t bytes) {
    (void)VALGRIND_MAKE_MEM_UNDEFINED(p, bytes);
}

static inline void make_defined(void *p, size_t bytes) {
    (void)VALGRIND_MAKE_MEM_DEFINED(p, bytes);
}

#else
static inline void make_undefined(void *p, size_t bytes) {
    (void)p;
    (void)bytes;
}

static inline void make_defined(void *p, size_t bytes) {
    (void)p;
    (void)bytes;
}
#endif

#endif
