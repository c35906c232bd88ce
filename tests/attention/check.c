#include "tests/attention/check.h"

#include <stdio.h>

void attention_checker_init(checker *k) {
    *k = (checker){.only = NULL};
    attention_map(&k->memory);
    checker_begin(k);
}

typedef struct arguments {
    rdk_attention_desc desc;
    const rdk_sight *ranges;
} arguments;

/* Every other shape runs as on a machine with a large L2, whatever this one has. */
static rdk_status call(const rdk_table *t, const void *the_arguments) {
    const arguments *a = the_arguments;
    rdk_table on = *t;
    on.machine.l2 = (a->desc.q_heads + a->desc.kv_len + a->desc.d_qk) % 2 ? 1 << 20 : 0;
    return rdk_attention_ranges_with(&on, &a->desc, a->ranges);
}

static void describe(const void *c, char *text, size_t size) {
    attention_describe(c, text, size);
}

static layout layout_of(const rdk_attention_desc *d, const rdk_view *v, int64_t width) {
    return (layout){RDK_F32,
                    LAYOUT_DIMS,
                    {d->batch, d->q_heads, d->q_len},
                    {v->batch_stride, v->head_stride, v->row_stride},
                    width};
}

bool check_attention(checker *k, const attention_case *c) {
    const arguments a = {attention_build(c, &k->memory), attention_ranges(c)};
    const rdk_attention_desc d = a.desc;
    job j = {.call = call, .desc = &a, .scratch = OPERAND_SCRATCH, .the_case = c};
    j.describe = describe;
    j.layout[OPERAND_OUT] = layout_of(&d, &d.out, d.d_v);
    j.layout[OPERAND_LSE] = layout_of(&d, &d.lse, 1);
    j.layout[OPERAND_WEIGHTS] = layout_of(&d, &d.weights, d.kv_len);
    return check_job(k, &j);
}

typedef struct walk {
    checker *k;
    int step;
    int64_t count;
} walk;

static bool visit(void *context, const void *c) {
    walk *w = context;
    if (w->count++ % w->step == 0)
        check_attention(w->k, c);
    return true;
}

bool check_attention_axis(checker *k, const axis *a, int step) {
    uint64_t failures = checker_failures(k), first = k->cases[0];
    a->walk(visit, &(walk){k, step, 0});
    printf("\n%s: %llu cases\n", a->name, (unsigned long long)(k->cases[0] - first));
    return checker_failures(k) == failures;
}
