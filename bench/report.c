/* The words around the figures. */
#include "bench/report.h"

#include <string.h>

#include "rootdk/rootdk.h"

double result_ns(const result *r) {
    return r->seconds / r->elements * 1e9;
}

double result_fraction(const result *r, const char **which) {
    double fma = r->peak > 0 ? r->flop / r->peak : 0;
    *which = fma > r->read ? "FMA" : "read";
    return (fma > r->read ? fma : r->read) / (r->seconds / r->elements);
}

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

/* ---- The table ------------------------------------------------------------------------------- */

static void print_result(const result *r) {
    const char *which;
    double fraction = result_fraction(r, &which), second_per_element = r->seconds / r->elements;
    printf("%-24s %-7s %10.3f %9.2f %9.1f", r->work, r->isa, result_ns(r),
           second_per_element / r->copy, r->scalar / second_per_element);
    if (r->peak > 0)
        printf(" %19.1f %6.0f %% %s\n", second_per_element * r->peak, fraction * 100, which);
    else
        printf(" %19s %8s\n", "-", "-");
}

void report_table(const result *list, int count) {
    printf("\n%-24s %-7s %10s %9s %9s %19s %8s\n", "work", "isa", "ns/element", "x memcpy",
           "x scalar", "peak FLOPs/element", "of limit");
    for (int i = 0; i < count; i++)
        print_result(&list[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_json(FILE *f, const result *r, const char *cpu) {
    fprintf(f, "{\"work\": \"%s\", \"isa\": \"%s\", \"type\": \"%s\", ", r->work, r->isa, r->type);
    fprintf(f, "\"elements\": %.0f, \"seconds_best\": %.6e, \"seconds_median\": %.6e, ",
            r->elements, r->seconds, r->median);
    fprintf(f, "\"scalar_seconds_per_element\": %.6e, ", r->scalar);
    fprintf(f, "\"memcpy_seconds_per_element\": %.6e, \"read_seconds_per_element\": %.6e, ",
            r->copy, r->read);
    fprintf(f, "\"fma_peak_flops\": %.6e, \"repeats\": %d, ", r->peak, r->repeats);
    fprintf(f, "\"checked\": true, \"rows_checked\": %lld, ", (long long)r->rows_checked);
    fprintf(f, "\"cpu\": \"%s\", \"compiler\": \"%s\", \"version\": \"%s\"}\n", cpu,
            RDK_BENCH_COMPILER, rdk_version());
}

int report_json(const char *path, const result *list, int count) {
    char cpu[128];
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    cpu_name(cpu, sizeof cpu);
    for (int i = 0; i < count; i++)
        print_json(f, &list[i], cpu);
    int failed = ferror(f);
    return fclose(f) || failed ? -1 : 0;
}
