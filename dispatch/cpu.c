/* CPU detection: CPUID and XGETBV on x86, the kernel's word on Arm; nothing is tried out. */
#include "dispatch/cpu.h"
#include "dispatch/cpuid.h"

unsigned rdk_flags_from_cpuid(const rdk_cpuid *id) {
    const uint32_t osxsave = 1u << 27, avx = 1u << 28, fma = 1u << 12, f16c = 1u << 29;
    const uint32_t avx2 = 1u << 5;
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
    const uint32_t need1 = osxsave | avx | fma | f16c;
    const uint64_t ymm = 0x6, zmm = 0xe6;

    unsigned flags = 0;
    if (id->max_leaf < 7 || (id->leaf1_ecx & need1) != need1)
        return flags;
    if ((id->xcr0 & ymm) == ymm && (id->leaf7_ebx & avx2))
        flags |= RDK_CPU_AVX2;
    if ((flags & RDK_CPU_AVX2) && (id->xcr0 & zmm) == zmm && (id->leaf7_ebx & avx512) == avx512)
        flags |= RDK_CPU_AVX512;
    return flags;
}

int64_t rdk_l2_from_cpuid(uint32_t ecx) {
    return (int64_t)(ecx >> 16) * 1024;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static uint64_t xgetbv0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

unsigned rdk_cpu_flags(void) {
    const uint32_t osxsave = 1u << 27;
    rdk_cpuid id = {0};
    uint32_t a, b, c, d;
    id.max_leaf = __get_cpuid_max(0, 0);
    if (id.max_leaf < 7)
        return 0;
    __cpuid(1, a, b, id.leaf1_ecx, d);
    __cpuid_count(7, 0, a, id.leaf7_ebx, c, d);
    if (id.leaf1_ecx & osxsave)
        id.xcr0 = xgetbv0();
    return rdk_flags_from_cpuid(&id);
}

int64_t rdk_cpu_l2(void) {
    const uint32_t leaf = 0x80000006;
    uint32_t a, b, c, d;
    if ((uint32_t)__get_cpuid_max(0x80000000, 0) < leaf)
        return 0;
    __cpuid(leaf, a, b, c, d);
    return rdk_l2_from_cpuid(c);
}

#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

unsigned rdk_cpu_flags(void) {
    return getauxval(AT_HWCAP) & HWCAP_ASIMD ? RDK_CPU_NEON : 0;
}

#elif defined(__aarch64__)
unsigned rdk_cpu_flags(void) {
    return RDK_CPU_NEON; /* the architecture's base */
}

#else
unsigned rdk_cpu_flags(void) {
    return 0;
}
#endif

#if !defined(__x86_64__) && !defined(__i386__)
int64_t rdk_cpu_l2(void) {
    return 0;
}
#endif
