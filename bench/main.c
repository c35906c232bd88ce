/* bench: how fast rootdk is, beside the limits of the machine and other libraries. Everything is
 * checked, then timed, then shown in a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/run.h"

#define SECONDS 160.0

typedef struct options {
    const char *shapes, *json;
    run_options run;
} options;

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
    rdk_isa isa;
    if (rdk_isa_from_name(name, &isa) == RDK_OK && rdk_isa_available(isa) == RDK_OK) {
        for (rdk_isa other = RDK_ISA_SCALAR; isa != RDK_ISA_DEFAULT && other < RDK_ISA_COUNT;
             other++)
            o->run.isas[other] = other == isa;
        return -1;
    }
    fprintf(stderr, "bench: no ISA \"%s\" here\n", name);
    return 2;
}

static int set_seconds(options *o, const char *value) {
    if (is_seconds(value, &o->run.seconds) && o->run.seconds > 0)
        return -1;
    fprintf(stderr, "bench: not a number of seconds: \"%s\"\n", value);
    return 2;
}

static int set_option(options *o, const char *name, const char *value) {
    if (!strcmp(name, "--isa"))
        return set_isa(o, value);
    if (!strcmp(name, "--seconds"))
        return set_seconds(o, value);
    const char **text = !strcmp(name, "--only")      ? &o->run.only
                        : !strcmp(name, "--json")    ? &o->json
                        : !strcmp(name, "--command") ? &o->run.command
                                                     : NULL;
    if (!text)
        return usage(stderr);
    *text = value;
    return -1;
}

/* Returns -1 to go on, or the exit code. */
static int parse(options *o, int argc, char **argv) {
    int code = -1;
    *o = (options){.run = {.command = "bench", .seconds = SECONDS}};
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        o->run.isas[isa] = true;
    for (int i = 1; i < argc && code < 0; i++) {
        if (!strcmp(argv[i], "--help"))
            code = usage(stdout);
        else if (!strcmp(argv[i], "--quick"))
            o->run.quick = true;
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

static int report_all(const run *r, const char *json) {
    report all = run_report(r);
    report_print(&all);
    int broken = count_broken(r);
    if (json && report_write(&all, json))
        return 1;
    return r->wrong || broken;
}

static int measure(run *r, const options *o) {
    r->options = o->run;
    r->options.patient = !o->run.quick;
    if (o->run.quick)
        r->options.seconds = 1;
    r->shape_count = shapes_read(o->shapes, r->shapes, MAX_SHAPES);
    int done = r->shape_count < 0 ? RUN_NOTHING : run_measure(r);
    return done == RUN_DONE ? report_all(r, o->json) : done;
}

int main(int argc, char **argv) {
    static run r;
    options o;
    int code = parse(&o, argc, argv);
    if (code >= 0)
        return code;
    code = measure(&r, &o);
    run_free(&r);
    return code;
}
