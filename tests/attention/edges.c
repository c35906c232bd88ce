/* Corners of a call: where hot begins, and NaN and infinities among many queries and keys. */
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/bits.h"
#include "tests/lib/paths.h"
#include "tests/lib/suite.h"
#include "tests/lib/values.h"

enum { ROWS = 30 };

static path paths[RDK_MAX_PATHS];
static char scratch[1 << 22];

/* Whether a chunk is hot shows where its first block has values of 1 and scores `less`, and
 * the last key has the largest score and a value of 0. A hot chunk keeps weights that a
 * cold one flushes: its reference has not yet moved, or never moves and lies below the
 * largest score, or above it. */
typedef struct hot_edge {
    float largest, less, out;
} hot_edge;

#define HOT RDK_ATTENTION_HOT
#define BLOCK_OF(weight) (RDK_BLOCK * (weight))

static const hot_edge HOT_EDGES[] = {
    {HOT, HOT - 120, BLOCK_OF(0x1p-120f)},
    {HOT * (1 + 0x1p-23f), HOT - 120, 0}, /* the next float */
    {HOT + 1, HOT - 119, 0},
    {HOT * 4, HOT * 4 - 120, 0},
    {HOT - 8, HOT - 128, BLOCK_OF(0x1p-120f)},
    {HOT / 2, HOT / 2 - 120, BLOCK_OF(0x1p-120f)},
    {RDK_HOT + 1, RDK_HOT - 119, BLOCK_OF(0x1p-120f)}, /* cold for softmax */
    {RDK_HOT, RDK_HOT - 120, BLOCK_OF(0x1p-120f)},
    {-RDK_HOT, -RDK_HOT - 120, BLOCK_OF(0x1p-120f)},
    {-RDK_HOT - 1, -RDK_HOT - 121, BLOCK_OF(0x1p-120f)},
    {-HOT / 2, -HOT / 2 - 120, BLOCK_OF(0x1p-120f)},
    {-HOT + 121, -HOT + 1, BLOCK_OF(0x1p-120f)},
    {-HOT + 8, -HOT - 99, BLOCK_OF(0x1p-107f)},
    {-HOT, -HOT - 100, BLOCK_OF(0x1p-100f)},
    {-HOT, -HOT - 101, 0},
    {-HOT - 1, -HOT - 101, BLOCK_OF(0x1p-100f)},
    {-HOT * 4, -HOT * 4 - 100, BLOCK_OF(0x1p-100f)},
};

TEST edge_of_hot(const path *p, const hot_edge *e) {
    static const int MANY[] = {1, 3, 9, ROWS};
    float query = 1, keys[RDK_BLOCK + 1], values[RDK_BLOCK + 1], got[ROWS], scale;
    for (int i = 0; i <= RDK_BLOCK; i++) {
        keys[i] = i < RDK_BLOCK ? e->less : e->largest;
        values[i] = i < RDK_BLOCK ? 1 : 0;
    }
    memcpy(&scale, &(uint32_t){LN2}, sizeof scale);
    for (size_t n = 0; n < COUNT(MANY); n++) {
        rdk_attention_desc d = {.size = sizeof d, .batch = 1, .q_heads = 1, .kv_heads = 1};
        d.q_len = MANY[n];
        d.kv_len = RDK_BLOCK + 1;
        d.d_qk = d.d_v = 1;
        d.scale = scale;
        d.q = (rdk_const_view){.data = &query};
        d.k = (rdk_const_view){.data = keys, .row_stride = 1};
        d.v = (rdk_const_view){.data = values, .row_stride = 1};
        d.out = (rdk_view){.data = got, .row_stride = 1};
        d.scratch = scratch;
        d.scratch_size = sizeof scratch;
        ASSERT_EQm(p->name, RDK_OK, rdk_attention_with(&p->table, &d));
        for (int i = 0; i < MANY[n]; i++) {
            if (rdk_bits(got[i]) != rdk_bits(e->out))
                printf("\n%s: %.9g above %.9g, %d queries: out[%d] is %a, not %a\n", p->name,
                       (double)e->largest, (double)e->less, MANY[n], i, (double)got[i],
                       (double)e->out);
            ASSERT_EQm(p->name, rdk_bits(e->out), rdk_bits(got[i]));
        }
    }
    PASS();
}

