/* The tests can fail: each kernel with one line wrong must be caught by one of them. */
#include <string.h>

#include "tests/axes.h"
#include "tests/check.h"
#include "tests/mutants.h"
#include "tests/suite.h"

enum { DRAWS = 5000 };

static checker pair; /* the reference and a mutant */

static bool visit(void *context, const softmax_case *c) {
    (void)context;
    return check_case(&pair, c);
}

/* The name of the axis that caught the mutant, or NULL. */
static const char *caught_by(const axis *axes) {
    for (const axis *a = axes; a->name; a++)
        if (!a->walk(visit, NULL))
            return a->name;
    return NULL;
}

static const char *hunt(const mutant *m) {
    pair.path_count = 2;
    pair.paths[1] = (path){.name = m->name, .executed_by = "native"};
    pair.paths[1].table.softmax = m->softmax;
    const char *by = caught_by(MEMORY_AXES);
    if (!by)
        by = caught_by(BITS_AXES);
    if (!by && !walk_draws(1, 0, DRAWS, visit, NULL))
        by = "draws";
    return by;
}

/* The reports' first lines are what a porter would see. */
TEST is_caught(const mutant *m) {
    const char *by = hunt(m);
    ASSERTm(m->name, by);
    ASSERT_EQm("the reference itself failed", 0, pair.failures[0]);
    const char *report = pair.report + strlen(m->name) + 2; /* without the name in front */
    printf("\ncaught: %s by %s: %.*s\n", m->name, by, (int)strcspn(report, "\n"), report);
    PASS();
}

/* Else a kernel would be caught for being generated, not for being wrong. */
TEST is_not_caught(const mutant *m) {
    const char *by = hunt(m);
    ASSERT_FALSEm(pair.report, by);
    PASS();
}

SUITE(mutants) {
    for (const mutant *m = MUTANTS; m->name; m++)
        if (!strncmp(m->name, "none", 4))
            RUN_TESTp(is_not_caught, m);
        else
            RUN_TESTp(is_caught, m);
}

TEST cannot_run(void) {
    RDK_SKIP("must-fail kernels: this CPU does not have their ISA");
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&pair);
    pair.quiet = true;
    GREATEST_MAIN_BEGIN();
    if (pair.path_count > 1) /* some vector ISA: the first is the one of the mutants */
        RUN_SUITE(mutants);
    else
        RUN_TEST(cannot_run);
    RDK_MAIN_END();
}
