/* What was measured, held against the limits. */
#include "bench/result.h"

#include <math.h>

#define NOISE 0.03 /* that the halves of a run may differ by */

const char *const LIMIT_NAMES[LIMIT_COUNT] = {"fma", "read", "memcpy"};

/* FLOP/s that the contender could reach: of its own instructions, or of the best there are. */
static double peak_of(const plan *p, rdk_isa isa, int half) {
    double best = 0;
    if (plan_peak(p, isa, half) > 0)
        return plan_peak(p, isa, half);
    for (rdk_isa other = 0; other < RDK_ISA_COUNT; other++)
        best = fmax(best, plan_peak(p, other, half));
    return best;
}

/* Seconds that a limit leaves to the work, 0 where there is no such limit. */
static double limit_seconds(const plan *p, const contender *c, limit_kind kind, int half) {
    const subject *s = c->subject;
    const reader *read = subject_reader(s);
    double peak = peak_of(p, c->isa, half);
    if (kind == LIMIT_FMA)
        return peak > 0 ? shape_flop(&s->operands.shape) / peak : 0;
    if (kind == LIMIT_READ)
        return read ? timing_seconds(read->timing, half) : 0;
    return s->copy ? timing_seconds(s->copy, half) : 0;
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
    r.noisy = !(fabs(first - second) <= NOISE * fmax(first, second));
    return r;
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
