/* The words around the figures. */
#include "bench/report.h"

#include <string.h>

#include "rootdk/rootdk.h"

/* ---- Where it ran ---------------------------------------------------------------------------- */

/* The first "model name : ..." of Linux; other systems, and Arm, leave it out. */
static void cpu_name(char *name, size_t size) {
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon || !colon[1])
            continue;
        colon[strcspn(colon, "\n\"\\")] = 0; /* what JSON would need an escape for */
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

void report_host(void) {
    char cpu[128];
    cpu_name(cpu, sizeof cpu);
    printf("rootdk    %s, arithmetic %d\n", rdk_version(), rdk_arithmetic_version());
    printf("CPU       %s\n", cpu);
    printf("compiler  %s\n", RDK_BENCH_COMPILER);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

int report_json(const char *path, const void *list, int count,
                void (*print)(FILE *, const void *, int)) {
    char cpu[128];
    FILE *f = fopen(path, "w");
    cpu_name(cpu, sizeof cpu);
    for (int i = 0; f && i < count; i++) {
        fprintf(f, "{");
        print(f, list, i);
        fprintf(f, ", \"cpu\": \"%s\", \"compiler\": \"%s\", \"version\": \"%s\"}\n", cpu,
                RDK_BENCH_COMPILER, rdk_version());
    }
    int failed = !f || ferror(f);
    if (f && !fclose(f) && !failed)
        return 0;
    fprintf(stderr, "bench: cannot write %s\n", path);
    return -1;
}
