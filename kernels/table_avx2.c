/* The AVX2 kernels: a line each. */
#include "kernels/attention/attention.h"
#include "kernels/softmax/softmax.h"

void RDK_KERNEL(table, avx2)(rdk_table *t) {
    t->isa = RDK_ISA_AVX2;
    RDK_USE(t, softmax, SOFTMAX, avx2);
    RDK_USE(t, attention, ATTENTION, avx2);
    RDK_USE_STREAMING(t, avx2);
}
