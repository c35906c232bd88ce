#!/bin/sh
# What was installed below DESTDIR is what a program needs: installed.sh DESTDIR PREFIX SOURCE
#
# The files, the soname, and programs by pkg-config in C and C++, shared and static.
set -eu
root=$1 prefix=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset CFLAGS CXXFLAGS LDFLAGS
CC=${CC:-cc} CXX=${CXX:-c++}
fail() { echo "installed.sh: $*"; exit 1; }

# quiet COMMAND...: shows the output only of what fails.
quiet() { "$@" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "failed: $*"; }; }

version=$("$source/tools/version.sh")
case $version in
    0.*) soname=librootdk.so.${version%.*} ;; # before 1.0 every minor version may break
    *) soname=librootdk.so.${version%%.*} ;;
esac
lib=$root$prefix/lib
for file in include/rootdk/rootdk.h lib/librootdk.a lib/librootdk.so lib/pkgconfig/rootdk.pc; do
    [ -e "$root$prefix/$file" ] || fail "$file was not installed"
done
readelf -d "$lib/librootdk.so" | grep -q "SONAME.*\[$soname\]" || fail "the soname is not $soname"
[ -e "$lib/$soname" ] || fail "$soname was not installed"

# The installed files think they lie in $prefix; the sysroot says where they are until then.
export PKG_CONFIG_LIBDIR="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
unset PKG_CONFIG_PATH
[ "$(pkg-config --modversion rootdk)" = "$version" ] || fail "rootdk.pc does not say $version"

cat > "$dir/program.c" << 'C'
#include <rootdk/rootdk.h>
#include <stdio.h>
int main(void) {
    const float x[3] = {14, 10, 12};
    float y[3];
    rdk_softmax_desc d = rdk_softmax_init(1, 3, x, y);
    rdk_status status = rdk_softmax(&d);
    printf("%s %s %.3f %.3f %.3f\n", rdk_status_string(status), rdk_version(), y[0], y[1], y[2]);
    return status != RDK_OK;
}
C
cp "$dir/program.c" "$dir/program.cc"

# try COMPILER FILE KIND: builds, runs and compares what is printed.
try() {
    compiler=$1 file=$2 kind=$3
    command -v "$compiler" > /dev/null || { echo "SKIP: there is no $compiler"; return 0; }
    if [ "$kind" = static ]; then # by name, because -lrootdk prefers the shared one
        libs=$(pkg-config --static --libs rootdk | sed "s|-lrootdk|-l:librootdk.a|")
    else
        libs="$(pkg-config --libs rootdk) -Wl,-rpath,$lib"
    fi
    # shellcheck disable=SC2046,SC2086 # lists of words
    quiet "$compiler" -Wall -Werror $(pkg-config --cflags rootdk) "$dir/$file" -o "$dir/a.out" $libs
    got=$("$dir/a.out") || fail "$compiler, $kind: the program failed"
    [ "$got" = "ok $version 0.867 0.016 0.117" ] || fail "$compiler, $kind: printed \"$got\""
    needed=$(readelf -d "$dir/a.out" | grep -c "NEEDED.*\[$soname\]" || true)
    [ "$needed" = "$([ "$kind" = shared ] && echo 1 || echo 0)" ] ||
        fail "$compiler, $kind: the program is linked the other way"
    echo "$compiler, $kind: $got"
}
for kind in shared static; do
    try "$CC" program.c "$kind"
    try "$CXX" program.cc "$kind"
done
