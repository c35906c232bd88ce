# llvm-mca's predictions of the inner loops, against docs/static-performance.md; nothing is executed.
. tools/lab/lib.sh
need static-performance

# look ISA NAME MODELS
look() {
    start=$(date +%s)
    "$PYTHON" tools/lab/static-performance.py "$1" > "$dir/$1.txt" 2>&1 || true
    cat "$dir/$1.txt"
    note "$2, gcc and clang" --by "llvm-mca: $3" --cases "$(grep -c -e '| gcc |' -e '| clang |' "$dir/$1.txt") loops" \
        --log "$dir/$1.txt" --seconds $(($(date +%s) - start))
}

look avx2 AVX2 "znver3, haswell"
look avx512 AVX-512 "skylake-avx512, znver4"
look neon NEON "neoverse-n1, -n2, -v1, -v2"
