/* Detection: from made-up CPUs, and on this one beside the compiler's own. */
#include "tests/lib/suite.h"

#include <stdbool.h>
#include <stdint.h>

#include "dispatch/cpu.h"
#include "dispatch/cpuid.h"
#include "dispatch/dispatch.h"

/* ---- Made-up CPUs ---------------------------------------------------------------------------- */

enum {
    OSXSAVE = 1 << 27,
    AVX = 1 << 28,
    FMA = 1 << 12,
    F16C = 1 << 29,
    AVX2 = 1 << 5,
    AVX512F = 1 << 16,
    AVX512DQ = 1 << 17,
    AVX512BW = 1 << 30,
};
#define AVX512VL (1u << 31)
#define AVX2_AND_512 ((unsigned)RDK_CPU_AVX2 | RDK_CPU_AVX512)

static const rdk_cpuid FULL = {.max_leaf = 7,
                               .leaf1_ecx = OSXSAVE | AVX | FMA | F16C,
                               .leaf7_ebx = AVX2 | AVX512F | AVX512DQ | AVX512BW | AVX512VL,
                               .xcr0 = 0xe7};

TEST whole_cpu_has_both(void) {
    rdk_cpuid all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX}, none = {0};
    ASSERT_EQ(AVX2_AND_512, rdk_flags_from_cpuid(&FULL));
    ASSERT_EQ(AVX2_AND_512, rdk_flags_from_cpuid(&all));
    ASSERT_EQ(0u, rdk_flags_from_cpuid(&none));
    PASS();
}

/* Of each register, the bits that matter matter and the others do not. */
TEST each_bit_is_needed(void) {
    for (int bit = 0; bit < 32; bit++) {
        uint32_t b = (uint32_t)1 << bit;
        rdk_cpuid id = FULL;
        id.leaf1_ecx &= ~b;
        ASSERT_EQ(FULL.leaf1_ecx & b ? 0u : AVX2_AND_512, rdk_flags_from_cpuid(&id));
        id.leaf1_ecx = ~b;
        ASSERT_EQ(FULL.leaf1_ecx & b ? 0u : AVX2_AND_512, rdk_flags_from_cpuid(&id));
        for (int others = 0; others < 2; others++) {
            unsigned expected = AVX2_AND_512;
            if (FULL.leaf7_ebx & b)
                expected = b == AVX2 ? 0u : (unsigned)RDK_CPU_AVX2;
            id = FULL;
            id.leaf7_ebx = others ? ~b : FULL.leaf7_ebx & ~b;
            ASSERT_EQ(expected, rdk_flags_from_cpuid(&id));
        }
    }
    PASS();
}

TEST registers_must_be_enabled(void) {
    static const struct {
        uint64_t xcr0;
        unsigned flags;
    } CASES[] = {
        {0, 0},    {1, 0},    {2, 0},    {3, 0},    {4, 0},     {5, 0},
        {0xe1, 0}, {0xe3, 0}, /* ZMM without YMM */
        {0xe5, 0}, {6, 1},    {7, 1},    {0x27, 1}, {0x67, 1},  {0x87, 1},
        {0xa7, 1}, {0xc7, 1}, {0xe6, 3}, {0xe7, 3}, {0x2e7, 3}, {(uint64_t)0xe7 << 32, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rdk_cpuid id = FULL;
        id.xcr0 = CASES[i].xcr0;
        ASSERT_EQ(CASES[i].flags, rdk_flags_from_cpuid(&id));
    }
    PASS();
}

TEST old_cpus_have_no_leaf_7(void) {
    for (uint32_t leaf = 0; leaf < 32; leaf++) {
        rdk_cpuid id = FULL;
        id.max_leaf = leaf;
        ASSERT_EQ(leaf < 7 ? 0u : AVX2_AND_512, rdk_flags_from_cpuid(&id));
    }
    PASS();
}

TEST l2_is_in_the_upper_half(void) {
    ASSERT_EQ(0, rdk_l2_from_cpuid(0));
    ASSERT_EQ(0, rdk_l2_from_cpuid(0xffff));
    ASSERT_EQ(512 * 1024, rdk_l2_from_cpuid(0x02006140));
    ASSERT_EQ(1 << 20, rdk_l2_from_cpuid(0x04008140));
    ASSERT_EQ((int64_t)65535 * 1024, rdk_l2_from_cpuid(UINT32_MAX));
    PASS();
}

/* ---- This CPU -------------------------------------------------------------------------------- */

TEST kernels_know_of_this_l2(void) {
    rdk_status s;
    const rdk_machine machine = rdk_table_for(RDK_ISA_DEFAULT, &s)->machine;
    printf("\nL2: %lld KB\n", (long long)(machine.l2 >> 10));
    ASSERT_EQ(rdk_cpu_l2(), machine.l2);
    PASS();
}

#if defined(__x86_64__) || defined(__i386__)
TEST detection_agrees_with_the_compiler(void) {
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 /* others do not know the name */
    avx2 = avx2 && __builtin_cpu_supports("f16c");
#endif
    unsigned expected = avx2 ? RDK_CPU_AVX2 : 0;
    if (avx2 && avx512)
        expected |= RDK_CPU_AVX512;
    ASSERT_EQ(expected, rdk_cpu_flags());
    PASS();
}
#elif defined(__aarch64__)
TEST detection_agrees_with_the_compiler(void) {
    ASSERT_EQ((unsigned)RDK_CPU_NEON, rdk_cpu_flags()); /* the architecture's base */
    PASS();
}
#else
TEST detection_agrees_with_the_compiler(void) {
    ASSERT_EQ(0u, rdk_cpu_flags());
    PASS();
}
#endif
SUITE(cpu) {
    RUN_TEST(whole_cpu_has_both);
    RUN_TEST(each_bit_is_needed);
    RUN_TEST(registers_must_be_enabled);
    RUN_TEST(old_cpus_have_no_leaf_7);
    RUN_TEST(l2_is_in_the_upper_half);
    RUN_TEST(detection_agrees_with_the_compiler);
    RUN_TEST(kernels_know_of_this_l2);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(cpu);
    RDK_MAIN_END();
}
