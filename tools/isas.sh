#!/bin/sh
# Prints the list of ISAs in kernels/isas.h, a line each: name;title;CPU family of Meson;flags;emulated.
cd "$(dirname "$0")/.." &&
    sed -n '/^#define RDK_ISAS(X)/,/[^\\]$/p' kernels/isas.h | tr -d '\\\n' | awk '{
        entries = split($0, entry, /X\(/)
        for (i = 2; i <= entries; i++) { # the first is the head of the macro
            split(entry[i], part, "\"")
            split(part[1], word, /[ ,]+/)
            family = tolower(part[4])
            gsub("-", "_", family)
            print word[2] ";" part[2] ";" family ";" part[8] ";" substr(part[9], 3, 1)
        }
    }'
