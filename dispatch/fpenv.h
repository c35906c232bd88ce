/* The floating-point environment of a call: the contract's inside, the caller's outside. */
#ifndef RDK_FPENV_H
#define RDK_FPENV_H

#include <stdint.h>

/* rdk_fpenv_enter() saves the caller's rounding mode, flush-to-zero, trap masks and sticky flags,
 * and sets: nearest even, no flushing, no traps. rdk_fpenv_leave() puts back what was saved. */

#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned rdk_fpenv;

static inline rdk_fpenv rdk_fpenv_enter(void) {
    rdk_fpenv saved = _mm_getcsr();
    _mm_setcsr(0x1f80);
    return saved;
}

static inline void rdk_fpenv_leave(rdk_fpenv saved) {
    _mm_setcsr(saved);
}

#elif defined(__aarch64__)
typedef struct rdk_fpenv {
    uint64_t fpcr, fpsr;
} rdk_fpenv;

static inline rdk_fpenv rdk_fpenv_enter(void) {
    rdk_fpenv saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved.fpcr));
    __asm__ volatile("mrs %0, fpsr" : "=r"(saved.fpsr));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    return saved;
}

static inline void rdk_fpenv_leave(rdk_fpenv saved) {
    __asm__ volatile("msr fpcr, %0" : : "r"(saved.fpcr) : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(saved.fpsr) : "memory");
}

#else
#include <fenv.h>

typedef fenv_t rdk_fpenv;

static inline rdk_fpenv rdk_fpenv_enter(void) {
    rdk_fpenv saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}

static inline void rdk_fpenv_leave(rdk_fpenv saved) {
    fesetenv(&saved);
}
#endif

#endif
