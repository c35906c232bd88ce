/* rootdk bench: a few works, or those of a file, on every ISA beside what the machine can do, in
 * some seconds. `make bench` measures more, and more carefully. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/run.h"
#include "bench/team.h"
#include "bench/works.h"
#include "tools/rootdk/machine.h"
#include "tools/rootdk/tool.h"

#define SECONDS 8.0
#define QUICK_SECONDS 0.5

/* ---- The table ------------------------------------------------------------------------------- */

/* A share that another process has spoilt would only mislead. */
static void print_share(const result *r) {
    static const char *const LIMITS[LIMIT_COUNT] = {"the FMA peak", "a plain read", "memcpy"};
    if (result_fraction(r) == 0) /* the scalar path, where nothing says what could be reached */
        printf("\n");
    else if (r->disturbed)
        printf("  disturbed: no share of %s\n", LIMITS[r->limit]);
    else
        printf("  %7.1f %% of %s\n", 100 * result_fraction(r), LIMITS[r->limit]);
}

static void print_row(const result *r) {
    char rate[RESULT_RATE];
    printf("%-34s %-7s %9.3f ms", r->contender->subject->operands.shape.name, r->contender->how,
           r->best * 1e3);
    printf("  %s", result_rate(r, rate));
    print_share(r);
}

static void print_head(const report *all, bool quick) {
    char name[MACHINE_TEXT];
    double read = quick ? 0 : bandwidth_of(all, LIMIT_READ, true);
    printf("rootdk    %s, arithmetic %d\n", rdk_version(), rdk_arithmetic_version());
    printf("CPU       %s\n", machine_name(name));
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (plan_peak(all->plan, isa, PLAN_ALL) > 0)
            printf("FMA peak  %.1f GFLOP/s (%s)\n", plan_peak(all->plan, isa, PLAN_ALL) / 1e9,
                   rdk_isa_name(isa));
    if (read > 0)
        printf("read      %.1f GB/s (from memory)\n", read / 1e9);
    printf("\n");
}

static void print_all(const report *all, bool quick) {
    int disturbed = 0;
    print_head(all, quick);
    for (int i = 0; i < all->result_count; i++) {
        print_row(&all->results[i]);
        disturbed += all->results[i].disturbed;
    }
    printf(
        "\n%d thread%s, the best of many calls; every result was compared with the scalar path\n",
        team_size(), team_size() > 1 ? "s" : "");
    if (disturbed)
        printf(
            "disturbed: the middle sample took much longer than the best, here or of the limit, so "
            "something\nelse was running; once more on an idle machine\n");
}

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct options {
    const char *shapes, *json;
    rdk_isa isa;
    double seconds; /* negative: unsaid */
    int threads;
    bool quick;
} options;

static int set_threads(options *o, const char *value) {
    char *end;
    long threads = strtol(value, &end, 10);
    o->threads = (int)threads;
    return end != value && !*end && threads >= 1 && threads <= MAX_THREADS
               ? EXIT_FINE
               : tool_usage_error("not a number of threads", value);
}

static int set_option(options *o, const char *name, const char *value) {
    if (value && !strcmp(name, "--threads"))
        return set_threads(o, value);
    if (value && !strcmp(name, "--isa"))
        return rdk_isa_from_name(value, &o->isa) == RDK_OK && rdk_isa_available(o->isa) == RDK_OK
                   ? EXIT_FINE
                   : tool_usage_error("no such ISA here", value);
    if (value && !strcmp(name, "--seconds"))
        return is_seconds(value, &o->seconds) ? EXIT_FINE
                                              : tool_usage_error("not a number of seconds", value);
    const char **text = !strcmp(name, "--shapes") ? &o->shapes
                        : !strcmp(name, "--json") ? &o->json
                                                  : NULL;
    if (!value || !text)
        return tool_usage_error("no such option of bench, or its value is missing", name);
    *text = value;
    return EXIT_FINE;
}

static int parse(options *o, int count, char **arguments) {
    int code = EXIT_FINE;
    *o = (options){.isa = RDK_ISA_DEFAULT, .seconds = -1, .threads = 1};
    for (int i = 0; i < count && code == EXIT_FINE; i++)
        if (!strcmp(arguments[i], "--quick"))
            o->quick = true;
        else
            code = set_option(o, arguments[i], i + 1 < count ? arguments[i + 1] : NULL), i++;
    return code;
}

/* Every vector ISA. The scalar path is a hundred times slower, so it takes part only if it is all
 * there is or was asked for. */
static void choose_isas(bool isas[RDK_ISA_COUNT], rdk_isa asked) {
    bool vectors = false;
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++) {
        isas[isa] = rdk_isa_available(isa) == RDK_OK && (asked == RDK_ISA_DEFAULT || asked == isa);
        vectors = vectors || isas[isa];
    }
    isas[RDK_ISA_SCALAR] = !vectors;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int choose_shapes(run *r, const char *path) {
    if (path)
        return shapes_read(path, r->shapes, MAX_SHAPES);
    memcpy(r->shapes, WORKS, sizeof WORKS);
    return WORK_COUNT;
}

static int measure(run *r, const options *o) {
    double seconds = o->quick ? QUICK_SECONDS : SECONDS;
    r->options = (run_options){.command = "rootdk bench",
                               .seconds = o->seconds < 0 ? seconds : o->seconds,
                               .quick = o->quick};
    choose_isas(r->options.isas, o->isa);
    r->shape_count = choose_shapes(r, o->shapes);
    int done = r->shape_count < 0 ? RUN_NOTHING : run_measure(r);
    if (done != RUN_DONE)
        return done == RUN_NOTHING ? EXIT_USAGE : EXIT_DIFFERENT;
    report all = run_report(r);
    print_all(&all, o->quick);
    bool written = !o->json || !report_write(&all, o->json);
    return r->wrong || !written ? EXIT_DIFFERENT : EXIT_FINE;
}

int tool_bench(int count, char **arguments) {
    static run r;
    options o;
    int code = parse(&o, count, arguments);
    if (code != EXIT_FINE)
        return code;
    if (!team_start(o.threads)) {
        fprintf(stderr, "rootdk: there are no %d threads to have\n", o.threads);
        return EXIT_DIFFERENT;
    }
    code = measure(&r, &o);
    run_free(&r);
    team_stop();
    return code;
}
