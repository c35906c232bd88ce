/* How far attention is from the exact result, by an oracle in double, beside plain float loops
 * with libm's expf. The figures are printed in any case. Every path gives the same bits, so the
 * default one stands for all. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/oracle.h"

/* Set by the build: one goes to the longest, the others leave it out and look at fewer queries. */
#ifndef RDK_MOST_KEYS
#define RDK_MOST_KEYS 32768
#endif
#ifndef RDK_SCORES
#define RDK_SCORES (1 << 16) /* queries times keys for a line of the table, roughly */
#endif

enum { MAX_D = 128, MAX_QUERIES = 1024 };

/* ---- A call ---------------------------------------------------------------------------------- */

/* Of one batch; q, k, v and out are [head][position][d]. */
typedef struct shape {
    int64_t d, kv_len, q_len, q_heads, kv_heads;
    rdk_causal causal;
    int64_t key_pos0;
} shape;

typedef struct memory {
    float *q, *k, *v, *out, *lse, *weights;
    double *z;     /* logits of one query */
    float *scores; /* of one query, by the contract's chain; weights of the plain loops */
    void *scratch;
    size_t scratch_size;
} memory;

static void *room(int64_t bytes) {
    void *p = malloc((size_t)bytes);
    if (!p) {
        puts("out of memory");
        exit(EXIT_FAILURE);
    }
    return p;
}

static float *draw_floats(int64_t n) {
    float *p = room(n * 4);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)draw_normal();
    return p;
}

static memory memory_of(const shape *s) {
    int64_t queries = s->q_heads * s->q_len, keys = s->kv_heads * s->kv_len;
    rdk_attention_desc d = {.size = sizeof d, .d_qk = s->d, .d_v = s->d};
    memory m;
    draw_seed((uint64_t)(s->d * 1000003 + s->kv_len));
    m.q = draw_floats(queries * s->d);
    m.k = draw_floats(keys * s->d);
    m.v = draw_floats(keys * s->d);
    m.out = room(queries * s->d * 4);
    m.lse = room(queries * 4);
    m.weights = room(queries * s->kv_len * 4);
    m.z = room(s->kv_len * 8);
    m.scores = room(s->kv_len * 4);
    if (rdk_attention_scratch(&d, &m.scratch_size) != RDK_OK)
        exit(EXIT_FAILURE);
    m.scratch = room((int64_t)m.scratch_size);
    return m;
}

