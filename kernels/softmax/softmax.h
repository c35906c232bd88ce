/* Shared by the softmax kernels: the row that needs no speed. */
#ifndef RDK_SOFTMAX_H
#define RDK_SOFTMAX_H

#include "kernels/kernels.h"

/* Row r by the reference, whatever it holds. Vector paths hand over the rows that they cannot
 * compute: cold ones, and those whose scale is not finite. */
void rdk_softmax_row_scalar(const rdk_softmax_desc *d, int64_t r);

#endif
