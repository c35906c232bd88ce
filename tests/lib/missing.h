/* A suite for the paths that cannot run here: each is a skip, and counts as one. */
#ifndef RDK_MISSING_H
#define RDK_MISSING_H

#include "tests/lib/paths.h"
#include "tests/lib/suite.h"

TEST cannot_run(const char *reason) {
    RDK_SKIP(reason);
}

static SUITE(missing) {
    const char *reasons[RDK_MAX_PATHS];
    int count = rdk_paths_missing(reasons);
    for (int i = 0; i < count; i++)
        RUN_TESTp(cannot_run, reasons[i]);
}

#endif
