/* Whether calls find in no cache what they read: K and V go round in a ring, whoever reads them. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/suite.h"

#include "bench/inputs.h"
#include "bench/subject.h"

enum { KEYS = 512, D = 64, HEADS = 2, CALLS = 500, MAX_ROUND = 4096 };

static const shape LAYER = {.name = "layer",
                            .group = "g",
                            .op = RDK_OP_ATTENTION,
                            .memory = true,
                            .peers = true,
                            .batch = 1,
                            .q_heads = HEADS,
                            .kv_heads = HEADS,
                            .nq = 1,
                            .nk = KEYS,
                            .d_qk = D,
                            .d_v = D,
                            .layers = 12};

static shape longer(void) {
    shape s = LAYER;
    s.nk = 700;
    return s;
}

/* ---- The ring -------------------------------------------------------------------------------- */

static size_t offset_of(const ring *r, const float *at) {
    return (size_t)((const unsigned char *)at - r->bytes);
}

/* Of the calls of a round no two share a byte; K comes before V; all of them are in the ring. */
TEST a_round_reads_nothing_twice(void) {
    shape list[] = {LAYER, longer()};
    ring r = ring_make(list, 2, true);
    size_t row = HEADS * D * sizeof(float), bytes[2] = {KEYS * row, 700 * row}, end = 0;
    for (int i = 0; i < MAX_ROUND; i++) {
        size_t size = bytes[i % 3 == 0];
        kv at = ring_next(&r, &list[i % 3 == 0]);
        if (offset_of(&r, at.k) == 0 && i)
            break;
        ASSERT(offset_of(&r, at.k) >= end);
        ASSERT(offset_of(&r, at.v) >= offset_of(&r, at.k) + size);
        end = offset_of(&r, at.v) + size;
        ASSERT(end <= r.size);
        ASSERT(i + 1 < MAX_ROUND);
    }
    ASSERT(r.size - end < 3 * bytes[1]); /* nor is much left out */
    ring_free(&r);
    PASS();
}

TEST first_is_what_comes_after_a_restart(void) {
    shape layer = LAYER;
    ring r = ring_make(&layer, 1, true);
    kv first = ring_first(&r, &layer), next = ring_next(&r, &layer), second = ring_next(&r, &layer);
    ASSERT_EQ(first.k, next.k);
    ASSERT_EQ(first.v, next.v);
    ASSERT(second.k != first.k);
    ring_restart(&r);
    ASSERT_EQ(first.k, ring_next(&r, &layer).k);
    ring_free(&r);
    PASS();
}

TEST it_is_larger_than_caches(void) {
    shape layer = LAYER, cached = LAYER;
    cached.memory = false;
    ring r = ring_make(&layer, 1, false), none = ring_make(&cached, 1, false);
    ASSERT(r.size >= (size_t)256 << 20);
    ASSERT(r.size <= (size_t)512 << 20);
    ASSERT_EQ(NULL, none.bytes);
    ring_free(&r);
    PASS();
}

TEST a_call_always_fits(void) {
    shape s = LAYER;
    s.nk = 100000;
    ring r = ring_make(&s, 1, true);
    for (int i = 0; i < 3; i++) {
        kv at = ring_next(&r, &s);
        ASSERT(offset_of(&r, at.v) + (size_t)shape_v(&s) * sizeof(float) <= r.size);
    }
    ring_free(&r);
    PASS();
}

/* ---- Contenders ------------------------------------------------------------------------------ */

typedef struct seen {
    peer_call call;
    const float *k, *v;
    int times;
} seen;
static seen fake;

static void take(peer_call *call, const float *k, const float *v) {
    seen *s = (seen *)call;
    s->k = k;
    s->v = v;
    s->times++;
}

static void nothing(peer_call *call) {
    (void)call;
}

static peer_call *prepare(const rdk_attention_desc *d) {
    fake = (seen){{"a way", nothing, take, nothing}, d->k.data, d->v.data, 0};
    return &fake.call;
}

