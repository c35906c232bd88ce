/* The NEON kernels: one line each. */
#include "kernels/attention/attention.h"
#include "kernels/softmax/softmax.h"

void RDK_KERNEL(table, neon)(rdk_table *t) {
    t->isa = RDK_ISA_NEON;
    RDK_USE(t, softmax, SOFTMAX, neon);
    RDK_USE(t, attention, ATTENTION, neon);
}
