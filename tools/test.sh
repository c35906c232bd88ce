#!/bin/sh
# Runs the test matrix: tools/test.sh [VARIANT...]; prints it: tools/test.sh --list
#
# A variant is one compiler at one setting, built in build/test/VARIANT. Those that are not in the matrix
# are legs of the lab. RDK_TESTS in the environment names the only tests to run. The last line printed is
# `N passed, N failed, N skipped` over everything that ran; the exit code is 1 if anything failed,
# did not build, or nothing ran. tools/setup.sh test must have run before.
set -eu

# The longest first, so that no core waits for one at the end.
variants="gcc-O2 aarch64-gcc clang-asan gcc-O0 clang-O2 clang-O3 gcc-O3"
lab_variants="aarch64-clang nehalem avx2-no-fma riscv64 s390x i686 armhf windows clang-O0 \
gcc-O0-simde gcc-O3-simde clang-O0-simde clang-O3-simde"

cd "$(dirname "$0")/.."
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "test.sh: run tools/setup.sh test first" >&2; exit 2; }
. "$env"

# is_cross VARIANT: whether it is for another CPU.
is_cross() { [ -f "tools/cross/$1.ini" ]; }

# settings VARIANT: sets cc, options, and slower, the factor on the time limits of the tests.
settings() {
    slower=1 bench=disabled
    options="-Dcases=20000 -Dthorough=false"
    case $1 in
        gcc-O2) cc=gcc options="$options -Dthorough=true" slower=10 ;;
        # The benchmark, too, is built and run once, briefly.
        gcc-O3) cc=gcc bench=enabled ;;
        # clang, because gcc takes four times as long for the kernels. AddressSanitizer's checks are calls, since clang
        # takes three times as long where they are not, and debugging data is line numbers. clang's sanitizers are
        # linked into programs alone, so a shared library lacks their symbols.
        clang-asan)
            cc=clang slower=5
            options="$options -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false"
            options="$options -Dc_args=['-g1','-mllvm','-asan-instrumentation-with-call-threshold=0']"
            ;;
        gcc-* | nehalem | avx2-no-fma) cc=gcc ;;
        clang-* | aarch64-clang) cc=clang ;;
        aarch64-gcc) cc=aarch64-linux-gnu-gcc ;;
        riscv64 | s390x | i686) cc=$1-linux-gnu-gcc ;;
        armhf) cc=arm-linux-gnueabihf-gcc ;;
        windows) cc=x86_64-w64-mingw32-gcc ;;
    esac
    case $1 in
        *-O[0-3]*)
            level=${1#*-O}
            options="$options -Doptimization=${level%%-*}"
            ;;
    esac
    case $1 in
        *-O0-simde) slower=5 ;; # every vector operation is a call
    esac
    # SIMDe takes a minute to compile. The bits do not depend on the optimisation, so two builds of the
    # matrix have it. On Arm nothing is emulated; there it asks for the must-fail kernels (tests/mutants/meson.build).
    case $1 in
        gcc-O2 | clang-O2 | aarch64-clang | *-simde) options="$options -Demulated=true" ;;
        *) options="$options -Demulated=false" ;;
    esac
    if is_cross "$1"; then
        slower=10
        options="$options --cross-file tools/cross/$1.ini -Doptimization=2"
    fi
    options="$options -Ddebug=false -Dtests=enabled -Dbench=$bench -Dwerror=true"
    # meson.build looks in build/deps by itself.
    [ -z "${RDK_DEPS_DIR:-}" ] || options="$options -Ddeps_dir=$(cd "$RDK_DEPS_DIR" && pwd)"
}

# configure DIR: an existing directory is kept if it can be, since its objects may still be good.
configure() {
    # shellcheck disable=SC2086 # lists of words
    if [ -f "$1/build.ninja" ] && "$MESON" setup --reconfigure "$1" $options; then
        return 0
    fi
    rm -rf "$1"
    # shellcheck disable=SC2086
    "$MESON" setup "$1" $options
}

# steps DIR: sets stage to the step that failed, or to "done" when all tests were started.
steps() {
    stage=setup
    configure "$1" || return 0
    stage=compile
    "$MESON" compile -C "$1" -j "$RDK_JOBS" || return 0
    stage="done"
    rm -f "$1/meson-logs/testlog.json"
    # The exit code is not needed: tools/count.py reads what each test did.
    # shellcheck disable=SC2086 # a list of words
    "$MESON" test -C "$1" --no-rebuild --print-errorlogs --num-processes 1 \
        --timeout-multiplier "$slower" ${RDK_TESTS:-} || true
}

run_variant() {
    # A variant says itself what it is built with.
    unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
    export ASAN_OPTIONS=halt_on_error=1:abort_on_error=1
    export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
    settings "$1"
    case $1 in
        clang-*) export CC=clang CXX=clang++ ;;
        gcc-*) export CC=gcc CXX=g++ ;;
        *) unset CC CXX ;; # the cross file names them
    esac
    start=$(date +%s)
    rm -f "build/test/$1.status"
    steps "build/test/$1" > "build/test/$1.log" 2>&1 < /dev/null
    version=$("$cc" -dumpfullversion 2> /dev/null || "$cc" -dumpversion 2> /dev/null) || version='?'
    echo "$stage $(($(date +%s) - start)) $cc $version" > "build/test/$1.status"
    "$PYTHON" tools/count.py variant "$1"
}

if [ "${1:-}" = --list ]; then
    echo "$variants"
    exit 0
fi
if [ "${1:-}" = --one ]; then
    run_variant "$2"
    exit 0
fi

for name in "$@"; do
    case " $variants $lab_variants " in
        *" $name "*) ;;
        *) echo "test.sh: no variant \"$name\"; there are: $variants $lab_variants" >&2; exit 2 ;;
    esac
done
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $variants

# One variant per core; with fewer variants than cores each compiles on several.
cores=$(nproc)
RDK_JOBS=$((cores > $# ? cores / $# : 1))
export RDK_JOBS
mkdir -p build/test
for name in "$@"; do rm -f "build/test/$name.status"; done
printf '%s\n' "$@" | xargs -n 1 -P "$cores" sh tools/test.sh --one || true
exec "$PYTHON" tools/count.py total "$@"
