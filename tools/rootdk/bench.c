/* rootdk bench: a few works on every ISA beside what the machine can do, in some seconds.
 * `make bench` measures more, and more carefully. */
#include "tools/rootdk/tool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/inputs.h"
#include "bench/limits/limits.h"
#include "bench/works.h"
#include "tools/rootdk/machine.h"

/* ---- A work being measured ------------------------------------------------------------------- */

enum {
    CHECKED_ROWS = 8, /* of a softmax */
    DEFAULT_SECONDS = 8,
};
#define SAMPLE_SECONDS 0.001

typedef struct subject {
    operands operands;
    double seconds[RDK_ISA_COUNT]; /* of a call, the best; 0 where the ISA does not run */
    double read[READ_LOOPS];       /* of K and V once */
} subject;

static bool is_decode(const shape *w) {
    return w->op == RDK_OP_ATTENTION && w->nq == 1;
}

static void prepare(subject *s, const shape *w) {
    rdk_attention_desc d = shape_attention(w);
    size_t scratch = 0;
    if (w->op == RDK_OP_ATTENTION)
        rdk_attention_scratch(&d, &scratch);
    operands_make(&s->operands, w, scratch);
}

static bool run(const subject *s, rdk_isa isa) {
    rdk_softmax_desc x = operands_softmax(&s->operands, isa);
    rdk_attention_desc a = operands_attention(&s->operands, isa);
    return (s->operands.shape->op == RDK_OP_SOFTMAX ? rdk_softmax(&x) : rdk_attention(&a)) ==
           RDK_OK;
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Where the compared part begins, and how long it is: the first rows of a softmax, the
 * last query of the last head. */
static int64_t checked_at(const shape *w) {
    return w->op == RDK_OP_SOFTMAX ? 0 : shape_out(w) - w->d_v;
}

static int64_t checked_count(const shape *w) {
    return w->op == RDK_OP_SOFTMAX ? CHECKED_ROWS * w->cols : w->d_v;
}

/* That part, by the scalar path. */
static bool expect(const subject *s, float *to) {
    const shape *w = s->operands.shape;
    if (w->op == RDK_OP_SOFTMAX) {
        rdk_softmax_desc x = operands_softmax(&s->operands, RDK_ISA_SCALAR);
        x.rows = CHECKED_ROWS;
        x.y = to;
        return rdk_softmax(&x) == RDK_OK;
    }
    rdk_attention_desc a = operands_attention(&s->operands, RDK_ISA_SCALAR);
    a.q_heads = a.kv_heads = a.q_len = 1;
    a.q.data = s->operands.in + shape_in(w) - w->d_qk;
    a.k.data = s->operands.k + (w->kv_heads - 1) * a.k.head_stride;
    a.v.data = s->operands.v + (w->kv_heads - 1) * a.v.head_stride;
    a.out.data = to;
    return rdk_attention(&a) == RDK_OK;
}

/* Whether every ISA that is to be measured gives the scalar path's bits. */
static bool check(const subject *s, const bool isas[RDK_ISA_COUNT]) {
    bool right = true;
    size_t bytes = (size_t)checked_count(s->operands.shape) * sizeof(float);
    float *expected = allocate(bytes), *got = s->operands.out + checked_at(s->operands.shape);
    bool known = expect(s, expected);
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++) {
        if (!isas[isa])
            continue;
        memset(got, 0xff, bytes);
        if (known && run(s, isa) && !memcmp(got, expected, bytes))
            continue;
        fprintf(stderr, "rootdk: %s on %s: not the scalar path's bits\n", s->operands.shape->name,
                rdk_isa_name(isa));
        right = false;
    }
    free(expected);
    return right;
}

/* ---- Time ------------------------------------------------------------------------------------ */

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
    span kv = {.from = (const unsigned char *)s->operands.k,
               .bytes = (size_t)shape_bytes(s->operands.shape)};
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
        if (is_decode(m->subjects[i].operands.shape))
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
    const shape *w = s->operands.shape;
    double seconds = s->seconds[isa], peak = peak_of(m, isa);
    double rate = shape_flop(w) / seconds;
    printf("%-34s %-7s %9.3f ms  ", w->name, rdk_isa_name(isa), seconds * 1e3);
    if (w->op == RDK_OP_SOFTMAX)
        printf("%7.3f ns/element", seconds * 1e9 / (double)shape_out(w));
    else if (is_decode(w))
        printf("%7.1f GB/s      ", shape_bytes(w) / seconds / 1e9);
    else
        printf("%7.1f GFLOP/s   ", rate / 1e9);
    if (is_decode(w))
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
           1e-9 * shape_bytes(largest->operands.shape) / best_read(largest));
    for (int i = 0; i < WORK_COUNT; i++)
        for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
            if (m->isas[isa])
                print_row(m, &m->subjects[i], isa);
    printf(
        "\none thread, the best of many calls; every result was compared with the scalar path\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Every vector ISA. The scalar path is a hundred times slower, so it takes part only if it is all
 * there is or was asked for. */
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
        operands_free(&m->subjects[i].operands);
    return right ? EXIT_FINE : EXIT_DIFFERENT;
}

int tool_bench(int count, char **arguments) {
    static measurement m;
    rdk_isa asked = RDK_ISA_DEFAULT;
    double seconds = DEFAULT_SECONDS;
    for (int i = 0; i < count; i += 2) {
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
    }
    choose_isas(&m, asked);
    return measure(&m, seconds);
}
