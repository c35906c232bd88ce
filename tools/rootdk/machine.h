/* Names of this CPU and its features, for people to read; the library decides for itself. */
#ifndef RDK_MACHINE_H
#define RDK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "rootdk/rootdk.h"

#define MACHINE_TEXT 256

/* One thing an ISA needs. */
typedef struct machine_feature {
    rdk_isa isa;
    const char *name; /* "avx512bw"; "zmm state" for what the operating system must enable */
    bool of_os;
    bool found;
} machine_feature;

/* The features that the ISAs of this architecture need, ISA by ISA. */
const machine_feature *machine_features(size_t *count);

/* The CPU's own name for itself; "unknown" if it has none. */
const char *machine_name(char text[MACHINE_TEXT]);

/* "x86-64", "AArch64", ... */
const char *machine_architecture(void);

#endif
