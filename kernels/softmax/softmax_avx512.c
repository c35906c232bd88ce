/* Softmax on AVX-512. */
#include "kernels/vec/f32x16_avx512.h"
#include "kernels/softmax/softmax_rows.h"

RDK_SOFTMAX_KERNEL(RDK_KERNEL(softmax, avx512)) {
    softmax_rows(d);
}
