#include "tests/paths.h"

#include <stdio.h>

#include "dispatch/cpu.h"

static const struct {
    rdk_isa isa;
    const char *name;
} NATIVE[] = {
#ifdef RDK_HAVE_AVX2
    {RDK_ISA_AVX2, "avx2"},
#endif
#ifdef RDK_HAVE_AVX512
    {RDK_ISA_AVX512, "avx512"},
#endif
#ifdef RDK_HAVE_NEON
    {RDK_ISA_NEON, "neon"},
#endif
    {RDK_ISA_SCALAR, "scalar"},
};

static path *add(path paths[RDK_MAX_PATHS], int *count, const char *name, const char *executed_by) {
    path *p = &paths[(*count)++];
    *p = (path){.name = name, .executed_by = executed_by};
    rdk_table_scalar(&p->table);
    return p;
}

int rdk_paths(path paths[RDK_MAX_PATHS]) {
    int count = 0;
    add(paths, &count, "scalar", "native");
    for (size_t i = 0; NATIVE[i].isa != RDK_ISA_SCALAR; i++) {
        if (rdk_isa_available(NATIVE[i].isa) != RDK_OK) {
            printf("SKIP: %s native: this CPU does not have it\n", NATIVE[i].name);
            continue;
        }
        path *p = add(paths, &count, NATIVE[i].name, "native");
        rdk_table_fill(&p->table, rdk_cpu_flags(), NATIVE[i].isa);
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
