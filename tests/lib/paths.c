#include "tests/lib/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/cpu.h"

const char *rdk_only_path(void) {
    const char *name = getenv("RDK_PATH");
    return name && *name ? name : NULL;
}

bool rdk_path_is_wanted(const path *p) {
    const char *only = rdk_only_path();
    return !only || strcmp(only, p->name) == 0;
}

/* A path that is not there would pass every test. */
static void demand_a_wanted_one(const path *paths, int count) {
    for (int i = 0; i < count; i++)
        if (rdk_path_is_wanted(&paths[i]))
            return;
    fprintf(stderr, "RDK_PATH: no path \"%s\" here\n", rdk_only_path());
    exit(EXIT_FAILURE);
}

static path *add(path paths[RDK_MAX_PATHS], int *count, const char *name, const char *executed_by) {
    path *p = &paths[(*count)++];
    *p = (path){.name = name, .executed_by = executed_by};
    rdk_table_scalar(&p->table);
    return p;
}

/* Whether kernels for `isa` are in this build. *t becomes what a CPU
 * with every feature would get. */
static bool in_build(rdk_isa isa, rdk_table *t) {
    rdk_table_fill(t, ~0u, isa);
    return t->isa == isa;
}

/* The ISAs that run through SIMDe, and their tables. Elsewhere than on x86-64 there are none. */
typedef struct emulation {
    const char *name;
    rdk_table_filler *fill; /* NULL where SIMDe is not in this build */
} emulation;

#ifdef RDK_HAVE_EMULATED
#define FILLER(name) rdk_table_##name##_emulated
#else
#define FILLER(name) NULL
#endif

static const emulation EMULATIONS[] = {
#if defined(__x86_64__)
#define EMULATION_0(name)
#define EMULATION_1(name) {#name " (SIMDe)", FILLER(name)},
#define EMULATION(NAME, name, title, architecture, needs, flags, emulated)                         \
    EMULATION_##emulated(name)
    RDK_ISAS(EMULATION)
#endif
        {NULL, NULL},
};

/* Emulation is fused only where the host fuses. */
static bool can_emulate(void) {
    return rdk_cpu_flags() & RDK_CPU_AVX2;
}

int rdk_paths(path paths[RDK_MAX_PATHS]) {
    rdk_table t;
    int count = 0;
    add(paths, &count, "scalar", "native");
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        if (in_build(isa, &t) && rdk_isa_available(isa) == RDK_OK)
            add(paths, &count, rdk_isa_name(isa), "native")->table = t;
    for (const emulation *e = EMULATIONS; e->name; e++)
        if (e->fill && can_emulate())
            e->fill(&add(paths, &count, e->name, "SIMDe")->table);
    demand_a_wanted_one(paths, count);
    return count;
}

int rdk_paths_missing(const char *reasons[RDK_MAX_PATHS]) {
    static char text[RDK_MAX_PATHS][80];
    rdk_table t;
    int count = 0;
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        if (in_build(isa, &t) && rdk_isa_available(isa) != RDK_OK) {
            snprintf(text[count], sizeof text[count], "%s, native: this CPU does not have it",
                     rdk_isa_name(isa));
            reasons[count] = text[count];
            count++;
        }
    for (const emulation *e = EMULATIONS; e->name; e++)
        if (!e->fill || !can_emulate()) {
            snprintf(text[count], sizeof text[count], "%s: %s", e->name,
                     can_emulate() ? "not in this build"
                                   : "emulation is fused only with AVX2 and FMA");
            reasons[count] = text[count];
            count++;
        }
    return count;
}
