/* bench: how fast rootdk is, beside the limits of the machine and other libraries. Everything is
 * checked, then timed, then shown in a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/check.h"
#include "bench/report.h"

enum {
    MAX_SHAPES = 128,
    MAX_RESULTS = MAX_SHAPES * MAX_CONTENDERS,
    PASSES = 4,
    MOST_EXTRA = 4,      /* times two passes more, where the halves do not agree */
    MOST_EXTRA_OWN = 16, /* the same for rootdk's rows that the FMA peak limits */
    QUICK_DIVISOR = 16,  /* of lengths and rows */
};
#define SECONDS 160.0

typedef struct options {
    const char *shapes, *json, *only, *command;
    rdk_isa isa;
    double seconds;
    bool quick;
} options;

typedef struct run {
    options options;
    shape shapes[MAX_SHAPES];
    ring ring;
    subject subjects[MAX_SHAPES];
    int subject_count;
    plan plan;
    result results[MAX_RESULTS];
    int result_count;
} run;

/* ---- Options --------------------------------------------------------------------------------- */

static int usage(FILE *to) {
    fprintf(to,
            "usage: bench SHAPES [--quick] [--only TEXT] [--isa NAME] [--seconds N] [--json FILE] "
            "[--command TEXT]\n"
            "  SHAPES          what to measure, a file like bench/shapes.ini\n"
            "  --quick         a few seconds, small: shows that it works, not how fast it is\n"
            "  --only TEXT     only the works whose name has TEXT in it\n"
            "  --isa NAME      of rootdk's kernels only those of that ISA\n"
            "  --seconds N     to spend on measuring, roughly (%.0f)\n"
            "  --json FILE     also write the results there\n"
            "  --command TEXT  what the results say of how they were measured\n",
            SECONDS);
    return to == stdout ? 0 : 2;
}

static int set_isa(options *o, const char *name) {
    if (rdk_isa_from_name(name, &o->isa) == RDK_OK && rdk_isa_available(o->isa) == RDK_OK)
        return -1;
    fprintf(stderr, "bench: no ISA \"%s\" here\n", name);
    return 2;
}

static int set_seconds(options *o, const char *value) {
    char *end;
    o->seconds = strtod(value, &end);
    if (end != value && !*end && o->seconds > 0 && o->seconds < 1e6)
        return -1;
    fprintf(stderr, "bench: not a number of seconds: \"%s\"\n", value);
    return 2;
}

static int set_option(options *o, const char *name, const char *value) {
    if (!strcmp(name, "--isa"))
        return set_isa(o, value);
    if (!strcmp(name, "--seconds"))
        return set_seconds(o, value);
    const char **text = !strcmp(name, "--only")      ? &o->only
                        : !strcmp(name, "--json")    ? &o->json
                        : !strcmp(name, "--command") ? &o->command
                                                     : NULL;
    if (!text)
        return usage(stderr);
    *text = value;
    return -1;
}

/* Returns -1 to go on, or the exit code. */
static int parse(options *o, int argc, char **argv) {
    int code = -1;
    *o = (options){.command = "bench", .seconds = SECONDS};
    for (int i = 1; i < argc && code < 0; i++) {
        if (!strcmp(argv[i], "--help"))
            code = usage(stdout);
        else if (!strcmp(argv[i], "--quick"))
            o->quick = true;
        else if (argv[i][0] != '-' && !o->shapes)
            o->shapes = argv[i];
        else if (i + 1 < argc)
            code = set_option(o, argv[i], argv[i + 1]), i++;
        else
            code = usage(stderr);
    }
    return code < 0 && !o->shapes ? usage(stderr) : code;
}

/* ---- The run --------------------------------------------------------------------------------- */

static void shrink_above(int64_t *n, int64_t most) {
    *n = *n > most ? *n / QUICK_DIVISOR : *n;
}

static void shrink(shape *s) {
    shrink_above(&s->rows, 15);
    shrink_above(&s->cols, 4096);
    shrink_above(&s->nk, 15);
    shrink_above(&s->nq, 64);
}

