/* Attention on AVX2. */
#include "kernels/vec/f32x16_avx2.h"
#include "kernels/attention/tile/tile_avx2.h"
#include "kernels/attention/walk/walk.h"

RDK_ATTENTION_KERNEL(RDK_KERNEL(attention, avx2)) {
    walk_tasks(plan, first, end, scratch);
}
