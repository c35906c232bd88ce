/* Figures of attention, and the words around them. */
#include "bench/report_attention.h"

double result_of_peak(const result *r) {
    return r->peak > 0 ? r->flop / r->seconds / r->peak : 0;
}

double result_of_read(const result *r) {
    return r->read / r->seconds;
}

static void print_share(double share) {
    if (share > 0)
        printf(" %10.1f %%", share * 100);
    else
        printf(" %12s", "-");
}

void report_table(const result *list, int count) {
    printf("\n%-24s %-7s %10s %10s %12s %12s\n", "work", "isa", "ms", "GFLOP/s", "of FMA peak",
           "of read");
    for (int i = 0; i < count; i++) {
        const result *r = &list[i];
        printf("%-24s %-7s %10.3f %10.1f", r->work, r->isa, r->seconds * 1e3,
               r->flop / r->seconds / 1e9);
        print_share(result_of_peak(r));
        print_share(result_of_read(r));
        printf("\n");
    }
}

void result_json(FILE *f, const void *list, int i) {
    const result *r = (const result *)list + i;
    fprintf(f, "\"work\": \"%s\", \"isa\": \"%s\", \"type\": \"f32\", ", r->work, r->isa);
    fprintf(f, "\"flop\": %.0f, \"kv_bytes\": %.0f, ", r->flop, r->bytes);
    fprintf(f, "\"seconds_best\": %.6e, \"seconds_median\": %.6e, ", r->seconds, r->median);
    fprintf(f, "\"read_seconds\": %.6e, \"fma_peak_flops\": %.6e, ", r->read, r->peak);
    fprintf(f, "\"repeats\": %d, \"checked\": true, \"rows_checked\": %lld", r->repeats,
            (long long)r->rows_checked);
}
