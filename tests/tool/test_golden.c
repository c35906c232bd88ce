/* Every path of this process gives the committed golden hashes; the cases cover what they must. */
#include "tests/suite.h"

#include <inttypes.h>

#include "tests/paths.h"
#include "tools/rootdk/golden.h"

static rdk_status run_path(void *context, const rdk_softmax_desc *desc) {
    return rdk_softmax_with(&((const path *)context)->table, desc);
}

static int hash_is_expected(int i, uint64_t hash) {
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    if (hash == golden_expected(i))
        return 1;
    printf("\ncase %d %s %s: hash %016" PRIx64 ", expected %016" PRIx64 "\n", i,
           golden_name(i, name), golden_parameters(i, parameters), hash, golden_expected(i));
    return 0;
}

TEST path_gives_golden_hashes(path *p) {
    uint64_t total = GOLDEN_SEED;
    for (int i = 0; i < golden_count(); i++) {
        uint64_t hash = golden_hash(i, run_path, p);
        ASSERTm(p->name, hash_is_expected(i, hash));
        total = golden_add(total, hash);
    }
    ASSERTm(p->name, total == golden_expected_total());
    printf("%s: %d cases, hash %016" PRIx64 "\n", p->name, golden_count(), total);
    PASS();
}

/* ---- What the cases cover -------------------------------------------------------------------- */

enum { TYPES = 3, TAILS = 64, MODES = 3, BIASES = 4 };

typedef struct coverage {
    int tail[TYPES][TYPES][TAILS];  /* x type, y type, columns */
    int call[TYPES][MODES][BIASES]; /* x type, mode, bias type or none */
    int in_place, strides, shared_bias;
} coverage;

static rdk_status record(void *context, const rdk_softmax_desc *d) {
    coverage *c = context;
    if (d->cols < TAILS)
        c->tail[d->x_type][d->y_type][d->cols] = 1;
    c->call[d->x_type][d->mode][d->bias ? 1 + d->bias_type : 0] = 1;
    c->in_place |= d->y == d->x;
    c->strides |= d->rows > 1 && d->y_stride > d->cols;
    c->shared_bias |= d->rows > 1 && d->bias && !d->bias_stride;
    return RDK_ERR_NULL; /* nothing was computed */
}

TEST cases_cover_types_tails_and_modes(void) {
    coverage c = {0};
    for (int i = 0; i < golden_count(); i++)
        ASSERT(golden_hash(i, record, &c) == 0);
    for (int x = 0; x < TYPES; x++) {
        for (int y = 0; y < TYPES; y++)
            for (int cols = 0; cols < TAILS; cols++)
                ASSERT(c.tail[x][y][cols]);
        for (int mode = 0; mode < MODES; mode++)
            for (int bias = 0; bias < BIASES; bias++)
                ASSERT(c.call[x][mode][bias]);
    }
    ASSERT(c.in_place && c.strides && c.shared_bias);
    PASS();
}

/* tests/contract.py computes all of them in exact arithmetic, so there must not be too many. */
TEST cases_are_many_and_small(void) {
    int64_t elements = 0;
    for (int i = 0; i < golden_count(); i++)
        elements += golden_elements(i);
    ASSERT(golden_count() >= 500);
    ASSERT(elements <= 60000);
    PASS();
}

/* Apart from the loop: greatest's setjmp might clobber its counter. */
static void run_on_path(path *p) {
    RUN_TESTp(path_gives_golden_hashes, p);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    path paths[RDK_MAX_PATHS];
    int count = rdk_paths(paths);
    GREATEST_MAIN_BEGIN();
    RUN_TEST(cases_are_many_and_small);
    RUN_TEST(cases_cover_types_tails_and_modes);
    for (int i = 0; i < count; i++)
        run_on_path(&paths[i]);
    RDK_MAIN_END();
}
