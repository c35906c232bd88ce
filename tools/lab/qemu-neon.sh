# NEON as real instructions: the whole suite under qemu-aarch64, built by gcc and by clang.
. tools/lab/lib.sh
RDK_CASES=$(sized 100000 20000)
export RDK_CASES
tools/test.sh aarch64-gcc aarch64-clang || true
for compiler in gcc clang; do
    row "aarch64-$compiler" "$compiler, all suites" "qemu-aarch64 -cpu max"
done
