/* The tests can fail: each kernel with one line wrong must be caught by one of them. */
#include <string.h>

#include "tests/attention/check.h"
#include "tests/lib/suite.h"
#include "tests/mutants/mutants.h"
#include "tests/softmax/check.h"

enum { SPARSEST = 101, SPARSE = 17 }; /* odd: never in step with a loop */

static bool check_softmax(checker *k, const void *the_case) {
    return check_case(k, the_case);
}

static bool check_of_attention(checker *k, const void *the_case) {
    return check_attention(k, the_case);
}

typedef struct operation {
    void (*init)(checker *k);
    bool (*check)(checker *k, const void *the_case);
    const axis *axes[2];
    bool (*draws)(uint64_t seed, uint64_t first, uint64_t count, visitor *visit, void *context);
    uint64_t draw_count;
    checker pair; /* the reference and a mutant */
} operation;

static operation softmax = {checker_init, check_softmax, {MEMORY_AXES, BITS_AXES},
                            walk_draws,   5000,          {.only = NULL}};
static operation attention = {
    attention_checker_init, check_of_attention, {ATTENTION_AXES}, attention_walk_draws, 1000,
    {.only = NULL}};

/* Looks at every step-th case. Most mutants are caught by a few cases of the axis that is made for
 * them, so sparse walks over all axes find it sooner than a full one over the first. */
typedef struct gait {
    operation *of;
    int step, count;
} gait;

static bool visit(void *context, const void *the_case) {
    gait *g = context;
    return g->count++ % g->step != 0 || g->of->check(&g->of->pair, the_case);
}

static rdk_table table_of(const mutant *m) {
    return (rdk_table){.softmax = m->softmax ? *m->softmax : NULL,
                       .attention = m->attention ? *m->attention : NULL,
                       .kernel_isa = {[RDK_OP_ATTENTION] = MUTANT_ISA}};
}

/* The name of the axis that caught the mutant, or NULL. */
static const char *walk_all(operation *of, int step) {
    for (int i = 0; i < 2; i++)
        for (const axis *a = of->axes[i]; a && a->name; a++)
            if (!a->walk(visit, &(gait){of, step, 0}))
                return a->name;
    return NULL;
}

static const char *hunt(operation *of, const mutant *m, bool everywhere) {
    of->pair.path_count = 2;
    of->pair.paths[1] = (path){m->name, "native", table_of(m)};
    rdk_mutant = m->number;
    const char *by = everywhere ? walk_all(of, SPARSEST) : NULL;
    if (!by)
        by = walk_all(of, SPARSE);
    if (!by && !of->draws(1, 0, of->draw_count, visit, &(gait){of, 1, 0}))
        by = "draws";
    return by || !everywhere ? by : walk_all(of, 1);
}

static operation *operation_of(const mutant *m) {
    return m->attention ? &attention : &softmax;
}

/* The reports' first lines are what a porter would see. */
TEST is_caught(const mutant *m) {
    const checker *pair = &operation_of(m)->pair;
    const char *by = hunt(operation_of(m), m, true);
    ASSERTm(m->name, by);
    ASSERT_EQm("the reference itself failed", 0, pair->failures[0]);
    const char *report = pair->report + strlen(m->name) + 2; /* without the name in front */
    printf("\ncaught: %s by %s: %.*s\n", m->name, by, (int)strcspn(report, "\n"), report);
    PASS();
}

/* Else a kernel would be caught for being generated, not for being wrong. */
TEST is_not_caught(const mutant *m) {
    const char *by = hunt(operation_of(m), m, false);
    ASSERT_FALSEm(operation_of(m)->pair.report, by);
    PASS();
}

SUITE(mutants) {
    for (const mutant *m = MUTANTS; m->name; m++)
        if (m->number)
            RUN_TESTp(is_caught, m);
        else
            RUN_TESTp(is_not_caught, m);
}

TEST cannot_run(void) {
    RDK_SKIP("must-fail kernels: this CPU does not have their ISA");
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    operation *const all[] = {&softmax, &attention};
    for (int i = 0; i < 2; i++) {
        all[i]->init(&all[i]->pair);
        all[i]->pair.quiet = true;
    }
    GREATEST_MAIN_BEGIN();
    if (softmax.pair.path_count > 1) /* some vector ISA: the first is the one of the mutants */
        RUN_SUITE(mutants);
    else
        RUN_TEST(cannot_run);
    RDK_MAIN_END();
}
