#!/bin/sh
# Builds the benchmark in build/bench, runs it on one core and draws the report:
#
#   tools/bench.sh [BENCH OPTION...]
#
# A table goes to the terminal, the figures to build/bench/report.json, the same as a page with plots to
# build/bench/report.html. RDK_BENCH_CORE chooses the core. tools/setup.sh bench must have run before.
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

command="make bench"
[ $# = 0 ] || command="tools/bench.sh $*"
failed=0
tools/pinned.sh $build/bench/bench bench/shapes.ini --command "$command" --json $build/report.json "$@" ||
    failed=$?
"$PYTHON" bench/page/page.py $build/report.json $build/report.html
echo "
report    $build/report.html"
exit $failed