/* A NaN is found in whichever of many queries it is, and stays there. Its payload is one that
 * would pass for an exponent. */
TEST one_query_of_many_is_nan(const path *p) {
    enum { QUERIES = 96, SEEN = 2 * RDK_BLOCK, SIZE = 128 };
    static float queries[QUERIES * SIZE], keys[SEEN * SIZE], values[SEEN * SIZE];
    static uint32_t expected[QUERIES * SIZE], got[QUERIES * SIZE];
    const uint32_t nan = QUIET + 1;
    for (int64_t size = SIZE / 2; size <= SIZE; size *= 2) {
        rng r = {7};
        for (int i = 0; i < QUERIES * SIZE; i++)
            queries[i] = normal(&r);
        for (int i = 0; i < SEEN * SIZE; i++) {
            keys[i] = normal(&r);
            values[i] = normal(&r);
        }
        rdk_attention_desc d = {.size = sizeof d, .batch = 1, .q_heads = 1, .kv_heads = 1};
        d.q_len = QUERIES;
        d.kv_len = SEEN;
        d.d_qk = d.d_v = size;
        d.q = (rdk_const_view){.data = queries, .row_stride = size};
        d.k = (rdk_const_view){.data = keys, .row_stride = size};
        d.v = (rdk_const_view){.data = values, .row_stride = size};
        d.out = (rdk_view){.data = expected, .row_stride = size};
        d.scratch = scratch;
        d.scratch_size = sizeof scratch;
        ASSERT_EQ(RDK_OK, rdk_attention_with(&paths[0].table, &d));
        d.out.data = got;
        for (int i = 0; i < QUERIES; i += 5) {
            float *element = &queries[i * size + i % size], was = *element;
            memcpy(element, &nan, sizeof nan);
            ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
            *element = was;
            for (int j = 0; j < QUERIES * size; j++)
                ASSERT_EQm(p->name, j / size == i ? QUIET : expected[j], got[j]);
        }
    }
    PASS();
}

/* Calls of some queries, of which the later ones see key `at`, and what they give where
 * that key is like any other. */
typedef struct few_see {
    rdk_attention_desc d;
    int64_t at;
    float *k, *v;
    uint32_t *plain, *got;
} few_see;

static int64_t first_that_sees(const few_see *f) {
    int64_t first = f->d.causal ? f->d.key_pos0 + f->at - f->d.q_pos : 0;
    return first < 0 ? 0 : first;
}

/* Those who see it have `bits` in the column, or in all if it is -1; all else is as it was. */
static bool only_those_have(const few_see *f, const path *p, const char *what, int64_t column,
                            uint32_t bits) {
    for (int64_t i = 0; i < f->d.q_len; i++)
        for (int64_t x = 0; x < f->d.d_v; x++) {
            const bool has = i >= first_that_sees(f) && (column < 0 || x == column);
            const int64_t n = i * f->d.d_v + x;
            const uint32_t want = has ? bits : f->plain[n];
            if (f->got[n] == want)
                continue;
            printf("\n%s, %s in key %lld of %lld from position %lld, %lld queries from %lld, d_v "
                   "%lld: out[%lld][%lld] is %#x, not %#x\n",
                   p->name, what, (long long)f->at, (long long)f->d.kv_len,
                   (long long)f->d.key_pos0, (long long)f->d.q_len, (long long)first_that_sees(f),
                   (long long)f->d.d_v, (long long)i, (long long)x, (unsigned)f->got[n],
                   (unsigned)want);
            return false;
        }
    return true;
}

static bool call_few(const few_see *f, const path *p, uint32_t *to) {
    rdk_attention_desc d = f->d;
    d.out.data = to;
    return rdk_attention_with(&p->table, &d) == RDK_OK;
}

/* An element becomes `bits` for one call. */
static bool with_element(const few_see *f, const path *p, float *element, uint32_t bits,
                         int64_t column, uint32_t want, const char *what) {
    const float was = *element;
    memcpy(element, &bits, sizeof bits);
    const bool called = call_few(f, p, f->got);
    *element = was;
    return called && only_those_have(f, p, what, column, want);
}

