# CPUs for which there is the scalar path alone, big-endian and 32-bit ones among them: the same hashes.
. tools/lab/lib.sh
need other-machines
RDK_CASES=$(sized 10000 2000)
RDK_TESTS=$(sized "" "memory environment attention_corners input dispatch golden verify info")
export RDK_CASES RDK_TESTS

machines="s390x riscv64 armhf"
# Under qemu-i386 7.2 a forked child of test_dispatch did not end, so 32-bit x86 needs a CPU and a kernel that run it.
if /usr/i686-linux-gnu/lib/ld-linux.so.2 --version > /dev/null; then
    machines="$machines i686"
else
    skip "32-bit x86" "this machine does not run 32-bit programs"
fi
# shellcheck disable=SC2086 # a list of words
tools/test.sh $machines || true
suites=$(sized "all suites" "some suites")
for machine in $machines; do
    case $machine in
        s390x) row s390x "s390x (big-endian), $suites" qemu-s390x ;;
        riscv64) row riscv64 "riscv64, $suites" qemu-riscv64 ;;
        armhf) row armhf "Arm, 32-bit, $suites" qemu-arm ;;
        i686) row i686 "x86, 32-bit, $suites" "this CPU" ;;
    esac
done
