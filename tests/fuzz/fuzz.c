/* Bytes become a call. A right one must give the bits of the reference and touch nothing
 * else. One with a field or two spoilt must be treated alike by every path and by the check that
 * names the field; if it is refused, nothing may be written. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/attention/check.h"
#include "tests/fuzz/decode.h"
#include "tests/softmax/check.h"

enum { MOST_WORK = 2000000 }; /* multiply-adds of a call that was spoilt and is still right */

static checker softmax, attention;

static _Noreturn void fail(const char *why, const char *description) {
    printf("\n%s\n    case: %s\n", why, description);
    fflush(stdout);
    abort();
}

/* ---- Spoilt calls ---------------------------------------------------------------------------- */

typedef __int128 wide; /* no product of sizes and strides overflows it */

/* A call and what it needs, in terms of either operation. */
typedef struct spoilt {
    checker *k;
    int scratch; /* the buffer whose contents are no one's afterwards, or -1 */
    rdk_status (*call)(const rdk_table *t, const void *desc);
    rdk_status (*check)(const void *desc, const char **field);
    const void *desc;
    bool fits;  /* all operands lie in the buffers, and the work is not too much */
    bool wrong; /* for reasons that need no arithmetic: must be refused */
    const char *description;
} spoilt;

/* Whether a view of this shape lies inside one of the buffers, canaries included. */
static bool lies_inside(const memory *m, const void *data, wide width, const int64_t count[3],
                        const int64_t stride[3]) {
    wide span = width * 4;
    for (int i = 0; i < 3; i++) {
        if (count[i] <= 0)
            return true;
        span += (wide)(count[i] - 1) * stride[i] * 4;
    }
    if (width == 0)
        return true;
    for (int i = 0; i < m->count; i++) {
        const guarded *g = &m->buffer[i];
        const char *first = guard_window(g), *end = first + guard_window_bytes(g);
        const char *p = data;
        if (m->used[i] && p >= first && p <= end && span <= end - p)
            return true;
    }
    return false;
}

static void copy_windows(const checker *k, char *const *to) {
    for (int i = 0; i < k->memory.count; i++)
        if (k->memory.used[i])
            memcpy(to[i], guard_window(&k->memory.buffer[i]),
                   guard_window_bytes(&k->memory.buffer[i]));
}

static void restore_windows(const checker *k) {
    for (int i = 0; i < k->memory.count; i++)
        if (k->memory.used[i])
            memcpy(guard_window(&k->memory.buffer[i]), k->before[i],
                   guard_window_bytes(&k->memory.buffer[i]));
}

/* The buffer whose bytes are not those of `images`, or -1. */
static int changed(const checker *k, char *const *images, int but) {
    for (int i = 0; i < k->memory.count; i++) {
        const guarded *g = &k->memory.buffer[i];
        if (k->memory.used[i] && i != but &&
            memcmp(guard_window(g), images[i], guard_window_bytes(g)))
            return i;
    }
    return -1;
}

static void no_softmax(const rdk_softmax_desc *d) {
    (void)d;
}

static RDK_ATTENTION_KERNEL(no_attention) {
    (void)plan, (void)first, (void)end, (void)scratch;
}

typedef struct call {
    const spoilt *s;
    const rdk_table *table; /* NULL: the check */
    rdk_status status;
    const char *field; /* of the check */
} call;

static void do_call(void *argument) {
    call *c = argument;
    c->status = c->table ? c->s->call(c->table, c->s->desc) : c->s->check(c->s->desc, &c->field);
}

static void guarded_call(call *c, const char *name) {
    char why[1024], text[1200];
    if (!guard_call(do_call, c, why, sizeof why)) {
        snprintf(text, sizeof text, "%s: %s", name, why);
        fail(text, c->s->description);
    }
}

static rdk_status call_with(const spoilt *s, const rdk_table *t, const char *name) {
    call c = {s, t, RDK_OK, NULL};
    guarded_call(&c, name);
    return c.status;
}

/* What the call says without running a kernel, which the check must say, too. */
static rdk_status judge(const spoilt *s) {
    const rdk_table none = {.softmax = no_softmax, .attention = no_attention};
    const rdk_status status = call_with(s, &none, "the call without a kernel");
    call c = {s, NULL, RDK_OK, NULL};
    guarded_call(&c, "the check");
    if (c.status != status)
        fail("the call and the check disagree on the status", s->description);
    if (!c.field || (c.status == RDK_OK) != !*c.field)
        fail("the check names no field, or one where none is wrong", s->description);
    return status;
}

