/* Same bits: every path against the scalar reference, along every axis and over random draws.
 * Its options: tests/lib/options.h. */
#include "tests/lib/missing.h"
#include "tests/lib/options.h"
#include "tests/lib/seed.h"
#include "tests/lib/suite.h"
#include "tests/softmax/check.h"

static checker all;
static options chosen;

TEST walk_axis(const axis *a) {
    ASSERTm(all.report, check_axis(&all, a));
    PASS();
}

TEST draws(uint64_t first, uint64_t count) {
    uint64_t failures = checker_failures(&all), failed = 0;
    for (uint64_t i = first; i < first + count; i++) {
        softmax_case c = case_draw(chosen.seed, i);
        if (check_case(&all, &c))
            continue;
        if (!failed++)
            printf("    replay: --seed %#llx --case %llu\n", (unsigned long long)chosen.seed,
                   (unsigned long long)i);
    }
    printf("\ndraws: %llu cases\n", (unsigned long long)count);
    ASSERT_EQm(all.report, failures, checker_failures(&all));
    PASS();
}

SUITE(axes) {
    for (const axis *a = BITS_AXES; a->name; a++)
        RUN_TESTp(walk_axis, a);
}

SUITE(combinations) {
    if (chosen.has_single)
        RUN_TESTp(draws, chosen.single, 1);
    else
        RUN_TESTp(draws, 0, draws_left(&chosen, all.cases[0]));
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&all);
    argc = take_options(&chosen, argc, argv);
    all.only = chosen.path;
    GREATEST_MAIN_BEGIN();
    seed_print(chosen.seed);
    printf("%llu cases per path\n", (unsigned long long)chosen.cases);
    if (!chosen.has_single)
        RUN_SUITE(axes);
    RUN_SUITE(combinations);
    RUN_SUITE(missing);
    checker_print(&all);
    RDK_MAIN_END();
}
