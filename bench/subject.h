/* A shape with operands, and all that is timed on them: rootdk on each
 * ISA, other libraries, limits. */
#ifndef RDK_BENCH_SUBJECT_H
#define RDK_BENCH_SUBJECT_H

#include "bench/limits/limits.h"
#include "bench/operands.h"
#include "bench/peers/peer.h"
#include "bench/plan.h"
#include "bench/shape.h"

enum {
    MAX_CONTENDERS = RDK_ISA_COUNT + 8,
    MAX_READS = RDK_ISA_COUNT * READ_LOOPS,
};

typedef struct subject subject;

/* Who does the work. */
typedef struct contender {
    subject *subject;
    const char *by, *how, *version;
    rdk_isa isa; /* whose peak it is held against; RDK_ISA_DEFAULT: the highest */
    union {
        rdk_softmax_desc softmax;
        rdk_attention_desc attention;
    } desc;
    peer_call *call; /* NULL: it is rootdk */
    double share;    /* of the work that a call does; less than 1 of the slow scalar path */
    double error;    /* worst, in ULP; see result.h */
    timing *timing;
} contender;

/* A plain read of K and V. */
typedef struct reader {
    subject *subject;
    rdk_isa isa;
    const read_loop *loop;
    kv from; /* what it reads now */
    timing *timing;
} reader;

struct subject {
    operands operands;
    contender contenders[MAX_CONTENDERS]; /* rootdk's first */
    int contender_count;
    reader readers[MAX_READS];
    int reader_count;
    timing *copy; /* of x to y; NULL of attention */
};

/* Allocates and fills the operands; the ring is shared by all subjects. */
void subject_prepare(subject *s, const shape *size, ring *r);

/* rootdk on an ISA; NULL where the ISA has no kernel of its own for that. Where all of the work
 * would take long, the scalar path does a part of it only, or nothing if there is no part; it is
 * given more time where it is `alone`. */
contender *subject_add_isa(subject *s, rdk_isa isa, bool alone);

/* Another library; NULL if it cannot do the work. */
contender *subject_add_peer(subject *s, const peer *p);

/* Takes the last one away again. */
void subject_drop(subject *s);

/* One call, on the K and V that come next, by all threads there are. */
void contender_run(void *contender);

/* Adds the timings of contenders and of the memory limits to the plan. */
void subject_time(subject *s, plan *p);

/* The fastest plain read of K and V; NULL if none is timed. */
const reader *subject_reader(const subject *s);

void subject_free(subject *s);

#endif