/* Keeps those that are wanted, as large as they are wanted; returns how many. */
static int choose(run *r, int shape_count) {
    int kept = 0;
    for (int i = 0; i < shape_count; i++) {
        if (r->options.only && !strstr(r->shapes[i].name, r->options.only))
            continue;
        r->shapes[kept] = r->shapes[i];
        if (r->options.quick)
            shrink(&r->shapes[kept]);
        kept++;
    }
    return kept;
}

/* Returns how many contenders are wrong. */
static int set_up(run *r, int shape_count) {
    int wrong = 0;
    r->ring = ring_make(r->shapes, shape_count, r->options.quick);
    for (int i = 0; i < shape_count; i++) {
        subject *s = &r->subjects[r->subject_count];
        subject_prepare(s, &r->shapes[i], &r->ring);
        wrong += check_contenders(s, r->options.isa);
        subject_time(s, &r->plan);
        r->subject_count++;
    }
    plan_add_peaks(&r->plan);
    return wrong;
}

static void take_results(run *r) {
    r->result_count = 0;
    for (int i = 0; i < r->subject_count; i++)
        for (int j = 0; j < r->subjects[i].contender_count; j++)
            r->results[r->result_count++] = result_of(&r->plan, &r->subjects[i].contenders[j]);
}

static bool is_own_and_computes(const result *x) {
    return x->limit == LIMIT_FMA && !strcmp(x->contender->by, "rootdk");
}

/* Measures again, for the n-th time, what the machine's noise has spoilt; returns how many. */
static int mark_noisy(run *r, int n) {
    int noisy = 0;
    for (int i = 0; i < r->result_count; i++)
        if (r->results[i].noisy && (n < MOST_EXTRA || is_own_and_computes(&r->results[i]))) {
            result_again(&r->results[i]);
            noisy++;
        }
    return noisy;
}

static int sample(run *r) {
    if (plan_sample(&r->plan))
        return -1;
    take_results(r);
    for (int i = 0; !r->options.quick && i < MOST_EXTRA_OWN && mark_noisy(r, i); i++) {
        if (plan_sample_again(&r->plan))
            return -1;
        take_results(r);
    }
    return 0;
}

/* Faster than the machine is a measurement gone wrong; returns how many there are. */
static int count_broken(const run *r) {
    int broken = 0;
    for (int i = 0; i < r->result_count; i++) {
        const result *x = &r->results[i];
        double fraction = result_fraction(x);
        if (fraction > 0 && fraction <= 1)
            continue;
        fprintf(stderr, "bench: %s by %s %s: %.1f %% of the limit %s, a broken measurement\n",
                x->contender->subject->operands.shape.name, x->contender->by, x->contender->how,
                100 * fraction, LIMIT_NAMES[x->limit]);
        broken++;
    }
    return broken;
}

static int measure(run *r) {
    int shape_count = shapes_read(r->options.shapes, r->shapes, MAX_SHAPES);
    if (shape_count < 0)
        return 2;
    r->plan.passes = r->options.quick ? 2 : PASSES;
    r->plan.sample_seconds = r->options.quick ? 0.0005 : 0.002;
    r->plan.seconds = r->options.quick ? 1 : r->options.seconds;
    shape_count = choose(r, shape_count);
    if (!shape_count) {
        fprintf(stderr, "bench: no work has that name\n");
        return 2;
    }
    int wrong = set_up(r, shape_count);
    if (sample(r))
        return 1;
    report all = {&r->plan,   r->subjects,     r->subject_count,
                  r->results, r->result_count, r->options.command};
    report_print(&all);
    int broken = count_broken(r);
    if (r->options.json && report_write(&all, r->options.json))
        return 1;
    return wrong || broken;
}

int main(int argc, char **argv) {
    static run r;
    int code = parse(&r.options, argc, argv);
    if (code >= 0)
        return code;
    code = measure(&r);
    for (int i = 0; i < r.subject_count; i++)
        subject_free(&r.subjects[i]);
    ring_free(&r.ring);
    plan_free(&r.plan);
    return code;
}
