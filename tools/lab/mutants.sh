# Mistakes in the kernels of every ISA, made by rules: tools/lab/mutants.py. The tests must see each.
. tools/lab/lib.sh
if ! grep -q '^flags.* avx2 .*' /proc/cpuinfo || ! grep -q '^flags.* fma .*' /proc/cpuinfo; then
    skip "all of it" "AVX2 and FMA run the mutants, native and through SIMDe"
    exit 0
fi
# clang, which compiles SIMDe soonest; kept between runs.
build_in mutants clang -Doptimization=1
"$NINJA" -C "$built"
"$PYTHON" tools/lab/mutants.py --build "$built" --work "$dir" --size "$LAB_SIZE" || true
