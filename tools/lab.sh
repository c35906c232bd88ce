#!/bin/sh
# Runs the library on CPUs that this machine is not, and under tools that look inside:
#
#   tools/lab.sh            every leg
#   tools/lab.sh LEG...     these
#   tools/lab.sh ci         every leg, trimmed to what fits beside the tests
#
# A leg is tools/lab/LEG.sh. It installs what it needs, runs, and notes rows of the table that is printed at
# the end and left in build/lab/report.md. The last line is `N passed, N failed, N skipped`; the exit code is
# 1 if anything failed, or nothing passed. What cannot run here is skipped, with the reason.
set -eu

legs="bochs-avx512 qemu-neon old-cpus mutants sanitizers fuzz abi static-performance report compilers one-file other-machines windows"

cd "$(dirname "$0")/.."

# A leg that ends badly has failed, whatever it noted before.
run_leg() {
    . "${RDK_DEPS_DIR:-build/deps}/env"
    start=$(date +%s)
    rm -rf "build/lab/$1"
    mkdir -p "build/lab/$1"
    sh "tools/lab/$1.sh" > "build/lab/$1/log" 2>&1 < /dev/null ||
        "$PYTHON" tools/lab/report.py note "$1" --what "the leg itself" --failed 1 \
            --note "ended with exit code $?; see build/lab/$1/log"
    printf '%-20s %s s\n' "$1" $(($(date +%s) - start))
}

if [ "${1:-}" = --one ]; then
    run_leg "$2"
    exit 0
fi

LAB_SIZE=full
[ "${1:-}" != ci ] || { LAB_SIZE=ci && shift; }
export LAB_SIZE
for leg in "$@"; do
    [ -f "tools/lab/$leg.sh" ] ||
        { echo "lab.sh: no leg \"$leg\"; there are: $legs" >&2; exit 2; }
done
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $legs

tools/setup.sh test
. "${RDK_DEPS_DIR:-build/deps}/env"
mkdir -p build/lab
# One leg per core.
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" sh tools/lab.sh --one || true
exec "$PYTHON" tools/lab/report.py table "$@"
