#!/bin/sh
# Prints the version that the public header states, as major.minor.patch.
cd "$(dirname "$0")/.." && sed -n 's/^#define RDK_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' \
    include/rootdk/rootdk.h | paste -sd.