static void run_on(const spoilt *s, const path *p, rdk_status expected) {
    restore_windows(s->k);
    if (call_with(s, &p->table, p->name) != expected)
        fail("two paths disagree on the status", s->description);
}

static void check_refused(const spoilt *s, rdk_status status) {
    for (int i = 0; i < s->k->path_count; i++) {
        run_on(s, &s->k->paths[i], status);
        if (changed(s->k, s->k->before, -1) >= 0)
            fail("refused, and yet written", s->description);
    }
}

static void check_accepted(const spoilt *s) {
    for (int i = 0; i < s->k->path_count; i++) {
        run_on(s, &s->k->paths[i], RDK_OK);
        if (i == 0)
            copy_windows(s->k, s->k->expected);
        else if (changed(s->k, s->k->expected, s->scratch) >= 0)
            fail(s->k->paths[i].name, s->description);
    }
}

static void check_spoilt(const spoilt *s) {
    rdk_status status = judge(s);
    copy_windows(s->k, s->k->before);
    if (status == RDK_OK && s->wrong)
        fail("accepted, and yet wrong", s->description);
    if (status != RDK_OK)
        check_refused(s, status);
    else if (s->fits)
        check_accepted(s);
}

/* ---- Softmax --------------------------------------------------------------------------------- */

static rdk_status call_softmax(const rdk_table *t, const void *desc) {
    return rdk_softmax_with(t, desc);
}

static rdk_status softmax_fields(const void *desc, const char **field) {
    return rdk_softmax_check(desc, field);
}

static bool matrix_fits(const memory *m, const rdk_softmax_desc *d, const void *data,
                        int64_t stride) {
    return lies_inside(m, data, d->cols, (int64_t[]){1, 1, d->rows}, (int64_t[]){0, 0, stride});
}

/* As if all elements had four bytes. */
static bool softmax_fits(const memory *m, const rdk_softmax_desc *d) {
    const int64_t once[] = {1, 1, 1}, nowhere[] = {0, 0, 0};
    if ((wide)d->rows * (d->cols + 1) > MOST_WORK || !matrix_fits(m, d, d->x, d->x_stride))
        return false;
    if (d->mode != RDK_SOFTMAX_LSE && !matrix_fits(m, d, d->y, d->y_stride))
        return false;
    return (!d->bias || matrix_fits(m, d, d->bias, d->bias_stride)) &&
           (!d->lse || lies_inside(m, d->lse, d->rows, once, nowhere)) &&
           (!d->row_scale || lies_inside(m, d->row_scale, d->rows, once, nowhere));
}

static bool softmax_is_wrong(const rdk_softmax_desc *d) {
    bool has_y = d->mode != RDK_SOFTMAX_LSE, has_data = d->rows > 0 && d->cols > 0;
    return d->size < sizeof *d || d->mode < 0 || d->mode > 2 || d->rows < 0 || d->cols < 0 ||
           d->x_type < 0 || d->x_type > 2 || d->x_stride < 0 || (has_y && d->y_stride < 0) ||
           (has_data && (!d->x || (has_y && (!d->y || d->y_type < 0 || d->y_type > 2))));
}

static void try_softmax(bytes *b, int spoils) {
    softmax_case c = decode_softmax(b);
    char description[2048];
    case_describe(&c, description, sizeof description);
    if (!spoils) {
        if (!check_case(&softmax, &c))
            fail(softmax.report, description);
        return;
    }
    rdk_softmax_desc d = case_build(&c, &softmax.memory);
    while (spoils--)
        spoil_softmax(b, &d, &softmax.memory);
    /* The check itself reads these, as many as there are rows. */
    if (d.visible && !lies_inside(&softmax.memory, d.visible, (wide)d.rows * 2,
                                  (int64_t[]){1, 1, 1}, (int64_t[]){0, 0, 0}))
        d.visible = NULL;
    spoilt s = {.k = &softmax, .scratch = -1, .call = call_softmax, .desc = &d};
    s.check = softmax_fields;
    s.description = description;
    s.fits =
        judge(&s) == RDK_OK && softmax_fits(&softmax.memory, &d); /* its sums overflow otherwise */
    s.wrong = softmax_is_wrong(&d);
    check_spoilt(&s);
}

