#!/bin/sh
# Measures this tree beside another revision: tools/compare.sh REVISION [SECONDS]
#
# Both are built as shared libraries, in build/compare, and run in one process, call beside call, each work for
# SECONDS. tools/setup.sh bench must have run before.
set -eu

cd "$(dirname "$0")/.."
[ -n "${1:-}" ] || { echo "usage: make bench-compare BASE=REVISION" >&2; exit 2; }
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "compare.sh: run tools/setup.sh bench first" >&2; exit 2; }
. "$env"
base=$(git rev-parse --verify --quiet "$1^{commit}") ||
    { echo "compare.sh: no revision \"$1\"" >&2; exit 2; }

# build SOURCE NAME OPTION...: leaves the library in build/compare/NAME.
build() {
    source=$1 dir=build/compare/$2
    shift 2
    [ -f "$dir/build.ninja" ] || "$MESON" setup "$dir" "$source" --buildtype=release -Dtests=disabled "$@"
    "$MESON" compile -C "$dir"
}

both() {
    rm -rf build/compare/source build/compare/base
    mkdir -p build/compare/source
    git archive "$base" | tar -x -C build/compare/source
    build build/compare/source base -Dbench=disabled &&
        build . new -Dbench=enabled
}

mkdir -p build/compare
both > build/compare.log 2>&1 || { cat build/compare.log >&2; exit 1; }

echo "base  $(git log -1 --format='%h %s' "$base")"
echo "new   this tree"
tools/pinned.sh build/compare/new/bench/bench_compare build/compare/base/librootdk.so \
    build/compare/new/librootdk.so ${2:+"$2"}
