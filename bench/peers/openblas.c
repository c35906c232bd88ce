/* OpenBLAS: attention as anyone would write it, two calls of sgemm with a plain softmax between. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/peers/blocks.h"
#include "bench/peers/list.h"
#include "bench/peers/plain.h"

enum {
    BLOCK = 128, /* rows at a time, so that their scores stay in a cache */
};

typedef struct attention_call {
    peer_call call;
    rdk_attention_desc desc;
    stacks stacks;
    float *scores; /* of a block */
} attention_call;

/* c = alpha * a op(b), by sgemv if a is one row. */
static void multiply(CBLAS_TRANSPOSE op, int64_t m, int64_t n, int64_t k, float alpha,
                     const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                     int64_t ldc) {
    bool transposed = op == CblasTrans;
    if (m > 1)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, op, (int)m, (int)n, (int)k, alpha, a, (int)lda, b,
                    (int)ldb, 0, c, (int)ldc);
    else
        cblas_sgemv(CblasRowMajor, transposed ? CblasNoTrans : CblasTrans,
                    (int)(transposed ? n : k), (int)(transposed ? k : n), alpha, b, (int)ldb, a, 1,
                    0, c, 1);
}

/* Rows of scores to rows of weights; a key that a row does not see has the weight 0. */
static void weigh(const attention_call *c, int64_t first, int64_t rows, int64_t keys) {
    for (int64_t r = 0; r < rows; r++) {
        float *row = c->scores + r * keys;
        int64_t seen = visible_keys(&c->desc, first + r);
        plain_softmax(row, row, seen);
        memset(row + seen, 0, (size_t)(keys - seen) * sizeof *row);
    }
}

static void attend(const attention_call *c, int64_t stack, int64_t first, int64_t rows) {
    const rdk_attention_desc *d = &c->desc;
    const stacks *s = &c->stacks;
    const float *q = (const float *)d->q.data + stack_offset(s, stack, d->q.head_stride);
    const float *k = (const float *)d->k.data + stack_kv_offset(d, s, stack, d->k.head_stride);
    const float *v = (const float *)d->v.data + stack_kv_offset(d, s, stack, d->v.head_stride);
    float *out = (float *)d->out.data + stack_offset(s, stack, d->out.head_stride);
    int64_t keys = visible_to_any(d, first, rows);
    multiply(CblasTrans, rows, keys, d->d_qk, scale_of(d), q + first * d->q.row_stride,
             d->q.row_stride, k, d->k.row_stride, c->scores, keys);
    weigh(c, first, rows, keys);
    multiply(CblasNoTrans, rows, d->d_v, keys, 1, c->scores, keys, v, d->v.row_stride,
             out + first * d->out.row_stride, d->out.row_stride);
}

static int64_t block_rows(const stacks *s, int64_t first) {
    return s->rows - first < BLOCK ? s->rows - first : BLOCK;
}

static void run(peer_call *call) {
    const attention_call *c = (attention_call *)call;
    for (int64_t stack = 0; stack < c->stacks.count; stack++)
        for (int64_t first = 0; first < c->stacks.rows; first += BLOCK)
            attend(c, stack, first, block_rows(&c->stacks, first));
}

static void set_kv(peer_call *call, const float *k, const float *v) {
    attention_call *c = (attention_call *)call;
    c->desc.k.data = k;
    c->desc.v.data = v;
}

static void discard(peer_call *call) {
    free(((attention_call *)call)->scores);
    free(call);
}

static peer_call *prepare(const rdk_attention_desc *d) {
    stacks s = stacks_of(d, BLOCK);
    if (!stacks_fit(d, &s))
        return NULL;
    openblas_set_num_threads(1);
    attention_call *c = allocate(sizeof *c);
    *c = (attention_call){{"sgemm + loops with expf + sgemm", run, set_kv, discard}, *d, s, NULL};
    c->scores = allocate((size_t)(block_rows(&s, 0) * d->kv_len) * sizeof(float));
    return &c->call;
}

static peer_call *prepare_none(const rdk_softmax_desc *d) {
    (void)d;
    return NULL;
}

/* The second word of "OpenBLAS 0.3.21 ...". */
static const char *version(void) {
    static char text[32];
    const char *config = openblas_get_config(), *space = strchr(config, ' ');
    size_t n = space ? strcspn(space + 1, " ") : 0;
    if (n >= sizeof text)
        n = 0;
    memcpy(text, space ? space + 1 : "", n);
    text[n] = 0;
    return text;
}

const peer peer_openblas = {"OpenBLAS", version, prepare_none, prepare};
