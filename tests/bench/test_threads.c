/* A call cut for several threads: all of it is done once, with the same bits, by as many threads as
 * were asked for. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/suite.h"

#include "bench/inputs.h"
#include "bench/split.h"
#include "bench/subject.h"
#include "bench/team.h"

enum { MOST = 5, ROUNDS = 2000 };

#define ATTENTION(BATCH, HEADS, KV, QUERIES, KEYS, D_QK, D_V)                                      \
    .op = RDK_OP_ATTENTION, .batch = BATCH, .q_heads = HEADS, .kv_heads = KV, .nq = QUERIES,       \
    .nk = KEYS, .d_qk = D_QK, .d_v = D_V

static const shape SHAPES[] = {
    {"batches", ATTENTION(3, 4, 2, 2, 40, 16, 24)},
    {"heads of keys", ATTENTION(1, 14, 7, 3, 40, 16, 24)},
    {"heads of keys, causal", ATTENTION(1, 6, 3, 5, 40, 16, 24), .causal = true},
    {"a group of heads", ATTENTION(1, 5, 1, 1, 40, 16, 24)},
    {"queries", ATTENTION(1, 1, 1, 9, 40, 16, 24)},
    {"queries, causal", ATTENTION(1, 1, 1, 9, 40, 16, 24), .causal = true},
    {"softmax", .op = RDK_OP_SOFTMAX, .rows = 11, .cols = 50},
    {"softmax of f16", .op = RDK_OP_SOFTMAX, .rows = 11, .cols = 50, .type = RDK_F16},
    {"softmax with a bias", .op = RDK_OP_SOFTMAX, .rows = 11, .cols = 50, .bias = true},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };
static const int PIECES[SHAPE_COUNT] = {3, 7, 3, 5, 9, 9, 11, 11, 11}; /* that can be cut */

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Beside that of the others, in what there is. */
static bool has_own_scratch(const rdk_attention_desc *part, const rdk_attention_desc *all, int i,
                            int parts) {
    return (char *)part->scratch == (char *)all->scratch + (size_t)i * part->scratch_size &&
           (size_t)parts * part->scratch_size <= all->scratch_size;
}

/* The call in so many parts; returns how many there were. */
static int call_parts(const operands *o, int threads) {
    int parts;
    if (o->shape.op == RDK_OP_SOFTMAX) {
        rdk_softmax_desc all = operands_softmax(o, RDK_ISA_DEFAULT);
        parts = softmax_parts(&all, threads);
        for (int i = 0; i < parts; i++) {
            rdk_softmax_desc part = softmax_part(&all, i, parts);
            if (rdk_softmax(&part) != RDK_OK)
                return 0;
        }
        return parts;
    }
    rdk_attention_desc all = operands_attention(o, RDK_ISA_DEFAULT);
    parts = attention_parts(&all, threads);
    for (int i = 0; i < parts; i++) {
        rdk_attention_desc part = attention_part(&all, i, parts);
        if (!has_own_scratch(&part, &all, i, parts) || rdk_attention(&part) != RDK_OK)
            return 0;
    }
    return parts;
}

static size_t scratch_of(const shape *s) {
    rdk_attention_desc d = shape_attention(s);
    size_t bytes = 0;
    if (s->op == RDK_OP_ATTENTION)
        rdk_attention_scratch(&d, &bytes);
    return (bytes + 63) / 64 * 64;
}

TEST parts_are_the_whole(void) {
    for (int i = 0; i < SHAPE_COUNT; i++) {
        operands o;
        operands_make(&o, &SHAPES[i], NULL, MOST * scratch_of(&SHAPES[i]));
        size_t bytes = operands_out_bytes(&o);
        void *whole = allocate(bytes);
        ASSERT_EQ(1, call_parts(&o, 1));
        memcpy(whole, o.out, bytes);
        for (int threads = 2; threads <= MOST; threads++) {
            memset(o.out, 0xff, bytes);
            int parts = call_parts(&o, threads);
            ASSERT_EQm(SHAPES[i].name, threads < PIECES[i] ? threads : PIECES[i], parts);
            ASSERT_EQm(SHAPES[i].name, 0, memcmp(whole, o.out, bytes));
        }
        free(whole);
        operands_free(&o);
    }
    PASS();
}

/* ---- The team -------------------------------------------------------------------------------- */

