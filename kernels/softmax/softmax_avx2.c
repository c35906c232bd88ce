/* Softmax on AVX2. */
#include "kernels/vec/f32x16_avx2.h"
#include "kernels/softmax/softmax_rows.h"

RDK_SOFTMAX_KERNEL(RDK_KERNEL(softmax, avx2)) {
    softmax_rows(d);
}
