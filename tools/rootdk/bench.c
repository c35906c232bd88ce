/* rootdk bench: a few works on every ISA beside what the machine can do, in some seconds. `make bench` measures
 * more, and more carefully. */
#include "tools/rootdk/tool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/inputs.h"
#include "bench/limits/limits.h"
#include "tools/rootdk/machine.h"

/* ---- The works ------------------------------------------------------------------------------- */

typedef enum kind { SOFTMAX, PREFILL, CAUSAL, DECODE } kind;

/* Softmax of nq rows of nk columns, or attention of nq queries over nk keys; all f32. */
typedef struct work {
    const char *name;
    kind kind;
    int64_t q_heads, kv_heads, nq, nk, d;
} work;

static const work WORKS[] = {
    {"softmax, 4096 rows of 64", SOFTMAX, 1, 1, 4096, 64, 0},
    {"softmax, 1024 rows of 1024", SOFTMAX, 1, 1, 1024, 1024, 0},
    {"prefill, 12 heads of 64, n=128", PREFILL, 12, 12, 128, 128, 64},
    {"prefill, 8 heads of 128, n=512", PREFILL, 8, 8, 512, 512, 128},
    {"causal, 8 heads of 128, n=512", CAUSAL, 8, 8, 512, 512, 128},
    {"decode, 32/8 heads of 128, n=1024", DECODE, 32, 8, 1, 1024, 128},
    {"decode, 32/8 heads of 128, n=8192", DECODE, 32, 8, 1, 8192, 128},
};

enum {
    WORK_COUNT = sizeof WORKS / sizeof WORKS[0],
    CHECKED_ROWS = 8,  /* of a softmax */
    SOFTMAX_FLOP = 20, /* of an element: nine FMAs of a weight, one product */
    DEFAULT_SECONDS = 8,
};
#define SAMPLE_SECONDS 0.001

static int64_t in_count(const work *w) {
    return w->kind == SOFTMAX ? w->nq * w->nk : w->q_heads * w->nq * w->d;
}

/* Of K, or of V. */
static int64_t kv_count(const work *w) {
    return w->kv_heads * w->nk * w->d;
}

static double flop_of(const work *w) {
    if (w->kind == SOFTMAX)
        return SOFTMAX_FLOP * (double)in_count(w);
    double all = 4.0 * (double)(w->q_heads * w->nq) * (double)w->nk * (double)w->d;
    return w->kind == CAUSAL ? all / 2 : all;
}

/* ---- A work being measured ------------------------------------------------------------------- */

typedef struct subject {
    const work *work;
    float *in, *out, *k, *v; /* in is x, or the queries; k and v one after the other */
    void *scratch;
    size_t scratch_size;
    double seconds[RDK_ISA_COUNT]; /* of a call, the best; 0 where the ISA does not run */
    double read[READ_LOOPS];       /* of K and V once */
} subject;

static rdk_softmax_desc softmax_of(const subject *s, rdk_isa isa) {
    const work *w = s->work;
    return (rdk_softmax_desc){
        .size = sizeof(rdk_softmax_desc),
        .isa = isa,
        .rows = w->nq,
        .cols = w->nk,
        .x = s->in,
        .x_stride = w->nk,
        .y = s->out,
        .y_stride = w->nk,
    };
}

static rdk_attention_desc attention_of(const subject *s, rdk_isa isa) {
    const work *w = s->work;
    return (rdk_attention_desc){
        .size = sizeof(rdk_attention_desc),
        .isa = isa,
        .causal = w->kind == CAUSAL ? RDK_CAUSAL_BOTTOM_RIGHT : RDK_CAUSAL_NONE,
        .batch = 1,
        .q_heads = w->q_heads,
        .kv_heads = w->kv_heads,
        .q_len = w->nq,
        .kv_len = w->nk,
        .d_qk = w->d,
        .d_v = w->d,
        .q = {.data = s->in, .head_stride = w->nq * w->d, .row_stride = w->d},
        .k = {.data = s->k, .head_stride = w->nk * w->d, .row_stride = w->d},
        .v = {.data = s->v, .head_stride = w->nk * w->d, .row_stride = w->d},
        .out = {.data = s->out, .head_stride = w->nq * w->d, .row_stride = w->d},
        .scratch = s->scratch,
        .scratch_size = s->scratch_size,
    };
}

static bool run(const subject *s, rdk_isa isa) {
    rdk_softmax_desc x = softmax_of(s, isa);
    rdk_attention_desc a = attention_of(s, isa);
    return (s->work->kind == SOFTMAX ? rdk_softmax(&x) : rdk_attention(&a)) == RDK_OK;
}

