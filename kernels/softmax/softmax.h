/* What the softmax kernels share: the row that needs no speed. */
#ifndef RDK_SOFTMAX_H
#define RDK_SOFTMAX_H

#include "kernels/kernels.h"

RDK_SOFTMAX_KERNEL(rdk_softmax_scalar);
RDK_SOFTMAX_KERNEL(rdk_softmax_avx2);
RDK_SOFTMAX_KERNEL(rdk_softmax_avx512);
RDK_SOFTMAX_KERNEL(rdk_softmax_neon);
RDK_SOFTMAX_KERNEL(rdk_softmax_avx512_emulated);
RDK_SOFTMAX_KERNEL(rdk_softmax_neon_emulated);

/* Row r by the reference, whatever it holds. Vector paths hand over their odd rows: those that are
 * cold, and those whose scale is not finite. */
void rdk_softmax_row_scalar(const rdk_softmax_desc *d, int64_t r);

#endif
