#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/compare.h"

enum { REPORTS_PER_PATH = 3 };

void checker_init(checker *k) {
    *k = (checker){.only = NULL};
    k->path_count = rdk_paths(k->paths);
    memory_map(&k->memory);
    for (int i = 0; i < BUFFER_COUNT; i++) {
        size_t room = (size_t)(k->memory.buffer[i].end - k->memory.buffer[i].start);
        k->before[i] = malloc(room);
        k->expected[i] = malloc(room);
        if (!k->before[i] || !k->expected[i])
            exit(EXIT_FAILURE);
    }
}

/* ---- A call ------------------------------------------------------------------------------------ */

typedef struct call {
    const rdk_table *table;
    const rdk_softmax_desc *desc;
    rdk_status status;
} call;

static void do_call(void *argument) {
    call *c = argument;
    c->status = rdk_softmax_with(c->table, c->desc);
}

static bool run(const path *p, const rdk_softmax_desc *d, char *report, size_t size) {
    call c = {&p->table, d, RDK_OK};
    if (!guard_call(do_call, &c, report, size))
        return false;
    if (c.status != RDK_OK)
        snprintf(report, size, "status: %s", rdk_status_string(c.status));
    return c.status == RDK_OK;
}

/* ---- Windows ------------------------------------------------------------------------------------- */

static void save(const checker *k, char *const to[BUFFER_COUNT]) {
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (k->memory.used[i])
            memcpy(to[i], guard_window(&k->memory.buffer[i]),
                   guard_window_bytes(&k->memory.buffer[i]));
}

static void restore(const checker *k) {
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (k->memory.used[i])
            memcpy(guard_window(&k->memory.buffer[i]), k->before[i],
                   guard_window_bytes(&k->memory.buffer[i]));
}

static layout y_layout(const rdk_softmax_desc *d) {
    return (layout){d->y_type, d->cols ? d->rows : 0, d->cols, d->y_stride};
}

static layout lse_layout(const rdk_softmax_desc *d) {
    return (layout){RDK_F32, 1, d->rows, d->rows};
}

/* From image to image, only the elements: not gaps, not canaries. */
static void copy_elements(char *to, const char *from, const guarded *g, const layout *l) {
    ptrdiff_t before = g->data - guard_window(g);
    int64_t size = rdk_type_size(l->type);
    for (int64_t r = 0; r < l->rows; r++) {
        int64_t at = before + r * l->stride * size;
        memcpy(to + at, from + at, (size_t)(l->cols * size));
    }
}

/* After the reference: its elements, and everything else as it was before. */
static void expect(checker *k, const rdk_softmax_desc *d) {
    const guarded *y = memory_y(&k->memory, d);
    layout of_y = y_layout(d), of_lse = lse_layout(d);
    for (int i = 0; i < BUFFER_COUNT; i++) {
        const guarded *g = &k->memory.buffer[i];
        if (!k->memory.used[i])
            continue;
        memcpy(k->expected[i], k->before[i], guard_window_bytes(g));
        if (g == y)
            copy_elements(k->expected[i], guard_window(g), g, &of_y);
        if (i == BUFFER_LSE)
            copy_elements(k->expected[i], guard_window(g), g, &of_lse);
    }
}

static bool compare(const checker *k, const rdk_softmax_desc *d, char *report, size_t size) {
    const guarded *x = &k->memory.buffer[BUFFER_X], *y = memory_y(&k->memory, d);
    layout of_y = y_layout(d), of_lse = lse_layout(d);
    inputs in = {d, k->before[BUFFER_X] + (x->data - guard_window(x))};
    for (int i = 0; i < BUFFER_COUNT; i++) {
        const guarded *g = &k->memory.buffer[i];
        const layout *l = g == y ? &of_y : i == BUFFER_LSE ? &of_lse : NULL;
        if (k->memory.used[i] && !compare_bits(g, k->expected[i], l, &in, report, size))
            return false;
    }
    return true;
}

/* ---- A case ----------------------------------------------------------------------------------------- */

static void fail(checker *k, int which, const softmax_case *c, const char *what) {
    char description[768];
    case_describe(c, description, sizeof description);
    snprintf(k->report, sizeof k->report, "%s: %s\n    case: %s", k->paths[which].name, what,
             description);
    k->failures[which]++;
    if (!k->quiet && k->failures[which] <= REPORTS_PER_PATH)
        printf("\n%s\n", k->report);
}

bool check_case(checker *k, const softmax_case *c) {
    char what[1024];
    bool right = true;
    rdk_softmax_desc d = case_build(c, &k->memory);
    save(k, k->before);
    for (int i = 0; i < k->path_count; i++) {
        if (i > 0 && k->only && strcmp(k->only, k->paths[i].name) != 0)
            continue;
        if (i > 0)
            restore(k);
        bool ok = run(&k->paths[i], &d, what, sizeof what);
        if (ok && i == 0)
            expect(k, &d);
        ok = ok && compare(k, &d, what, sizeof what);
        k->cases[i]++;
        if (!ok)
            fail(k, i, c, what);
        if (!ok && i == 0)
            return false; /* nothing to compare with */
        right = right && ok;
    }
    return right;
}

static bool visit(void *context, const softmax_case *c) {
    check_case(context, c);
    return true;
}

bool check_axis(checker *k, const axis *a) {
    uint64_t failures = checker_failures(k), first = k->cases[0];
    a->walk(visit, k);
    printf("\n%s: %llu cases\n", a->name, (unsigned long long)(k->cases[0] - first));
    return checker_failures(k) == failures;
}

void checker_print(const checker *k) {
    for (int i = 0; i < k->path_count; i++)
        printf("%s (%s): %llu cases, %llu failures\n", k->paths[i].name, k->paths[i].executed_by,
               (unsigned long long)k->cases[i], (unsigned long long)k->failures[i]);
}

uint64_t checker_failures(const checker *k) {
    uint64_t sum = 0;
    for (int i = 0; i < k->path_count; i++)
        sum += k->failures[i];
    return sum;
}
