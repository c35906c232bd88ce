/* The corner table of docs/arithmetic.md, section 11: every row of it on every path, with its bits.
 *
 * A corner is a query whose keys are all the same but one, the one `here`. It runs with several
 * numbers of keys, in several places, widths and shapes, with and without hidden keys of NaN and
 * Inf. */
#include <string.h>

#include "kernels/contract.h"
#include "tests/attention/corners.h"
#include "tests/lib/paths.h"
#include "tests/lib/suite.h"
#include "tests/lib/values.h"

enum { MOST_KEYS = 2049, HIDDEN = 19, ROWS = 30, MOST_D = 20, KEYS = MOST_KEYS + HIDDEN };

static path paths[RDK_MAX_PATHS];
static int path_count;

/* ---- One run --------------------------------------------------------------------------------- */

/* Where `here` is, and what is around. */
typedef struct setup {
    const corner *corner;
    int sharing; /* a power of two: the keys that share the weight; else how many there are */
    int at, d, rows, hidden;
    bool by_heads;
    int64_t key_pos0;
} setup;

/* All but `here` share where it is gone. */
static int keys_of(const setup *s) {
    return s->sharing + (s->corner->outcome == GONE);
}

static uint32_t q[ROWS * MOST_D], k[KEYS * MOST_D], v[KEYS * MOST_D];
static uint32_t out[ROWS * MOST_D], lse[ROWS], weights[ROWS * KEYS];
static char scratch[1 << 22];

static bool has_value(const corner *c) {
    return c->value_here || c->value_rest;
}

/* The first column of v: 3 here, 1 elsewhere. */
static uint32_t value(const setup *s, int j, int column) {
    bool here = j == s->at;
    if (column == 1 && has_value(s->corner))
        return here ? s->corner->value_here : s->corner->value_rest;
    return here ? THREE : ONE;
}

static void fill(const setup *s) {
    static const uint32_t UNSEEN[] = {QUIET, INF, MINUS_INF, SIGNALLING};
    const corner *c = s->corner;
    size_t all = (size_t)(keys_of(s) + s->hidden);
    memset(q, 0, sizeof q);
    memset(k, 0, all * (size_t)s->d * sizeof k[0]);
    memset(out, 0xa5, sizeof out);
    memset(lse, 0xa5, sizeof lse);
    memset(weights, 0xa5, all * (size_t)s->rows * sizeof weights[0]);
    for (int i = 0; i < s->rows; i++)
        memcpy(q + i * s->d, c->q, sizeof c->q);
    for (int j = 0; j < keys_of(s) + s->hidden; j++)
        for (int x = 0; x < s->d; x++) {
            bool seen = j < keys_of(s);
            if (x < 2 || !seen)
                k[j * s->d + x] = !seen        ? UNSEEN[(j + x) % 4]
                                  : j == s->at ? c->here[x]
                                               : c->rest[x];
            v[j * s->d + x] = seen ? value(s, j, x) : UNSEEN[(j + x + 1) % 4];
        }
}

static uint32_t bits_of_quotient(int a, int b) {
    return rdk_bits((float)a / (float)b); /* exact: b is a power of two */
}

static uint32_t expected_out(const setup *s, int column) {
    int n = s->sharing;
    if (column == 1 && has_value(s->corner))
        return s->corner->out;
    switch (s->corner->outcome) {
    case NOTHING:
        return 0;
    case ALL_NAN:
        return QUIET;
    case ALONE:
        return THREE;
    case GONE:
        return ONE;
    default:
        return bits_of_quotient(n + 2, n);
    }
}

static uint32_t expected_lse(const setup *s) {
    /* ln 1, 2, 4, ... 2048, rounded */
    static const uint32_t LN[] = {0,          0x3f317218, 0x3fb17218, 0x40051592,
                                  0x40317218, 0x405dce9e, 0x40851592, 0x409b43d5,
                                  0x40b17218, 0x40c7a05b, 0x40ddce9e, 0x40f3fce1};
    int log2 = 0;
    while (1 << log2 < s->sharing)
        log2++;
    switch (s->corner->outcome) {
    case NOTHING:
        return MINUS_INF;
    case ALL_NAN:
        return QUIET;
    case ALONE:
        return s->corner->lse;
    default:
        return s->corner->lse ? s->corner->lse : LN[log2];
    }
}

static uint32_t expected_weight(const setup *s, int j) {
    if (j >= keys_of(s))
        return 0;
    switch (s->corner->outcome) {
    case NOTHING:
        return 0;
    case ALL_NAN:
        return QUIET;
    case ALONE:
        return j == s->at ? ONE : 0;
    case GONE:
        return j == s->at ? 0 : bits_of_quotient(1, s->sharing);
    default:
        return bits_of_quotient(1, s->sharing);
    }
}

