/* What x86 says of itself, apart from how it is asked: a test can make it up. */
#ifndef RDK_CPUID_H
#define RDK_CPUID_H

#include <stdint.h>

/* The registers that detection reads. */
typedef struct rdk_cpuid {
    uint32_t max_leaf;
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx;
    uint64_t xcr0; /* 0 where OSXSAVE is not set */
} rdk_cpuid;

unsigned rdk_flags_from_cpuid(const rdk_cpuid *id);

/* Bytes of L2 by register ECX of CPUID's leaf 0x80000006. */
int64_t rdk_l2_from_cpuid(uint32_t ecx);

#endif
