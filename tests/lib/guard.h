/* Buffers between pages that may not be touched, and calls that survive touching them. */
#ifndef RDK_GUARD_H
#define RDK_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* A mapping with forbidden pages on both sides. It is made once and lives as long as the process;
 * guard_place() moves the buffer about inside. */
typedef struct guarded {
    const char *name;
    char *map;         /* first byte of the mapping, forbidden */
    char *start, *end; /* the bytes that may be touched: [start, end) */
    char *data;        /* the buffer: [data, data + bytes), flush with start or end */
    size_t bytes;
} guarded;

enum {
    GUARD_BYTES = 1 << 18, /* forbidden on either side: more than any row of a test */
    GUARD_SLACK = 64,      /* bytes beside the buffer that hold canaries */
    GUARD_CANARY = 0xa5,
};

/* Maps `room` bytes, rounded up to pages. Ends the program if there is no memory. */
void guard_map(guarded *g, const char *name, size_t room);

/* Puts a buffer of `bytes` at the start or the end of the room, `away` bytes (below GUARD_SLACK)
 * from it. Those bytes, and as many on the other side, are canaries. */
void *guard_place(guarded *g, size_t bytes, size_t away, bool at_end);

/* The buffer with its canaries. */
char *guard_window(const guarded *g);
size_t guard_window_bytes(const guarded *g);

/* Whether reports tell reads from writes here. If not, they say "access" for both. */
extern const bool GUARD_TELLS_ACCESS;

/* Whether the distance in a report is that of the byte. If not, it is that of the byte's page. */
extern const bool GUARD_TELLS_BYTE;

/* Runs call(argument). On a memory fault, an illegal instruction or a floating-point trap
 * it gives up the call, says in `report` what happened ("read past the end of x by 4
 * bytes") and returns false. */
bool guard_call(void (*call)(void *), void *argument, char *report, size_t report_size);

#endif
