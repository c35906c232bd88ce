/* How fast rdk_softmax is, beside what the machine can do: checked, then timed, then a table. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/limits/limits.h"
#include "bench/plan.h"
#include "bench/report_softmax.h"
#include "rootdk/rootdk.h"

/* ---- The works ------------------------------------------------------------------------------- */

typedef struct work {
    const char *name;
    int64_t rows, cols;
    rdk_type type; /* of x and of y */
    rdk_softmax_mode mode;
    bool biased; /* a bias for every element, in f32 */
} work;

static const work WORKS[] = {
    {"4096 x 64 f32", 4096, 64, RDK_F32, RDK_SOFTMAX, false},
    {"1024 x 1024 f32", 1024, 1024, RDK_F32, RDK_SOFTMAX, false},
    {"64 x 32768 f32", 64, 32768, RDK_F32, RDK_SOFTMAX, false},
    {"16 x 1048576 f32", 16, 1048576, RDK_F32, RDK_SOFTMAX, false},
    {"1024 x 197 f32", 1024, 197, RDK_F32, RDK_SOFTMAX, false},
    {"1024 x 1024 f16", 1024, 1024, RDK_F16, RDK_SOFTMAX, false},
    {"1024 x 1024 bf16", 1024, 1024, RDK_BF16, RDK_SOFTMAX, false},
    {"1024 x 1024 f32 log", 1024, 1024, RDK_F32, RDK_LOG_SOFTMAX, false},
    {"1024 x 1024 f32 bias", 1024, 1024, RDK_F32, RDK_SOFTMAX, true},
};

enum {
    WORK_COUNT = sizeof WORKS / sizeof WORKS[0],
    MAX_RESULTS = WORK_COUNT * RDK_ISA_COUNT,
    SCALAR_ELEMENTS = 16384, /* the scalar path is slow, and no faster on more rows */
    FMAS_PER_WEIGHT = 9,     /* in the contract: 3 for n and f, 6 for 2^f */
};

static int64_t elements_of(const work *w) {
    return w->rows * w->cols;
}

static size_t bytes_of(const work *w) {
    return (size_t)elements_of(w) * type_size(w->type);
}

/* Multiplications that occupy an FMA unit: those of the weight, and the one that normalises. */
static double flop_of(const work *w) {
    return 2 * (FMAS_PER_WEIGHT + (w->mode == RDK_SOFTMAX));
}

/* ---- A work being measured ------------------------------------------------------------------- */

typedef struct kernel {
    rdk_isa isa;
    rdk_softmax_desc desc;
    bench *timing;
} kernel;

typedef struct subject {
    const work *work;
    void *x, *y;
    float *bias;
    span span;
    int64_t rows_checked;
    bench *copy, *read[RDK_ISA_COUNT];
    kernel kernels[RDK_ISA_COUNT]; /* scalar first */
    int kernel_count;
} subject;

typedef struct run {
    plan plan;
    int64_t elements_checked; /* per work, at most, but one row at least */
    subject subjects[WORK_COUNT];
    int subject_count;
} run;

static void prepare(subject *s, const work *w) {
    *s = (subject){.work = w, .x = allocate(bytes_of(w)), .y = allocate(bytes_of(w))};
    fill(s->x, w->type, elements_of(w), 1);
    if (w->biased) {
        s->bias = allocate((size_t)elements_of(w) * sizeof(float));
        fill(s->bias, RDK_F32, elements_of(w), 2);
    }
    s->span = (span){.from = s->x, .bytes = bytes_of(w)};
}

static void discard(subject *s) {
    free(s->x);
    free(s->y);
    free(s->bias);
}