static bool wrong(const path *p, const setup *s, const char *what, int row, int at, uint32_t got,
                  uint32_t want) {
    printf(
        "\n%s, %s: %s[%d][%d] is %#010x, not %#010x (%d keys and %d hidden from position %lld, at "
        "%d, d %d, %d %s)\n",
        p->name, s->corner->name, what, row, at, (unsigned)got, (unsigned)want, keys_of(s),
        s->hidden, (long long)s->key_pos0, s->at, s->d, s->rows, s->by_heads ? "heads" : "queries");
    return false;
}

static bool compare(const path *p, const setup *s) {
    int all = keys_of(s) + s->hidden;
    for (int i = 0; i < s->rows; i++) {
        if (lse[i] != expected_lse(s))
            return wrong(p, s, "lse", i, 0, lse[i], expected_lse(s));
        for (int x = 0; x < s->d; x++)
            if (out[i * s->d + x] != expected_out(s, x))
                return wrong(p, s, "out", i, x, out[i * s->d + x], expected_out(s, x));
        for (int j = 0; j < all; j++)
            if (weights[i * all + j] != expected_weight(s, j))
                return wrong(p, s, "weights", i, j, weights[i * all + j], expected_weight(s, j));
    }
    return true;
}

/* Rows of one query each, one behind the other, as queries or as heads. */
static rdk_attention_desc describe(const setup *s) {
    rdk_attention_desc d = {.size = sizeof d, .batch = 1, .q_heads = 1, .kv_heads = 1};
    int all = keys_of(s) + s->hidden;
    if (s->by_heads)
        d.q_heads = s->rows;
    d.q_len = s->by_heads ? 1 : s->rows;
    d.kv_len = all;
    d.d_qk = d.d_v = s->d;
    d.key_pos0 = s->key_pos0;
    memcpy(&d.scale, &s->corner->scale, 4); /* bits: it may be a signalling NaN */
    d.q = (rdk_const_view){.data = q, .head_stride = s->d, .row_stride = s->d};
    d.k = (rdk_const_view){.data = k, .row_stride = s->d};
    d.v = (rdk_const_view){.data = v, .row_stride = s->d};
    d.out = (rdk_view){.data = out, .head_stride = s->d, .row_stride = s->d};
    d.lse = (rdk_view){.data = lse, .head_stride = 1, .row_stride = 1};
    d.weights = (rdk_view){.data = weights, .head_stride = all, .row_stride = all};
    d.scratch = scratch;
    d.scratch_size = sizeof scratch;
    return d;
}

static bool run(const path *p, const setup *s) {
    rdk_attention_desc d = describe(s);
    fill(s);
    if (s->hidden) { /* which hides them from heads alone: all have the same position */
        d.causal = RDK_CAUSAL_FROM_POSITION;
        d.q_pos = s->key_pos0 + keys_of(s) - 1;
    }
    rdk_status status = rdk_attention_with(&p->table, &d);
    if (status != RDK_OK)
        return wrong(p, s, "status", 0, 0, (uint32_t)status, RDK_OK);
    return compare(p, s);
}

static bool run_places(const path *p, setup s) {
    int n = keys_of(&s), at[] = {0, n - 1, n / 2};
    for (int i = 0; i < (n > 2 ? 3 : n); i++)
        for (int hidden = 0; hidden < 2; hidden++) {
            s.at = at[i];
            s.hidden = hidden ? HIDDEN : 0;
            s.by_heads = hidden || i % 2;
            s.key_pos0 = (i + hidden) % 2 ? 1000 : 0;
            if (!run(p, &s))
                return false;
        }
    return true;
}

TEST has_its_bits(const path *p, const corner *c, int least) {
    static const int SHARING[] = {1, 2, 16, 128}, WIDTHS[] = {2, 5, MOST_D},
                     ROW_COUNTS[] = {1, 7, ROWS};
    setup s = {.corner = c};
    for (size_t i = 0; i < COUNT(SHARING); i++)
        for (size_t j = 0; j < COUNT(WIDTHS); j++) {
            s.sharing = SHARING[i];
            s.d = WIDTHS[j];
            s.rows = ROW_COUNTS[(i + j) % COUNT(ROW_COUNTS)];
            ASSERT(s.sharing < least || run_places(p, s));
        }
    s = (setup){.corner = c, .sharing = 2048, .at = 1030, .d = 2, .rows = 2, .key_pos0 = 5};
    ASSERT(run(p, &s));
    PASS();
}

