#include "tests/lib/guard.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/guard_system.h"

enum { MAX_GUARDED = 32 };

static guarded *known[MAX_GUARDED]; /* so that a report can name the buffer */
static int known_count;

/* ---- Buffers --------------------------------------------------------------------------------- */

static void give_up(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

void guard_map(guarded *g, const char *name, size_t room) {
    size_t page = guard_page_bytes();
    room = (room + page - 1) / page * page;
    char *map = guard_reserve(room + 2 * GUARD_BYTES);
    if (!map)
        give_up("no memory for guarded buffers");
    if (!guard_allow(map + GUARD_BYTES, room))
        give_up("guarded buffers cannot be made accessible");
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

/* ---- Faults ---------------------------------------------------------------------------------- */

static void describe_fault(const guard_fault *fault, char *report, size_t size) {
    if (fault->kind != GUARD_MEMORY) {
        snprintf(report, size, "%s",
                 fault->kind == GUARD_ILLEGAL ? "illegal instruction" : "floating-point trap");
        return;
    }
    for (int i = 0; i < known_count; i++) {
        const guarded *g = known[i];
        uintptr_t data = (uintptr_t)g->data, after = data + g->bytes;
        if (fault->address < (uintptr_t)g->map || fault->address >= (uintptr_t)g->end + GUARD_BYTES)
            continue;
        if (fault->address < data)
            snprintf(report, size, "%s before the start of %s by %zu bytes", fault->access, g->name,
                     (size_t)(data - fault->address));
        else
            snprintf(report, size, "%s past the end of %s by %zu bytes", fault->access, g->name,
                     (size_t)(fault->address - after + 1));
        return;
    }
    snprintf(report, size, "%s of address %#zx, in no buffer", fault->access,
             (size_t)fault->address);
}

bool guard_call(void (*call)(void *), void *argument, char *report, size_t report_size) {
    guard_fault fault;
    if (guard_run(call, argument, &fault))
        return true;
    describe_fault(&fault, report, report_size);
    return false;
}