/* `rows` rows of the work, from `first`, into y, which begins with that row. */
static rdk_softmax_desc describe(const subject *s, rdk_isa isa, int64_t first, int64_t rows,
                                 void *y) {
    const work *w = s->work;
    return (rdk_softmax_desc){
        .size = sizeof(rdk_softmax_desc),
        .isa = isa,
        .mode = w->mode,
        .rows = rows,
        .cols = w->cols,
        .x = (const char *)s->x + (size_t)(first * w->cols) * type_size(w->type),
        .x_stride = w->cols,
        .y = y,
        .y_stride = w->cols,
        .x_type = w->type,
        .y_type = w->type,
        .bias_type = RDK_F32,
        .bias = s->bias ? s->bias + first * w->cols : NULL,
        .bias_stride = w->cols,
    };
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Spread over the work, the first and the last among them. */
static int64_t row_to_check(const subject *s, int64_t i) {
    return s->rows_checked > 1 ? i * (s->work->rows - 1) / (s->rows_checked - 1) : 0;
}

/* What the scalar path writes for the rows to check. */
static char *expected_rows(const subject *s) {
    size_t row = (size_t)s->work->cols * type_size(s->work->type);
    char *all = allocate((size_t)s->rows_checked * row);
    for (int64_t i = 0; i < s->rows_checked; i++) {
        rdk_softmax_desc d =
            describe(s, RDK_ISA_SCALAR, row_to_check(s, i), 1, all + (size_t)i * row);
        if (rdk_softmax(&d) != RDK_OK) {
            free(all);
            return NULL;
        }
    }
    return all;
}

static bool is_right(const subject *s, rdk_isa isa, const char *expected) {
    size_t row = (size_t)s->work->cols * type_size(s->work->type);
    rdk_softmax_desc d = describe(s, isa, 0, s->work->rows, s->y);
    memset(s->y, 0xff, bytes_of(s->work));
    if (rdk_softmax(&d) != RDK_OK)
        return false;
    for (int64_t i = 0; i < s->rows_checked; i++) {
        const char *got = (const char *)s->y + (size_t)row_to_check(s, i) * row;
        if (memcmp(got, expected + (size_t)i * row, row))
            return false;
    }
    return true;
}

static void add_kernel(subject *s, rdk_isa isa) {
    int64_t rows = s->work->rows;
    if (isa == RDK_ISA_SCALAR && elements_of(s->work) > SCALAR_ELEMENTS)
        rows = s->work->cols < SCALAR_ELEMENTS ? SCALAR_ELEMENTS / s->work->cols : 1;
    s->kernels[s->kernel_count++] = (kernel){isa, describe(s, isa, 0, rows, s->y), NULL};
}

/* Takes in the kernels that give the scalar path's bits; returns how many do not. */
static int check(const plan *p, subject *s, int64_t elements_checked) {
    int wrong = 0;
    int64_t rows = elements_checked / s->work->cols;
    s->rows_checked = rows < 1 ? 1 : rows > s->work->rows ? s->work->rows : rows;
    char *expected = expected_rows(s);
    if (!expected)
        return 1;
    add_kernel(s, RDK_ISA_SCALAR);
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++) {
        if (!plan_runs(p, isa))
            continue;
        if (is_right(s, isa, expected)) {
            add_kernel(s, isa);
            continue;
        }
        fprintf(stderr, "bench: %s on %s: not the scalar path's bits\n", s->work->name,
                rdk_isa_name(isa));
        wrong++;
    }
    free(expected);
    return wrong;
}

/* ---- What is timed --------------------------------------------------------------------------- */

static void run_kernel(void *context) {
    rdk_softmax(context);
}

static void run_copy(void *context) {
    const subject *s = context;
    memcpy(s->y, s->x, bytes_of(s->work));
}

/* Fewer samples of what takes long. */
static int repeats_of(const plan *p, const subject *s, rdk_isa isa) {
    bool large = bytes_of(s->work) > 32 << 20;
    int fewer = isa == RDK_ISA_SCALAR ? (large ? 40 : 4) : (large ? 2 : 1);
    return p->repeats / fewer < 3 ? 3 : p->repeats / fewer;
}

