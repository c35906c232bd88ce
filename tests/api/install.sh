#!/bin/sh
# Installs into a scratch prefix and builds against it: install.sh MESON SOURCE SONAME EXAMPLE.c
#
# By pkg-config, in C and C++, shared and static; then as a Meson subproject.
set -eu
meson=${MESON:-$1} source=$2 soname=$3 example=$4
command -v "$meson" > /dev/null || { echo "SKIP: there is no $meson"; exit 77; }
command -v pkg-config > /dev/null || { echo "SKIP: there is no pkg-config"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset DESTDIR CFLAGS CXXFLAGS LDFLAGS
CC=${CC:-cc} CXX=${CXX:-c++}
fail() { echo "install.sh: $*"; exit 1; }

# quiet COMMAND...: shows the output only of what fails.
quiet() { "$@" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "failed: $*"; }; }

prefix=/opt/rootdk
root=$dir/root
quiet "$meson" setup "$dir/build" "$source" --prefix="$prefix" --libdir=lib -Dbuildtype=release \
    -Dtests=disabled -Dbench=disabled
quiet "$meson" install -C "$dir/build" --destdir "$root"
lib=$root$prefix/lib
for file in include/rootdk/rootdk.h lib/librootdk.a lib/librootdk.so lib/pkgconfig/rootdk.pc; do
    [ -e "$root$prefix/$file" ] || fail "$file was not installed"
done
readelf -d "$lib/librootdk.so" | grep -q "SONAME.*\[$soname\]" || fail "the soname is not $soname"
[ -e "$lib/$soname" ] || fail "$soname was not installed"

# The installed files think they lie in $prefix; the sysroot says where they are until then.
export PKG_CONFIG_LIBDIR="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
unset PKG_CONFIG_PATH
version=$("$source/tools/version.sh")
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

# As a subproject: no tests, no bench, and the program runs.
unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
mkdir -p "$dir/user/subprojects/rootdk"
tar -C "$source" --exclude=./build --exclude=./.git -cf - . |
    tar -C "$dir/user/subprojects/rootdk" -xf -
cp "$example" "$dir/user/example.c"
cat > "$dir/user/meson.build" << 'M'
project('user', 'c', default_options: ['c_std=c11', 'werror=true', 'warning_level=2'])
rootdk = dependency('rootdk', fallback: 'rootdk')
executable('example', 'example.c', dependencies: rootdk)
M
quiet "$meson" setup "$dir/user/build" "$dir/user" --wrap-mode=forcefallback
quiet "$meson" compile -C "$dir/user/build"
"$dir/user/build/example" > "$dir/log" || fail "subproject: the example failed"
tests=$("$meson" introspect --tests "$dir/user/build")
[ "$tests" = "[]" ] || fail "subproject: tests are registered: $tests"
echo "as a subproject: the example runs"
