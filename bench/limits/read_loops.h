/* Loops that read a span once, for each file of limits to compile with its own vectors.
 *
 * The including file defines before: the type wide, wide_zero(), wide_load(p) from any address,
 * wide_xor(a, b) and wide_store(p, a). */
#ifndef RDK_BENCH_READ_LOOPS_H
#define RDK_BENCH_READ_LOOPS_H

#include "bench/limits/limits.h"

#define READ_DECLARE(j) wide a##j = wide_zero();
#define READ_KEEP(j) a0 = wide_xor(a0, a##j);

/* The span in 1, 2, 4 or 8 parts side by side: the prefetchers follow each of them. `ahead` is how
 * many bytes before its turn a line is asked for; 0: it is not. To the compiler both are constants,
 * since it inlines this. */
static inline void read_streams(span *s, size_t streams, size_t ahead) {
    const size_t step = 8 / streams * sizeof(wide), part = s->bytes / streams / step * step;
    const unsigned char *const from = s->from;
#define READ_STEP(j)                                                                               \
    {                                                                                              \
        const unsigned char *p = from + j % streams * part + j / streams * sizeof(wide) + i;       \
        if (ahead && j / streams * sizeof(wide) % 64 == 0)                                         \
            __builtin_prefetch(p + ahead);                                                         \
        a##j = wide_xor(a##j, wide_load(p));                                                       \
    }
    TIMES_8(READ_DECLARE)
    for (size_t i = 0; i < part; i += step) {
        TIMES_8(READ_STEP)
    }
    FROM_1_TO_7(READ_KEEP)
    wide_store(s->sink, a0);
    read_rest(s, streams * part);
#undef READ_STEP
}

static void read_straight(void *context) {
    read_streams(context, 1, 0);
}

static void read_two(void *context) {
    read_streams(context, 2, 0);
}

static void read_four(void *context) {
    read_streams(context, 4, 0);
}

static void read_four_ahead(void *context) {
    read_streams(context, 4, 256);
}

#undef READ_DECLARE
#undef READ_KEEP

static const read_loop READ_ALL[READ_LOOPS] = {
    {"straight", read_straight},
    {"in two streams", read_two},
    {"in four streams", read_four},
    {"in four streams, prefetched", read_four_ahead},
};

#endif