/* ---- Attention ------------------------------------------------------------------------------- */

static rdk_status call_attention(const rdk_table *t, const void *desc) {
    return rdk_attention_with(t, desc);
}

static rdk_status attention_fields(const void *desc, const char **field) {
    return rdk_attention_check(desc, field);
}

static bool input_fits(const memory *m, const rdk_attention_desc *d, const rdk_const_view *v,
                       int64_t heads, int64_t rows, int64_t width) {
    return lies_inside(m, v->data, width, (int64_t[]){d->batch, heads, rows},
                       (int64_t[]){v->batch_stride, v->head_stride, v->row_stride});
}

static bool output_fits(const memory *m, const rdk_attention_desc *d, const rdk_view *v,
                        int64_t width) {
    rdk_const_view c = {v->data, v->batch_stride, v->head_stride, v->row_stride, v->type};
    return input_fits(m, d, &c, d->q_heads, d->q_len, width);
}

static bool attention_fits(const memory *m, const rdk_attention_desc *d) {
    const int64_t kv_heads = d->kv_heads ? d->kv_heads : d->q_heads;
    const int64_t d_v = d->d_v ? d->d_v : d->d_qk;
    wide work = (wide)d->batch * d->q_heads * d->q_len;
    if (work > MOST_WORK || work * (d->kv_len + 1) * (d->d_qk + d_v) > MOST_WORK)
        return false;
    return input_fits(m, d, &d->q, d->q_heads, d->q_len, d->d_qk) &&
           input_fits(m, d, &d->k, kv_heads, d->kv_len, d->d_qk) &&
           input_fits(m, d, &d->v, kv_heads, d->kv_len, d_v) && output_fits(m, d, &d->out, d_v) &&
           (!d->lse.data || output_fits(m, d, &d->lse, 1)) &&
           (!d->weights.data || output_fits(m, d, &d->weights, d->kv_len)) &&
           lies_inside(m, d->scratch, (wide)(d->scratch_size + 3) / 4, (int64_t[]){1, 1, 1},
                       (int64_t[]){0, 0, 0});
}

static bool view_is_wrong(const rdk_const_view *v) {
    return v->batch_stride < 0 || v->head_stride < 0 || v->row_stride < 0 || v->type != RDK_F32;
}

static bool attention_is_wrong(const rdk_attention_desc *d) {
    const rdk_const_view out = {d->out.data, d->out.batch_stride, d->out.head_stride,
                                d->out.row_stride, d->out.type};
    return d->size < sizeof *d || d->causal < 0 || d->causal > 2 || d->batch < 0 ||
           d->q_heads < 0 || d->kv_heads < 0 || d->q_len < 0 || d->kv_len < 0 || d->d_qk < 1 ||
           d->d_v < 0 || d->d_qk > RDK_MAX_HEAD_DIM || d->d_v > RDK_MAX_HEAD_DIM ||
           d->key_pos0 < 0 || view_is_wrong(&d->q) || view_is_wrong(&d->k) ||
           view_is_wrong(&d->v) || view_is_wrong(&out);
}

static void try_attention(bytes *b, int spoils) {
    attention_case c = decode_attention(b);
    char description[2048];
    attention_describe(&c, description, sizeof description);
    if (!spoils) {
        if (!check_attention(&attention, &c))
            fail(attention.report, description);
        return;
    }
    rdk_attention_desc d = attention_build(&c, &attention.memory);
    while (spoils--)
        spoil_attention(b, &d, &attention.memory);
    spoilt s = {.k = &attention, .scratch = OPERAND_SCRATCH, .call = call_attention, .desc = &d};
    s.check = attention_fields;
    s.description = description;
    s.fits = judge(&s) == RDK_OK &&
             attention_fits(&attention.memory, &d); /* its sums overflow otherwise */
    s.wrong = attention_is_wrong(&d);
    check_spoilt(&s);
}

/* The first byte: which operation, and how much is spoilt; mostly nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int SPOILS[8] = {0, 0, 0, 0, 0, 1, 1, 2};
    bytes b = {data, size};
    int64_t kind = take(&b);
    if (!softmax.path_count) {
        checker_init(&softmax);
        attention_checker_init(&attention);
        softmax.quiet = attention.quiet = true;
    }
    (kind & 1 ? try_softmax : try_attention)(&b, SPOILS[kind >> 1 & 7]);
    return 0;
}
