/* Every path of this process gives the committed golden hashes; the cases cover what they must. */
#include "tests/lib/suite.h"

#include <inttypes.h>

#include "golden/golden.h"
#include "tests/lib/paths.h"

static rdk_status softmax_on(void *context, const rdk_softmax_desc *desc) {
    return rdk_softmax_with(&((const path *)context)->table, desc);
}

static rdk_status attention_on(void *context, const rdk_attention_desc *desc) {
    return rdk_attention_with(&((const path *)context)->table, desc);
}

static int hash_is_expected(const golden_op *op, int i, uint64_t hash) {
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    if (hash == golden_expected(op, i))
        return 1;
    printf("\n%s case %d %s %s: hash %016" PRIx64 ", expected %016" PRIx64 "\n", op->name, i,
           op->case_name(i, name), op->parameters(i, parameters), hash, golden_expected(op, i));
    return 0;
}

TEST path_gives_golden_hashes(path *p, const golden_op *op) {
    golden_runner run = {softmax_on, attention_on, p};
    uint64_t total = GOLDEN_SEED;
    for (int i = 0; i < op->count(); i++) {
        uint64_t hash = op->hash(i, &run);
        ASSERTm(p->name, hash_is_expected(op, i, hash));
        total = golden_add(total, hash);
    }
    ASSERTm(p->name, total == golden_expected_total(op));
    printf("%s: %s: %d cases, hash %016" PRIx64 "\n", p->name, op->name, op->count(), total);
    PASS();
}

/* ---- What the cases of softmax cover --------------------------------------------------------- */

enum { TYPES = 3, TAILS = 64, MODES = 3, BIASES = 4 };

typedef struct coverage {
    int tail[TYPES][TYPES][TAILS];  /* x type, y type, columns */
    int call[TYPES][MODES][BIASES]; /* x type, mode, bias type or none */
    int in_place, strides, shared_bias;
} coverage;

static rdk_status record_softmax(void *context, const rdk_softmax_desc *d) {
    coverage *c = context;
    if (d->cols < TAILS)
        c->tail[d->x_type][d->y_type][d->cols] = 1;
    c->call[d->x_type][d->mode][d->bias ? 1 + d->bias_type : 0] = 1;
    c->in_place |= d->y == d->x;
    c->strides |= d->rows > 1 && d->y_stride > d->cols;
    c->shared_bias |= d->rows > 1 && d->bias && !d->bias_stride;
    return RDK_ERR_NULL; /* nothing was computed */
}

