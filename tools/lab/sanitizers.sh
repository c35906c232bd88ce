# The tests under tools that watch: ASan + UBSan, UBSan alone, MSan, TSan, valgrind. Kernels emulated by SIMDe are
# left out: it would be SIMDe that is watched. Scratch counts as undefined memory for MSan and valgrind
# (tests/lib/undefined.h).
. tools/lab/lib.sh
need sanitizers

# watched WHAT BY "TEST [OPTION...]"...: runs programs of $built under $tool, and adds one row for all.
watched() {
    what=$1 by=$2 bad=0 start=$(date +%s) log=$dir/${built##*/}.log
    shift 2
    programs=''
    for test in "$@"; do programs="$programs tests/${test%% *}"; done
    # shellcheck disable=SC2086 # lists of words
    "$NINJA" -C "$built" $programs
    for test in "$@"; do
        echo "== $test" >> "$log"
        # shellcheck disable=SC2086
        $tool "$built"/tests/$test >> "$log" 2>&1 || bad=$((bad + 1))
    done
    note "$what" --by "$by" --log "$log" --failed "$bad" --seconds "$(($(date +%s) - start))"
}

cases="--cases $(sized 20000 1000)"
tool=''
build_in tsan clang -Doptimization=1 -Demulated=false -Db_sanitize=thread -Db_lundef=false
export TSAN_OPTIONS=halt_on_error=1 # a race in a child that ends by _exit() counts too
watched "TSan: first use raced by 8 threads, 400 times" "clang -fsanitize=thread" api/test_dispatch

# What other sanitizers' builds have in C, this one has in assembly, and so checks the C around it.
build_in ubsan clang -Doptimization=1 -Demulated=false -Db_sanitize=undefined -Db_lundef=false
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
watched "UBSan, tiles in assembly" "clang -fsanitize=undefined" "attention/test_bits $cases" tool/test_golden \
    attention/test_corners

build_in msan clang -Doptimization=1 -Demulated=false -Db_sanitize=memory -Db_lundef=false
watched "MSan" "clang -fsanitize=memory" "softmax/test_bits $cases" "attention/test_bits $cases" \
    tool/test_golden softmax/test_corners attention/test_corners softmax/test_memory api/test_input api/test_attention_input

build_in valgrind gcc -Doptimization=1 -Demulated=false -Dc_args=-DRDK_VALGRIND
tool="valgrind -q --error-exitcode=9"
trimmed="attention/test_bits --cases $(sized 1000 100)"
set -- tool/test_golden "$trimmed"
[ "$LAB_SIZE" = ci ] || set -- "$@" "softmax/test_bits --cases 1000" attention/test_corners
watched "memcheck, trimmed" "valgrind $(valgrind --version | sed 's/.*-//')" "$@"

[ "$LAB_SIZE" != ci ] || exit 0 # `make test` has the rest
RDK_CASES=20000
export RDK_CASES
variant clang-asan "ASan and UBSan, all suites" "clang -fsanitize=address,undefined"