static const char *version(void) {
    return "1";
}

static const peer FAKE = {"fake", version, NULL, prepare};

/* A subject with rootdk's first vector path, or its only one, and a peer. */
static void make(subject *s, ring *r, const shape *size) {
    subject_prepare(s, size, r);
    for (rdk_isa isa = RDK_ISA_COUNT - 1; isa >= RDK_ISA_SCALAR && !s->contender_count; isa--)
        subject_add_isa(s, isa, false);
    subject_add_peer(s, &FAKE);
}

TEST everybody_goes_through_the_same_round(void) {
    static subject one, other;
    shape list[] = {LAYER, longer()};
    ring r = ring_make(list, 2, true);
    make(&one, &r, &list[0]);
    make(&other, &r, &list[1]);
    ASSERT_EQ(2, one.contender_count);
    for (int i = 0; i < CALLS; i++) {
        subject *s = i % 3 ? &one : &other;
        contender *c = &s->contenders[i % 2];
        ring before = r;
        kv expected = ring_next(&before, &s->operands.shape);
        contender_run(c);
        ASSERT_EQ(expected.k, (const float *)c->desc.attention.k.data);
        ASSERT_EQ(expected.v, (const float *)c->desc.attention.v.data);
        ASSERT_EQ(before.next, r.next);
    }
    subject_free(&one);
    subject_free(&other);
    ring_free(&r);
    PASS();
}

TEST peers_are_given_what_comes_next(void) {
    static subject s;
    shape layer = LAYER;
    ring r = ring_make(&layer, 1, true);
    make(&s, &r, &layer);
    for (int i = 0; i < CALLS; i++) {
        ring before = r;
        kv expected = ring_next(&before, &layer);
        contender_run(&s.contenders[1]);
        ASSERT_EQ(expected.k, fake.k);
        ASSERT_EQ(expected.v, fake.v);
    }
    ASSERT_EQ(CALLS, fake.times);
    subject_free(&s);
    ring_free(&r);
    PASS();
}

/* In cache nothing moves. */
TEST others_stay_where_they_are(void) {
    static subject s;
    shape layer = LAYER;
    layer.memory = false;
    layer.layers = 0;
    make(&s, NULL, &layer);
    contender_run(&s.contenders[0]);
    contender_run(&s.contenders[1]);
    ASSERT_EQ((const void *)s.operands.k, s.contenders[0].desc.attention.k.data);
    ASSERT_EQ(0, fake.times);
    subject_free(&s);
    PASS();
}

/* The limit, too: it takes the parts of the ring that a call would. */
TEST reads_go_round(void) {
    static subject s;
    static plan p;
    shape layer = LAYER;
    ring r = ring_make(&layer, 1, true);
    make(&s, &r, &layer);
    subject_time(&s, &p);
    ASSERT(s.reader_count > 0);
    for (int i = 0; i < CALLS; i++) {
        timing *t = s.readers[i % s.reader_count].timing;
        ring before = r;
        kv expected = ring_next(&before, &layer);
        t->bench.run(t->bench.context);
        ASSERT_EQ(before.next, r.next);
        ASSERT_EQ(expected.k, s.readers[i % s.reader_count].from.k);
        ASSERT_EQ(expected.v, s.readers[i % s.reader_count].from.v);
    }
    subject_free(&s);
    ring_free(&r);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_round_reads_nothing_twice);
    RUN_TEST(first_is_what_comes_after_a_restart);
    RUN_TEST(it_is_larger_than_caches);
    RUN_TEST(a_call_always_fits);
    RUN_TEST(everybody_goes_through_the_same_round);
    RUN_TEST(peers_are_given_what_comes_next);
    RUN_TEST(others_stay_where_they_are);
    RUN_TEST(reads_go_round);
    RDK_MAIN_END();
}
