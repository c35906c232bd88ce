/* Attention on AVX-512. */
#include "kernels/vec/f32x16_avx512.h"
#include "kernels/attention/tile/tile_avx512.h"
#include "kernels/attention/walk/walk.h"

RDK_ATTENTION_KERNEL(RDK_KERNEL(attention, avx512)) {
    walk_tasks(plan, first, end, scratch);
}
