#include "tests/paths.h"

#include <stdio.h>

#include "dispatch/cpu.h"

static path *add(path paths[RDK_MAX_PATHS], int *count, const char *name, const char *executed_by) {
    path *p = &paths[(*count)++];
    *p = (path){.name = name, .executed_by = executed_by};
    rdk_table_scalar(&p->table);
    return p;
}

int rdk_paths(path paths[RDK_MAX_PATHS]) {
    int count = 0;
    add(paths, &count, "scalar", "native");
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++) {
        rdk_table t;
        rdk_table_fill(&t, ~0u, isa);
        if (t.isa != isa)
            continue; /* not in this build */
        if (rdk_isa_available(isa) != RDK_OK)
            printf("SKIP: %s native: this CPU does not have it\n", rdk_isa_name(isa));
        else
            add(paths, &count, rdk_isa_name(isa), "native")->table = t;
    }
#ifdef RDK_HAVE_EMULATED
    if (rdk_cpu_flags() & RDK_CPU_AVX2) {
        rdk_table_avx512_emulated(&add(paths, &count, "avx512 (SIMDe)", "SIMDe")->table);
        rdk_table_neon_emulated(&add(paths, &count, "neon (SIMDe)", "SIMDe")->table);
    } else {
        printf("SKIP: avx512 (SIMDe), neon (SIMDe): emulation is fused only with AVX2 and FMA\n");
    }
#endif
    return count;
}
