#!/bin/sh
# What the libraries export: symbols.sh NM HEADER SHARED STATIC
#
# The shared one: exactly the functions that the header declares. The static one: only rdk_ names.
set -eu
nm=$1 header=$2 shared=$3 static=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed -n 's/^RDK_API .*[ *]\(rdk_[a-z0-9_]*\)(.*/\1/p' "$header" | sort > "$dir/declared"
"$nm" -D --defined-only "$shared" | sed 's/.* //; s/@.*//' | sort > "$dir/exported"
[ "$(grep -c '^RDK_API ' "$header")" = "$(wc -l < "$dir/declared")" ] ||
    { echo "a declaration of the header was not understood"; exit 1; }
[ -s "$dir/declared" ] || { echo "the header declares nothing"; exit 1; }
diff -u "$dir/declared" "$dir/exported" ||
    { echo "the shared library does not export what the header declares"; exit 1; }
"$nm" -g --defined-only "$static" | sed -n 's/^[0-9a-f]* [A-Za-z] //p' | sort -u > "$dir/global"
[ -s "$dir/global" ] || { echo "the static library defines nothing"; exit 1; }
# The compiler's own on 32-bit x86 are no leak.
if grep -v -e '^rdk_' -e '^__x86\.get_pc_thunk\.' "$dir/global"; then
    echo "the static library has global names without the prefix rdk_"
    exit 1
fi
echo "exported: $(wc -l < "$dir/exported"); global in the static library: $(wc -l < "$dir/global")"
