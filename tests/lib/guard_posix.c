/* Guarded buffers by mmap, faults by signals. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/lib/guard.h"
#include "tests/lib/guard_system.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

size_t guard_page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

char *guard_reserve(size_t bytes) {
    char *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

bool guard_allow(char *first, size_t bytes) {
    return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static sigjmp_buf resume;
static volatile sig_atomic_t in_call;
static volatile guard_fault seen;

#if defined(__s390x__)
const bool GUARD_TELLS_BYTE = false; /* nor does the CPU */
#else
const bool GUARD_TELLS_BYTE = true;
#endif

#if defined(__x86_64__) || defined(__i386__)
const bool GUARD_TELLS_ACCESS = true;

static const char *access_of(const ucontext_t *u) {
    return u->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read";
}
#elif defined(__aarch64__)
const bool GUARD_TELLS_ACCESS = true;

/* From the instruction itself: bit 22 says load in every form the kernels use, but LDRSW. */
static const char *access_of(const ucontext_t *u) {
    uint32_t word;
    memcpy(&word, (const void *)(uintptr_t)u->uc_mcontext.pc, sizeof word);
    bool loads_signed = (word & 0x3f000000) == 0x39000000 && (word & 0x00800000);
    return (word & 0x00400000) || loads_signed ? "read" : "write";
}
#else
const bool GUARD_TELLS_ACCESS = false;

static const char *access_of(const ucontext_t *u) {
    (void)u;
    return "access";
}
#endif

/* Jumping out of a handler is allowed: what was interrupted is a kernel, which owns nothing. */
static void on_fault(int signal, siginfo_t *info, void *context) {
    if (!in_call) { /* the test's own fault: let it end the program */
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        return;
    }
    seen.kind = signal == SIGILL ? GUARD_ILLEGAL : signal == SIGFPE ? GUARD_TRAP : GUARD_MEMORY;
    seen.address = (uintptr_t)info->si_addr;
    seen.access = seen.kind == GUARD_MEMORY ? access_of(context) : "access";
    siglongjmp(resume, 1);
}

static void install_handlers(void) {
    static bool installed;
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    if (installed)
        return;
    installed = true;
    /* SA_NODEFER: the signal stays unblocked after the jump; sigsetjmp need not save the mask. */
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++)
        if (sigaction(SIGNALS[i], &action, NULL)) {
            perror("sigaction");
            exit(EXIT_FAILURE);
        }
}

bool guard_run(void (*call)(void *), void *argument, guard_fault *fault) {
    install_handlers();
    if (sigsetjmp(resume, 0)) {
        in_call = 0;
        *fault = seen;
        return false;
    }
    in_call = 1;
    call(argument);
    in_call = 0;
    return true;
}
