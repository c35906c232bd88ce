#!/bin/sh
# Builds the benchmark in build/bench, runs it on one core and draws the report:
#
#   tools/bench.sh [BENCH OPTION...]
#
# A table goes to the terminal, the figures to build/bench/report.json, the same as a page with plots to
# build/bench/report.html. RDK_BENCH_CORE chooses the core. tools/setup.sh bench must have run before.
set -eu

cd "$(dirname "$0")/.."
tools/bench-build.sh
. "${RDK_DEPS_DIR:-build/deps}/env"

build=build/bench
command="make bench"
[ $# = 0 ] || command="tools/bench.sh $*"
failed=0
tools/pinned.sh $build/bench/bench bench/shapes.ini --command "$command" --json $build/report.json "$@" ||
    failed=$?
[ $failed != 2 ] || exit 2 # nothing was measured
"$PYTHON" bench/page/page.py $build/report.json $build/report.html
echo "
report    $build/report.html"
exit $failed
