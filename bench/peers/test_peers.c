/* Every peer that was found, against rootdk's scalar path: it must compute the same function. */
#include "tests/lib/suite.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/oracle.h"
#include "bench/peers/peer.h"

#define ROUNDING 0x1p-24 /* of one operation in float, relative */

static const peer *the_peer; /* under test */
static bool has_softmax, has_attention;

/* ---- Softmax --------------------------------------------------------------------------------- */

typedef struct softmax_shape {
    int64_t rows, cols, padding; /* of x's and y's rows */
    rdk_softmax_mode mode;
    float scale;
    bool biased;
} softmax_shape;

static const softmax_shape SOFTMAXES[] = {
    {1, 1, 0, RDK_SOFTMAX, 0, false},       {3, 7, 0, RDK_SOFTMAX, 0, false},
    {5, 197, 0, RDK_SOFTMAX, 1, false},     {5, 197, 3, RDK_SOFTMAX, 0, false},
    {16, 1000, 0, RDK_SOFTMAX, 0, false},   {16, 1000, 0, RDK_LOG_SOFTMAX, 0, false},
    {5, 197, 0, RDK_LOG_SOFTMAX, 0, false}, {5, 197, 0, RDK_SOFTMAX, 0, true},
    {5, 197, 0, RDK_LOG_SOFTMAX, 0, true},  {5, 197, 0, RDK_SOFTMAX, 0.125f, false},
    {5, 197, 0, RDK_SOFTMAX, 0.125f, true},
};

typedef struct softmax_operands {
    void *x;
    float *bias;
    void *y[2]; /* rootdk's, the peer's */
    size_t y_bytes;
} softmax_operands;

static softmax_operands softmax_make(const softmax_shape *s, rdk_type type) {
    int64_t count = s->rows * (s->cols + s->padding);
    size_t bytes = (size_t)count * type_size(type);
    softmax_operands o = {allocate(bytes),
                          allocate((size_t)count * sizeof(float)),
                          {allocate(bytes), allocate(bytes)},
                          bytes};
    fill(o.x, type, count, 1);
    fill(o.bias, RDK_F32, count, 2);
    return o;
}

static void softmax_free(const softmax_operands *o) {
    free(o->x);
    free(o->bias);
    free(o->y[0]);
    free(o->y[1]);
}

static rdk_softmax_desc softmax_desc(const softmax_shape *s, const softmax_operands *o,
                                     rdk_type type, int whose) {
    int64_t stride = s->cols + s->padding;
    return (rdk_softmax_desc){.size = sizeof(rdk_softmax_desc),
                              .isa = RDK_ISA_SCALAR,
                              .mode = s->mode,
                              .rows = s->rows,
                              .cols = s->cols,
                              .x = o->x,
                              .x_stride = stride,
                              .y = o->y[whose],
                              .y_stride = stride,
                              .x_type = type,
                              .y_type = type,
                              .scale = s->scale,
                              .bias = s->biased ? o->bias : NULL,
                              .bias_stride = stride};
}

/* The error of a weight has three parts: the sum of `cols` terms, the rounding of z - max
 * (|z| stays below 12 here, bias included, so 24 units at most), and 16 units for exp,
 * the division and rootdk's own error. A logarithm makes that an absolute error, and is
 * itself rounded a few times. */
static double softmax_tolerance(const softmax_shape *s, double value) {
    double relative = (double)(s->cols + 24 + 16) * ROUNDING;
    return s->mode == RDK_SOFTMAX ? relative * fabs(value) : relative + 4 * ROUNDING * fabs(value);
}

static bool softmax_agrees(const softmax_shape *s, const softmax_operands *o) {
    int64_t stride = s->cols + s->padding;
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t j = 0; j < s->cols; j++) {
            double ours = ((float *)o->y[0])[r * stride + j];
            double theirs = ((float *)o->y[1])[r * stride + j];
            if (fabs(ours - theirs) <= softmax_tolerance(s, ours))
                continue;
            printf("\n[%lld][%lld]: rootdk %.9g, %s %.9g\n", (long long)r, (long long)j, ours,
                   the_peer->name, theirs);
            return false;
        }
    return true;
}

static void softmax_print(const softmax_shape *s, const char *type, const char *how, double error) {
    printf("\n%s: softmax %lld x %lld %s%s%s%s: ", the_peer->name, (long long)s->rows,
           (long long)s->cols, type, s->mode == RDK_LOG_SOFTMAX ? " log" : "",
           s->scale != 0 ? " scale" : "", s->biased ? " bias" : "");
    if (how)
        printf("%s, %.2f ULP", how, error);
    else
        printf("none");
}

