/* Operands, and what is timed on them. */
#include "bench/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/copies.h"
#include "bench/inputs.h"

enum {
    SCALAR_ELEMENTS = 16384,    /* of a softmax: it is slow, and no faster on more rows */
    SCALAR_FLOP = 20 * 1000000, /* of attention, at most */
    FEW_ROWS = 16, /* of a key/value head: for no more the bytes of K and V may be the limit */
};

/* ---- Operands -------------------------------------------------------------------------------- */

static void prepare_attention(subject *s) {
    rdk_attention_desc d = shape_attention(&s->shape);
    s->copies = copies_of(&s->shape);
    s->k[0] = new_input(shape_k(&s->shape), RDK_F32, 2);
    s->v[0] = new_input(shape_v(&s->shape), RDK_F32, 3);
    for (int i = 1; i < s->copies; i++) {
        s->k[i] = new_copy(s->k[0], shape_k(&s->shape));
        s->v[i] = new_copy(s->v[0], shape_v(&s->shape));
    }
    if (rdk_attention_scratch(&d, &s->scratch_size) == RDK_OK)
        s->scratch = allocate(s->scratch_size);
}

void subject_prepare(subject *s, const shape *size) {
    *s = (subject){.shape = *size};
    s->in = new_input(shape_in(size), size->type, 1);
    s->out = allocate((size_t)shape_out(size) * type_size(size->type));
    if (size->op == RDK_OP_ATTENTION)
        prepare_attention(s);
    else if (size->bias)
        s->bias = new_input(shape_in(size), RDK_F32, 2);
}

void subject_free(subject *s) {
    for (int i = 0; i < s->copies; i++) {
        free(s->k[i]);
        free(s->v[i]);
    }
    while (s->contender_count)
        subject_drop(s);
    free(s->in);
    free(s->out);
    free(s->bias);
    free(s->scratch);
}

/* ---- Contenders ------------------------------------------------------------------------------ */

static rdk_softmax_desc describe_softmax(const subject *s, rdk_isa isa) {
    rdk_softmax_desc d = shape_softmax(&s->shape);
    d.isa = isa;
    d.x = s->in;
    d.y = s->out;
    d.bias = s->bias;
    return d;
}

static rdk_attention_desc describe_attention(const subject *s, rdk_isa isa) {
    rdk_attention_desc d = shape_attention(&s->shape);
    d.isa = isa;
    d.q.data = s->in;
    d.k.data = s->k[0];
    d.v.data = s->v[0];
    d.out.data = s->out;
    d.scratch = s->scratch;
    d.scratch_size = s->scratch_size;
    return d;
}

/* Names of kernels end in their ISA; where an ISA has none, one of a lower rung runs instead. */
static bool has_kernel(rdk_op op, rdk_isa isa) {
    const char *isa_name = rdk_isa_name(isa), *name = NULL;
    if (rdk_set_isa(isa) == RDK_OK)
        name = rdk_kernel_name(op);
    rdk_set_isa(RDK_ISA_DEFAULT);
    return name && strlen(name) > strlen(isa_name) &&
           !strcmp(name + strlen(name) - strlen(isa_name), isa_name);
}

static contender *add(subject *s, const char *by, const char *version) {
    contender *c = &s->contenders[s->contender_count++];
    *c = (contender){.subject = s, .by = by, .version = version, .how = "", .share = 1};
    if (s->shape.op == RDK_OP_SOFTMAX)
        c->desc.softmax = describe_softmax(s, RDK_ISA_DEFAULT);
    else
        c->desc.attention = describe_attention(s, RDK_ISA_DEFAULT);
    return c;
}

/* Rows enough to see how slow it is. */
static void limit_scalar_softmax(contender *c) {
    rdk_softmax_desc *d = &c->desc.softmax;
    int64_t rows = d->rows, most = SCALAR_ELEMENTS / d->cols;
    d->rows = most < 1 ? 1 : most < rows ? most : rows;
    c->share = (double)d->rows / (double)rows;
}

contender *subject_add_isa(subject *s, rdk_isa isa) {
    bool scalar = isa == RDK_ISA_SCALAR, softmax = s->shape.op == RDK_OP_SOFTMAX;
    if (rdk_isa_available(isa) != RDK_OK || !has_kernel(s->shape.op, isa) ||
        (scalar && !softmax && shape_flop(&s->shape) > SCALAR_FLOP) ||
        s->contender_count == MAX_CONTENDERS)
        return NULL;
    contender *c = add(s, "rootdk", rdk_version());
    c->how = rdk_isa_name(isa);
    c->isa = isa;
    if (softmax)
        c->desc.softmax.isa = isa;
    else
        c->desc.attention.isa = isa;
    if (scalar && softmax)
        limit_scalar_softmax(c);
    return c;
}

