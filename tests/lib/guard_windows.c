/* Guarded buffers by VirtualAlloc, faults by a vectored exception handler. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "tests/lib/guard.h"
#include "tests/lib/guard_system.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

size_t guard_page_bytes(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

char *guard_reserve(size_t bytes) {
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}

bool guard_allow(char *first, size_t bytes) {
    DWORD before;
    return VirtualProtect(first, bytes, PAGE_READWRITE, &before);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

const bool GUARD_TELLS_ACCESS = true;
const bool GUARD_TELLS_BYTE = true;

static void *resume[5];
static volatile bool in_call;
static volatile guard_fault seen;

/* longjmp() would unwind, and what was interrupted may be in the midst of a prologue. */
static void leave_call(void) {
    __builtin_longjmp(resume, 1);
}

static bool describe(const EXCEPTION_RECORD *e) {
    switch (e->ExceptionCode) {
    case EXCEPTION_ACCESS_VIOLATION:
        seen.kind = GUARD_MEMORY;
        seen.access = e->ExceptionInformation[0] == 1 ? "write" : "read";
        seen.address = e->ExceptionInformation[1];
        return true;
    case EXCEPTION_ILLEGAL_INSTRUCTION:
        seen.kind = GUARD_ILLEGAL;
        return true;
    case EXCEPTION_FLT_DENORMAL_OPERAND:
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_INEXACT_RESULT:
    case EXCEPTION_FLT_INVALID_OPERATION:
    case EXCEPTION_FLT_OVERFLOW:
    case EXCEPTION_FLT_UNDERFLOW:
        seen.kind = GUARD_TRAP;
        return true;
    }
    return false;
}

/* The thread goes on in leave_call(), on a stack as if it had been called. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *p) {
    if (!in_call || !describe(p->ExceptionRecord))
        return EXCEPTION_CONTINUE_SEARCH;
    p->ContextRecord->Rip = (DWORD64)(uintptr_t)leave_call;
    p->ContextRecord->Rsp = (p->ContextRecord->Rsp & ~(DWORD64)15) - 8;
    return EXCEPTION_CONTINUE_EXECUTION;
}

static void install_handler(void) {
    static bool installed;
    if (!installed && !AddVectoredExceptionHandler(1, on_fault)) {
        puts("no exception handler");
        exit(EXIT_FAILURE);
    }
    installed = true;
}

bool guard_run(void (*call)(void *), void *argument, guard_fault *fault) {
    install_handler();
    if (__builtin_setjmp(resume)) {
        in_call = false;
        *fault = seen;
        return false;
    }
    in_call = true;
    call(argument);
    in_call = false;
    return true;
}
