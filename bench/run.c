/* Checks, measures and reports. */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/check.h"
#include "bench/clock.h"

enum {
    PASSES = 4,
    MOST_EXTRA = 4,      /* times two passes more, where the halves do not agree */
    MOST_EXTRA_OWN = 16, /* the same for rootdk's rows that the FMA peak limits */
    QUICK_DIVISOR = 16,  /* of lengths and rows */
};

static void shrink_above(int64_t *n, int64_t most) {
    *n = *n > most ? *n / QUICK_DIVISOR : *n;
}

static void shrink(shape *s) {
    shrink_above(&s->rows, 15);
    shrink_above(&s->cols, 4096);
    shrink_above(&s->nk, 15);
    shrink_above(&s->nq, 64);
}

/* Returns how many contenders are wrong. */
static int set_up(run *r) {
    int wrong = 0;
    r->ring = ring_make(r->shapes, r->shape_count, r->options.quick);
    for (int i = 0; i < r->shape_count; i++) {
        subject *s = &r->subjects[r->subject_count];
        subject_prepare(s, &r->shapes[i], &r->ring);
        wrong += check_contenders(s, r->options.isas);
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
    const double end = now() + r->options.seconds;
    for (int i = 0; r->options.patient && i < MOST_EXTRA_OWN && now() < end && mark_noisy(r, i);
         i++) {
        if (plan_sample_again(&r->plan))
            return -1;
        take_results(r);
    }
    return 0;
}

int run_measure(run *r) {
    r->shape_count = shapes_choose(r->shapes, r->shape_count, r->options.only);
    if (!r->shape_count)
        return RUN_NOTHING;
    for (int i = 0; r->options.quick && i < r->shape_count; i++)
        shrink(&r->shapes[i]);
    r->plan.passes = r->options.quick ? PASSES / 2 : PASSES;
    r->plan.sample_seconds = r->options.quick ? 0.0005 : 0.002;
    r->plan.seconds = r->options.seconds;
    r->wrong = set_up(r);
    return sample(r) ? RUN_FAILED : RUN_DONE;
}

double bandwidth_of(const report *r, limit_kind kind, bool memory) {
    double best = 0;
    for (int i = 0; i < r->subject_count; i++) {
        const subject *s = &r->subjects[i];
        const reader *read = subject_reader(s);
        const timing *t = kind == LIMIT_MEMCPY ? s->copy : read ? read->timing : NULL;
        bool is_memory =
            s->operands.shape.memory || (s->copy && shape_bytes(&s->operands.shape) > 64 << 20);
        if (t && is_memory == memory)
            best = fmax(best, shape_bytes(&s->operands.shape) / t->best);
    }
    return best;
}

report run_report(const run *r) {
    return (report){&r->plan,   r->subjects,     r->subject_count,
                    r->results, r->result_count, r->options.command};
}

void run_free(run *r) {
    for (int i = 0; i < r->subject_count; i++)
        subject_free(&r->subjects[i]);
    ring_free(&r->ring);
    plan_free(&r->plan);
}