contender *subject_add_peer(subject *s, const peer *p) {
    if (!s->shape.peers || s->contender_count == MAX_CONTENDERS)
        return NULL;
    contender *c = add(s, p->name, p->version());
    c->call = s->shape.op == RDK_OP_SOFTMAX ? p->softmax(&c->desc.softmax)
                                            : p->attention(&c->desc.attention);
    if (!c->call) {
        subject_drop(s);
        return NULL;
    }
    c->how = c->call->how;
    return c;
}

void subject_drop(subject *s) {
    contender *last = &s->contenders[--s->contender_count];
    if (last->call)
        last->call->discard(last->call);
}

/* ---- What is timed --------------------------------------------------------------------------- */

/* Which copy of K and V comes now: whoever reads it, no cache has kept it since it was read. */
static int next_copy(subject *s) {
    s->turn = (s->turn + 1) % s->copies;
    return s->turn;
}

static void turn_over(contender *c) {
    subject *s = c->subject;
    int copy = next_copy(s);
    c->desc.attention.k.data = s->k[copy];
    c->desc.attention.v.data = s->v[copy];
    if (c->call)
        c->call->set_kv(c->call, s->k[copy], s->v[copy]);
}

void contender_run(void *context) {
    contender *c = context;
    if (c->subject->copies > 1)
        turn_over(c);
    if (c->call)
        c->call->run(c->call);
    else if (c->subject->shape.op == RDK_OP_SOFTMAX)
        rdk_softmax(&c->desc.softmax);
    else
        rdk_attention(&c->desc.attention);
}

static void run_reader(void *context) {
    reader *r = context;
    const shape *s = &r->subject->shape;
    int copy = next_copy(r->subject);
    r->span.bytes = (size_t)shape_k(s) * sizeof(float);
    r->span.from = (const unsigned char *)r->subject->k[copy];
    r->loop->run(&r->span);
    r->span.bytes = (size_t)shape_v(s) * sizeof(float);
    r->span.from = (const unsigned char *)r->subject->v[copy];
    r->loop->run(&r->span);
}

static void run_copy(void *context) {
    const subject *s = context;
    memcpy(s->out, s->in, (size_t)shape_in(&s->shape) * type_size(s->shape.type));
}

static void add_readers(plan *p, subject *s, rdk_isa isa) {
    for (int i = 0; i < limit_of(isa)->read_count; i++) {
        reader *r = &s->readers[s->reader_count++];
        char who[32];
        *r = (reader){.subject = s, .isa = isa, .loop = &limit_of(isa)->read[i]};
        snprintf(who, sizeof who, "read %d/%s", i, rdk_isa_name(isa));
        r->timing = plan_add(p, s->shape.name, who, run_reader, r, s->copies > 1);
    }
}

/* By every vector ISA, or by plain C where there is none. */
static void add_all_readers(plan *p, subject *s) {
    for (rdk_isa isa = RDK_ISA_COUNT - 1; isa >= RDK_ISA_SCALAR; isa--)
        if (limit_of(isa) && rdk_isa_available(isa) == RDK_OK &&
            (isa != RDK_ISA_SCALAR || !s->reader_count))
            add_readers(p, s, isa);
}

void subject_time(subject *s, plan *p) {
    const shape *size = &s->shape;
    if (size->op == RDK_OP_SOFTMAX)
        s->copy = plan_add(p, size->name, "memcpy", run_copy, s, false);
    else if (size->nq * (size->q_heads / size->kv_heads) <= FEW_ROWS)
        add_all_readers(p, s);
    bool cold = s->copies > 1 || shape_flop(size) > 1e10;
    for (int i = 0; i < s->contender_count; i++) {
        contender *c = &s->contenders[i];
        char who[PLAN_MAX_NAME];
        snprintf(who, sizeof who, "%s %s", c->by, c->how);
        c->timing = plan_add(p, size->name, who, contender_run, c, cold);
    }
}

const reader *subject_reader(const subject *s) {
    const reader *best = NULL;
    for (int i = 0; i < s->reader_count; i++)
        if (!best || s->readers[i].timing->best < best->timing->best)
            best = &s->readers[i];
    return best;
}
