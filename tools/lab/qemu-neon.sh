# NEON as real instructions: the whole suite under qemu-aarch64, built by gcc and by clang; in ci size by clang alone,
# since `make test` has gcc's.
. tools/lab/lib.sh
compilers=$(sized "gcc clang" clang)
RDK_CASES=$(sized 100000 20000)
export RDK_CASES
# shellcheck disable=SC2046 # a list of words
tools/test.sh $(printf 'aarch64-%s ' $compilers) || true
for compiler in $compilers; do
    row "aarch64-$compiler" "$compiler, all suites" "qemu-aarch64 -cpu max"
done
