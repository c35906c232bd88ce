/* The reference kernels: the first rung, which fills every slot. */
#include "kernels/attention/attention.h"
#include "kernels/softmax/softmax.h"

void rdk_table_scalar(rdk_table *t) {
    t->isa = RDK_ISA_SCALAR;
    RDK_USE(t, softmax, SOFTMAX, scalar);
    RDK_USE(t, attention, ATTENTION, scalar);
}