static void prepare(subject *s, const work *w) {
    size_t in = (size_t)in_count(w) * sizeof(float);
    *s = (subject){.work = w, .in = allocate(in), .out = allocate(in)};
    fill(s->in, RDK_F32, in_count(w), 1);
    if (w->kind == SOFTMAX)
        return;
    s->k = allocate(2 * (size_t)kv_count(w) * sizeof(float));
    s->v = s->k + kv_count(w);
    fill(s->k, RDK_F32, 2 * kv_count(w), 2);
    rdk_attention_desc d = attention_of(s, RDK_ISA_DEFAULT);
    if (rdk_attention_scratch(&d, &s->scratch_size) == RDK_OK)
        s->scratch = allocate(s->scratch_size);
}

static void discard(subject *s) {
    free(s->in);
    free(s->out);
    free(s->k);
    free(s->scratch);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Where the part begins that is compared, and how long it is: the first rows of a softmax, the last query of the
 * last head. */
static int64_t checked_at(const work *w) {
    return w->kind == SOFTMAX ? 0 : in_count(w) - w->d;
}

static int64_t checked_count(const work *w) {
    return w->kind == SOFTMAX ? CHECKED_ROWS * w->nk : w->d;
}

/* That part, by the scalar path. */
static bool expect(const subject *s, float *to) {
    const work *w = s->work;
    rdk_softmax_desc x = softmax_of(s, RDK_ISA_SCALAR);
    rdk_attention_desc a = attention_of(s, RDK_ISA_SCALAR);
    x.rows = CHECKED_ROWS;
    x.y = to;
    a.q_heads = a.kv_heads = a.q_len = 1;
    a.q.data = s->in + checked_at(w);
    a.k.data = s->k + (w->kv_heads - 1) * a.k.head_stride;
    a.v.data = s->v + (w->kv_heads - 1) * a.v.head_stride;
    a.out.data = to;
    return (w->kind == SOFTMAX ? rdk_softmax(&x) : rdk_attention(&a)) == RDK_OK;
}

/* Whether every ISA that is to be measured gives the scalar path's bits. */
static bool check(const subject *s, const bool isas[RDK_ISA_COUNT]) {
    bool right = true;
    size_t bytes = (size_t)checked_count(s->work) * sizeof(float);
    float *expected = allocate(bytes), *got = s->out + checked_at(s->work);
    bool known = expect(s, expected);
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++) {
        if (!isas[isa])
            continue;
        memset(got, 0xff, bytes);
        if (known && run(s, isa) && !memcmp(got, expected, bytes))
            continue;
        fprintf(stderr, "rootdk: %s on %s: not the scalar path's bits\n", s->work->name,
                rdk_isa_name(isa));
        right = false;
    }
    free(expected);
    return right;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_best(double *best, double seconds) {
    if (seconds > 0 && (*best == 0 || seconds < *best))
        *best = seconds;
}

/* One call that brings the operands as near as they get, then as many as fill the sample. */
static void time_kernel(subject *s, rdk_isa isa) {
    int calls = 0;
    run(s, isa);
    double start = now(), seconds;
    do {
        run(s, isa);
        calls++;
        seconds = now() - start;
    } while (seconds < SAMPLE_SECONDS);
    keep_best(&s->seconds[isa], seconds / calls);
}

static void time_reads(subject *s, const limit *l) {
    span kv = {.from = (const unsigned char *)s->k,
               .bytes = 2 * (size_t)kv_count(s->work) * sizeof(float)};
    for (int i = 0; i < l->read_count; i++) {
        double start = now();
        l->read[i].run(&kv);
        keep_best(&s->read[i], now() - start);
    }
}

typedef struct measurement {
    bool isas[RDK_ISA_COUNT];
    double fma[RDK_ISA_COUNT]; /* seconds of a call of the FMA loop */
    subject subjects[WORK_COUNT];
} measurement;

/* The widest vectors that run here read fastest. */
static const limit *widest(void) {
    const limit *found = limit_of(RDK_ISA_SCALAR);
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (limit_of(isa) && rdk_isa_available(isa) == RDK_OK)
            found = limit_of(isa);
    return found;
}

/* Everything once, so that what slows the machine down for a while slows all of it. */
static void time_all(measurement *m) {
    unsigned char sink[64];
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (m->isas[isa] && limit_of(isa) && limit_of(isa)->fma) {
            double start = now();
            limit_of(isa)->fma(sink);
            keep_best(&m->fma[isa], now() - start);
        }
    for (int i = 0; i < WORK_COUNT; i++) {
        if (m->subjects[i].work->kind == DECODE)
            time_reads(&m->subjects[i], widest());
        for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
            if (m->isas[isa])
                time_kernel(&m->subjects[i], isa);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static double peak_of(const measurement *m, rdk_isa isa) {
    return m->fma[isa] > 0 ? limit_of(isa)->flop / m->fma[isa] : 0;
}

static double best_read(const subject *s) {
    double best = 0;
    for (int i = 0; i < READ_LOOPS; i++)
        keep_best(&best, s->read[i]);
    return best;
}

static void print_row(const measurement *m, const subject *s, rdk_isa isa) {
    const work *w = s->work;
    double seconds = s->seconds[isa], peak = peak_of(m, isa);
    double bytes = 2 * (double)kv_count(w) * sizeof(float), rate = flop_of(w) / seconds;
    printf("%-34s %-7s %9.3f ms  ", w->name, rdk_isa_name(isa), seconds * 1e3);
    if (w->kind == SOFTMAX)
        printf("%7.3f ns/element", seconds * 1e9 / (double)in_count(w));
    else if (w->kind == DECODE)
        printf("%7.1f GB/s      ", bytes / seconds / 1e9);
    else
        printf("%7.1f GFLOP/s   ", rate / 1e9);
    if (w->kind == DECODE)
        printf("  %5.1f %% of a plain read\n", 100 * best_read(s) / seconds);
    else if (peak > 0)
        printf("  %5.1f %% of the FMA peak\n", 100 * rate / peak);
    else
        printf("\n");
}

static void print_all(const measurement *m) {
    char name[MACHINE_TEXT];
    const subject *largest = &m->subjects[WORK_COUNT - 1];
    printf("rootdk    %s, arithmetic %d\n", rdk_version(), rdk_arithmetic_version());
    printf("CPU       %s\n", machine_name(name));
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (peak_of(m, isa) > 0)
            printf("FMA peak  %.1f GFLOP/s (%s)\n", peak_of(m, isa) / 1e9, rdk_isa_name(isa));
    printf("read      %.1f GB/s (K and V of the last work)\n\n",
           2e-9 * (double)kv_count(largest->work) * sizeof(float) / best_read(largest));
    for (int i = 0; i < WORK_COUNT; i++)
        for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
            if (m->isas[isa])
                print_row(m, &m->subjects[i], isa);
    printf(
        "\none thread, the best of many calls; every result was compared with the scalar path\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Every vector ISA; the scalar path, a hundred times slower, if it is all there is or was asked for. */
static void choose_isas(measurement *m, rdk_isa asked) {
    bool vectors = false;
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++) {
        m->isas[isa] =
            rdk_isa_available(isa) == RDK_OK && (asked == RDK_ISA_DEFAULT || asked == isa);
        vectors = vectors || m->isas[isa];
    }
    m->isas[RDK_ISA_SCALAR] = !vectors;
}

static int measure(measurement *m, double seconds) {
    bool right = true;
    for (int i = 0; i < WORK_COUNT; i++) {
        prepare(&m->subjects[i], &WORKS[i]);
        right = check(&m->subjects[i], m->isas) && right;
    }
    if (right) {
        double end = now() + seconds;
        do
            time_all(m);
        while (now() < end);
        print_all(m);
    }
    for (int i = 0; i < WORK_COUNT; i++)
        discard(&m->subjects[i]);
    return right ? EXIT_FINE : EXIT_DIFFERENT;
}

int tool_bench(int count, char **arguments) {
    static measurement m;
    rdk_isa asked = RDK_ISA_DEFAULT;
    double seconds = DEFAULT_SECONDS;
    for (int i = 0; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        char *end;
        if (value && !strcmp(arguments[i], "--isa")) {
            if (rdk_isa_from_name(value, &asked) != RDK_OK || rdk_isa_available(asked) != RDK_OK)
                return tool_usage_error("no such ISA here", value);
        } else if (value && !strcmp(arguments[i], "--seconds")) {
            seconds = strtod(value, &end);
            if (end == value || *end || !(seconds >= 0))
                return tool_usage_error("not a number of seconds", value);
        } else {
            return tool_usage_error("no such option of bench, or its value is missing",
                                    arguments[i]);
        }
        i++;
    }
    choose_isas(&m, asked);
    return measure(&m, seconds);
}
