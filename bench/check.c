/* Runs everybody once and compares. */
#include "bench/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/oracle.h"

enum {
    SOFTMAX_ELEMENTS = 1 << 18, /* to compare of a softmax, or one row */
    ORACLE_ROWS = 16,           /* to measure the error of */
};

/* A peer that is wrong is not shown. Rounding in f32 at every step, over 2^20 terms and with an exp
 * of a few ULP, costs less than 1000 ULP; a wrong mask, scale or layout costs more. For f16 and
 * bf16 one ULP is the rounding of the result. */
#define LARGEST_ERROR 1000.0

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Of an operand: its rows in order, and how many bytes one has. */
static int64_t row_count(const shape *s) {
    return s->op == RDK_OP_SOFTMAX ? s->rows : shape_heads(s) * s->nq;
}

static size_t row_bytes(const shape *s) {
    return (size_t)(s->op == RDK_OP_SOFTMAX ? s->cols : s->d_v) * type_size(s->type);
}

/* Of attention two of each head, or the one. */
static int64_t rows_to_check(const shape *s) {
    if (s->op == RDK_OP_ATTENTION)
        return shape_heads(s) * (s->nq > 1 ? 2 : 1);
    int64_t rows = SOFTMAX_ELEMENTS / s->cols;
    return rows < 1 ? 1 : rows < s->rows ? rows : s->rows;
}

/* Two queries of each head: going down the heads, the one from the first to the last, the other
 * from the last to the middle. */
static int64_t query_to_check(const shape *s, int64_t i) {
    int64_t heads = shape_heads(s), head = i % heads, last = s->nq - 1;
    int64_t down = heads > 1 ? head * last / (heads - 1) : 0;
    return head * s->nq + (i < heads ? down : last - down / 2);
}

/* Row i of those to check; of softmax from the first to the last. */
static int64_t row_to_check(const shape *s, int64_t i) {
    if (s->op == RDK_OP_ATTENTION)
        return query_to_check(s, i);
    int64_t rows = rows_to_check(s);
    return rows > 1 ? i * (s->rows - 1) / (rows - 1) : 0;
}

/* ---- The scalar path ------------------------------------------------------------------------- */

static bool scalar_row(const contender *c, int64_t row, void *to) {
    const shape *s = &c->subject->operands.shape;
    rdk_softmax_desc d = c->desc.softmax;
    d.isa = RDK_ISA_SCALAR;
    d.rows = 1;
    d.x = (const char *)d.x + (size_t)row * row_bytes(s);
    d.bias = d.bias ? (const float *)d.bias + row * s->cols : NULL;
    d.y = to;
    return rdk_softmax(&d) == RDK_OK;
}

/* A query alone, as a decode step at its position. */
static bool scalar_query(const contender *c, int64_t row, void *to) {
    const shape *s = &c->subject->operands.shape;
    rdk_attention_desc d = c->desc.attention;
    int64_t kv_head = row / s->nq / (s->q_heads / s->kv_heads);
    d.isa = RDK_ISA_SCALAR;
    d.batch = d.q_heads = d.kv_heads = d.q_len = 1;
    d.q.data = (const float *)d.q.data + row * s->d_qk;
    d.k.data = (const float *)d.k.data + kv_head * d.k.head_stride;
    d.v.data = (const float *)d.v.data + kv_head * d.v.head_stride;
    d.out.data = to;
    if (s->causal) {
        d.causal = RDK_CAUSAL_FROM_POSITION;
        d.q_pos = row % s->nq + s->nk - s->nq;
    }
    return rdk_attention(&d) == RDK_OK;
}

/* What the scalar path writes for the rows to check; NULL if it refuses. */
static char *expected_rows(const contender *c) {
    const shape *s = &c->subject->operands.shape;
    size_t bytes = row_bytes(s);
    char *all = allocate((size_t)rows_to_check(s) * bytes);
    for (int64_t i = 0; i < rows_to_check(s); i++) {
        char *to = all + (size_t)i * bytes;
        int64_t row = row_to_check(s, i);
        if (s->op == RDK_OP_SOFTMAX ? scalar_row(c, row, to) : scalar_query(c, row, to))
            continue;
        free(all);
        return NULL;
    }
    return all;
}

/* ---- The comparison -------------------------------------------------------------------------- */

/* The whole work once, into memory that has nothing of it. */
static void run_whole(contender *c) {
    subject *s = c->subject;
    contender whole = *c;
    if (s->operands.shape.memory) /* its descriptor has the first K and V, which are compared */
        ring_restart(s->operands.ring);
    memset(s->operands.out, 0xff,
           (size_t)row_count(&s->operands.shape) * row_bytes(&s->operands.shape));
    if (s->operands.shape.op == RDK_OP_SOFTMAX)
        whole.desc.softmax.rows = s->operands.shape.rows;
    contender_run(&whole);
}

static bool has_bits(const subject *s, const char *expected) {
    size_t bytes = row_bytes(&s->operands.shape);
    for (int64_t i = 0; i < rows_to_check(&s->operands.shape); i++) {
        const char *got =
            (const char *)s->operands.out + (size_t)row_to_check(&s->operands.shape, i) * bytes;
        if (memcmp(got, expected + (size_t)i * bytes, bytes))
            return false;
    }
    return true;
}

static double error_of(const contender *c) {
    const shape *s = &c->subject->operands.shape;
    int64_t rows = row_count(s) < ORACLE_ROWS ? row_count(s) : ORACLE_ROWS;
    return s->op == RDK_OP_SOFTMAX ? oracle_softmax_ulp(&c->desc.softmax, rows)
                                   : oracle_attention_error(&c->desc.attention, rows);
}

/* Whether a contender may stay. Others are compared with the scalar path, and its own
 * error is that of any ISA. */
static bool is_right(contender *c, const char *expected) {
    if (c->isa == RDK_ISA_SCALAR)
        return true;
    run_whole(c);
    if (!c->call && !has_bits(c->subject, expected)) {
        fprintf(stderr, "bench: %s on %s: not the scalar path's bits\n",
                c->subject->operands.shape.name, c->how);
        return false;
    }
    c->error = error_of(c);
    if (c->error <= LARGEST_ERROR)
        return true;
    fprintf(stderr, "bench: %s by %s: an error of %g ULP\n", c->subject->operands.shape.name, c->by,
            c->error);
    return false;
}

/* Keeps c, unless it is NULL, if it is right; returns 1 if it is not. */
static int keep_right(contender *c, const char *expected) {
    if (!c || is_right(c, expected))
        return 0;
    subject_drop(c->subject);
    return 1;
}

int check_contenders(subject *s, const bool isas[RDK_ISA_COUNT]) {
    int wrong = 0, peer_count;
    const peer *const *all = peers(&peer_count);
    char *expected = NULL;
    bool alone = true;
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        alone = alone && !isas[isa];
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++) {
        contender *c = isas[isa] ? subject_add_isa(s, isa, alone) : NULL;
        if (c && !expected && !(expected = expected_rows(c)))
            return 1;
        wrong += keep_right(c, expected);
    }
    for (int i = 0; i < peer_count && s->contender_count; i++)
        wrong += keep_right(subject_add_peer(s, all[i]), NULL);
    if (s->contender_count > 1 && s->contenders[0].isa == RDK_ISA_SCALAR)
        s->contenders[0].error = s->contenders[1].error;
    free(expected);
    return wrong;
}
