/* The tests can fail: each kernel with one line wrong must be caught by one of them. */
#include <string.h>

#include "tests/axes.h"
#include "tests/check.h"
#include "tests/mutants.h"
#include "tests/suite.h"

enum { DRAWS = 5000, SPARSE = 17 }; /* odd: never in step with a loop */

static checker pair; /* the reference and a mutant */

/* Looks at every step-th case. Most mutants are caught by a few cases of the axis that is made for
 * them, so a sparse walk over all axes finds it sooner than a full one over the first. */
typedef struct gait {
    int step, count;
} gait;

static bool visit(void *context, const void *c) {
    gait *g = context;
    return g->count++ % g->step != 0 || check_case(&pair, c);
}

/* The name of the axis that caught the mutant, or NULL. */
static const char *walk_all(const axis *axes, int step) {
    for (const axis *a = axes; a->name; a++)
        if (!a->walk(visit, &(gait){step, 0}))
            return a->name;
    return NULL;
}

static const char *walk_both(int step) {
    const char *by = walk_all(MEMORY_AXES, step);
    return by ? by : walk_all(BITS_AXES, step);
}

static const char *hunt(const mutant *m, bool everywhere) {
    pair.path_count = 2;
    pair.paths[1] = (path){.name = m->name, .executed_by = "native"};
    pair.paths[1].table.softmax = m->softmax;
    const char *by = walk_both(SPARSE);
    if (!by && !walk_draws(1, 0, DRAWS, visit, &(gait){1, 0}))
        by = "draws";
    return by || !everywhere ? by : walk_both(1);
}

/* The reports' first lines are what a porter would see. */
TEST is_caught(const mutant *m) {
    const char *by = hunt(m, true);
    ASSERTm(m->name, by);
    ASSERT_EQm("the reference itself failed", 0, pair.failures[0]);
    const char *report = pair.report + strlen(m->name) + 2; /* without the name in front */
    printf("\ncaught: %s by %s: %.*s\n", m->name, by, (int)strcspn(report, "\n"), report);
    PASS();
}

/* Else a kernel would be caught for being generated, not for being wrong. */
TEST is_not_caught(const mutant *m) {
    const char *by = hunt(m, false);
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
