/* The instruction sets, one line each, in the order of the ladder. There
 * is no other list of them. */
#ifndef RDK_ISAS_H
#define RDK_ISAS_H

/* X(NAME, name, title, architecture, needs, flags, emulated)
 *
 * NAME          the enumerator's: RDK_ISA_NAME (rootdk.h), RDK_CPU_NAME (dispatch/cpu.h)
 * name          what rdk_isa_name() says; files and functions of the ISA end in it
 * title         the name in tables for people
 * architecture  what machine_architecture() says where the ISA can run; "" is any. In lower case,
 *               with _ for -, it is Meson's host_machine.cpu_family()
 * needs         what `rootdk info --markdown` says that the ISA needs
 * flags         of the compiler for the ISA's files, beside the flags of the ISAs before it of the
 *               same architecture
 * emulated      1 if the tests of x86-64 also run it through SIMDe (tests/simde/), else 0
 *
 * A line stands below the lines that it beats. Of one architecture, each ISA needs all that the
 * ISAs before it need. tools/isas.sh reads this list for Meson, shell and Python; the words in
 * quotes hold no parenthesis and no semicolon. */
#define RDK_ISAS(X)                                                                                \
    X(SCALAR, scalar, "scalar", "", "any CPU", "", 0)                                              \
    X(AVX2, avx2, "AVX2", "x86-64", "x86-64 with AVX2, FMA, F16C", "-mavx2 -mfma -mf16c", 0)       \
    X(AVX512, avx512, "AVX-512", "x86-64", "x86-64 with AVX-512 F, BW, DQ, VL",                    \
      "-mavx512f -mavx512bw -mavx512dq -mavx512vl", 1)                                             \
    X(NEON, neon, "NEON", "AArch64", "AArch64", "", 1)

/* RDK_IN_BUILD(AVX2, yes, no): `yes` where the build has the ISA's files
 * (-DRDK_HAVE_AVX2), else `no`. RDK_HAVE_AVX2 is then 1, RDK_TWO_1 makes two arguments of
 * one, and `yes` becomes the second. */
#define RDK_TWO_1 1,
#define RDK_SECOND_(first, second, ...) second
#define RDK_CHOOSE__(two_or_one, no) RDK_SECOND_(two_or_one, no, no)
#define RDK_CHOOSE_(have, yes, no) RDK_CHOOSE__(RDK_TWO_##have yes, no)
#define RDK_CHOOSE(have, yes, no) RDK_CHOOSE_(have, yes, no)
#define RDK_IN_BUILD(NAME, yes, no) RDK_CHOOSE(RDK_HAVE_##NAME, yes, no)

#ifndef RDK_HAVE_SCALAR
#define RDK_HAVE_SCALAR 1 /* every build has the reference */
#endif

#endif