TEST softmax_covers_types_tails_and_modes(void) {
    coverage c = {0};
    golden_runner run = {record_softmax, NULL, &c};
    for (int i = 0; i < golden_softmax.count(); i++)
        ASSERT(golden_softmax.hash(i, &run) == 0);
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

/* ---- What the cases of attention cover ------------------------------------------------------- */

enum { DEPTHS = 16, KEYS = 33, GROUPS = 16, CAUSALS = 3, OUTPUTS = 4 };

typedef struct attention_coverage {
    int d_qk[DEPTHS + 1], d_v[DEPTHS + 1]; /* sizes that were met */
    int kv_len[KEYS + 1], group[GROUPS + 1];
    int call[CAUSALS][OUTPUTS];            /* causal, 1 for LSE plus 2 for weights */
    int one_chain, two_chains, two_pieces; /* keys of 48, of 49 and of more than 192 columns */
    int deep_values;                       /* more than 64 columns */
    int odd_position, crosses_block, crosses_chunk, has_whole_chunk, many_rows;
    int heads_first, rows_first, padded, many_batches;
    int default_scale, negative_scale, odd_scale;
} attention_coverage;

static void record_sizes(attention_coverage *c, const rdk_attention_desc *d) {
    int64_t group = d->q_heads / d->kv_heads;
    if (d->d_qk <= DEPTHS)
        c->d_qk[d->d_qk] = 1;
    if (d->d_v <= DEPTHS)
        c->d_v[d->d_v] = 1;
    if (d->kv_len <= KEYS)
        c->kv_len[d->kv_len] = 1;
    if (group <= GROUPS)
        c->group[group] = 1;
    c->one_chain |= d->d_qk == 48;
    c->two_chains |= d->d_qk == 49;
    c->two_pieces |= d->d_qk > 192;
    c->deep_values |= d->d_v > 64;
    c->many_rows |= group * d->q_len > 48;
}

static void record_positions(attention_coverage *c, const rdk_attention_desc *d) {
    int64_t first = d->key_pos0, end = first + d->kv_len;
    c->odd_position |= first % 2 == 1;
    c->crosses_block |= first % 128 && first / 128 + 1 < end / 128;
    c->crosses_chunk |= first % 1024 && first / 1024 < (end - 1) / 1024;
    c->has_whole_chunk |= first % 1024 && first / 1024 + 1 < end / 1024;
}

static void record_layout(attention_coverage *c, const rdk_attention_desc *d) {
    int rows_first = d->k.head_stride < d->k.row_stride;
    c->heads_first |= d->kv_heads > 1 && d->kv_len > 1 && !rows_first;
    c->rows_first |= d->kv_heads > 1 && d->kv_len > 1 && rows_first;
    c->padded |= d->kv_len > 1 && d->v.row_stride > d->d_v * d->kv_heads;
    c->many_batches |= d->batch > 1;
}

static rdk_status record_attention(void *context, const rdk_attention_desc *d) {
    attention_coverage *c = context;
    record_sizes(c, d);
    record_positions(c, d);
    record_layout(c, d);
    c->call[d->causal][(d->lse.data ? 1 : 0) + (d->weights.data ? 2 : 0)] = 1;
    c->default_scale |= d->scale == 0;
    c->negative_scale |= d->scale < 0;
    c->odd_scale |= d->scale != d->scale;
    return RDK_ERR_NULL; /* nothing was computed */
}

TEST all_set(const char *what, const int *met, int first, int last) {
    for (int i = first; i <= last; i++)
        ASSERTm(what, met[i]);
    PASS();
}

TEST attention_covers_sizes_and_options(void) {
    attention_coverage c = {0};
    golden_runner run = {NULL, record_attention, &c};
    for (int i = 0; i < golden_attention.count(); i++)
        ASSERT(golden_attention.hash(i, &run) == 0);
    CHECK_CALL(all_set("d_qk", c.d_qk, 1, DEPTHS));
    CHECK_CALL(all_set("d_v", c.d_v, 1, DEPTHS));
    CHECK_CALL(all_set("kv_len", c.kv_len, 0, KEYS));
    CHECK_CALL(all_set("group", c.group, 1, 8));
    for (int causal = 0; causal < CAUSALS; causal++)
        CHECK_CALL(all_set("outputs", c.call[causal], 0, OUTPUTS - 1));
    ASSERT(c.one_chain && c.two_chains && c.two_pieces && c.deep_values);
    ASSERT(c.many_rows && c.group[GROUPS]);
    ASSERT(c.odd_position && c.crosses_block && c.crosses_chunk && c.has_whole_chunk);
    ASSERT(c.heads_first && c.rows_first && c.padded && c.many_batches);
    ASSERT(c.default_scale && c.negative_scale && c.odd_scale);
    PASS();
}

/* ---- Their number ---------------------------------------------------------------------------- */

/* contract.py computes all of them in exact arithmetic, so there must not be too many. */
TEST cases_are_many_and_small(const golden_op *op, int least, int64_t most_work) {
    int64_t work = 0;
    for (int i = 0; i < op->count(); i++)
        work += op->work(i);
    printf("%s: %d cases, work %" PRId64 "\n", op->name, op->count(), work);
    ASSERT(op->count() >= least);
    ASSERT(work <= most_work);
    ASSERT(op->expected_count == (size_t)op->count() + 1);
    PASS();
}

/* Apart from the loop: greatest's setjmp might clobber its counter. */
static void run_on_path(path *p) {
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        RUN_TESTp(path_gives_golden_hashes, p, GOLDEN_OPS[op]);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    path paths[RDK_MAX_PATHS];
    int count = rdk_paths(paths);
    GREATEST_MAIN_BEGIN();
    RUN_TESTp(cases_are_many_and_small, &golden_softmax, 500, 60000);
    RUN_TESTp(cases_are_many_and_small, &golden_attention, 300, 3000000);
    RUN_TEST(softmax_covers_types_tails_and_modes);
    RUN_TEST(attention_covers_sizes_and_options);
    for (int i = 0; i < count; i++)
        run_on_path(&paths[i]);
    RDK_MAIN_END();
}
