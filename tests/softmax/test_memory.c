/* Memory: no byte outside the caller's buffers is read or written, at either end of any of them. */
#include <string.h>

#include "tests/lib/suite.h"
#include "tests/softmax/check.h"

static checker all;

TEST walk_axis(const axis *a) {
    ASSERTm(all.report, check_axis(&all, a));
    PASS();
}

/* ---- The guards themselves: each kind of access must be seen --------------------------------- */

static void touch(void *p) {
    *(volatile char *)p = 1;
}

static void look(void *p) {
    (void)*(volatile char *)p;
}

TEST guards_catch(bool at_end) {
    guarded *g = &all.memory.buffer[BUFFER_X];
    char report[200], *p = guard_place(g, 100, 0, at_end);
    char *outside = at_end ? p + 102 : p - 3;
    const char *side = at_end ? "past the end of x by" : "before the start of x by";
    char where[40];
    snprintf(where, sizeof where, "%s%s", side, GUARD_TELLS_BYTE ? " 3 bytes" : " ");
    ASSERT(guard_call(touch, p, report, sizeof report));
    ASSERT(guard_call(look, p + 99, report, sizeof report));
    ASSERT_FALSE(guard_call(touch, outside, report, sizeof report));
    ASSERT(strstr(report, where) && strstr(report, GUARD_TELLS_ACCESS ? "write" : "access"));
    ASSERT_FALSE(guard_call(look, outside, report, sizeof report));
    ASSERT(strstr(report, where) && strstr(report, GUARD_TELLS_ACCESS ? "read" : "access"));
    PASS();
}

SUITE(guards) {
    RUN_TESTp(guards_catch, true);
    RUN_TESTp(guards_catch, false);
}

SUITE(axes) {
    for (const axis *a = MEMORY_AXES; a->name; a++)
        RUN_TESTp(walk_axis, a);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&all);
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(guards);
    RUN_SUITE(axes);
    checker_print(&all);
    RDK_MAIN_END();
}
