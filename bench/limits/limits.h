/* The most that the machine can do: the limits that kernels are held against. */
#ifndef RDK_BENCH_LIMITS_H
#define RDK_BENCH_LIMITS_H

#include <stddef.h>

#include "kernels/isas.h"
#include "rootdk/rootdk.h"

/* Bytes to read, and a place for their sum, so that the compiler cannot leave the read out. */
typedef struct span {
    const unsigned char *from;
    size_t bytes;
    unsigned char sink[64];
} span;

/* A way to read every byte of a span once. Which is fastest depends on the machine, and on where
 * the bytes are. */
typedef struct read_loop {
    const char *name;
    void (*run)(void *span);
} read_loop;

enum { READ_LOOPS = 4 }; /* where there are vectors */

/* The limits of one ISA, each measured by a loop in a file compiled with that ISA's flags. */
typedef struct limit {
    rdk_isa isa;
    void (*fma)(void *sink); /* multiply-adds in independent chains; 64 bytes at `sink`; or NULL */
    double flop;             /* of one call of fma(), 2 per lane and FMA */
    int read_count;          /* of `read`, 1 at least */
    const read_loop *read;   /* the plainest first */
} limit;

#define LIMIT_OF_ISA(NAME, name, ...) extern const limit limit_##name;
RDK_ISAS(LIMIT_OF_ISA)
#undef LIMIT_OF_ISA

/* The limits of `isa`, NULL if none are known. Scalar has no FMA peak. */
const limit *limit_of(rdk_isa isa);

#define FMA_ROUNDS 10000

/* Each line of a loop once per chain: 12 are enough where two FMAs of latency 5 run at once. */
#define TIMES_12(STEP)                                                                             \
    STEP(0)                                                                                        \
    STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
#define FROM_1_TO_7(STEP) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#define TIMES_8(STEP) STEP(0) FROM_1_TO_7(STEP)

/* The last bytes of a span, fewer than a loop takes at once. */
static inline void read_rest(span *s, size_t done) {
    for (; done < s->bytes; done++)
        s->sink[0] ^= s->from[done];
}

#endif
