/* The corner table of docs/arithmetic.md, section 11: every row of it on every path, with its bits.
 *
 * A corner is a query whose keys are all the same but one, the one `here`. It runs with several
 * numbers of keys, in several places, widths and shapes, with and without hidden keys of NaN and
 * Inf. */
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/paths.h"
#include "tests/lib/suite.h"
#include "tests/lib/values.h"

enum { MOST_KEYS = 2049, HIDDEN = 19, ROWS = 30, MOST_D = 20, KEYS = MOST_KEYS + HIDDEN };

static path paths[RDK_MAX_PATHS];
static int path_count;

/* ---- Corners --------------------------------------------------------------------------------- */

#define ONE 0x3f800000u
#define TWO 0x40000000u
#define THREE 0x40400000u
#define M1 0xbf800000u
#define INF 0x7f800000u
#define MINUS_INF 0xff800000u
#define QUIET 0x7fc00000u
#define MINUS_QUIET 0xffc54321u
#define SIGNALLING 0x7f800001u
#define MINUS_SIGNALLING 0xffa12345u
#define MAX 0x7f7fffffu /* FLT_MAX */
#define MINUS_MAX 0xff7fffffu
#define P1000 0x447a0000u
#define M1000 0xc47a0000u
#define P2_16 0x47800000u
#define M2_16 0xc7800000u
#define P2_21 0x4a000000u
#define M2_21 0xca000000u
#define P1E30 0x7149f2cau
#define M1E30 0xf149f2cau
#define P2_60 0x5d800000u
#define LN2 0x3f317218u /* a scale for which ch is 1: whole scores have exact weights */
#define MINUS_LN2 0xbf317218u

/* What becomes of the weights. */
typedef enum outcome {
    NOTHING, /* none has any */
    ALL_NAN,
    ALONE, /* `here` has all there is */
    GONE,  /* the rest share it, `here` has none */
    SHARE  /* all keys share it */
} outcome;

/* Bits of floats. A query and its keys have two columns that count. */
typedef struct corner {
    const char *name;
    uint32_t q[2], here[2], rest[2], scale;
    outcome outcome;
    uint32_t lse; /* ALONE; SHARE and GONE, unless 0: the logarithm of how many */
    uint32_t value_here, value_rest; /* unless both are 0: what the second column of v holds, */
    uint32_t out;                    /* and of out */
} corner;

#define ONLY(x)                                                                                    \
    { x, 0 }

#define WEIGHTS(outcome, lse) outcome, lse, 0, 0, 0 /* no values of its own */