static atomic_int times[MOST], meeting;

static void count(void *context, int i) {
    (void)context;
    atomic_fetch_add(&times[i], 1);
}

TEST every_part_is_done_once_a_round(void) {
    ASSERT(team_start(MOST));
    ASSERT_EQ(MOST, team_size());
    for (int i = 0; i < MOST; i++)
        atomic_store(&times[i], 0);
    for (int round = 0; round < ROUNDS; round++)
        team_run(1 + round % MOST, count, NULL);
    for (int i = 0; i < MOST; i++)
        ASSERT_EQ(ROUNDS / MOST * (MOST - i), atomic_load(&times[i]));
    team_stop();
    ASSERT_EQ(1, team_size());
    PASS();
}

/* Waits for the others: one thread alone would wait for ever. */
static void meet(void *context, int i) {
    (void)context;
    (void)i;
    atomic_fetch_add(&meeting, 1);
    while (atomic_load(&meeting) < 3)
        ;
}

TEST parts_run_at_once(void) {
    ASSERT(team_start(3));
    team_run(3, meet, NULL);
    team_stop();
    PASS();
}

/* ---- A subject ------------------------------------------------------------------------------- */

TEST a_call_by_a_team_has_the_same_bits(void) {
    static subject alone, together;
    for (int i = 0; i < SHAPE_COUNT; i++) {
        subject_prepare(&alone, &SHAPES[i], NULL);
        contender_run(subject_add_isa(&alone, RDK_ISA_SCALAR, true));
        ASSERT(team_start(3));
        subject_prepare(&together, &SHAPES[i], NULL);
        contender *c = subject_add_isa(&together, RDK_ISA_SCALAR, true);
        memset(together.operands.out, 0xff, operands_out_bytes(&together.operands));
        contender_run(c);
        team_stop();
        ASSERT_EQm(
            SHAPES[i].name, 0,
            memcmp(alone.operands.out, together.operands.out, operands_out_bytes(&alone.operands)));
        subject_free(&alone);
        subject_free(&together);
    }
    PASS();
}

/* ---- Limits ---------------------------------------------------------------------------------- */

/* How often each float of K and of V was read. */
enum { FLOATS = 7 * 40 * 24 };
static atomic_int reads_of[2][FLOATS];
static subject layer;

static void note_read(void *context) {
    const span *s = context;
    for (int i = 0; i < 2; i++) {
        const unsigned char *first =
            (const unsigned char *)(i ? layer.operands.v : layer.operands.k);
        if (s->from < first || s->from >= first + FLOATS * sizeof(float))
            continue;
        for (size_t j = 0; j < s->bytes; j += sizeof(float))
            atomic_fetch_add(&reads_of[i][((size_t)(s->from - first) + j) / sizeof(float)], 1);
    }
}

TEST reads_are_shared_by_a_team(void) {
    static const read_loop NOTE = {"note", note_read};
    static plan p;
    const shape size = {"", ATTENTION(1, 7, 7, 1, 40, 24, 24)};
    ASSERT(team_start(3));
    subject_prepare(&layer, &size, NULL);
    subject_time(&layer, &p);
    layer.readers[0].loop = &NOTE;
    layer.readers[0].timing->bench.run(layer.readers[0].timing->bench.context);
    team_stop();
    for (int i = 0; i < FLOATS; i++)
        ASSERT(reads_of[0][i] == 1 && reads_of[1][i] == 1);
    subject_free(&layer);
    PASS();
}

TEST copies_are_whole(void) {
    static subject s;
    static plan p;
    const shape size = {"", .op = RDK_OP_SOFTMAX, .rows = 11, .cols = 51};
    ASSERT(team_start(3));
    subject_prepare(&s, &size, NULL);
    subject_time(&s, &p);
    s.copy->bench.run(s.copy->bench.context);
    team_stop();
    ASSERT_EQ(0, memcmp(s.operands.in, s.operands.out, operands_out_bytes(&s.operands)));
    subject_free(&s);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(parts_are_the_whole);
    RUN_TEST(every_part_is_done_once_a_round);
    RUN_TEST(parts_run_at_once);
    RUN_TEST(a_call_by_a_team_has_the_same_bits);
    RUN_TEST(reads_are_shared_by_a_team);
    RUN_TEST(copies_are_whole);
    RDK_MAIN_END();
}
