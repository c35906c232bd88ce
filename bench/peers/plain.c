/* Softmax in plain C, as a program without any library would have it. */
#include "bench/peers/plain.h"

#include <math.h>
#include <stdlib.h>

#include "bench/inputs.h"
#include "bench/peers/list.h"

static float largest(const float *x, int64_t n) {
    float max = x[0];
    for (int64_t j = 1; j < n; j++)
        max = x[j] > max ? x[j] : max;
    return max;
}

void plain_softmax(float *y, const float *x, int64_t n) {
    float max = largest(x, n), sum = 0;
    for (int64_t j = 0; j < n; j++) {
        y[j] = expf(x[j] - max);
        sum += y[j];
    }
    for (int64_t j = 0; j < n; j++)
        y[j] /= sum;
}

static void plain_log_softmax(float *y, const float *x, int64_t n) {
    float max = largest(x, n), sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += expf(x[j] - max);
    float lse = max + logf(sum);
    for (int64_t j = 0; j < n; j++)
        y[j] = x[j] - lse;
}

/* ---- The peer -------------------------------------------------------------------------------- */

typedef struct softmax_call {
    peer_call call;
    rdk_softmax_desc desc;
} softmax_call;

/* y = scale * x + bias, which softmax then replaces. */
static const float *logits(const rdk_softmax_desc *d, int64_t r) {
    const float *x = (const float *)d->x + r * d->x_stride;
    const float *bias = d->bias ? (const float *)d->bias + r * d->bias_stride : NULL;
    float *z = (float *)d->y + r * d->y_stride, scale = d->scale == 0 ? 1 : d->scale;
    if (!bias && scale == 1)
        return x;
    for (int64_t j = 0; j < d->cols; j++)
        z[j] = bias ? scale * x[j] + bias[j] : scale * x[j];
    return z;
}

static void run(peer_call *call) {
    const rdk_softmax_desc *d = &((softmax_call *)call)->desc;
    for (int64_t r = 0; r < d->rows; r++) {
        float *y = (float *)d->y + r * d->y_stride;
        if (d->mode == RDK_SOFTMAX)
            plain_softmax(y, logits(d, r), d->cols);
        else
            plain_log_softmax(y, logits(d, r), d->cols);
    }
}

static void discard(peer_call *call) {
    free(call);
}

static peer_call *prepare(const rdk_softmax_desc *d) {
    if (!softmax_is_dense(d) || d->x_type != RDK_F32 || (d->bias && d->bias_type != RDK_F32))
        return NULL;
    softmax_call *c = allocate(sizeof *c);
    *c = (softmax_call){{"loops with expf", run, NULL, discard}, *d};
    return &c->call;
}

static peer_call *prepare_none(const rdk_attention_desc *d) {
    (void)d;
    return NULL;
}

static const char *version(void) {
    return RDK_BENCH_COMPILER;
}

const peer peer_plain = {"plain C", version, prepare, prepare_none};