static void add_subject(plan *p, subject *s) {
    char what[48];
    int repeats = repeats_of(p, s, RDK_ISA_DEFAULT);
    s->copy = plan_add(p, s->work->name, "memcpy", repeats, run_copy, s);
    snprintf(what, sizeof what, "%s/read", s->work->name);
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (limit_of(isa) && rdk_isa_available(isa) == RDK_OK)
            s->read[isa] =
                plan_add(p, what, rdk_isa_name(isa), repeats, limit_of(isa)->read[0].run, &s->span);
    for (int i = 0; i < s->kernel_count; i++) {
        kernel *k = &s->kernels[i];
        k->timing = plan_add(p, s->work->name, rdk_isa_name(k->isa), repeats_of(p, s, k->isa),
                             run_kernel, &k->desc);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Seconds for the whole x, by the ISA that does it best. */
static double best_read(const subject *s) {
    double best = 0;
    for (rdk_isa isa = 0; isa < RDK_ISA_COUNT; isa++)
        if (s->read[isa] && (best == 0 || s->read[isa]->best < best))
            best = s->read[isa]->best;
    return best;
}

static double seconds_per_element(const kernel *k) {
    return k->timing->best / (double)(k->desc.rows * k->desc.cols);
}

static result result_of(const plan *p, const subject *s, const kernel *k) {
    double elements = (double)elements_of(s->work);
    return (result){
        .work = s->work->name,
        .isa = rdk_isa_name(k->isa),
        .type = type_name(s->work->type),
        .elements = (double)(k->desc.rows * k->desc.cols),
        .seconds = k->timing->best,
        .median = k->timing->median,
        .copy = s->copy->best / elements,
        .read = best_read(s) / elements,
        .scalar = seconds_per_element(&s->kernels[0]),
        .peak = plan_peak(p, k->isa),
        .flop = flop_of(s->work),
        .repeats = k->timing->collected,
        .rows_checked = s->rows_checked,
    };
}

static int results(const run *r, result list[MAX_RESULTS]) {
    int count = 0;
    for (int i = 0; i < r->subject_count; i++)
        for (int j = 0; j < r->subjects[i].kernel_count; j++)
            list[count++] = result_of(&r->plan, &r->subjects[i], &r->subjects[i].kernels[j]);
    return count;
}

/* A kernel faster than the machine is a measurement gone wrong; returns how many there are. */
static int count_broken(const result *list, int count) {
    int broken = 0;
    for (int i = 0; i < count; i++) {
        const char *which;
        double fraction = result_fraction(&list[i], &which);
        if (fraction > 0 && fraction <= 1)
            continue;
        fprintf(stderr, "bench: %s on %s: %.0f %% of the %s limit, a broken measurement\n",
                list[i].work, list[i].isa, fraction * 100, which);
        broken++;
    }
    return broken;
}

/* Works of one size have the same limits: only the first is shown. */
static bool size_is_new(const run *r, int i) {
    for (int j = 0; j < i; j++)
        if (bytes_of(r->subjects[j].work) == bytes_of(r->subjects[i].work))
            return false;
    return true;
}

static void report_memory(const run *r) {
    for (int i = 0; i < r->subject_count; i++) {
        const subject *s = &r->subjects[i];
        double gigabytes = (double)bytes_of(s->work) / 1e9;
        if (size_is_new(r, i))
            printf("%-9s x of %5.1f MB: read %.1f GB/s, memcpy to y %.1f GB/s (read + written)\n",
                   i ? "" : "memory", gigabytes * 1e3, gigabytes / best_read(s),
                   2 * gigabytes / s->copy->best);
    }
}

/* ---- main ------------------------------------------------------------------------------------ */

static int set_up(run *r) {
    int wrong = 0;
    plan *p = &r->plan;
    p->repeats = p->quick ? 8 : 200;
    p->sample_seconds = p->quick ? 0.001 : 0.002;
    r->elements_checked = p->quick ? 1 << 16 : 1 << 21;
    for (int i = 0; i < WORK_COUNT; i++) {
        if (!plan_wants(p, WORKS[i].name))
            continue;
        subject *s = &r->subjects[r->subject_count++];
        prepare(s, &WORKS[i]);
        wrong += check(p, s, r->elements_checked);
    }
    for (int i = 0; i < r->subject_count; i++)
        add_subject(p, &r->subjects[i]);
    plan_add_peaks(p);
    return wrong;
}

static int measure(run *r) {
    result list[MAX_RESULTS];
    int wrong = set_up(r);
    if (!r->subject_count) {
        fprintf(stderr, "bench: no work has \"%s\" in its name\n", r->plan.only);
        return 2;
    }
    if (plan_sample(&r->plan))
        return 1;
    int count = results(r, list);
    report_host();
    plan_report(&r->plan);
    report_memory(r);
    report_table(list, count);
    fflush(stdout);
    int broken = count_broken(list, count);
    if (r->plan.json && report_json(r->plan.json, list, count, result_json))
        return 1;
    return wrong || broken;
}

int main(int argc, char **argv) {
    static run r;
    int code = plan_parse(&r.plan, "bench_softmax", argc, argv);
    if (code >= 0)
        return code;
    code = measure(&r);
    for (int i = 0; i < r.subject_count; i++)
        discard(&r.subjects[i]);
    return code;
}
