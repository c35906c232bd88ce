#include "tests/softmax/check.h"

#include <stdio.h>

#include "kernels/contract.h"

void checker_init(checker *k) {
    *k = (checker){.only = NULL};
    memory_map(&k->memory);
    checker_begin(k);
}

static rdk_status call(const rdk_table *t, const void *desc) {
    return rdk_softmax_with(t, desc);
}

/* x (as it was before the call, which may have been in place) and bias, beside an element of y. */
static void explain(const checker *k, const job *j, int buffer, const element *e, char *report,
                    size_t size) {
    const rdk_softmax_desc *d = j->desc;
    const guarded *x = &k->memory.buffer[BUFFER_X];
    char text[64];
    if (buffer == BUFFER_LSE || e->col >= (d->visible ? d->visible[e->row] : d->cols))
        return;
    show_element(text, sizeof text,
                 k->before[BUFFER_X] + (x->data - guard_window(x)) +
                     (e->row * d->x_stride + e->col) * rdk_type_size(d->x_type),
                 d->x_type);
    int used = snprintf(report, size, "; x is %s", text);
    if (!d->bias)
        return;
    show_element(text, sizeof text,
                 (const char *)d->bias +
                     (e->row * d->bias_stride + e->col) * rdk_type_size(d->bias_type),
                 d->bias_type);
    snprintf(report + used, size - (size_t)used, ", bias is %s", text);
}

static void describe(const void *c, char *text, size_t size) {
    case_describe(c, text, size);
}

bool check_case(checker *k, const softmax_case *c) {
    rdk_softmax_desc d = case_build(c, &k->memory);
    const guarded *y = memory_y(&k->memory, &d);
    job j = {.call = call, .desc = &d, .scratch = -1, .the_case = c};
    j.explain = explain;
    j.describe = describe;
    if (y)
        j.layout[y - k->memory.buffer] = (layout){d.y_type, 1, {d.rows}, {d.y_stride}, d.cols};
    j.layout[BUFFER_LSE] = (layout){RDK_F32, 0, {0}, {0}, d.rows};
    return check_job(k, &j);
}

static bool visit(void *context, const void *c) {
    check_case(context, c);
    return true;
}

bool check_axis(checker *k, const axis *a) {
    uint64_t failures = checker_failures(k), first = k->cases[0];
    a->walk(visit, k);
    printf("\n%s: %llu cases\n", a->name, (unsigned long long)(k->cases[0] - first));
    return checker_failures(k) == failures;
}