/* One that has a softmax has it in f32, without more. */
static bool must_have(const softmax_shape *s, rdk_type type) {
    return has_softmax && type == RDK_F32 && s->mode == RDK_SOFTMAX && !s->biased &&
           (s->scale == 0 || s->scale == 1);
}

/* Of a call that was run. A 16-bit result is half a ULP off by its last rounding alone. */
static bool softmax_is_right(const softmax_shape *s, const softmax_operands *o, rdk_type type,
                             double error) {
    return type == RDK_F32 ? softmax_agrees(s, o) : error < 0.75;
}

TEST softmax_is_softmax(const softmax_shape *s, rdk_type type) {
    softmax_operands o = softmax_make(s, type);
    rdk_softmax_desc ours = softmax_desc(s, &o, type, 0), theirs = softmax_desc(s, &o, type, 1);
    peer_call *call = the_peer->softmax(&theirs);
    bool right = rdk_softmax(&ours) == RDK_OK && (call || !must_have(s, type));
    double error = 0;
    if (call) {
        memset(o.y[1], 0xff, o.y_bytes);
        call->run(call);
        error = oracle_softmax_ulp(&theirs, s->rows);
        right = right && softmax_is_right(s, &o, type, error);
    }
    softmax_print(s, type_name(type), call ? call->how : NULL, error);
    if (call)
        call->discard(call);
    softmax_free(&o);
    ASSERT(right);
    PASS();
}

/* ---- Attention ------------------------------------------------------------------------------- */

typedef enum layout { BY_HEAD, BY_POSITION } layout;

typedef struct attention_shape {
    const char *name;
    int64_t q_heads, kv_heads, nq, nk, d_qk, d_v;
    rdk_causal causal;
    layout layout;
} attention_shape;

static const attention_shape ATTENTIONS[] = {
    {"one of everything", 1, 1, 1, 1, 1, 1, RDK_CAUSAL_NONE, BY_HEAD},
    {"odd sizes", 3, 3, 17, 33, 19, 19, RDK_CAUSAL_NONE, BY_HEAD},
    {"BERT", 12, 12, 128, 128, 64, 64, RDK_CAUSAL_NONE, BY_HEAD},
    {"many queries", 2, 2, 513, 300, 32, 32, RDK_CAUSAL_NONE, BY_HEAD},
    {"few queries of groups", 6, 2, 5, 40, 24, 40, RDK_CAUSAL_NONE, BY_HEAD},
    {"many queries of groups", 4, 2, 300, 70, 24, 24, RDK_CAUSAL_NONE, BY_HEAD},
    {"more rows in a group than a block", 16, 2, 60, 70, 24, 24, RDK_CAUSAL_NONE, BY_HEAD},
    {"decode", 4, 4, 1, 257, 64, 64, RDK_CAUSAL_NONE, BY_HEAD},
    {"decode of groups", 32, 8, 1, 1024, 128, 128, RDK_CAUSAL_NONE, BY_HEAD},
    {"decode of groups, heads that do not divide", 9, 3, 1, 70000, 16, 16, RDK_CAUSAL_NONE,
     BY_HEAD},
    {"d_qk > d_v", 2, 2, 65, 65, 192, 128, RDK_CAUSAL_NONE, BY_HEAD},
    {"causal", 2, 2, 300, 300, 32, 32, RDK_CAUSAL_BOTTOM_RIGHT, BY_HEAD},
    {"causal, fewer queries than keys", 4, 4, 70, 150, 48, 33, RDK_CAUSAL_BOTTOM_RIGHT, BY_HEAD},
    {"causal, few queries of groups", 8, 2, 7, 50, 32, 32, RDK_CAUSAL_BOTTOM_RIGHT, BY_HEAD},
    {"causal, many queries of groups", 8, 2, 270, 270, 16, 16, RDK_CAUSAL_BOTTOM_RIGHT, BY_HEAD},
    {"causal, more rows in a group than a block", 16, 2, 60, 60, 8, 8, RDK_CAUSAL_BOTTOM_RIGHT,
     BY_HEAD},
    {"causal, from a position", 2, 2, 20, 90, 32, 32, RDK_CAUSAL_FROM_POSITION, BY_HEAD},
    {"heads side by side", 3, 3, 70, 33, 20, 12, RDK_CAUSAL_NONE, BY_POSITION},
};

/* All in memory of its own; k and v twice, of other numbers. */
typedef struct attention_operands {
    float *q, *k[2], *v[2], *out[2]; /* out: rootdk's, the peer's */
    int64_t out_count;
    void *scratch;
    size_t scratch_size;
} attention_operands;

static float *draw(int64_t count, uint64_t seed) {
    float *p = allocate((size_t)count * sizeof *p);
    fill(p, RDK_F32, count, seed);
    return p;
}

