/* NEON through SIMDe, for kernels emulated on x86. */
#ifndef RDK_SIMDE_ARM_NEON_H
#define RDK_SIMDE_ARM_NEON_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

#endif
