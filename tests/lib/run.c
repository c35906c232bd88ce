#include "tests/lib/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/undefined.h"

enum { REPORTS_PER_PATH = 3, SCRATCH_BYTE = 0xff /* NaN */ };

void checker_begin(checker *k) {
    k->path_count = rdk_paths(k->paths);
    k->only = rdk_only_path();
    for (int i = 0; i < k->memory.count; i++) {
        size_t room = (size_t)(k->memory.buffer[i].end - k->memory.buffer[i].start);
        k->before[i] = malloc(room);
        k->expected[i] = malloc(room);
        if (!k->before[i] || !k->expected[i])
            exit(EXIT_FAILURE);
    }
}

/* ---- A call ---------------------------------------------------------------------------------- */

typedef struct call {
    const path *path;
    const job *job;
    rdk_status status;
} call;

static void do_call(void *argument) {
    call *c = argument;
    c->status = c->job->call(&c->path->table, c->job->desc);
}

static bool run(const path *p, const job *j, char *report, size_t size) {
    call c = {p, j, RDK_OK};
    if (!guard_call(do_call, &c, report, size))
        return false;
    if (c.status != RDK_OK)
        snprintf(report, size, "status: %s", rdk_status_string(c.status));
    return c.status == RDK_OK;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static size_t before_data(const guarded *g) {
    return (size_t)(g->data - guard_window(g));
}

/* Scratch is the largest buffer, and its contents are nobody's: its
 * canaries are kept by themselves. */
static void spoil(const guarded *scratch) {
    memset(scratch->data, SCRATCH_BYTE, scratch->bytes);
    make_undefined(scratch->data, scratch->bytes);
}

static void copy_canaries(char *to, const guarded *g) {
    size_t ahead = before_data(g), behind = ahead + g->bytes;
    memcpy(to, guard_window(g), ahead);
    memcpy(to + behind, guard_window(g) + behind, guard_window_bytes(g) - behind);
}

static void save(checker *k, const job *j) {
    for (int i = 0; i < k->memory.count; i++) {
        const guarded *g = &k->memory.buffer[i];
        if (k->memory.used[i] && i == j->scratch)
            copy_canaries(k->expected[i], g);
        else if (k->memory.used[i])
            memcpy(k->before[i], guard_window(g), guard_window_bytes(g));
    }
}

static void restore(const checker *k, const job *j) {
    for (int i = 0; i < k->memory.count; i++) {
        const guarded *g = &k->memory.buffer[i];
        if (k->memory.used[i] && i == j->scratch)
            spoil(g);
        else if (k->memory.used[i])
            memcpy(guard_window(g), k->before[i], guard_window_bytes(g));
    }
}

/* From image to image, only the elements: not gaps, not canaries. */
static void copy_elements(char *to, const char *from, const guarded *g, const layout *l) {
    int64_t size = rdk_type_size(l->type), before = (int64_t)before_data(g);
    for (int64_t r = 0, rows = layout_rows(l); r < rows; r++) {
        int64_t at = before + layout_row(l, r) * size;
        memcpy(to + at, from + at, (size_t)(l->cols * size));
    }
}

/* After the reference: its elements, and everything else as it was before. */
static void expect(checker *k, const job *j) {
    for (int i = 0; i < k->memory.count; i++) {
        const guarded *g = &k->memory.buffer[i];
        if (!k->memory.used[i] || i == j->scratch)
            continue;
        memcpy(k->expected[i], k->before[i], guard_window_bytes(g));
        copy_elements(k->expected[i], guard_window(g), g, &j->layout[i]);
    }
}

static bool compare_canaries(const checker *k, int scratch, char *report, size_t size) {
    const guarded *g = &k->memory.buffer[scratch];
    element none;
    make_defined(g->data, g->bytes);
    memcpy(k->expected[scratch] + before_data(g), g->data, g->bytes);
    return compare_bits(g, k->expected[scratch], &(layout){0}, &none, report, size);
}

static bool compare(const checker *k, const job *j, char *report, size_t size) {
    element first;
    for (int i = 0; i < k->memory.count; i++) {
        if (!k->memory.used[i] || i == j->scratch)
            continue;
        if (compare_bits(&k->memory.buffer[i], k->expected[i], &j->layout[i], &first, report, size))
            continue;
        size_t used = strlen(report);
        if (first.row >= 0 && j->explain)
            j->explain(k, j, i, &first, report + used, size - used);
        return false;
    }
    return j->scratch < 0 || !k->memory.used[j->scratch] ||
           compare_canaries(k, j->scratch, report, size);
}

/* ---- A case ---------------------------------------------------------------------------------- */

static void fail(checker *k, int which, const job *j, const char *what) {
    char description[2048];
    j->describe(j->the_case, description, sizeof description);
    snprintf(k->report, sizeof k->report, "%s: %s\n    case: %s", k->paths[which].name, what,
             description);
    k->failures[which]++;
    if (!k->quiet && k->failures[which] <= REPORTS_PER_PATH)
        printf("\n%s\n", k->report);
}

bool check_job(checker *k, const job *j) {
    char what[1024];
    bool right = true;
    save(k, j);
    for (int i = 0; i < k->path_count; i++) {
        if (i > 0 && k->only && strcmp(k->only, k->paths[i].name) != 0)
            continue;
        restore(k, j);
        bool ok = run(&k->paths[i], j, what, sizeof what);
        if (ok && i == 0)
            expect(k, j);
        ok = ok && compare(k, j, what, sizeof what);
        k->cases[i]++;
        if (!ok)
            fail(k, i, j, what);
        if (!ok && i == 0)
            return false; /* nothing to compare with */
        right = right && ok;
    }
    return right;
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