static bool special_key(const few_see *f, const path *p) {
    const int64_t column = f->at % f->d.d_v;
    float *key = &f->k[f->at * f->d.d_qk + f->at % f->d.d_qk],
          *value_of_key = &f->v[f->at * f->d.d_v + column];
    return call_few(f, p, f->plain) &&
           with_element(f, p, value_of_key, INF, column, INF, "inf in V") &&
           with_element(f, p, value_of_key, MINUS_INF, column, MINUS_INF, "-inf in V") &&
           with_element(f, p, value_of_key, SIGNALLING, column, QUIET, "NaN in V") &&
           with_element(f, p, key, SIGNALLING, -1, QUIET, "NaN in K");
}

/* A NaN in a key or a value, or an infinite value: in the first chunk, in the middle, or last; seen
 * by all queries, by some, or by the last. An infinite value stays infinite, in its column,
 * whatever the sum of the weights. */
TEST special_key_is_of_those_who_see_it(const path *p) {
    enum { MOST = 1100, WIDTH = 33, SIZE = 3, QUERIES = 49 };
    static const int KEY_COUNTS[] = {1, 2, 3, 7, 63, 64, 65, 100, 130, 193, MOST},
                     COUNTS[] = {1, 4, 25, QUERIES};
    static const int D_V[] = {1, 5, 16, WIDTH};
    static float queries[QUERIES * SIZE], keys[MOST * SIZE], values[MOST * WIDTH];
    static uint32_t plain[QUERIES * WIDTH], got[QUERIES * WIDTH];
    rng r = {11};
    int number = 0;
    for (size_t i = 0; i < COUNT(queries); i++)
        queries[i] = normal(&r);
    for (size_t i = 0; i < COUNT(keys); i++)
        keys[i] = normal(&r);
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = normal(&r);
    for (size_t n = 0; n < COUNT(KEY_COUNTS); n++)
        for (size_t m = 0; m < COUNT(COUNTS); m++)
            for (int place = 0; place < 9; place++, number++) {
                const int count = KEY_COUNTS[n], width = D_V[number % 4],
                          at[] = {count > 3 ? 3 : 0, count / 2, count - 1};
                const int unseen[] = {0, COUNTS[m] / 2, COUNTS[m] - 1};
                few_see f = {
                    .at = at[place % 3], .k = keys, .v = values, .plain = plain, .got = got};
                rdk_attention_desc *d = &f.d;
                *d = (rdk_attention_desc){
                    .size = sizeof *d, .batch = 1, .q_heads = 1, .kv_heads = 1};
                d->q_len = COUNTS[m];
                d->kv_len = count;
                d->d_qk = SIZE;
                d->d_v = width;
                d->key_pos0 = number % 3 ? 0 : RDK_CHUNK - count / 3;
                d->causal = place / 3 ? RDK_CAUSAL_FROM_POSITION : RDK_CAUSAL_NONE;
                d->q_pos = place / 3 ? d->key_pos0 + f.at - unseen[place / 3] : 0;
                d->q = (rdk_const_view){.data = queries, .row_stride = SIZE};
                d->k = (rdk_const_view){.data = keys, .row_stride = SIZE};
                d->v = (rdk_const_view){.data = values, .row_stride = width};
                d->out = (rdk_view){.row_stride = width};
                d->scratch = scratch;
                d->scratch_size = sizeof scratch;
                ASSERTm(p->name, special_key(&f, p));
            }
    PASS();
}

SUITE(edges) {
    int count = rdk_paths(paths);
    for (int i = 0; i < count; i++) {
        if (!rdk_path_is_wanted(&paths[i]))
            continue;
        for (const hot_edge *e = HOT_EDGES; e < HOT_EDGES + COUNT(HOT_EDGES); e++)
            RUN_TESTp(edge_of_hot, &paths[i], e);
        RUN_TESTp(special_key_is_of_those_who_see_it, &paths[i]);
        RUN_TESTp(one_query_of_many_is_nan, &paths[i]);
    }
}
