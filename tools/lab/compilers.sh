# Builds that the matrix of `make test` leaves out: no optimisation by clang, and the kernels of other CPUs,
# through SIMDe, at the levels at which the matrix does not compile them.
. tools/lab/lib.sh
variants=$(sized "gcc-O0-simde clang-O0-simde gcc-O3-simde clang-O3-simde" clang-O0)
RDK_CASES=$(sized 20000 2000)
export RDK_CASES
# shellcheck disable=SC2086 # a list of words
tools/test.sh $variants || true
for variant in $variants; do
    row "$variant" "${variant%-simde}, all suites" "this CPU$(sized ", SIMDe" "")"
done
