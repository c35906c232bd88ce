#define _GNU_SOURCE
#include "tests/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { MAX_GUARDED = 32 };

static guarded *known[MAX_GUARDED]; /* so that the handler can name the buffer */
static int known_count;

/* ---- Buffers ---------------------------------------------------------------------------------- */

static void give_up(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

void guard_map(guarded *g, const char *name, size_t room) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    room = (room + page - 1) / page * page;
    char *map = mmap(NULL, room + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        give_up("mmap");
    if (mprotect(map + GUARD_BYTES, room, PROT_READ | PROT_WRITE))
        give_up("mprotect");
    *g = (guarded){.name = name, .map = map, .start = map + GUARD_BYTES};
    g->end = g->start + room;
    g->data = g->start;
    if (known_count == MAX_GUARDED)
        give_up("too many guarded buffers");
    known[known_count++] = g;
}

void *guard_place(guarded *g, size_t bytes, size_t away, bool at_end) {
    if (away >= GUARD_SLACK || bytes + 2 * GUARD_SLACK > (size_t)(g->end - g->start)) {
        fprintf(stderr, "%zu bytes do not fit the guarded buffer of %s\n", bytes, g->name);
        exit(EXIT_FAILURE);
    }
    g->data = at_end ? g->end - away - bytes : g->start + away;
    g->bytes = bytes;
    memset(guard_window(g), GUARD_CANARY, guard_window_bytes(g));
    return g->data;
}

char *guard_window(const guarded *g) {
    return g->data - g->start < GUARD_SLACK ? g->start : g->data - GUARD_SLACK;
}

size_t guard_window_bytes(const guarded *g) {
    char *last = g->data + g->bytes;
    last = g->end - last < GUARD_SLACK ? g->end : last + GUARD_SLACK;
    return (size_t)(last - guard_window(g));
}

/* ---- Faults ----------------------------------------------------------------------------------- */

static sigjmp_buf resume;
static volatile sig_atomic_t in_call;
static volatile struct {
    int signal;
    uintptr_t address;
    const char *access;
} fault;

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
    fault.signal = signal;
    fault.address = (uintptr_t)info->si_addr;
    fault.access = signal == SIGSEGV || signal == SIGBUS ? access_of(context) : "access";
    siglongjmp(resume, 1);
}

static void install_handlers(void) {
    static bool installed;
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    if (installed)
        return;
    installed = true;
    /* SA_NODEFER: the signal stays unblocked after the jump, and sigsetjmp need not save the mask. */
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++)
        if (sigaction(SIGNALS[i], &action, NULL))
            give_up("sigaction");
}

static void describe_fault(char *report, size_t size) {
    if (fault.signal == SIGILL || fault.signal == SIGFPE) {
        snprintf(report, size, "%s",
                 fault.signal == SIGILL ? "illegal instruction" : "floating-point trap");
        return;
    }
    for (int i = 0; i < known_count; i++) {
        const guarded *g = known[i];
        uintptr_t data = (uintptr_t)g->data, after = data + g->bytes;
        if (fault.address < (uintptr_t)g->map || fault.address >= (uintptr_t)g->end + GUARD_BYTES)
            continue;
        if (fault.address < data)
            snprintf(report, size, "%s before the start of %s by %zu bytes", fault.access, g->name,
                     (size_t)(data - fault.address));
        else
            snprintf(report, size, "%s past the end of %s by %zu bytes", fault.access, g->name,
                     (size_t)(fault.address - after + 1));
        return;
    }
    snprintf(report, size, "%s of address %#zx, in no buffer", fault.access, (size_t)fault.address);
}

bool guard_call(void (*call)(void *), void *argument, char *report, size_t report_size) {
    install_handlers();
    if (sigsetjmp(resume, 0)) {
        in_call = 0;
        describe_fault(report, report_size);
        return false;
    }
    in_call = 1;
    call(argument);
    in_call = 0;
    return true;
}
