/* Attention, same bits: every path against the scalar reference, along every axis and
 * over random draws. Options: those of tests/lib/options.h, and --replay "CASE" with the
 * words of a reported case. */
#include <string.h>

#include "tests/attention/check.h"
#include "tests/lib/missing.h"
#include "tests/lib/options.h"
#include "tests/lib/seed.h"
#include "tests/lib/suite.h"

/* Not --whole: the axes are walked in longer steps, of a length that no loop of an axis has. */
enum { SPARSE = 11 };

static checker all;
static options chosen;
static const char *replay;

TEST walk_axis(const axis *a) {
    ASSERTm(all.report, check_attention_axis(&all, a, chosen.whole ? 1 : SPARSE));
    PASS();
}

TEST draws(uint64_t first, uint64_t count) {
    uint64_t failures = checker_failures(&all), failed = 0;
    for (uint64_t i = first; i < first + count; i++) {
        attention_case c = attention_draw(chosen.seed, i);
        if (check_attention(&all, &c))
            continue;
        if (!failed++)
            printf("    replay: --seed %#llx --case %llu\n", (unsigned long long)chosen.seed,
                   (unsigned long long)i);
    }
    printf("\ndraws: %llu cases\n", (unsigned long long)count);
    ASSERT_EQm(all.report, failures, checker_failures(&all));
    PASS();
}

/* The printed text of a case makes the same case again. */
TEST words_are_the_case(void) {
    for (uint64_t i = 0; i < 500; i++) {
        attention_case c = attention_draw(chosen.seed, i), again;
        char text[2048], text_again[2048];
        attention_describe(&c, text, sizeof text);
        ASSERTm(text, attention_parse(&again, text));
        attention_describe(&again, text_again, sizeof text_again);
        ASSERT_STR_EQ(text, text_again);
        c.scale = again.scale = 0; /* may be NaN */
        ASSERT_MEM_EQ(&c, &again, offsetof(attention_case, scale));
        ASSERT_MEM_EQ(&c.arrange, &again.arrange, sizeof c - offsetof(attention_case, arrange));
    }
    PASS();
}

TEST case_of_words(const char *text) {
    attention_case c;
    ASSERTm(text, attention_parse(&c, text));
    ASSERTm(all.report, check_attention(&all, &c));
    PASS();
}

SUITE(axes) {
    for (const axis *a = ATTENTION_AXES; a->name; a++)
        RUN_TESTp(walk_axis, a);
}

SUITE(combinations) {
    RUN_TEST(words_are_the_case);
    if (chosen.has_single)
        RUN_TESTp(draws, chosen.single, 1);
    else
        RUN_TESTp(draws, 0, draws_left(&chosen, all.cases[0]));
}

SUITE(words) {
    RUN_TESTp(case_of_words, replay);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    attention_checker_init(&all);
    argc = take_options(&chosen, argc, argv);
    if (argc == 3 && !strcmp(argv[1], "--replay")) {
        replay = argv[2];
        argc = 1;
    }
    all.only = chosen.path;
    GREATEST_MAIN_BEGIN();
    seed_print(chosen.seed);
    printf("%llu cases per path\n", (unsigned long long)chosen.cases);
    if (replay) {
        RUN_SUITE(words);
    } else {
        if (!chosen.has_single)
            RUN_SUITE(axes);
        RUN_SUITE(combinations);
        RUN_SUITE(missing);
    }
    checker_print(&all);
    RDK_MAIN_END();
}
