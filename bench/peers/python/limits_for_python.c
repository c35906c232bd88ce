/* The machine's limits behind plain functions, for ctypes. Loops are in here, so that no limit
 * times Python. An `isa` without limits gives 0 or does nothing. */
#include <string.h>

#include "bench/limits/limits.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT const char *limits_compiler(void);
EXPORT double limits_fma_flop(int isa);
EXPORT void limits_fma(int isa, int times);
EXPORT int limits_read_count(int isa);
EXPORT void limits_read(int isa, int loop, int times, const void *a, size_t a_bytes, const void *b,
                        size_t b_bytes);
EXPORT void limits_copy(int times, void *to, const void *from, size_t bytes);

/* What all of this, and the library, was built with. */
const char *limits_compiler(void) {
    return RDK_BENCH_COMPILER;
}

/* Of one time of limits_fma(). */
double limits_fma_flop(int isa) {
    const limit *l = limit_of(isa);
    return l && l->fma ? l->flop : 0;
}

void limits_fma(int isa, int times) {
    const limit *l = limit_of(isa);
    unsigned char sink[64];
    for (int i = 0; l && l->fma && i < times; i++)
        l->fma(sink);
}

int limits_read_count(int isa) {
    const limit *l = limit_of(isa);
    return l ? l->read_count : 0;
}

/* Two buffers by one loop, as K and V are read. */
void limits_read(int isa, int loop, int times, const void *a, size_t a_bytes, const void *b,
                 size_t b_bytes) {
    const limit *l = limit_of(isa);
    span first = {.from = a, .bytes = a_bytes}, second = {.from = b, .bytes = b_bytes};
    for (int i = 0; l && loop >= 0 && loop < l->read_count && i < times; i++) {
        l->read[loop].run(&first);
        l->read[loop].run(&second);
    }
}

void limits_copy(int times, void *to, const void *from, size_t bytes) {
    for (int i = 0; i < times; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" ::: "memory"); /* so that none is left out */
    }
}
