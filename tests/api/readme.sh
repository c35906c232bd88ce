#!/bin/sh
# The README's first program compiles as it stands, runs and prints what the README says:
# readme.sh SOURCE STATIC_LIBRARY
#
# What it prints is the next block after the program, if it comes before the next heading and is
# marked text, console or not at all.
set -eu
source=$1 library=$2
readme=$source/README.md
[ -f "$readme" ] || { echo "SKIP: there is no README.md"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '/^```c$/ { on = 1; next } /^```/ && on { exit } on' "$readme" > "$dir/program.c"
[ -s "$dir/program.c" ] || { echo "README.md has no program"; exit 1; }
awk '/^```c$/ && !seen { seen = 1; inside = 1; next }
     inside == 1 { if (/^```/) inside = 2; next }
     inside == 2 && /^#/ { exit }
     inside == 2 && /^```(text|console)?$/ { inside = 3; next }
     inside == 2 && /^```/ { exit }
     inside == 3 { if (/^```/) exit; print }' "$readme" | grep -v '^\$ ' > "$dir/expected" || true
${CC:-cc} -Wall -Wextra -Werror -I"$source/include" "$dir/program.c" "$library" -lm \
    -o "$dir/program" ||
    { echo "the README's program does not compile"; exit 1; }
"$dir/program" > "$dir/printed" || { echo "the README's program failed"; exit 1; }
cat "$dir/printed"
[ ! -s "$dir/expected" ] || diff -u "$dir/expected" "$dir/printed" ||
    { echo "the README's program does not print what the README says"; exit 1; }