static void release(memory m) {
    void *all[] = {m.q, m.k, m.v, m.out, m.lse, m.weights, m.z, m.scores, m.scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static rdk_status attend(const shape *s, const memory *m) {
    const int64_t q_head = s->q_len * s->d, kv_head = s->kv_len * s->d;
    rdk_attention_desc d = {.size = sizeof d,
                            .causal = s->causal,
                            .batch = 1,
                            .q_heads = s->q_heads,
                            .kv_heads = s->kv_heads,
                            .q_len = s->q_len,
                            .kv_len = s->kv_len,
                            .d_qk = s->d,
                            .d_v = s->d,
                            .key_pos0 = s->key_pos0,
                            .scratch = m->scratch,
                            .scratch_size = m->scratch_size};
    d.q = (rdk_const_view){m->q, 0, q_head, s->d, RDK_F32};
    d.k = (rdk_const_view){m->k, 0, kv_head, s->d, RDK_F32};
    d.v = (rdk_const_view){m->v, 0, kv_head, s->d, RDK_F32};
    d.out = (rdk_view){m->out, 0, q_head, s->d, RDK_F32};
    d.lse = (rdk_view){m->lse, 0, s->q_len, 1, RDK_F32};
    d.weights = (rdk_view){m->weights, 0, s->q_len * s->kv_len, s->kv_len, RDK_F32};
    return rdk_attention(&d);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef struct tally {
    double worst, bound;         /* of the output, relative to max|v|: where it comes nearest */
    double square, plain_square; /* sums over all outputs */
    int64_t outputs;
    double worst_lse, worst_weights; /* ULP */
    bool too_far;
} tally;

/* One query: its floats, those of the keys it sees, and what the call wrote. */
typedef struct query {
    int64_t d, n; /* n keys */
    float scale;
    const float *q, *k, *v, *out, *weights;
    float lse;
} query;

/* Plain float loops: the maximum subtracted, sums in float, a division at the end. */
static void plain_loops(float *out, float *e, const query *q) {
    float max = -INFINITY, sum = 0;
    memset(out, 0, (size_t)q->d * 4);
    for (int64_t j = 0; j < q->n; j++) {
        float s = 0;
        for (int64_t c = 0; c < q->d; c++)
            s += q->q[c] * q->k[j * q->d + c];
        e[j] = s * q->scale;
        max = e[j] > max ? e[j] : max;
    }
    for (int64_t j = 0; j < q->n; j++) {
        e[j] = expf(e[j] - max);
        sum += e[j];
        for (int64_t c = 0; c < q->d; c++)
            out[c] += e[j] * q->v[j * q->d + c];
    }
    for (int64_t c = 0; c < q->d; c++)
        out[c] /= sum;
}

static double largest(const float *v, int64_t n) {
    double max = 0;
    for (int64_t i = 0; i < n; i++)
        max = fmax(max, fabs((double)v[i]));
    return max;
}

static void compare_output(tally *t, const query *q, const memory *m) {
    double exact[MAX_D], bound = 2e-7 * sqrt((double)q->n / 128 + 4);
    double max_v = largest(q->v, q->n * q->d);
    float plain[MAX_D];
    oracle_logits(m->z, q->scale, q->q, q->k, q->d, q->d, q->n);
    oracle o = oracle_of(m->z, q->n);
    oracle_output(exact, &o, m->z, q->v, q->d, q->d, q->n);
    plain_loops(plain, m->scores, q);
    for (int64_t c = 0; c < q->d; c++) {
        double error = fabs(q->out[c] - exact[c]) / max_v;
        double plain_error = fabs(plain[c] - exact[c]) / max_v;
        t->too_far |= !(error <= bound);
        if (t->bound == 0 || !(error / bound <= t->worst / t->bound)) {
            t->worst = error;
            t->bound = bound;
        }
        t->square += error * error;
        t->plain_square += plain_error * plain_error;
    }
    t->outputs += q->d;
}

/* A score of the contract: a logit in base 2. */
static double score(const query *q, const float *k) {
    float ch = rdk_split_scale(q->scale).ch, x = 0;
    int64_t chains = rdk_chains(q->d), end;
    for (int64_t first = 0; first < q->d; first = end) {
        end = rdk_piece_end(first, q->d);
        for (int64_t i = 0; i < chains; i++) {
            float s = 0;
            for (int64_t c = first + i; c < end; c += chains)
                s = rdk_fma(q->q[c] * ch, k[c], s);
            x = x + s;
        }
    }
    return x;
}

/* The error of the weights and the LSE, apart from that of the scores: the oracle gets
 * the scores of the contract. A weight is then as far off as a softmax without a bias: 4
 * ULP (measured; softmax/test_accuracy.c). */
static void compare_weights(tally *t, const query *q, const memory *m) {
    for (int64_t j = 0; j < q->n; j++)
        m->z[j] = score(q, q->k + j * q->d) * RDK_LN2;
    oracle o = oracle_of(m->z, q->n);
    for (int64_t j = 0; j < q->n; j++) {
        double exact = oracle_weight(&o, m->z[j]);
        double error = fabs(q->weights[j] - exact) / ulp32(exact);
        t->too_far |= !(error <= 4);
        if (!(error <= t->worst_weights))
            t->worst_weights = error;
    }
    double lse_error = log_error(q->lse, o.lse);
    t->too_far |= !(lse_error <= 2);
    if (!(lse_error <= t->worst_lse))
        t->worst_lse = lse_error;
}

static int64_t visible(const shape *s, int64_t i) {
    return s->causal ? s->kv_len - s->q_len + i + 1 : s->kv_len;
}

static query query_of(const shape *s, const memory *m, int64_t h, int64_t i) {
    int64_t row = h * s->q_len + i, kv_head = h / (s->q_heads / s->kv_heads);
    query q = {.d = s->d, .n = visible(s, i), .scale = (float)(1 / sqrt((double)s->d))};
    q.q = m->q + row * s->d;
    q.k = m->k + kv_head * s->kv_len * s->d;
    q.v = m->v + kv_head * s->kv_len * s->d;
    q.out = m->out + row * s->d;
    q.weights = m->weights + row * s->kv_len;
    q.lse = m->lse[row];
    return q;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void heading(const char *what) {
    printf("\nattention, N(0,1), %s\n", what);
    printf("    d   keys queries   max error      bound    RMS error  of plain loops     ratio"
           "  LSE ULP  weights ULP\n");
}

/* With one key plain loops are exact: the weight is exp(0) / exp(0). With more, the RMS error must
 * be no larger than theirs. */
static bool is_near(const shape *s) {
    memory m = memory_of(s);
    tally t = {0};
    bool ok = attend(s, &m) == RDK_OK;
    for (int64_t h = 0; h < s->q_heads; h++)
        for (int64_t i = 0; i < s->q_len; i++) {
            query q = query_of(s, &m, h, i);
            compare_output(&t, &q, &m);
            compare_weights(&t, &q, &m);
        }
    double rms = sqrt(t.square / (double)t.outputs);
    double plain = sqrt(t.plain_square / (double)t.outputs);
    ok &= !t.too_far && (s->kv_len == 1 || rms <= plain);
    printf("  %3lld %6lld %7lld   %.2e   %.2e     %.2e        %.2e  %8.2f %8.2f %12.2f%s\n",
           (long long)s->d, (long long)s->kv_len, (long long)(s->q_heads * s->q_len), t.worst,
           t.bound, rms, plain, plain > 0 ? rms / plain : INFINITY, t.worst_lse, t.worst_weights,
           ok ? "" : "  TOO FAR OFF");
    release(m);
    return ok;
}

static int64_t queries_for(int64_t keys) {
    int64_t n = RDK_SCORES / keys;
    return n < 2 ? 2 : n > MAX_QUERIES ? MAX_QUERIES : n;
}

TEST error_is_within_bounds(void) {
    static const int64_t KEYS[] = {1, 2, 17, 128, 1024, 1025, 4096, 32768};
    bool ok = true;
    heading("relative to max|v|");
    for (int64_t d = 64; d <= MAX_D; d *= 2)
        for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0] && KEYS[i] <= RDK_MOST_KEYS; i++) {
            shape s = {d, KEYS[i], queries_for(KEYS[i]), 1, 1, RDK_CAUSAL_NONE, 0};
            ok &= is_near(&s);
        }
    ASSERT(ok);
    PASS();
}

/* Every query sees another number of keys, two heads share one, chunks begin elsewhere. */
TEST error_is_within_bounds_with_causal_groups(void) {
    const shape s = {64, 1025, 4, 4, 2, RDK_CAUSAL_BOTTOM_RIGHT, 1000};
    const shape triangle = {128, 40, 40, 2, 1, RDK_CAUSAL_BOTTOM_RIGHT, 0};
    heading("causal, two query heads to a key head");
    bool ok = is_near(&s);
    ok &= is_near(&triangle);
    ASSERT(ok);
    PASS();
}

SUITE(attention_accuracy) {
    RUN_TEST(error_is_within_bounds);
    RUN_TEST(error_is_within_bounds_with_causal_groups);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(attention_accuracy);
    RDK_MAIN_END();
}
