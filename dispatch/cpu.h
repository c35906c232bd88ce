/* What the CPU, and the operating system on it, can run. */
#ifndef RDK_CPU_H
#define RDK_CPU_H

#include <stdint.h>

/* Each flag is a bundle: exactly what that ISA's files are compiled with, and its register state. */
enum {
    RDK_CPU_AVX2 = 1 << 0,   /* AVX2 + FMA + F16C, YMM state enabled */
    RDK_CPU_AVX512 = 1 << 1, /* the above, AVX-512 F + BW + DQ + VL, ZMM state enabled */
    RDK_CPU_NEON = 1 << 2,   /* AArch64 Advanced SIMD */
};

/* The registers that x86 detection reads; a test can make them up. */
typedef struct rdk_cpuid {
    uint32_t max_leaf;
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx;
    uint64_t xcr0; /* 0 where OSXSAVE is not set */
} rdk_cpuid;

unsigned rdk_flags_from_cpuid(const rdk_cpuid *id);

/* The flags of this CPU. */
unsigned rdk_cpu_flags(void);

/* Bytes of L2 by register ECX of CPUID's leaf 0x80000006. */
int64_t rdk_l2_from_cpuid(uint32_t ecx);

/* Bytes of a core's L2, or 0 where nobody says. */
int64_t rdk_cpu_l2(void);

#endif
