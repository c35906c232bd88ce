# x86-64 CPUs that the AVX2 kernels cannot run on: no illegal instruction, the scalar path, the same hashes.
. tools/lab/lib.sh
RDK_CASES=$(sized 10000 2000)
RDK_TESTS=$(sized "" "bits corners memory attention_bits attention_corners input dispatch golden verify info")
export RDK_CASES RDK_TESTS

# chooses VARIANT QEMU_CPU LACKS: `rootdk info` and `rootdk verify` on this CPU, which lacks LACKS.
chooses() {
    passed=0 failed=0
    tool="qemu-x86_64 -cpu $2 build/test/$1/tools/rootdk"
    unset RDK_ISA
    says "$($tool info 2>&1)" '^  scalar  *available, chosen$' "^  avx2  *this CPU lacks $3\$" \
        '^  avx512  *this CPU lacks ' '^  softmax  *rdk_softmax_scalar$' '^  attention  *rdk_attention_scalar$'
    says "$(RDK_ISA=avx2 $tool info 2>&1)" '^RDK_ISA  *avx2: this CPU .* does not have .*; scalar is chosen$' \
        '^  attention  *rdk_attention_scalar$'
    says "$($tool verify --isa avx2 2>&1 || echo "exit code $?")" "ISA 'avx2'" '^exit code 2$'
    note "scalar is chosen, RDK_ISA=avx2 refused" --by "qemu-x86_64 -cpu $2" --passed $passed --failed $failed
}

tools/test.sh nehalem avx2-no-fma || true
row nehalem "before AVX, $(sized all some) suites" "qemu-x86_64 -cpu Nehalem"
chooses nehalem Nehalem "avx, avx2, fma, f16c"
row avx2-no-fma "AVX2 without FMA, $(sized all some) suites" "qemu-x86_64 -cpu max,-fma"
chooses avx2-no-fma max,-fma "fma"
