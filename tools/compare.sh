#!/bin/sh
# Measures this tree beside another revision: tools/compare.sh REVISION [OPTION...]
#
# Both are built as shared libraries, in build/compare, and run in one process, call beside call. OPTION is one of
# bench_compare: --only TEXT, --isa NAME, --seconds N (bench/compare.c). RDK_BENCH_CORE chooses the core.
# tools/setup.sh bench must have run before.
set -eu

cd "$(dirname "$0")/.."
[ -n "${1:-}" ] || { echo "usage: make bench-compare BASE=REVISION [ONLY=TEXT] [ISA=NAME] [SECONDS=N]" >&2; exit 2; }
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "compare.sh: run tools/setup.sh bench first" >&2; exit 2; }
. "$env"
base=$(git rev-parse --verify --quiet "$1^{commit}") ||
    { echo "compare.sh: no revision \"$1\"" >&2; exit 2; }
shift

# build SOURCE DIR OPTION...: leaves the library in DIR.
build() {
    source=$1 dir=$2
    shift 2
    [ -f "$dir/build.ninja" ] || "$MESON" setup "$dir" "$source" --buildtype=release -Dtests=disabled "$@"
    "$MESON" compile -C "$dir"
}

# A directory belongs to one commit, so that no other's objects can be in it; that of the last comparison is kept.
# Files get the time at which they are unpacked: with that of their commit they would look older than their objects.
build_base() {
    [ ! -f "$of_base/done" ] || return 0
    rm -rf build/compare/base-*
    mkdir -p "$of_base/source"
    git archive "$base" | tar -xm -C "$of_base/source" &&
        build "$of_base/source" "$of_base/build" -Dbench=disabled &&
        touch "$of_base/done"
}

# changed: says so if this tree is not its commit.
changed() {
    git diff --quiet HEAD -- || echo " with changes"
}

of_base=build/compare/base-$base
mkdir -p build/compare
{ build_base && build . build/compare/new -Dbench=enabled; } > build/compare.log 2>&1 ||
    { cat build/compare.log >&2; exit 1; }

echo "base  $(git log -1 --format='%h %s' "$base")"
echo "new   $(git log -1 --format='%h %s' HEAD)$(changed)"
set -- "$of_base/build/librootdk.so" build/compare/new/librootdk.so bench/shapes.ini "$@"
! cmp -s "$1" "$2" || echo "Both are the same library, byte for byte."
exec tools/pinned.sh build/compare/new/bench/bench_compare "$@"
