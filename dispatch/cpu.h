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

/* The flags of this CPU. */
unsigned rdk_cpu_flags(void);

/* Bytes of a core's L2, or 0 where nobody says. */
int64_t rdk_cpu_l2(void);

#endif
