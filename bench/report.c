/* The figures in words: tables for the terminal. */
#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/rootdk/machine.h"

/* ---- Where it ran ---------------------------------------------------------------------------- */

static void print_host(const report *r) {
    char name[MACHINE_TEXT];
    int count;
    printf("rootdk    %s, arithmetic %d\n", rdk_version(), rdk_arithmetic_version());
    printf("CPU       %s\n", machine_name(name));
    printf("compiler  %s\n", RDK_BENCH_COMPILER);
    const peer *const *all = peers(&count);
    for (int i = 0; i < count; i++)
        printf("%-9s %s %s\n", i ? "" : "peers", all[i]->name, all[i]->version());
    const peer_absence *absent = peers_absent(&count);
    for (int i = 0; i < count; i++)
        printf("%-9s %s: %s\n", i ? "" : "absent", absent[i].name, absent[i].reason);
    printf("samples   %g ms each or one call, interleaved in %d passes; the best counts\n",
           r->plan->sample_seconds * 1e3, r->plan->passes_done);
}

/* ---- The limits ------------------------------------------------------------------------------ */

static void print_limits(const report *r) {
    static const char *const WHERE[] = {"in cache", "from memory"};
    const char *label = "limits";
    for (rdk_isa isa = 0; isa < RDK_ISA_COUNT; isa++)
        if (r->plan->peak[isa]) {
            printf("%-9s FMA %.1f GFLOP/s (%s)\n", label, plan_peak(r->plan, isa, PLAN_ALL) / 1e9,
                   rdk_isa_name(isa));
            label = "";
        }
    for (int memory = 0; memory < 2; memory++) {
        double read = bandwidth_of(r, LIMIT_READ, memory);
        double copy = bandwidth_of(r, LIMIT_MEMCPY, memory);
        if (read > 0)
            printf("%-9s read %.1f GB/s (%s)\n", "", read / 1e9, WHERE[memory]);
        if (copy > 0)
            printf("%-9s memcpy %.1f GB/s (%s; read + written)\n", "", copy / 1e9, WHERE[memory]);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

/* The fastest of rootdk's on the same work. */
static double rootdk_seconds(const report *r, const subject *s) {
    double best = INFINITY;
    for (int i = 0; i < r->result_count; i++)
        if (r->results[i].contender->subject == s && !r->results[i].contender->call)
            best = fmin(best, r->results[i].best);
    return best;
}

static void print_fraction(double fraction) {
    if (fraction > 0)
        printf(" %6.1f", 100 * fraction);
    else
        printf(" %6s", "-");
}

static void print_result(const report *all, const result *r, bool first) {
    const contender *c = r->contender;
    char who[64], rate[RESULT_RATE];
    snprintf(who, sizeof who, "%s %s", c->by, c->how);
    printf("%-30s %-36.36s %10.3f", first ? c->subject->operands.shape.name : "", who,
           r->best * 1e3);
    printf(" %s", result_rate(r, rate));
    for (limit_kind i = 0; i < LIMIT_COUNT; i++)
        print_fraction(r->fractions[i]);
    printf(" %7.2f %8.2f%s\n", r->best / rootdk_seconds(all, c->subject), c->error,
           r->noisy ? "  noisy" : "");
}

static void print_head(const char *group) {
    printf("\n%-30s %-36s %10s %19s %20s %7s %8s\n", group, "", "ms", "", "% of a limit", "times",
           "error");
    printf("%-30s %-36s %10s %19s %6s %6s %6s %7s %8s\n", "", "", "", "", "FMA", "read", "memcpy",
           "rootdk", "ULP");
}

static const shape *shape_of(const result *r) {
    return &r->contender->subject->operands.shape;
}

/* The time of a FLOP at the greatest length, over that at the least. */
static void print_growth(const report *r) {
    const result *first = NULL;
    for (int i = 0; i < r->result_count; i++) {
        const result *last = &r->results[i];
        if (strcmp(shape_of(last)->group, "growth"))
            continue;
        if (!first)
            first = last;
        else if (first->contender->isa == last->contender->isa)
            printf("a FLOP of \"%s\" takes %.2f times as long as one of \"%s\" on %s\n",
                   shape_of(last)->name,
                   last->best / shape_flop(shape_of(last)) * shape_flop(shape_of(first)) /
                       first->best,
                   shape_of(first)->name, last->contender->how);
    }
}

/* Whether the one is some sequences of the other at once. */
static bool is_batch_of(const shape *some, const shape *one) {
    shape alone = *some;
    alone.batch = one->batch;
    return one->op == RDK_OP_ATTENTION && one->batch == 1 && some->batch > 1 &&
           shape_k(&alone) == shape_k(one) && shape_flop(&alone) == shape_flop(one) &&
           some->nk == one->nk && some->nq == one->nq && some->layers == one->layers;
}

/* Sequences called one by one, beside one call of all. */
static void print_batches(const report *r) {
    for (int i = 0; i < r->subject_count; i++)
        for (int j = 0; j < r->subject_count; j++) {
            const shape *some = &r->subjects[i].operands.shape;
            const shape *one = &r->subjects[j].operands.shape;
            if (is_batch_of(some, one))
                printf("\"%s\" %lld times, one by one, takes %.2f times as long as \"%s\"\n",
                       one->name, (long long)some->batch,
                       rootdk_seconds(r, &r->subjects[j]) * (double)some->batch /
                           rootdk_seconds(r, &r->subjects[i]),
                       some->name);
        }
}

void report_print(const report *r) {
    const char *group = "";
    const subject *last = NULL;
    print_host(r);
    print_limits(r);
    for (int i = 0; i < r->result_count; i++) {
        const contender *c = r->results[i].contender;
        if (strcmp(group, c->subject->operands.shape.group))
            print_head(group = c->subject->operands.shape.group);
        print_result(r, &r->results[i], c->subject != last);
        last = c->subject;
    }
    print_growth(r);
    print_batches(r);
    fflush(stdout);
}
