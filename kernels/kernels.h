/* The kernel table: every operation's signature, written once, and one slot per operation. */
#ifndef RDK_KERNELS_H
#define RDK_KERNELS_H

#include "kernels/isas.h"
#include "rootdk/rootdk.h"

/* The machine, as far as it is known. It decides speed, but no bit. */
typedef struct rdk_machine {
    int64_t l2; /* bytes of a core's L2, or 0 where nobody knows */
} rdk_machine;

typedef struct rdk_plan rdk_plan; /* of an attention call: kernels/attention/plan.h */

/* A kernel works in the default floating-point environment, and cannot fail. That of softmax
 * gets a checked descriptor of this version's full size, that of attention tasks of a plan,
 * and scratch for one worker. */
#define RDK_SOFTMAX_KERNEL(name) void name(const rdk_softmax_desc *d)
#define RDK_ATTENTION_KERNEL(name)                                                                 \
    void name(const rdk_plan *plan, int64_t first, int64_t end, void *scratch)

typedef RDK_SOFTMAX_KERNEL(rdk_softmax_kernel);
typedef RDK_ATTENTION_KERNEL(rdk_attention_kernel);

typedef struct rdk_table {
    rdk_isa isa; /* the highest rung that filled a slot */
    rdk_machine machine;
    const char *name[RDK_OP_COUNT];
    rdk_isa kernel_isa[RDK_OP_COUNT]; /* for plans: a slot may be of a lower rung */
    rdk_softmax_kernel *softmax;
    rdk_attention_kernel *attention;
    /* NULL, or a kernel that is faster than `attention` for few rows whose K and V come from
     * memory, and its ISA. The bits are the same. */
    rdk_attention_kernel *attention_streaming;
    rdk_isa streaming_isa;
} rdk_table;

/* Kernels emulated on a foreign CPU are the same files under another name, so that they can stand
 * beside the native ones in one process. */
#ifdef RDK_EMULATED
#define RDK_KERNEL(op, isa) rdk_##op##_##isa##_emulated
#else
#define RDK_KERNEL(op, isa) rdk_##op##_##isa
#endif

/* One line of an ISA's table: RDK_USE(t, softmax, SOFTMAX, avx2). It does nothing where the build
 * leaves the operation out (-DRDK_WITHOUT_SOFTMAX). */
#define RDK_STRING_(x) #x
#define RDK_STRING(x) RDK_STRING_(x)
#define RDK_USE(t, op, OP, suffix)                                                                 \
    RDK_CHOOSE(RDK_WITHOUT_##OP, (void)0,                                                          \
               ((t)->op = RDK_KERNEL(op, suffix), (t)->kernel_isa[RDK_OP_##OP] = (t)->isa,         \
                (t)->name[RDK_OP_##OP] = RDK_STRING(RDK_KERNEL(op, suffix))))

/* Says that this ISA streams fastest, also on every rung above that does not use it itself. */
#define RDK_USE_STREAMING(t, suffix)                                                               \
    RDK_CHOOSE(                                                                                    \
        RDK_WITHOUT_ATTENTION, (void)0,                                                            \
        ((t)->attention_streaming = RDK_KERNEL(attention, suffix), (t)->streaming_isa = (t)->isa))

/* The functions that an ISA may have: one that fills its slots of a table, and a kernel per
 * operation. The tests also run emulated kernels, under names of their own. */
typedef void rdk_table_filler(rdk_table *t);
#ifndef RDK_ONE_FILE /* there they are static, and defined by now */
#define RDK_DECLARE(NAME, isa, ...)                                                                \
    rdk_table_filler rdk_table_##isa, rdk_table_##isa##_emulated;                                  \
    rdk_softmax_kernel rdk_softmax_##isa, rdk_softmax_##isa##_emulated;                            \
    rdk_attention_kernel rdk_attention_##isa, rdk_attention_##isa##_emulated;
RDK_ISAS(RDK_DECLARE)
#undef RDK_DECLARE
#endif

#endif
