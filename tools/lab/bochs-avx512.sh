# AVX-512 as real instructions: all suites in a Linux guest under Bochs, which is a Skylake-X in software; and
# what the dispatcher chooses there by itself, and where the kernel does not enable the registers.
#
# Every suite runs, with guard pages and masked tails. Against `make test` on its main build they are trimmed in
# attention's random cases (20,000 there, and its axes walked whole instead of in steps of 11; 6,000 here, so that it
# takes a quarter of an hour), in the floats of 2^f and the scores whose accuracy is measured (as in cross builds),
# and in the paths: only AVX-512, and scalar where it is what others are compared with.
. tools/lab/lib.sh
need bochs

compilers=$(sized "gcc clang" gcc)
softmax_cases=$(sized 60000 20000)
attention_cases=$(sized 6000 2000)
: "${BOCHS_SECONDS:=3000}"
export BOCHS_SECONDS RDK_PATH=avx512

# build COMPILER: static programs, in build/test/bochs-COMPILER.
build() {
    "$MESON" setup "build/test/bochs-$1" --cross-file "tools/cross/guest-$1.ini" -Doptimization=2 -Ddebug=false \
        -Dtests=enabled -Demulated=false -Dwerror=true \
        ${RDK_DEPS_DIR:+"-Ddeps_dir=$(cd "$RDK_DEPS_DIR" && pwd)"} &&
        "$MESON" compile -C "build/test/bochs-$1"
}

# stage_suites COMPILER: builds, and makes a guest for each half of the tests.
stage_suites() {
    rm -rf "build/test/bochs-$1"
    echo "compile 0 $1 $("$1" -dumpversion)" > "build/test/bochs-$1.status"
    build "$1" > "build/test/bochs-$1.log" 2>&1 || return 0
    "$PYTHON" tools/lab/guest_tests.py stage "build/test/bochs-$1" "$dir/$1" \
        "bits=--cases $softmax_cases" \
        "attention_bits=--cases $attention_cases"
}

# stage_choice GUEST: what the dispatcher does when nobody tells it anything, and if that is what the compiler's
# own detection says.
stage_choice() {
    mkdir -p "$dir/$1"
    cp build/test/bochs-gcc/tools/rootdk build/test/bochs-gcc/tests/api/test_cpu "$dir/$1"
    echo './rootdk info && ./rootdk verify && ./test_cpu -t detection' > "$dir/$1/run"
}

# Each line is what tools/lab/bochs.sh is given: the guest, and what its kernel leaves off.
guests() {
    find "$dir" -mindepth 2 -name run | sed 's|/run$||' | sort | sed '
        s|/without-zmm$|& avx512f|
        s|/without-ymm$|& avx|'
}

boot_all() {
    guests | xargs -L 1 -P "$(nproc)" sh -c \
        'tools/lab/bochs.sh "$@" > "$1.out" 2>&1 || echo "FAIL: exit code $?" >> "$1.out"' boot
}

# note_suites COMPILER: what did not build has failed.
note_suites() {
    if [ -d "$dir/$1" ]; then
        "$PYTHON" tools/lab/guest_tests.py collect "build/test/bochs-$1" "$dir/$1"
        echo "done $seconds $1 $("$1" -dumpversion)" > "build/test/bochs-$1.status"
    fi
    note "$1, all suites" --by "$by" --variant "bochs-$1"
}

# note_choice GUEST ISA STANDING: the CPU has AVX-512, info says STANDING of it, and ISA runs.
note_choice() {
    out=$dir/$1.out passed=0 failed=0
    says "$(cat "$out")" \
        '^found .* avx512f, avx512bw, avx512dq, avx512vl' \
        "^  avx512  *$3\$" \
        "^  $2  *available, chosen\$" \
        "^  softmax  *rdk_softmax_$2\$" \
        "^  attention  *rdk_attention_$2\$" \
        "^$2  *softmax .* ok\$" \
        "^$2  *attention .* ok\$"
    ! grep '^FAIL' "$out" || failed=$((failed + 1))
    note "$1: $2 is chosen" --by "$by" --log "$out" --passed $passed --failed $failed \
        --cases "$(awk -v isa="$2" '$1 == isa && / cases / {n += $3} END {print isa, n + 0}' "$out")"
}

by="Bochs 3.0, Skylake-X"
mkdir -p build/test
for compiler in $compilers; do stage_suites "$compiler"; done
if [ ! -d "$dir/gcc" ]; then
    note_suites gcc
    exit
fi
for guest in with-zmm without-zmm without-ymm; do stage_choice $guest; done
start=$(date +%s)
boot_all
seconds=$(($(date +%s) - start))
for compiler in $compilers; do note_suites "$compiler"; done
note_choice with-zmm avx512 "available, chosen"
note_choice without-zmm avx2 "the operating system does not enable zmm state"
note_choice without-ymm scalar "the operating system does not enable ymm state, zmm state"
