/* Every way this process can compute: the ISAs of this CPU, and foreign ones through SIMDe. */
#ifndef RDK_PATHS_H
#define RDK_PATHS_H

#include <stdbool.h>

#include "dispatch/dispatch.h"

typedef struct path {
    const char *name;        /* "avx2", "avx512 (SIMDe)" */
    const char *executed_by; /* "native" or "SIMDe" */
    rdk_table table;
} path;

#define RDK_MAX_PATHS (2 * RDK_ISA_COUNT) /* native and emulated */

/* The only path to test besides the reference, which RDK_PATH in the environment names, or NULL. */
const char *rdk_only_path(void);

bool rdk_path_is_wanted(const path *p);

/* Fills `paths`, scalar first, and returns how many there are. If RDK_PATH names none
 * of them, the process ends. */
int rdk_paths(path paths[RDK_MAX_PATHS]);

/* Why paths whose kernels are in the build cannot run here, a line each; returns how many. */
int rdk_paths_missing(const char *reasons[RDK_MAX_PATHS]);

#endif
