/* The AVX512 kernels: one line each. */
#include "kernels/attention/attention.h"
#include "kernels/softmax/softmax.h"

void RDK_KERNEL(table, avx512)(rdk_table *t) {
    t->isa = RDK_ISA_AVX512;
    RDK_USE(t, softmax, SOFTMAX, avx512);
    RDK_USE(t, attention, ATTENTION, avx512);
}
