/* Linked into every build, whatever its kernels are. */
#include "kernels/caches.h"

int64_t rdk_l2_size;
