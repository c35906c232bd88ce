/* The functions of an operation: the public ones, and the one that takes any table. */
#ifndef RDK_OPERATION_H
#define RDK_OPERATION_H

#include "dispatch/dispatch.h"

/* What is wrong with a descriptor: the status of a call, and the name of the field as the header of
 * the library spells it. Nothing is wrong if the status is RDK_OK; then the name is "". */
typedef struct rdk_fault {
    rdk_status status;
    const char *field;
} rdk_fault;

#define RDK_NO_FAULT ((rdk_fault){RDK_OK, ""})

static inline rdk_fault rdk_fault_of(rdk_status status, const char *field) {
    return (rdk_fault){status, status == RDK_OK ? "" : field};
}

/* RDK_OPERATION(softmax) defines rdk_softmax_with(), rdk_softmax() and rdk_softmax_check() from
 * what stands before it:
 *
 *     static rdk_status softmax_copy(rdk_softmax_desc *to, const rdk_softmax_desc *from);
 *     static rdk_fault softmax_fault(const rdk_softmax_desc *d);
 *     static rdk_status softmax_run(const rdk_table *t, rdk_softmax_desc *d);
 *
 * softmax_examine() is all that happens before a kernel may run: it copies the descriptor, finds
 * the table if there is none yet, and checks. A wrong size comes before a wrong ISA, and that
 * before whatever softmax_fault() finds. */
#define RDK_OPERATION(op)                                                                          \
    static rdk_fault op##_examine(const rdk_table **t, rdk_##op##_desc *d,                         \
                                  const rdk_##op##_desc *desc) {                                   \
        rdk_status s = op##_copy(d, desc);                                                         \
        if (s != RDK_OK)                                                                           \
            return rdk_fault_of(s, desc ? "size" : "desc");                                        \
        if (!*t)                                                                                   \
            *t = rdk_table_for(d->isa, &s);                                                        \
        return s == RDK_OK ? op##_fault(d) : rdk_fault_of(s, "isa");                               \
    }                                                                                              \
                                                                                                   \
    rdk_status rdk_##op##_with(const rdk_table *t, const rdk_##op##_desc *desc) {                  \
        rdk_##op##_desc d;                                                                         \
        const rdk_status s = op##_examine(&t, &d, desc).status;                                    \
        return s == RDK_OK ? op##_run(t, &d) : s;                                                  \
    }                                                                                              \
                                                                                                   \
    rdk_status rdk_##op(const rdk_##op##_desc *desc) {                                             \
        return rdk_##op##_with(NULL, desc);                                                        \
    }                                                                                              \
                                                                                                   \
    rdk_status rdk_##op##_check(const rdk_##op##_desc *desc, const char **field) {                 \
        const rdk_table *t = NULL;                                                                 \
        rdk_##op##_desc d;                                                                         \
        const rdk_fault f = op##_examine(&t, &d, desc);                                            \
        if (field)                                                                                 \
            *field = f.field;                                                                      \
        return f.status;                                                                           \
    }

#endif