static const corner CORNERS[] = {
    {"all scores -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, WEIGHTS(NOTHING, 0)},
    {"all scores -inf, from q", ONLY(MINUS_INF), ONLY(ONE), ONLY(TWO), ONE, WEIGHTS(NOTHING, 0)},
    {"all scores -inf, by the scale", ONLY(ONE), ONLY(INF), ONLY(INF), M1, WEIGHTS(NOTHING, 0)},
    {"all scores overflow to -inf", ONLY(P1E30), ONLY(M1E30), ONLY(M1E30), ONE,
     WEIGHTS(NOTHING, 0)},
    {"all scores past the range", ONLY(ONE), ONLY(MINUS_MAX), ONLY(MINUS_MAX), TWO,
     WEIGHTS(NOTHING, 0)},
    {"-inf and past the range", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_MAX), TWO,
     WEIGHTS(NOTHING, 0)},

    {"NaN", ONLY(ONE), ONLY(QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"-NaN", ONLY(ONE), ONLY(MINUS_QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"signalling NaN", ONLY(ONE), ONLY(SIGNALLING), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"-NaN, signalling", ONLY(ONE), ONLY(MINUS_SIGNALLING), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, second column", {ONE, ONE}, {0, QUIET}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest -inf", ONLY(ONE), ONLY(QUIET), ONLY(MINUS_INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest cold", ONLY(ONE), ONLY(QUIET), ONLY(P1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN, rest -1e30", ONLY(ONE), ONLY(SIGNALLING), ONLY(M1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN everywhere", ONLY(ONE), ONLY(QUIET), ONLY(MINUS_QUIET), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN in q", ONLY(QUIET), ONLY(0), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"signalling NaN in q", {0, SIGNALLING}, ONLY(0), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"NaN where q is 0", {0, ONE}, ONLY(QUIET), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf where q is 0", {0, ONE}, ONLY(INF), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf in q where keys are 0", {INF, ONE}, {0, ONE}, {0, ONE}, ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf", ONLY(ONE), ONLY(INF), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf, rest -inf", ONLY(ONE), ONLY(INF), ONLY(MINUS_INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf everywhere", ONLY(ONE), ONLY(INF), ONLY(INF), ONE, WEIGHTS(ALL_NAN, 0)},
    {"+inf, by the scale", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), M1, WEIGHTS(ALL_NAN, 0)},
    {"+inf, rest cold", ONLY(ONE), ONLY(INF), ONLY(P1E30), ONE, WEIGHTS(ALL_NAN, 0)},
    {"overflow to +inf", ONLY(P1E30), ONLY(P1E30), ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"inf - inf", {ONE, ONE}, {INF, MINUS_INF}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},
    {"1e60 - inf", {P1E30, P1E30}, {P1E30, MINUS_INF}, ONLY(0), ONE, WEIGHTS(ALL_NAN, 0)},

    {"scale NaN", ONLY(ONE), ONLY(0), ONLY(0), QUIET, WEIGHTS(ALL_NAN, 0)},
    {"scale signalling NaN", ONLY(ONE), ONLY(0), ONLY(0), SIGNALLING, WEIGHTS(ALL_NAN, 0)},
    {"scale inf", ONLY(ONE), ONLY(0), ONLY(ONE), INF, WEIGHTS(ALL_NAN, 0)},
    {"scale -inf", ONLY(ONE), ONLY(0), ONLY(ONE), MINUS_INF, WEIGHTS(ALL_NAN, 0)},
    {"ch overflows", ONLY(ONE), ONLY(0), ONLY(ONE), MAX, WEIGHTS(ALL_NAN, 0)},
    {"ch overflows, -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), MAX, WEIGHTS(ALL_NAN, 0)},

    {"-inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"overflow to -inf", ONLY(P1E30), ONLY(M1E30), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-inf, by the scale", ONLY(ONE), ONLY(INF), ONLY(0), M1, WEIGHTS(GONE, 0)},
    {"-1000", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-1e30", ONLY(ONE), ONLY(M1E30), ONLY(0), ONE, WEIGHTS(GONE, 0)},
    {"-FLT_MAX", ONLY(ONE), ONLY(MINUS_MAX), ONLY(0), ONE, WEIGHTS(GONE, 0)},

    {"equal", ONLY(ONE), ONLY(0), ONLY(0), ONE, WEIGHTS(SHARE, 0)},
    {"equal, default scale", ONLY(ONE), ONLY(0), ONLY(0), 0, WEIGHTS(SHARE, 0)},
    {"equal, -0", ONLY(ONE), ONLY(0x80000000), ONLY(0), M1, WEIGHTS(SHARE, 0)},
    {"equal, scale tiny", ONLY(ONE), ONLY(P1000), ONLY(M1000), 1, WEIGHTS(SHARE, 0)},
    {"equal 1e30", ONLY(ONE), ONLY(P1E30), ONLY(P1E30), ONE, WEIGHTS(SHARE, P1E30)},
    {"equal -1e30", ONLY(ONE), ONLY(M1E30), ONLY(M1E30), ONE, WEIGHTS(SHARE, M1E30)},

    {"1000", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, WEIGHTS(ALONE, 0x442d496b)},
    {"-1000 above -inf", ONLY(ONE), ONLY(M1000), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc42d496b)},
    {"scale negative", ONLY(ONE), ONLY(0), ONLY(P1000), M1, WEIGHTS(ALONE, 0)},
    {"scale negative, -1000", ONLY(ONE), ONLY(M1000), ONLY(0), MINUS_LN2,
     WEIGHTS(ALONE, 0x442d496b)},
    {"2^16", ONLY(ONE), ONLY(P2_16), ONLY(0), LN2, WEIGHTS(ALONE, 0x47317218)},
    {"-2^16", ONLY(ONE), ONLY(M2_16), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc7317218)},
    {"above 2^16", ONLY(ONE), ONLY(0x47800080), ONLY(0), LN2, WEIGHTS(ALONE, 0x473172c9)},
    {"below -2^16", ONLY(ONE), ONLY(0xc7800080), ONLY(MINUS_INF), LN2, WEIGHTS(ALONE, 0xc73172c9)},
    {"2^21, the last hot", ONLY(ONE), ONLY(P2_21), ONLY(0), LN2, WEIGHTS(ALONE, 0x49b17218)},
    {"-2^21, the last hot", ONLY(ONE), ONLY(M2_21), ONLY(MINUS_INF), LN2,
     WEIGHTS(ALONE, 0xc9b17218)},
    {"above 2^21, cold", ONLY(ONE), ONLY(0x4a000004), ONLY(0), LN2, WEIGHTS(ALONE, 0x49b1721e)},
    {"below -2^21, cold", ONLY(ONE), ONLY(0xca000004), ONLY(MINUS_INF), LN2,
     WEIGHTS(ALONE, 0xc9b1721e)},
    {"2^60", ONLY(ONE), ONLY(P2_60), ONLY(0), ONE, WEIGHTS(ALONE, P2_60)},
    {"1e30", ONLY(ONE), ONLY(P1E30), ONLY(0), ONE, WEIGHTS(ALONE, P1E30)},
    {"1e30 above -inf", ONLY(ONE), ONLY(P1E30), ONLY(MINUS_INF), ONE, WEIGHTS(ALONE, P1E30)},
    {"1e30 above -1e30", ONLY(ONE), ONLY(P1E30), ONLY(M1E30), ONE, WEIGHTS(ALONE, P1E30)},
    {"-1e30 above -FLT_MAX", ONLY(ONE), ONLY(M1E30), ONLY(MINUS_MAX), ONE, WEIGHTS(ALONE, M1E30)},
    {"-1e30, scale negative", ONLY(ONE), ONLY(M1E30), ONLY(0), M1, WEIGHTS(ALONE, P1E30)},
    {"past the range in base 2", ONLY(ONE), ONLY(MAX), ONLY(0), TWO, WEIGHTS(ALL_NAN, 0)},
    {"past the range downwards", ONLY(ONE), ONLY(0), ONLY(MINUS_MAX), TWO, WEIGHTS(ALONE, 0)},

    {"value NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, QUIET, ONE, QUIET},
    {"value -NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, MINUS_QUIET, ONE, QUIET},
    {"value signalling NaN", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, SIGNALLING, ONE, QUIET},
    {"value NaN, rest inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, SIGNALLING, INF, QUIET},
    {"value NaN, weight 0", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, GONE, 0, QUIET, ONE, QUIET},
    {"value inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, ONE, INF},
    {"value -inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, MINUS_INF, ONE, MINUS_INF},
    {"values inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, INF, INF},
    {"value inf, weight 0", ONLY(ONE), ONLY(M1000), ONLY(0), ONE, GONE, 0, INF, ONE, QUIET},
    {"value inf, score -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(0), ONE, GONE, 0, INF, ONE, QUIET},
    {"value inf, cold", ONLY(ONE), ONLY(P1E30), ONLY(P1E30), ONE, SHARE, P1E30, INF, ONE, INF},
    {"value NaN, cold", ONLY(ONE), ONLY(M1E30), ONLY(M1E30), ONE, SHARE, M1E30, QUIET, TWO, QUIET},
    {"value inf, all -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, NOTHING, 0, INF, ONE,
     0},
    {"values NaN, all -inf", ONLY(ONE), ONLY(MINUS_INF), ONLY(MINUS_INF), ONE, NOTHING, 0, QUIET,
     QUIET, 0},
    {"value inf, scores NaN", ONLY(ONE), ONLY(QUIET), ONLY(0), ONE, ALL_NAN, 0, INF, ONE, QUIET},
};

/* With these `here` is not the only key: its value meets another, or another's weight of 0. */
static const corner CORNERS_OF_TWO[] = {
    {"inf and -inf", ONLY(ONE), ONLY(0), ONLY(0), ONE, SHARE, 0, INF, MINUS_INF, QUIET},
    {"rest inf, weights 0", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, ALONE, 0x442d496b, ONE, INF,
     QUIET},
    {"rest NaN, weights 0", ONLY(ONE), ONLY(P1000), ONLY(0), LN2, ALONE, 0x442d496b, ONE,
     SIGNALLING, QUIET},
    {"rest inf, weights 0, cold", ONLY(ONE), ONLY(P1E30), ONLY(0), ONE, ALONE, P1E30, ONE,
     MINUS_INF, QUIET},
};

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

/* ---- All ------------------------------------------------------------------------------------- */

SUITE(corners) {
    for (int i = 0; i < path_count; i++) {
        if (!rdk_path_is_wanted(&paths[i]))
            continue;
        for (const corner *c = CORNERS; c < CORNERS + COUNT(CORNERS); c++)
            RUN_TESTp(has_its_bits, &paths[i], c, 1);
        for (const corner *c = CORNERS_OF_TWO; c < CORNERS_OF_TWO + COUNT(CORNERS_OF_TWO); c++)
            RUN_TESTp(has_its_bits, &paths[i], c, 2);
        for (const hot_edge *e = HOT_EDGES; e < HOT_EDGES + COUNT(HOT_EDGES); e++)
            RUN_TESTp(edge_of_hot, &paths[i], e);
        RUN_TESTp(special_key_is_of_those_who_see_it, &paths[i]);
        RUN_TESTp(one_query_of_many_is_nan, &paths[i]);
        RUN_TESTp(nothing_visible, &paths[i]);
        RUN_TESTp(some_see_nothing, &paths[i]);
        RUN_TESTp(empty_needs_no_pointers, &paths[i]);
        RUN_TESTp(no_keys_need_no_pointers, &paths[i]);
    }
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    path_count = rdk_paths(paths);
    RUN_SUITE(corners);
    RDK_MAIN_END();
}
