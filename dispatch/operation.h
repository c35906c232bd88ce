/* The two functions of an operation: the public one, and the one that takes any table. */
#ifndef RDK_OPERATION_H
#define RDK_OPERATION_H

#include "dispatch/dispatch.h"

/* RDK_OPERATION(softmax) defines rdk_softmax_with() and rdk_softmax() from what stands before it:
 *
 *     static rdk_status copy_desc(rdk_softmax_desc *to, const rdk_softmax_desc *from);
 *     static rdk_status check(const rdk_softmax_desc *d);
 *     static rdk_status run(const rdk_table *t, rdk_softmax_desc *d);
 *
 * A wrong size comes before a wrong ISA, and that before whatever check() finds. */
#define RDK_OPERATION(op)                                                                          \
    rdk_status rdk_##op##_with(const rdk_table *t, const rdk_##op##_desc *desc) {                  \
        rdk_##op##_desc d;                                                                         \
        rdk_status s = copy_desc(&d, desc);                                                        \
        if (s == RDK_OK && !t)                                                                     \
            t = rdk_table_for(d.isa, &s);                                                          \
        if (s == RDK_OK)                                                                           \
            s = check(&d);                                                                         \
        return s == RDK_OK ? run(t, &d) : s;                                                       \
    }                                                                                              \
                                                                                                   \
    rdk_status rdk_##op(const rdk_##op##_desc *desc) {                                             \
        return rdk_##op##_with(NULL, desc);                                                        \
    }

#endif
