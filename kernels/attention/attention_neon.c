/* Attention on NEON. */
#include "kernels/vec/f32x16_neon.h"
#include "kernels/attention/tile/tile_neon.h"
#include "kernels/attention/walk/walk.h"

RDK_ATTENTION_KERNEL(RDK_KERNEL(attention, neon)) {
    walk_tasks(plan, first, end, scratch);
}
