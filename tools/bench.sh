#!/bin/sh
# Builds the benchmarks in build/bench and runs them on one core:
#
#   tools/bench.sh [softmax | attention] [BENCH OPTION...]
#
# The tables go to the terminal, the same as JSON lines to build/bench/softmax.json and
# build/bench/attention.json.
# RDK_BENCH_CORE chooses the core, by number; the last one this process may use is the default.
# tools/setup.sh bench must have run before.
set -eu

cd "$(dirname "$0")/.."
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "bench.sh: run tools/setup.sh bench first" >&2; exit 2; }
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

# The core furthest from the first, which takes most interrupts.
last_core() {
    taskset -cp $$ | sed 's/.*[ ,-]//'
}

pin=
if command -v taskset > /dev/null; then
    pin="taskset -c ${RDK_BENCH_CORE:-$(last_core)}"
fi
ops="softmax attention"
case ${1:-} in
    softmax | attention) ops=$1 && shift ;;
esac

failed=0
for op in $ops; do
    # shellcheck disable=SC2086
    $pin $build/bench/bench_$op --json $build/$op.json "$@" || failed=$?
    echo
done
exit $failed
