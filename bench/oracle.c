/* Errors of calls, by the oracle. */
#include "bench/oracle.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/exact.h"
#include "bench/inputs.h"

static const double LEAST_WEIGHT = 1e-6;

/* Greater, or no number: fmax() would drop that. */
static void note(double *worst, double error) {
    if (isnan(error))
        *worst = INFINITY;
    else if (error > *worst)
        *worst = error;
}

/* The i-th of `wanted` places from the first to the last of `all`. */
static int64_t sample(int64_t i, int64_t wanted, int64_t all) {
    return wanted > 1 ? (int64_t)((double)i * (double)(all - 1) / (double)(wanted - 1)) : 0;
}

/* ---- Element types --------------------------------------------------------------------------- */

typedef struct format {
    int bits;  /* of the fraction */
    int least; /* exponent of a normal number */
} format;

static const format FORMATS[] = {
    [RDK_F32] = {23, -126}, [RDK_F16] = {10, -14}, [RDK_BF16] = {7, -126}};

static double value_of_f16(uint16_t u) {
    int exponent = u >> 10 & 31, fraction = u & 1023;
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return u >> 15 ? -v : v;
}

static double value_at(const void *data, rdk_type type, int64_t i) {
    const char *at = (const char *)data + (size_t)i * type_size(type);
    uint16_t half;
    float v;
    if (type == RDK_F32) {
        memcpy(&v, at, sizeof v);
        return v;
    }
    memcpy(&half, at, sizeof half);
    if (type == RDK_F16)
        return value_of_f16(half);
    uint32_t wide = (uint32_t)half << 16;
    memcpy(&v, &wide, sizeof v);
    return v;
}

static double ulp(double v, rdk_type type) {
    return ulp_of(v, FORMATS[type].bits, FORMATS[type].least);
}

/* ---- Softmax --------------------------------------------------------------------------------- */

/* The columns that take part; returns how many. */
static int64_t softmax_logits(double *z, const rdk_softmax_desc *d, int64_t r) {
    int64_t n = d->visible ? d->visible[r] : d->cols;
    double scale = d->row_scale ? d->row_scale[r] : d->scale == 0 ? 1 : d->scale;
    for (int64_t j = 0; j < n; j++) {
        z[j] = scale * value_at(d->x, d->x_type, r * d->x_stride + j);
        if (d->bias)
            z[j] += value_at(d->bias, d->bias_type, r * d->bias_stride + j);
    }
    return n;
}

static double softmax_error(double got, const oracle *s, double z, bool log, rdk_type type) {
    double exact = log ? z - s->lse : oracle_weight(s, z);
    if (log ? isinf(exact) : exact < LEAST_WEIGHT)
        return 0;
    return fabs(got - exact) / ulp(log ? fmax(1, fabs(exact)) : exact, type);
}

double oracle_softmax_ulp(const rdk_softmax_desc *d, int64_t rows) {
    double worst = 0, *z = allocate((size_t)d->cols * sizeof *z);
    if (rows > d->rows)
        rows = d->rows;
    for (int64_t i = 0; i < rows; i++) {
        int64_t r = sample(i, rows, d->rows), n = softmax_logits(z, d, r);
        oracle s = oracle_of(z, n);
        for (int64_t j = 0; j < n; j++)
            note(&worst, softmax_error(value_at(d->y, d->y_type, r * d->y_stride + j), &s, z[j],
                                       d->mode == RDK_LOG_SOFTMAX, d->y_type));
    }
    free(z);
    return worst;
}

/* ---- Attention ------------------------------------------------------------------------------- */

/* One query: the n keys it sees, and what the call wrote. */
typedef struct query {
    const float *q, *k, *v, *out;
    int64_t n;
} query;

static const float *row_of(const rdk_const_view *v, int64_t batch, int64_t head, int64_t row) {
    return (const float *)v->data + batch * v->batch_stride + head * v->head_stride +
           row * v->row_stride;
}

static int64_t visible(const rdk_attention_desc *d, int64_t i) {
    int64_t n = d->kv_len;
    if (d->causal == RDK_CAUSAL_BOTTOM_RIGHT)
        n = d->kv_len - d->q_len + i + 1;
    else if (d->causal == RDK_CAUSAL_FROM_POSITION)
        n = d->q_pos + i - d->key_pos0 + 1;
    return n < 0 ? 0 : n > d->kv_len ? d->kv_len : n;
}

/* Query r of all batches and heads. */
static query query_of(const rdk_attention_desc *d, int64_t r) {
    int64_t i = r % d->q_len, head = r / d->q_len % d->q_heads, batch = r / d->q_len / d->q_heads;
    int64_t kv_head = head / (d->q_heads / d->kv_heads);
    rdk_const_view out = {d->out.data, d->out.batch_stride, d->out.head_stride, d->out.row_stride,
                          d->out.type};
    return (query){row_of(&d->q, batch, head, i), row_of(&d->k, batch, kv_head, 0),
                   row_of(&d->v, batch, kv_head, 0), row_of(&out, batch, head, i), visible(d, i)};
}

static double largest_value(const rdk_attention_desc *d, const query *q) {
    double most = 0;
    for (int64_t j = 0; j < q->n; j++)
        for (int64_t c = 0; c < d->d_v; c++)
            most = fmax(most, fabs((double)q->v[j * d->v.row_stride + c]));
    return most;
}

static void note_query(double *worst, double *z, const rdk_attention_desc *d, const query *q) {
    double exact[RDK_MAX_HEAD_DIM], unit = largest_value(d, q) * 0x1p-23;
    float scale = d->scale == 0 ? (float)(1 / sqrt((double)d->d_qk)) : d->scale;
    oracle_logits(z, scale, q->q, q->k, d->k.row_stride, d->d_qk, q->n);
    oracle o = oracle_of(z, q->n);
    oracle_output(exact, &o, z, q->v, d->v.row_stride, d->d_v, q->n);
    for (int64_t c = 0; c < d->d_v; c++) {
        double error = fabs(q->out[c] - exact[c]);
        note(worst, error == 0 ? 0 : error / unit);
    }
}

double oracle_attention_error(const rdk_attention_desc *d, int64_t rows) {
    double worst = 0, *z = allocate((size_t)d->kv_len * sizeof *z);
    int64_t all = d->batch * d->q_heads * d->q_len;
    if (rows > all)
        rows = all;
    for (int64_t i = 0; i < rows; i++) {
        query q = query_of(d, sample(i, rows, all));
        note_query(&worst, z, d, &q);
    }
    free(z);
    return worst;
}
