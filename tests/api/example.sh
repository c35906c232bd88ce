#!/bin/sh
# The example prints the digits it should: example.sh PROGRAM
set -eu
got=$("$1")
expected='scale 1:    0.867 0.016 0.117
scale 1/8:  0.419 0.254 0.326
two of three: 0.982 0.018 0.000
lse: 14.142932'
[ "$got" = "$expected" ] || { printf 'printed:\n%s\nexpected:\n%s\n' "$got" "$expected"; exit 1; }
