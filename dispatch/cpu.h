/* The instruction sets that the CPU, and the operating system on it, can run. */
#ifndef RDK_CPU_H
#define RDK_CPU_H

#include <stdint.h>

#include "kernels/isas.h"
#include "rootdk/rootdk.h"

/* A flag per ISA: the CPU has all that the ISA's files are compiled with, and the operating system
 * saves its registers. Scalar's flag is 0, since every CPU has it. */
enum {
#define RDK_CPU_FLAG(NAME, ...) RDK_CPU_##NAME = 1 << RDK_ISA_##NAME >> (RDK_ISA_SCALAR + 1),
    RDK_ISAS(RDK_CPU_FLAG)
#undef RDK_CPU_FLAG
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
