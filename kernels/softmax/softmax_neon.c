/* Softmax on NEON. */
#include "kernels/vec/f32x16_neon.h"
#include "kernels/softmax/softmax_rows.h"

RDK_SOFTMAX_KERNEL(RDK_KERNEL(softmax, neon)) {
    softmax_rows(d);
}
