#!/bin/sh
# The public header compiles alone, and what uses it, as every language it claims:
# header.sh INCLUDE_DIR
set -eu
warnings="-pedantic-errors -Wall -Wextra -Wshadow -Wundef -Wconversion -Wsign-conversion"
warnings="$warnings -Wcast-qual -Werror"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/alone.c" << 'C'
#include <rootdk/rootdk.h>
#include <rootdk/rootdk.h> /* twice does no harm */
rdk_status softmax(const float *x, float *y);
rdk_status softmax(const float *x, float *y) {
    const rdk_softmax_desc d = rdk_softmax_init(2, 3, x, y);
    const char *field;
    return rdk_softmax_check(&d, &field) == RDK_OK ? rdk_softmax(&d) : RDK_ERR_NULL;
}
rdk_status attention(const float *q, const float *k, float *out);
rdk_status attention(const float *q, const float *k, float *out) {
    rdk_attention_desc d = rdk_attention_init(1, 4, 2, 3, 5, 8);
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    d.q = rdk_const_view_bhsd(q, 4, 3, 8);
    d.k = rdk_const_view_bshd(k, 5, 2, 8);
    d.v = d.k;
    d.out = rdk_view_bhsd(out, 4, 3, 8);
    d.lse = rdk_view_bshd(out, 3, 4, 1);
    return rdk_attention_check(&d, NULL);
}
/* that the rest is zero is the idiom */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
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
