#!/bin/sh
# Prints the version that the public header states, as major.minor.patch.
cd "$(dirname "$0")/.." &&
    sed -n 's/^#define RDK_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' include/rootdk/rootdk.h | paste -sd. -
