/* Options, timings and peaks: the same for every bench. */
#include "bench/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/limits/limits.h"

/* ---- Options --------------------------------------------------------------------------------- */

static int usage(FILE *to, const char *program) {
    fprintf(to,
            "usage: %s [--quick] [--only TEXT] [--isa NAME] [--json FILE]\n"
            "  --quick      a few seconds: shows that it works, not how fast it is\n"
            "  --only TEXT  only the works whose name has TEXT in it\n"
            "  --isa NAME   only the kernels of that ISA, and the scalar ones where needed\n"
            "  --json FILE  also write the results, one JSON object per line\n",
            program);
    return to == stdout ? 0 : 2;
}

static int set_isa(plan *p, const char *name) {
    if (rdk_isa_from_name(name, &p->isa) == RDK_OK && rdk_isa_available(p->isa) == RDK_OK)
        return -1;
    fprintf(stderr, "bench: no ISA \"%s\" here\n", name);
    return 2;
}

int plan_parse(plan *p, const char *program, int argc, char **argv) {
    int code = -1;
    for (int i = 1; i < argc && code < 0; i++) {
        if (!strcmp(argv[i], "--help"))
            code = usage(stdout, program);
        else if (!strcmp(argv[i], "--quick"))
            p->quick = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            p->only = argv[++i];
        else if (!strcmp(argv[i], "--isa") && i + 1 < argc)
            code = set_isa(p, argv[++i]);
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            p->json = argv[++i];
        else
            code = usage(stderr, program);
    }
    return code;
}

bool plan_wants(const plan *p, const char *work) {
    return !p->only || strstr(work, p->only);
}

bool plan_runs(const plan *p, rdk_isa isa) {
    return (p->isa == RDK_ISA_DEFAULT || p->isa == isa) && rdk_isa_available(isa) == RDK_OK;
}

/* ---- Timings --------------------------------------------------------------------------------- */

bench *plan_add(plan *p, const char *what, const char *isa, int repeats, void (*run)(void *),
                void *context) {
    if (p->bench_count == PLAN_MAX_BENCHES) {
        fprintf(stderr, "bench: more than %d timings\n", PLAN_MAX_BENCHES);
        exit(1);
    }
    char *name = p->names[p->bench_count];
    bench *b = &p->benches[p->bench_count++];
    snprintf(name, PLAN_MAX_NAME, "%s/%s", what, isa);
    *b = (bench){.name = name, .run = run, .context = context, .repeats = repeats};
    return b;
}

void plan_add_peaks(plan *p) {
    int repeats = p->quick ? 8 : 200; /* every share depends on them, and they take little time */
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (plan_runs(p, isa) && limit_of(isa) && limit_of(isa)->fma)
            p->peak[isa] =
                plan_add(p, "FMA", rdk_isa_name(isa), repeats, limit_of(isa)->fma, p->sink);
}

double plan_peak(const plan *p, rdk_isa isa) {
    return p->peak[isa] ? limit_of(isa)->flop / p->peak[isa]->best : 0;
}

int plan_sample(plan *p) {
    if (!shim_run(p->benches, (size_t)p->bench_count, p->sample_seconds))
        return 0;
    fprintf(stderr, "bench: samples are missing\n");
    return -1;
}

void plan_report(const plan *p) {
    const char *comma = "";
    printf("samples   %d of each or fewer of slow ones, %g ms each, interleaved; the best counts\n",
           p->repeats, p->sample_seconds * 1e3);
    printf("FMA peak  ");
    for (rdk_isa isa = 0; isa < RDK_ISA_COUNT; isa++)
        if (p->peak[isa]) {
            printf("%s%s %.1f GFLOP/s", comma, rdk_isa_name(isa), plan_peak(p, isa) / 1e9);
            comma = ", ";
        }
    printf("%s\n", *comma ? "" : "-");
}
