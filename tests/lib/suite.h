/* What every test program shares: greatest, and a main() whose last line is
 * "N passed, N failed, N skipped". */
#ifndef RDK_SUITE_H
#define RDK_SUITE_H

#include <stdio.h>
#include <stdlib.h>

#define GREATEST_USE_LONGJMP 0 /* tests return; nothing may be clobbered */
#include "greatest.h"

/* A skip is shown and counted; the runner collects the lines that begin with "SKIP: ". */
#define RDK_SKIP(reason)                                                                           \
    do {                                                                                           \
        printf("\nSKIP: %s\n", (reason));                                                          \
        SKIPm(reason);                                                                             \
    } while (0)

/* In place of GREATEST_MAIN_END(). A program that ran nothing has failed. */
#define RDK_MAIN_END()                                                                             \
    do {                                                                                           \
        struct greatest_report_t report;                                                           \
        GREATEST_PRINT_REPORT();                                                                   \
        greatest_get_report(&report);                                                              \
        printf("%u passed, %u failed, %u skipped\n", report.passed, report.failed,                 \
               report.skipped);                                                                    \
        return report.failed || report.passed + report.skipped == 0 ? EXIT_FAILURE : EXIT_SUCCESS; \
    } while (0)

#endif