/* ---- What is no corner of a key -------------------------------------------------------------- */

/* No keys, or none visible: whatever the scale, and whatever they hold. */
TEST nothing_visible(const path *p) {
    static const uint32_t SCALES[] = {0, ONE, M1, QUIET, INF};
    static const corner none = {.name = "nothing visible", .outcome = NOTHING};
    for (int keys = 0; keys <= 40; keys += 8)
        for (size_t i = 0; i < COUNT(SCALES); i++)
            for (int64_t causal = 0; causal <= 2; causal++) {
                setup s = {.corner = &none, .d = 3, .rows = 7, .hidden = keys, .by_heads = true};
                if (keys && causal != RDK_CAUSAL_FROM_POSITION)
                    continue;
                rdk_attention_desc d = describe(&s);
                fill(&s);
                memcpy(&d.scale, &SCALES[i], 4);
                d.causal = (rdk_causal)causal;
                d.q_pos = -1;
                ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
                ASSERT(compare(p, &s));
            }
    PASS();
}

/* More queries than keys: the first ones see nothing, the others 1, 2, 3, ... */
TEST some_see_nothing(const path *p) {
    static const corner equal = {.name = "more queries than keys", .scale = ONE, .outcome = SHARE};
    for (int keys = 1; keys <= 16; keys *= 2)
        for (int more = 1; more + keys <= ROWS; more += 3) {
            setup s = {.corner = &equal, .sharing = keys, .d = 2, .rows = keys + more};
            rdk_attention_desc d = describe(&s);
            fill(&s);
            d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
            ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
            for (int i = 0; i < s.rows; i++) {
                int seen = i - more + 1;
                ASSERT(seen > 0 ? lse[i] != MINUS_INF : lse[i] == MINUS_INF);
                ASSERT(seen > 0 || (out[i * 2] == 0 && out[i * 2 + 1] == 0));
                ASSERT(seen != 1 || (out[i * 2] == THREE && lse[i] == 0));
                for (int j = 0; j < keys; j++)
                    ASSERT(j < seen ? weights[i * keys + j] != 0 : weights[i * keys + j] == 0);
            }
            /* The last sees all. */
            ASSERT_EQ(expected_out(&s, 0), out[(s.rows - 1) * 2]);
            ASSERT_EQ(expected_lse(&s), lse[s.rows - 1]);
        }
    PASS();
}

/* Without queries there is nothing to point at. */
TEST empty_needs_no_pointers(const path *p) {
    for (int which = 1; which < 8; which++) {
        rdk_attention_desc d = {.size = sizeof d, .d_qk = 4, .d_v = 4, .kv_len = 5};
        d.batch = which & 1 ? 0 : 2;
        d.q_heads = d.kv_heads = which & 2 ? 0 : 2;
        d.q_len = which & 4 ? 0 : 3;
        ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
    }
    PASS();
}

/* Without keys there is nothing to point at for k and v. */
TEST no_keys_need_no_pointers(const path *p) {
    static const corner none = {.name = "nothing visible", .outcome = NOTHING};
    setup s = {.corner = &none, .d = 5, .rows = 7};
    rdk_attention_desc d = describe(&s);
    fill(&s);
    d.k = d.v = (rdk_const_view){.data = NULL};
    d.weights.data = NULL;
    ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
    ASSERT(compare(p, &s));
    PASS();
}

/* ---- All ------------------------------------------------------------------------------------- */

SUITE(corners) {
    for (int i = 0; i < path_count; i++) {
        if (!rdk_path_is_wanted(&paths[i]))
            continue;
        for (const corner *c = CORNERS; c < CORNERS + COUNT(CORNERS); c++)
            RUN_TESTp(has_its_bits, &paths[i], c, 1);
        for (const corner *c = CORNERS_OF_TWO; c < CORNERS_OF_TWO + COUNT(CORNERS_OF_TWO); c++)
            RUN_TESTp(has_its_bits, &paths[i], c, 2);
        RUN_TESTp(nothing_visible, &paths[i]);
        RUN_TESTp(some_see_nothing, &paths[i]);
        RUN_TESTp(empty_needs_no_pointers, &paths[i]);
        RUN_TESTp(no_keys_need_no_pointers, &paths[i]);
    }
}

SUITE_EXTERN(edges);

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    path_count = rdk_paths(paths);
    RUN_SUITE(corners);
    RUN_SUITE(edges);
    RDK_MAIN_END();
}