static attention_operands attention_make(const attention_shape *s) {
    attention_operands o = {.q = draw(s->q_heads * s->nq * s->d_qk, 1)};
    rdk_attention_desc d = {.size = sizeof d, .d_qk = s->d_qk, .d_v = s->d_v};
    o.out_count = s->q_heads * s->nq * s->d_v;
    for (int i = 0; i < 2; i++) {
        o.k[i] = draw(s->kv_heads * s->nk * s->d_qk, (uint64_t)(2 + i));
        o.v[i] = draw(s->kv_heads * s->nk * s->d_v, (uint64_t)(4 + i));
        o.out[i] = allocate((size_t)o.out_count * sizeof(float));
    }
    rdk_attention_scratch(&d, &o.scratch_size);
    o.scratch = allocate(o.scratch_size);
    return o;
}

static void attention_free(const attention_operands *o) {
    void *all[] = {o->q, o->k[0], o->k[1], o->v[0], o->v[1], o->out[0], o->out[1], o->scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static rdk_const_view view(const attention_shape *s, const float *data, int64_t heads, int64_t rows,
                           int64_t d) {
    if (s->layout == BY_POSITION)
        return (rdk_const_view){data, 0, d, heads * d, RDK_F32};
    return (rdk_const_view){data, 0, rows * d, d, RDK_F32};
}

static rdk_attention_desc attention_desc(const attention_shape *s, const attention_operands *o,
                                         int kv, int whose) {
    rdk_const_view out = view(s, NULL, s->q_heads, s->nq, s->d_v);
    rdk_attention_desc d = {.size = sizeof d,
                            .isa = RDK_ISA_SCALAR,
                            .causal = s->causal,
                            .batch = 1,
                            .q_heads = s->q_heads,
                            .kv_heads = s->kv_heads,
                            .q_len = s->nq,
                            .kv_len = s->nk,
                            .d_qk = s->d_qk,
                            .d_v = s->d_v,
                            .q = view(s, o->q, s->q_heads, s->nq, s->d_qk),
                            .k = view(s, o->k[kv], s->kv_heads, s->nk, s->d_qk),
                            .v = view(s, o->v[kv], s->kv_heads, s->nk, s->d_v),
                            .out = {o->out[whose], 0, out.head_stride, out.row_stride, RDK_F32},
                            .scratch = o->scratch,
                            .scratch_size = o->scratch_size};
    if (s->causal == RDK_CAUSAL_FROM_POSITION) { /* half of the keys */
        d.key_pos0 = 1000;
        d.q_pos = d.key_pos0 + s->nk / 2;
    }
    return d;
}

/* The greatest of |row|. */
static double longest(const float *p, int64_t rows, int64_t d) {
    double worst = 0;
    for (int64_t r = 0; r < rows; r++) {
        double square = 0;
        for (int64_t c = 0; c < d; c++)
            square += (double)p[r * d + c] * p[r * d + c];
        worst = fmax(worst, square);
    }
    return sqrt(worst);
}

static double largest(const float *p, int64_t count) {
    double max = 0;
    for (int64_t i = 0; i < count; i++)
        max = fmax(max, fabs(p[i]));
    return max;
}

/* A score is a sum of d_qk products: it is off by d_qk + 2 units of at most scale * |q| * |k|. The
 * logarithm of a weight is off by that twice, by the score and by the sum that divides it. The two
 * sums over keys lose nk units each at most, and 32 units are for all else. In terms of the
 * largest |v|, for both sides. */
static double attention_tolerance(const attention_shape *s, const attention_operands *o, int kv) {
    double q = longest(o->q, s->q_heads * s->nq, s->d_qk);
    double k = longest(o->k[kv], s->kv_heads * s->nk, s->d_qk);
    double score = q * k / sqrt((double)s->d_qk);
    double units = 2 * (double)(s->d_qk + 2) * score + 2 * (double)s->nk + 32;
    return 2 * units * ROUNDING * largest(o->v[kv], s->kv_heads * s->nk * s->d_v);
}

static bool attention_agrees(const attention_shape *s, const attention_operands *o, int kv) {
    double tolerance = attention_tolerance(s, o, kv);
    for (int64_t i = 0; i < o->out_count; i++) {
        double ours = o->out[0][i], theirs = o->out[1][i];
        if (fabs(ours - theirs) <= tolerance)
            continue;
        printf("\nout[%lld]: rootdk %.9g, %s %.9g, tolerance %.3g\n", (long long)i, ours,
               the_peer->name, theirs, tolerance);
        return false;
    }
    return true;
}

/* With the kv-th K and V. */
static bool attention_is_right(const attention_shape *s, const attention_operands *o,
                               peer_call *call, int kv) {
    rdk_attention_desc ours = attention_desc(s, o, kv, 0);
    memset(o->out[1], 0xff, (size_t)o->out_count * sizeof(float));
    call->run(call);
    return rdk_attention(&ours) == RDK_OK && attention_agrees(s, o, kv);
}

TEST attention_is_attention(const attention_shape *s) {
    attention_operands o = attention_make(s);
    rdk_attention_desc theirs = attention_desc(s, &o, 0, 1);
    peer_call *call = the_peer->attention(&theirs);
    bool right = call != NULL;
    printf("\n%s: %s: %s", the_peer->name, s->name, call ? call->how : "none");
    for (int turn = 0; call && turn < 3; turn++) { /* to the other K and V, and back */
        if (turn)
            call->set_kv(call, o.k[turn % 2], o.v[turn % 2]);
        right = attention_is_right(s, &o, call, turn % 2) && right;
    }
    if (call) {
        printf(", %.2f units", oracle_attention_error(&theirs, 50));
        call->discard(call);
    }
    attention_free(&o);
    ASSERT(right);
    PASS();
}

/* ---- What no peer does ----------------------------------------------------------------------- */

TEST refuses_what_it_cannot_do(void) {
    const softmax_shape *x = &SOFTMAXES[1];
    const attention_shape *s = &ATTENTIONS[1];
    softmax_operands xo = softmax_make(x, RDK_F32);
    attention_operands o = attention_make(s);
    float lse[64];
    rdk_softmax_desc with_lse = softmax_desc(x, &xo, RDK_F32, 1);
    with_lse.lse = lse;
    rdk_attention_desc batches = attention_desc(s, &o, 0, 1), unseeing = batches;
    batches.batch = 2;
    unseeing.causal = RDK_CAUSAL_FROM_POSITION; /* the first queries see nothing */
    unseeing.q_pos = -3;
    bool refused = !the_peer->softmax(&with_lse) && !the_peer->attention(&batches) &&
                   !the_peer->attention(&unseeing);
    attention_free(&o);
    softmax_free(&xo);
    ASSERT(refused);
    PASS();
}

/* After everything above. */
TEST started_no_thread(void) {
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        RDK_SKIP("no /proc to count threads in");
    for (struct dirent *e; (e = readdir(tasks));)
        threads += e->d_name[0] != '.';
    closedir(tasks);
    ASSERT_EQ(1, threads);
    PASS();
}

/* ---- main ------------------------------------------------------------------------------------ */

/* By the least there is. */
static void find_out_what_it_has(void) {
    softmax_operands xo = softmax_make(&SOFTMAXES[0], RDK_F32);
    attention_operands o = attention_make(&ATTENTIONS[0]);
    rdk_softmax_desc x = softmax_desc(&SOFTMAXES[0], &xo, RDK_F32, 1);
    rdk_attention_desc a = attention_desc(&ATTENTIONS[0], &o, 0, 1);
    peer_call *calls[] = {the_peer->softmax(&x), the_peer->attention(&a)};
    has_softmax = calls[0];
    has_attention = calls[1];
    for (int i = 0; i < 2; i++)
        if (calls[i])
            calls[i]->discard(calls[i]);
    attention_free(&o);
    softmax_free(&xo);
}

TEST has_something(void) {
    ASSERT(has_softmax || has_attention);
    PASS();
}

static void test_peer(void) {
    find_out_what_it_has();
    RUN_TEST(has_something);
    for (size_t i = 0; has_softmax && i < sizeof SOFTMAXES / sizeof SOFTMAXES[0]; i++) {
        RUN_TESTp(softmax_is_softmax, &SOFTMAXES[i], RDK_F32);
        RUN_TESTp(softmax_is_softmax, &SOFTMAXES[i], RDK_F16);
        RUN_TESTp(softmax_is_softmax, &SOFTMAXES[i], RDK_BF16);
    }
    for (size_t i = 0; has_attention && i < sizeof ATTENTIONS / sizeof ATTENTIONS[0]; i++)
        RUN_TESTp(attention_is_attention, &ATTENTIONS[i]);
    RUN_TEST(refuses_what_it_cannot_do);
}

TEST is_absent(const peer_absence *a) {
    char text[200];
    snprintf(text, sizeof text, "%s %s", a->name, a->reason);
    RDK_SKIP(text);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    int count, absent_count;
    const peer *const *list = peers(&count);
    const peer_absence *absent = peers_absent(&absent_count);
    GREATEST_MAIN_BEGIN();
    for (int i = 0; i < count; i++) {
        the_peer = list[i];
        printf("\n%s %s\n", the_peer->name, the_peer->version());
        test_peer();
    }
    RUN_TEST(started_no_thread);
    for (int i = 0; i < absent_count; i++)
        RUN_TESTp(is_absent, &absent[i]);
    RDK_MAIN_END();
}
