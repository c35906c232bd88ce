#include "tests/paths.h"

#include <stdio.h>

#include "dispatch/cpu.h"

static path *add(path paths[RDK_MAX_PATHS], int *count, const char *name, const char *executed_by) {
    path *p = &paths[(*count)++];
    *p = (path){.name = name, .executed_by = executed_by};
    rdk_table_scalar(&p->table);
    return p;
}

/* Whether kernels for `isa` are in this build; their table is what a CPU with everything would get. */
static bool in_build(rdk_isa isa, rdk_table *t) {
    rdk_table_fill(t, ~0u, isa);
    return t->isa == isa;
}

int rdk_paths(path paths[RDK_MAX_PATHS]) {
    rdk_table t;
    int count = 0;
    add(paths, &count, "scalar", "native");
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        if (in_build(isa, &t) && rdk_isa_available(isa) == RDK_OK)
            add(paths, &count, rdk_isa_name(isa), "native")->table = t;
#ifdef RDK_HAVE_EMULATED
    if (rdk_cpu_flags() & RDK_CPU_AVX2) {
        rdk_table_avx512_emulated(&add(paths, &count, "avx512 (SIMDe)", "SIMDe")->table);
        rdk_table_neon_emulated(&add(paths, &count, "neon (SIMDe)", "SIMDe")->table);
    }
#endif
    return count;
}

int rdk_paths_missing(const char *reasons[RDK_MAX_PATHS]) {
    static char text[RDK_ISA_COUNT][80];
    rdk_table t;
    int count = 0;
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        if (in_build(isa, &t) && rdk_isa_available(isa) != RDK_OK) {
            snprintf(text[isa], sizeof text[isa], "%s, native: this CPU does not have it",
                     rdk_isa_name(isa));
            reasons[count++] = text[isa];
        }
#if defined(__x86_64__)
    if (!(rdk_cpu_flags() & RDK_CPU_AVX2)) {
        reasons[count++] = "avx512 (SIMDe): emulation is fused only with AVX2 and FMA";
        reasons[count++] = "neon (SIMDe): emulation is fused only with AVX2 and FMA";
    }
#ifndef RDK_HAVE_EMULATED
    else {
        reasons[count++] = "avx512 (SIMDe): not in this build";
        reasons[count++] = "neon (SIMDe): not in this build";
    }
#endif
#endif
    return count;
}
