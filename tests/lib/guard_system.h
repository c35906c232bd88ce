/* What guarded buffers need of the operating system: guard_posix.c, guard_windows.c. */
#ifndef RDK_GUARD_SYSTEM_H
#define RDK_GUARD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t guard_page_bytes(void);

/* Whole pages that may not be touched, or NULL. */
char *guard_reserve(size_t bytes);

/* Makes pages of a reservation readable and writable. */
bool guard_allow(char *first, size_t bytes);

typedef struct guard_fault {
    enum { GUARD_MEMORY, GUARD_ILLEGAL, GUARD_TRAP } kind;
    uintptr_t address;  /* of GUARD_MEMORY, and */
    const char *access; /* "read", "write", or "access" if the system does not tell */
} guard_fault;

/* Runs call(argument); at a fault gives it up, fills *fault and returns false. */
bool guard_run(void (*call)(void *), void *argument, guard_fault *fault);

#endif
