/* The kernel table: every operation's signature, written once, and one slot per operation. */
#ifndef RDK_KERNELS_H
#define RDK_KERNELS_H

#include "rootdk/rootdk.h"

/* A kernel gets a checked descriptor of this version's full size, in the default floating-point
 * environment, and cannot fail. */
#define RDK_SOFTMAX_KERNEL(name) void name(const rdk_softmax_desc *d)
#define RDK_ATTENTION_KERNEL(name) void name(const rdk_attention_desc *d)

typedef RDK_SOFTMAX_KERNEL(rdk_softmax_kernel);
typedef RDK_ATTENTION_KERNEL(rdk_attention_kernel);

typedef struct rdk_table {
    rdk_isa isa; /* the highest rung that filled a slot */
    const char *name[RDK_OP_COUNT];
    rdk_softmax_kernel *softmax;
    rdk_attention_kernel *attention;
} rdk_table;

/* Kernels emulated on a foreign CPU are the same files under another name, so that they can stand
 * beside the native ones in one process. */
#ifdef RDK_EMULATED
#define RDK_KERNEL(op, isa) rdk_##op##_##isa##_emulated
#else
#define RDK_KERNEL(op, isa) rdk_##op##_##isa
#endif

/* One line of an ISA's table: RDK_USE(t, softmax, SOFTMAX, avx2). */
#define RDK_STRING_(x) #x
#define RDK_STRING(x) RDK_STRING_(x)
#define RDK_USE(t, op, OP, isa)                                                                    \
    ((t)->op = RDK_KERNEL(op, isa), (t)->name[RDK_OP_##OP] = RDK_STRING(RDK_KERNEL(op, isa)))

/* Each rung overwrites the slots it has a kernel for. */
void rdk_table_scalar(rdk_table *t);
void rdk_table_avx2(rdk_table *t);
void rdk_table_avx512(rdk_table *t);
void rdk_table_neon(rdk_table *t);
void rdk_table_avx512_emulated(rdk_table *t);
void rdk_table_neon_emulated(rdk_table *t);

#endif
