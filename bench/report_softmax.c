/* Figures of softmax, and the words around them. */
#include "bench/report_softmax.h"

double result_ns(const result *r) {
    return r->seconds / r->elements * 1e9;
}

double result_fraction(const result *r, const char **which) {
    double fma = r->peak > 0 ? r->flop / r->peak : 0;
    *which = fma > r->read ? "FMA" : "read";
    return (fma > r->read ? fma : r->read) / (r->seconds / r->elements);
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

void result_json(FILE *f, const void *list, int i) {
    const result *r = (const result *)list + i;
    fprintf(f, "\"work\": \"%s\", \"isa\": \"%s\", \"type\": \"%s\", ", r->work, r->isa, r->type);
    fprintf(f, "\"elements\": %.0f, \"seconds_best\": %.6e, \"seconds_median\": %.6e, ",
            r->elements, r->seconds, r->median);
    fprintf(f, "\"scalar_seconds_per_element\": %.6e, ", r->scalar);
    fprintf(f, "\"memcpy_seconds_per_element\": %.6e, \"read_seconds_per_element\": %.6e, ",
            r->copy, r->read);
    fprintf(f, "\"fma_peak_flops\": %.6e, \"repeats\": %d, ", r->peak, r->repeats);
    fprintf(f, "\"checked\": true, \"rows_checked\": %lld", (long long)r->rows_checked);
}
