/* Loops that read a span once, for each file of limits to compile with its own vectors.
 *
 * The including file defines before: the type wide, wide_zero(), wide_load(p) from any address,
 * wide_xor(a, b) and wide_store(p, a). */
#ifndef RDK_BENCH_READ_LOOPS_H
#define RDK_BENCH_READ_LOOPS_H

#include "bench/limits.h"

#define READ_DECLARE(j) wide a##j = wide_zero();
#define READ_KEEP(j) a0 = wide_xor(a0, a##j);

/* From the first byte to the last. */
static void read_straight(void *context) {
    span *s = context;
    size_t i = 0;
#define READ_STEP(j) a##j = wide_xor(a##j, wide_load(s->from + i + sizeof(wide) * j));
    TIMES_8(READ_DECLARE)
    for (; i + 8 * sizeof(wide) <= s->bytes; i += 8 * sizeof(wide)) {
        TIMES_8(READ_STEP)
    }
    FROM_1_TO_7(READ_KEEP)
    wide_store(s->sink, a0);
    read_rest(s, i);
#undef READ_STEP
}

/* Four quarters side by side: a core follows several streams, and its prefetchers are bound to
 * pages, so more of them are at work. `ahead` is how far before its turn a line is asked for. */
static inline void read_quarters(span *s, size_t ahead) {
    const size_t step = 2 * sizeof(wide), quarter = s->bytes / 4 / step * step;
    const unsigned char *const from = s->from;
#define READ_STEP(j)                                                                               \
    {                                                                                              \
        const unsigned char *p = from + j % 4 * quarter + j / 4 * sizeof(wide) + i;                \
        if (ahead && j / 4 * sizeof(wide) % 64 == 0)                                               \
            __builtin_prefetch(p + ahead);                                                         \
        a##j = wide_xor(a##j, wide_load(p));                                                       \
    }
    TIMES_8(READ_DECLARE)
    for (size_t i = 0; i < quarter; i += step) {
        TIMES_8(READ_STEP)
    }
    FROM_1_TO_7(READ_KEEP)
    wide_store(s->sink, a0);
    read_rest(s, 4 * quarter);
#undef READ_STEP
}

static void read_four(void *context) {
    read_quarters(context, 0);
}

static void read_four_ahead(void *context) {
    read_quarters(context, 256);
}

#undef READ_DECLARE
#undef READ_KEEP

static const read_loop READ_ALL[READ_LOOPS] = {
    {"straight", read_straight},
    {"in four streams", read_four},
    {"in four streams, prefetched", read_four_ahead},
};

#endif
