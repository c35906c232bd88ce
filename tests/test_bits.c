/* Same bits: every path against the scalar reference, along every axis and over random draws.
 *
 *   test_bits [--cases N] [--seed S] [--case K] [--path NAME] [greatest's options]
 *
 * --case K runs only the K-th draw of the seed. RDK_CASES in the environment is a default for N. */
#include <string.h>

#include "tests/check.h"
#include "tests/suite.h"

static checker all;
static uint64_t cases = 20000, seed = 0x2024, single;
static bool has_single;

TEST walk_axis(const axis *a) {
    ASSERTm(all.report, check_axis(&all, a));
    PASS();
}

/* The axes count: each path gets `cases` of both together, and some draws in any case. */
static uint64_t draws_left(void) {
    uint64_t least = cases / 2 + 1;
    return cases > all.cases[0] + least ? cases - all.cases[0] : least;
}

TEST draws(uint64_t first, uint64_t count) {
    uint64_t failures = checker_failures(&all), failed = 0;
    for (uint64_t i = first; i < first + count; i++) {
        softmax_case c = case_draw(seed, i);
        if (check_case(&all, &c))
            continue;
        if (!failed++)
            printf("    replay: --seed %llu --case %llu\n", (unsigned long long)seed,
                   (unsigned long long)i);
    }
    printf("\ndraws: %llu cases\n", (unsigned long long)count);
    ASSERT_EQm(all.report, failures, checker_failures(&all));
    PASS();
}

/* A path that cannot run here is a skip, and counts as one. */
TEST cannot_run(const char *reason) {
    RDK_SKIP(reason);
}

SUITE(missing) {
    const char *reasons[RDK_MAX_PATHS];
    int count = rdk_paths_missing(reasons);
    for (int i = 0; i < count; i++)
        RUN_TESTp(cannot_run, reasons[i]);
}

SUITE(axes) {
    for (const axis *a = BITS_AXES; a->name; a++)
        RUN_TESTp(walk_axis, a);
}

SUITE(combinations) {
    if (has_single)
        RUN_TESTp(draws, single, 1);
    else
        RUN_TESTp(draws, 0, draws_left());
}

/* Takes this program's options out of argv and leaves greatest's. */
static int take_options(int argc, char **argv) {
    int left = 1;
    const char *environment = getenv("RDK_CASES");
    if (environment && *environment)
        cases = strtoull(environment, NULL, 0);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && !strcmp(argv[i], "--cases"))
            cases = environment && *environment ? cases : strtoull(value, NULL, 0);
        else if (value && !strcmp(argv[i], "--seed"))
            seed = strtoull(value, NULL, 0);
        else if (value && !strcmp(argv[i], "--path"))
            all.only = value;
        else if (value && !strcmp(argv[i], "--case")) {
            single = strtoull(value, NULL, 0);
            has_single = true;
        } else {
            argv[left++] = argv[i];
            continue;
        }
        i++;
    }
    return left;
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&all);
    argc = take_options(argc, argv);
    GREATEST_MAIN_BEGIN();
    printf("seed %llu, %llu cases per path\n", (unsigned long long)seed, (unsigned long long)cases);
    if (!has_single)
        RUN_SUITE(axes);
    RUN_SUITE(combinations);
    RUN_SUITE(missing);
    checker_print(&all);
    RDK_MAIN_END();
}
