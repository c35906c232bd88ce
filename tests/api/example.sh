#!/bin/sh
# An example prints the digits it should: example.sh PROGRAM EXPECTED
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$1" > "$printed"
diff -u "$2" "$printed"
