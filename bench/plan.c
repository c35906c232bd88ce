/* Passes over all timings. */
#define _POSIX_C_SOURCE 200809L /* for isatty() */
#include "bench/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/inputs.h"
#include "bench/limits/limits.h"
#include "bench/samples.h"
#include "bench/team.h"

enum {
    MAX_PASSES = 64,
    MAX_REPEATS = 40, /* in a pass */
    MIN_REPEATS = 5,  /* the same, where a call is no longer than LONG_CALL */
};
#define LONG_CALL 0.25 /* seconds */

/* ---- Timings --------------------------------------------------------------------------------- */

timing *plan_add(plan *p, const char *what, const char *who, void (*run)(void *), void *context,
                 bool cold) {
    if (p->count == PLAN_MAX_TIMINGS) {
        fprintf(stderr, "bench: more than %d timings\n", PLAN_MAX_TIMINGS);
        exit(1);
    }
    timing *t = &p->timings[p->count++];
    snprintf(t->name, sizeof t->name, "%s/%s", what, who);
    t->bench = (bench){.name = t->name, .run = run, .context = context, .cold = cold};
    return t;
}

static void run_loop(void *context, int i) {
    unsigned char sink[64];
    (void)i;
    limit_of(*(const rdk_isa *)context)->fma(sink);
}

static void run_peak(void *context) {
    team_run(team_size(), run_loop, context);
}

void plan_add_peaks(plan *p) {
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (rdk_isa_available(isa) == RDK_OK && limit_of(isa) && limit_of(isa)->fma) {
            p->isas[isa] = isa;
            p->peak[isa] = plan_add(p, "FMA", rdk_isa_name(isa), run_peak, &p->isas[isa], false);
        }
}

double timing_seconds(const timing *t, int half) {
    return half == PLAN_ALL ? t->best : t->half[half];
}

double plan_peak(const plan *p, rdk_isa isa, int half) {
    return p->peak[isa] ? team_size() * limit_of(isa)->flop / timing_seconds(p->peak[isa], half)
                        : 0;
}

/* ---- How often ------------------------------------------------------------------------------- */

/* As many as fit in the timing's part of a pass. The best of very few would be
 * that of a disturbed machine. */
static void set_repeats(const plan *p, timing *t) {
    double start = now(), part = p->seconds / p->passes / p->count, call, sample;
    t->bench.run(t->bench.context);
    call = now() - start;
    sample = (call > p->sample_seconds ? call : p->sample_seconds) + (t->bench.cold ? 0 : call);
    double fit = part / sample;
    int least = call > LONG_CALL ? 1 : MIN_REPEATS;
    t->bench.repeats = fit < least ? least : fit > MAX_REPEATS ? MAX_REPEATS : (int)fit;
    t->bench.room = t->bench.repeats * MAX_PASSES;
    t->bench.samples = allocate((size_t)t->bench.room * sizeof(double));
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* Samples taken in this pass, and how many there will be, for the line that shows the progress. */
static struct progress { int pass, passes, done, all, shown; } progress;

/* Only where somebody is looking. */
static void show(const char *text) {
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%-40s\r%s", "", text);
    fflush(stderr);
}

/* Looking for the number of calls in a sample takes some more than were asked for. */
static void tick(void) {
    char text[40];
    progress.done += progress.done < progress.all;
    int part = (100 * progress.pass + 100 * progress.done / progress.all) / progress.passes;
    if (part == progress.shown)
        return;
    progress.shown = part;
    snprintf(text, sizeof text, "measuring  %d %%", part);
    show(text);
}

static void note_pass(timing *t, int first, int half) {
    for (int i = first; i < t->bench.count; i++) {
        samples_keep_best(&t->half[half], t->bench.samples[i]);
        samples_keep_best(&t->best, t->bench.samples[i]);
    }
}

static int run_pass(plan *p, timing *const *list, int count) {
    bench *benches[PLAN_MAX_TIMINGS] = {NULL};
    int first[PLAN_MAX_TIMINGS];
    for (int i = 0; i < count; i++) {
        benches[i] = &list[i]->bench;
        first[i] = list[i]->bench.count;
        progress.all += list[i]->bench.repeats;
    }
    if (shim_run(benches, (size_t)count, p->sample_seconds, tick)) {
        fprintf(stderr, "bench: samples are missing\n");
        return -1;
    }
    for (int i = 0; i < count; i++)
        note_pass(list[i], first[i], p->passes_done % 2);
    p->passes_done++;
    return 0;
}

static int run_passes(plan *p, timing *const *list, int count, int passes) {
    for (int i = 0; i < passes; i++) {
        progress = (struct progress){.pass = i, .passes = passes, .shown = -1};
        if (run_pass(p, list, count))
            return -1;
    }
    show("");
    for (int i = 0; i < count; i++) {
        bench *b = &list[i]->bench;
        samples_sort(b->samples, b->count);
        list[i]->median = samples_quarter(b->samples, b->count, 2);
    }
    return 0;
}

int plan_sample(plan *p) {
    timing *list[PLAN_MAX_TIMINGS];
    for (int i = 0; i < p->count; i++) {
        list[i] = &p->timings[i];
        set_repeats(p, list[i]);
    }
    return run_passes(p, list, p->count, p->passes);
}

int plan_sample_again(plan *p) {
    timing *list[PLAN_MAX_TIMINGS];
    int count = 0;
    for (rdk_isa isa = 0; isa < RDK_ISA_COUNT; isa++)
        if (p->peak[isa])
            p->peak[isa]->again = true;
    for (int i = 0; i < p->count; i++)
        if (p->timings[i].again)
            list[count++] = &p->timings[i];
    for (int i = 0; i < count; i++)
        list[i]->again = false;
    return run_passes(p, list, count, 2);
}

void plan_free(plan *p) {
    for (int i = 0; i < p->count; i++)
        free(p->timings[i].bench.samples);
}
