/* What becomes of samples: shares of limits, what is noisy, and what was disturbed. */
#include <math.h>

#include "tests/lib/suite.h"

#include "bench/inputs.h"
#include "bench/result.h"

/* One query over keys; as many seconds as the test says. */
static const shape LAYER = {.name = "layer",
                            .group = "g",
                            .op = RDK_OP_ATTENTION,
                            .batch = 1,
                            .q_heads = 2,
                            .kv_heads = 2,
                            .nq = 1,
                            .nk = 64,
                            .d_qk = 16,
                            .d_v = 16};

static plan p;
static subject s;
static timing own, slow_read, fast_read;

static timing timed(double best, double median) {
    return (timing){.best = best, .median = median, .half = {best, best}};
}

static void arrange(void) {
    p = (plan){.count = 0};
    s = (subject){.contender_count = 1, .reader_count = 2};
    s.operands.shape = LAYER;
    own = timed(4, 4.4);
    slow_read = timed(3, 9); /* not the limit: what disturbed it does not count */
    fast_read = timed(2, 2.1);
    s.readers[0] = (reader){.subject = &s, .timing = &slow_read};
    s.readers[1] = (reader){.subject = &s, .timing = &fast_read};
    s.contenders[0] = (contender){.subject = &s, .isa = RDK_ISA_SCALAR, .share = 1, .timing = &own};
}

TEST the_fastest_read_is_the_limit(void) {
    arrange();
    result r = result_of(&p, &s.contenders[0]);
    ASSERT_EQ(LIMIT_READ, r.limit);
    ASSERT_EQ(0.5, result_fraction(&r));
    ASSERT_EQ(4.0, r.best);
    ASSERT_EQ(4.4, r.median);
    ASSERT_FALSE(r.noisy);
    ASSERT_FALSE(r.disturbed);
    PASS();
}

TEST a_middle_far_above_the_best_is_disturbed(void) {
    arrange();
    own = timed(4, 5.1);
    ASSERT(result_of(&p, &s.contenders[0]).disturbed);
    own = timed(4, 4.9);
    ASSERT_FALSE(result_of(&p, &s.contenders[0]).disturbed);
    PASS();
}

TEST so_is_a_row_whose_limit_was(void) {
    arrange();
    fast_read = timed(2, 2.6);
    ASSERT(result_of(&p, &s.contenders[0]).disturbed);
    PASS();
}

TEST nothing_is_faster_than_its_limit(void) {
    arrange();
    own = timed(1.9, 1.91);
    result r = result_of(&p, &s.contenders[0]);
    ASSERT(result_fraction(&r) > 1);
    ASSERT(r.disturbed);
    PASS();
}

TEST halves_that_differ_are_noisy(void) {
    arrange();
    own.half[1] = 4.2;
    result r = result_of(&p, &s.contenders[0]);
    ASSERT(r.noisy);
    ASSERT_FALSE(r.disturbed);
    PASS();
}

TEST a_part_stands_for_the_whole(void) {
    arrange();
    s.contenders[0].share = 0.5;
    result r = result_of(&p, &s.contenders[0]);
    ASSERT_EQ(8.0, r.best);
    ASSERT_EQ(0.25, result_fraction(&r));
    PASS();
}

/* The peak of its own ISA; the highest where it has none. */
TEST each_is_held_against_its_peak(void) {
    static timing peaks[RDK_ISA_COUNT];
    rdk_isa isa = RDK_ISA_SCALAR + 1;
    while (isa < RDK_ISA_COUNT && !(limit_of(isa) && limit_of(isa)->fma))
        isa++;
    if (isa == RDK_ISA_COUNT)
        RDK_SKIP("no ISA with a peak");
    arrange();
    s.reader_count = 0;
    peaks[isa] = timed(limit_of(isa)->flop, limit_of(isa)->flop); /* one FLOP a second */
    p.peak[isa] = &peaks[isa];
    own = timed(2 * shape_flop(&LAYER), 2 * shape_flop(&LAYER));
    for (int i = 0; i < 2; i++) {
        s.contenders[0].isa = i ? isa : RDK_ISA_SCALAR;
        result r = result_of(&p, &s.contenders[0]);
        ASSERT_EQ(LIMIT_FMA, r.limit);
        ASSERT(fabs(result_fraction(&r) - 0.5) < 1e-9);
    }
    peaks[isa].median *= 2;
    ASSERT(result_of(&p, &s.contenders[0]).disturbed);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(the_fastest_read_is_the_limit);
    RUN_TEST(a_middle_far_above_the_best_is_disturbed);
    RUN_TEST(so_is_a_row_whose_limit_was);
    RUN_TEST(nothing_is_faster_than_its_limit);
    RUN_TEST(halves_that_differ_are_noisy);
    RUN_TEST(a_part_stands_for_the_whole);
    RUN_TEST(each_is_held_against_its_peak);
    RDK_MAIN_END();
}
