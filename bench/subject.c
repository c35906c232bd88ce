/* Operands, and what is timed on them. */
#include "bench/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/split.h"
#include "bench/team.h"

enum {
    SCALAR_ELEMENTS = 16384,    /* of a softmax: it is slow, and no faster on more rows */
    SCALAR_FLOP = 20 * 1000000, /* of attention, at most */
    SCALAR_FLOP_ALONE = 2000 * 1000000,
    FEW_ROWS = 16, /* of a key/value head: for no more the bytes of K and V may be the limit */
};

/* ---- Operands -------------------------------------------------------------------------------- */

void subject_prepare(subject *s, const shape *size, ring *r) {
    rdk_attention_desc d = shape_attention(size);
    size_t scratch = 0;
    *s = (subject){.contender_count = 0};
    if (size->op == RDK_OP_ATTENTION && rdk_attention_scratch(&d, &scratch) != RDK_OK)
        scratch = 0; /* whoever calls is told */
    operands_make(&s->operands, size, r, (size_t)team_size() * ((scratch + 63) / 64 * 64));
}

void subject_free(subject *s) {
    while (s->contender_count)
        subject_drop(s);
    operands_free(&s->operands);
}

/* ---- Contenders ------------------------------------------------------------------------------ */

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
    if (s->operands.shape.op == RDK_OP_SOFTMAX)
        c->desc.softmax = operands_softmax(&s->operands, RDK_ISA_DEFAULT);
    else
        c->desc.attention = operands_attention(&s->operands, RDK_ISA_DEFAULT);
    return c;
}

/* Rows enough to see how slow it is. */
static void limit_scalar_softmax(contender *c) {
    rdk_softmax_desc *d = &c->desc.softmax;
    int64_t rows = d->rows, most = SCALAR_ELEMENTS / d->cols;
    d->rows = most < 1 ? 1 : most < rows ? most : rows;
    c->share = (double)d->rows / (double)rows;
}

contender *subject_add_isa(subject *s, rdk_isa isa, bool alone) {
    bool scalar = isa == RDK_ISA_SCALAR, softmax = s->operands.shape.op == RDK_OP_SOFTMAX;
    if (rdk_isa_available(isa) != RDK_OK || !has_kernel(s->operands.shape.op, isa) ||
        (scalar && !softmax &&
         shape_flop(&s->operands.shape) > (alone ? SCALAR_FLOP_ALONE : SCALAR_FLOP)) ||
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
    if (!s->operands.shape.peers || s->contender_count == MAX_CONTENDERS)
        return NULL;
    contender *c = add(s, p->name, p->version());
    c->call = s->operands.shape.op == RDK_OP_SOFTMAX ? p->softmax(&c->desc.softmax)
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

static void turn_over(contender *c) {
    kv next = operands_next(&c->subject->operands);
    c->desc.attention.k.data = next.k;
    c->desc.attention.v.data = next.v;
    if (c->call)
        c->call->set_kv(c->call, next.k, next.v);
}

static void run_rows(void *context, int i) {
    const rdk_softmax_desc *all = &((contender *)context)->desc.softmax;
    rdk_softmax_desc part = softmax_part(all, i, softmax_parts(all, team_size()));
    rdk_softmax(&part);
}

static void run_heads(void *context, int i) {
    const rdk_attention_desc *all = &((contender *)context)->desc.attention;
    rdk_attention_desc part = attention_part(all, i, attention_parts(all, team_size()));
    rdk_attention(&part);
}

void contender_run(void *context) {
    contender *c = context;
    if (c->subject->operands.shape.memory)
        turn_over(c);
    if (c->call)
        c->call->run(c->call);
    else if (c->subject->operands.shape.op == RDK_OP_SOFTMAX)
        team_run(softmax_parts(&c->desc.softmax, team_size()), run_rows, c);
    else
        team_run(attention_parts(&c->desc.attention, team_size()), run_heads, c);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

/* Each thread reads its share of K, then of V. */
static void read_share(const reader *r, const float *from, int64_t count, int i) {
    int64_t first = part_begin(count, i, team_size()), end = part_begin(count, i + 1, team_size());
    span share = {.from = (const unsigned char *)(from + first),
                  .bytes = (size_t)(end - first) * sizeof(float)};
    r->loop->run(&share);
}

static void read_part(void *context, int i) {
    const reader *r = context;
    const shape *s = &r->subject->operands.shape;
    read_share(r, r->from.k, shape_k(s), i);
    read_share(r, r->from.v, shape_v(s), i);
}

static void run_reader(void *context) {
    reader *r = context;
    r->from = operands_next(&r->subject->operands);
    team_run(team_size(), read_part, r);
}

static void copy_part(void *context, int i) {
    const operands *o = context;
    int64_t bytes = (int64_t)operands_out_bytes(o), first = part_begin(bytes, i, team_size());
    memcpy((char *)o->out + first, (const char *)o->in + first,
           (size_t)(part_begin(bytes, i + 1, team_size()) - first));
}

static void run_copy(void *context) {
    team_run(team_size(), copy_part, context);
}

/* A call of one layer is short, and the one before it leaves what all of them need. */
static bool is_cold(const shape *s) {
    return s->memory && !s->layers;
}

static void add_readers(plan *p, subject *s, rdk_isa isa) {
    for (int i = 0; i < limit_of(isa)->read_count; i++) {
        reader *r = &s->readers[s->reader_count++];
        char who[32];
        *r = (reader){.subject = s, .isa = isa, .loop = &limit_of(isa)->read[i]};
        snprintf(who, sizeof who, "read %d/%s", i, rdk_isa_name(isa));
        r->timing =
            plan_add(p, s->operands.shape.name, who, run_reader, r, is_cold(&s->operands.shape));
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
    const shape *size = &s->operands.shape;
    if (size->op == RDK_OP_SOFTMAX)
        s->copy = plan_add(p, size->name, "memcpy", run_copy, &s->operands, false);
    else if (size->nq * (size->q_heads / size->kv_heads) <= FEW_ROWS)
        add_all_readers(p, s);
    bool cold = is_cold(size) || shape_flop(size) > 1e10;
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
