#!/bin/sh
# The public header compiles alone, as every language it claims: header.sh INCLUDE_DIR
set -eu
warnings="-pedantic-errors -Wall -Wextra -Wshadow -Wundef -Wconversion -Werror"
warnings="$warnings -Wno-missing-field-initializers" # that the rest is zero is the idiom
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/alone.c" << 'C'
#include <rootdk/rootdk.h>
#include <rootdk/rootdk.h> /* twice does no harm */
extern rdk_softmax_desc desc;
extern rdk_status status;
rdk_softmax_desc desc = {sizeof(rdk_softmax_desc)};
rdk_status status = RDK_OK;
C
sed 's/= {.*}/= {}/' "$dir/alone.c" > "$dir/alone.cc"
count=0

# compile COMPILER FILE STANDARD...
compile() {
    cc=$1 file=$2
    shift 2
    command -v "$cc" > /dev/null || { echo "SKIP: there is no $cc"; return 0; }
    for std in "$@"; do
        # shellcheck disable=SC2086 # a list of words
        "$cc" -std="$std" $warnings -I"$include" -c "$file" -o "$dir/alone.o" ||
            { echo "the header does not compile alone: $cc -std=$std"; exit 1; }
        count=$((count + 1))
    done
}

include=$1
for cc in gcc clang; do compile $cc "$dir/alone.c" c99 c11 gnu11; done
for cxx in g++ clang++; do compile $cxx "$dir/alone.cc" c++11 c++20; done
[ $count -gt 0 ] || { echo "SKIP: there is no compiler to try the header with"; exit 77; }
echo "the header compiles alone, $count times"
