/* What every bench says about itself: where it ran, and its results as JSON lines. */
#ifndef RDK_BENCH_REPORT_H
#define RDK_BENCH_REPORT_H

#include <stdio.h>

/* Library, CPU and compiler. */
void report_host(void);

/* One JSON object per line: the fields that `print` prints of entry i, then where it ran. Returns
 * 0, or -1 with a message if the file cannot be written. */
int report_json(const char *path, const void *list, int count,
                void (*print)(FILE *f, const void *list, int i));

#endif
