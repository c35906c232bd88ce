#!/bin/sh
# Builds the benchmarks, in release mode, in build/bench: tools/bench-build.sh. tools/setup.sh bench must have run
# before.
set -eu

cd "$(dirname "$0")/.."
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "bench-build.sh: run tools/setup.sh bench first" >&2; exit 2; }
. "$env"

build=build/bench
log=build/bench.log
options="--buildtype=release -Dtests=disabled -Dbench=enabled"

# configure: an existing directory is kept if it can be, since its objects may still be good.
configure() {
    # shellcheck disable=SC2086 # a list of words
    if [ -f $build/build.ninja ] && "$MESON" setup --reconfigure $build $options; then
        return 0
    fi
    rm -rf $build
    # shellcheck disable=SC2086
    "$MESON" setup $build $options
}

{ configure && "$MESON" compile -C $build; } > $log 2>&1 || { cat $log >&2; exit 1; }
