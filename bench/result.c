/* What was measured, held against the limits. */
#include "bench/result.h"

#include <math.h>
#include <stdio.h>

#define NOISE 0.03     /* that the halves of a run may differ by */
#define DISTURBED 1.25 /* the middle sample over the best: half of the samples were disturbed */

const char *const LIMIT_NAMES[LIMIT_COUNT] = {"fma", "read", "memcpy"};

/* Whose peak a contender is held against: that of its own instructions, or the highest there is. */
static rdk_isa peak_isa(const plan *p, rdk_isa isa) {
    rdk_isa best = isa;
    for (rdk_isa other = 0; plan_peak(p, isa, PLAN_ALL) == 0 && other < RDK_ISA_COUNT; other++)
        if (plan_peak(p, other, PLAN_ALL) > plan_peak(p, best, PLAN_ALL))
            best = other;
    return best;
}

/* What such a limit was measured by; NULL where there is none. */
static const timing *limit_timing(const plan *p, const contender *c, limit_kind kind) {
    const reader *read = subject_reader(c->subject);
    if (kind == LIMIT_FMA)
        return p->peak[peak_isa(p, c->isa)];
    if (kind == LIMIT_READ)
        return read ? read->timing : NULL;
    return c->subject->copy;
}

static bool is_disturbed(const timing *t) {
    return t && t->median > DISTURBED * t->best;
}

/* Seconds that a limit leaves to the work, 0 where there is no such limit. */
static double limit_seconds(const plan *p, const contender *c, limit_kind kind, int half) {
    const timing *t = limit_timing(p, c, kind);
    if (!t)
        return 0;
    if (kind == LIMIT_FMA)
        return shape_flop(&c->subject->operands.shape) / plan_peak(p, peak_isa(p, c->isa), half);
    return timing_seconds(t, half);
}

static double fraction_of(const plan *p, const contender *c, limit_kind kind, int half) {
    return limit_seconds(p, c, kind, half) / (timing_seconds(c->timing, half) / c->share);
}

result result_of(const plan *p, const contender *c) {
    result r = {
        .contender = c, .best = c->timing->best / c->share, .median = c->timing->median / c->share};
    for (limit_kind i = 0; i < LIMIT_COUNT; i++) {
        r.fractions[i] = fraction_of(p, c, i, PLAN_ALL);
        if (r.fractions[i] > r.fractions[r.limit])
            r.limit = i;
    }
    double first = fraction_of(p, c, r.limit, 0), second = fraction_of(p, c, r.limit, 1);
    r.disturbed = is_disturbed(c->timing) || is_disturbed(limit_timing(p, c, r.limit)) ||
                  r.fractions[r.limit] > 1;
    r.noisy = !(fabs(first - second) <= NOISE * fmax(first, second));
    return r;
}

const char *result_rate(const result *r, char text[RESULT_RATE]) {
    const shape *s = &r->contender->subject->operands.shape;
    if (s->op == RDK_OP_SOFTMAX)
        snprintf(text, RESULT_RATE, "%8.3f ns/element", r->best * 1e9 / (double)shape_in(s));
    else if (s->nq == 1)
        snprintf(text, RESULT_RATE, "%8.1f GB/s      ", shape_bytes(s) / r->best / 1e9);
    else
        snprintf(text, RESULT_RATE, "%8.1f GFLOP/s   ", shape_flop(s) / r->best / 1e9);
    return text;
}

double result_fraction(const result *r) {
    return r->fractions[r->limit];
}

void result_again(const result *r) {
    const subject *s = r->contender->subject;
    r->contender->timing->again = true;
    for (int i = 0; i < s->reader_count; i++)
        s->readers[i].timing->again = true;
    if (s->copy)
        s->copy->again = true;
}
