/* Softmax, the reference: docs/arithmetic.md written in C. Plain loops, no cleverness. */
#include "kernels/contract.h"
#include "kernels/softmax/softmax.h"

typedef struct row {
    const char *x, *bias;
    rdk_type x_type, bias_type;
    int64_t visible;
    rdk_scale scale;
    bool cold;
    double M; /* the reference exponent, an integer */
} row;

static float bias2_at(const row *r, int64_t j) {
    return r->bias ? rdk_bias2(rdk_load(r->bias, r->bias_type, j)) : 0;
}

static bool absent(const row *r, int64_t j) {
    return r->bias && rdk_load(r->bias, r->bias_type, j) <= RDK_ABSENT;
}

/* The logit of column j in base 2, for cold rows. */
static double logit2_at(const row *r, int64_t j) {
    double t = (double)rdk_load(r->x, r->x_type, j) * r->scale.c2;
    if (r->bias)
        t = t + (double)rdk_load(r->bias, r->bias_type, j) * RDK_LOG2E;
    return t;
}

/* A hot row's logit relative to M: an integer k and a small rest f. Far below M, k is rounded, and
 * f holds the difference. */
typedef struct parts {
    float k, f;
} parts;

/* A bias has an integer part of its own, n_bias, so that neither part loses
 * bits to the other's size. */
static parts split(const row *r, int64_t j) {
    float x = rdk_load(r->x, r->x_type, j), M = (float)r->M;
    float ch = r->scale.ch, cl = r->scale.cl;
    float magic = RDK_MAGIC - M; /* exact */
    if (!r->bias) {
        float n = rdk_fma(x, ch, magic) - magic;
        return (parts){n - M, rdk_fma(x, cl, rdk_fma(x, ch, -n))};
    }
    float bias = rdk_load(r->bias, r->bias_type, j);
    float n = (rdk_fma(x, ch, bias2_at(r, j)) + magic) - magic;
    float n_x = rdk_fma(x, ch, RDK_MAGIC) - RDK_MAGIC;
    float n_bias = n - n_x;
    float f = rdk_fma(x, ch, -n_x) + rdk_fma(bias, RDK_LOG2E_HI, -n_bias);
    f = rdk_fma(x, cl, f);
    return (parts){n - M, rdk_fma(bias, RDK_LOG2E_LO, f)};
}

static float weight(const row *r, int64_t j) {
    if (absent(r, j))
        return 0;
    if (r->cold)
        return rdk_cold_weight(logit2_at(r, j), r->M);
    parts p = split(r, j);
    if (p.k != p.k)
        return p.k;
    return p.k < RDK_FLUSH ? 0 : rdk_exp2(p.f, (int)p.k);
}

/* log(weight() / l) of a column that is not absent. */
static float log_weight(const row *r, int64_t j, double log2_l) {
    if (r->cold)
        return (float)(((logit2_at(r, j) - r->M) - log2_l) * RDK_LN2);
    parts p = split(r, j);
    if (p.k == -INFINITY)
        return -INFINITY;
    return rdk_fma(p.k + p.f, RDK_LN2_FLOAT, -(float)(log2_l * RDK_LN2));
}

/* Finds the row's largest logit, T, to choose its path and M. NaN is passed over, since every
 * comparison with it is false. */
static void choose_reference(row *r) {
    float T = -INFINITY, B = -INFINITY;
    for (int64_t j = 0; j < r->visible; j++) {
        if (absent(r, j))
            continue;
        float x = rdk_load(r->x, r->x_type, j), b = bias2_at(r, j);
        float t = r->bias ? rdk_fma(x, r->scale.ch, b) : x * r->scale.ch;
        if (t > T)
            T = t;
        if (b > B)
            B = b;
    }
    r->cold = T > RDK_HOT || (T > -INFINITY && (T < -RDK_HOT || B > RDK_HOT));
    if (!r->cold) {
        r->M = T < -RDK_HOT ? -RDK_HOT : rintf(T) + 0.0f; /* never -0 */
        return;
    }
    r->M = -INFINITY;
    for (int64_t j = 0; j < r->visible; j++)
        if (!absent(r, j) && logit2_at(r, j) > r->M)
            r->M = logit2_at(r, j);
    r->M = rint(r->M) + 0.0;
}

static double sum_of_weights(const row *r) {
    double l = 0;
    for (int64_t first = 0; first < r->visible; first += RDK_BLOCK) {
        float lane[RDK_LANES] = {0};
        for (int64_t j = first; j < first + RDK_BLOCK && j < r->visible; j++)
            lane[j % RDK_LANES] += weight(r, j);
        l += rdk_fold(lane);
    }
    return l;
}

static bool all_absent(const row *r) {
    for (int64_t j = 0; j < r->visible; j++)
        if (!absent(r, j))
            return false;
    return true;
}

static void write_lse(const rdk_softmax_desc *d, int64_t index, double M, double l, double log2_l) {
    float lse = (float)((M + log2_l) * RDK_LN2);
    if (l == 0)
        lse = -INFINITY;
    if (l != l)
        lse = NAN;
    rdk_store(d->lse, RDK_F32, index, lse);
}

static void write_row(const rdk_softmax_desc *d, int64_t index, const row *r, double l,
                      double log2_l) {
    char *y = (char *)d->y + index * d->y_stride * rdk_type_size(d->y_type);
    float nothing = d->mode == RDK_LOG_SOFTMAX ? -INFINITY : 0;
    float inv = (float)(1 / l);
    for (int64_t j = 0; j < d->cols; j++) {
        float v;
        if (j >= r->visible)
            v = nothing;
        else if (l != l)
            v = NAN;
        else if (l == 0 || absent(r, j))
            v = nothing;
        else if (d->mode == RDK_SOFTMAX)
            v = weight(r, j) * inv;
        else
            v = log_weight(r, j, log2_l);
        rdk_store(y, d->y_type, j, v);
    }
}

void rdk_softmax_row_scalar(const rdk_softmax_desc *d, int64_t index) {
    row r = {.x_type = d->x_type, .bias_type = d->bias_type};
    r.x = (const char *)d->x + index * d->x_stride * rdk_type_size(d->x_type);
    if (d->bias)
        r.bias = (const char *)d->bias + index * d->bias_stride * rdk_type_size(d->bias_type);
    r.visible = d->visible ? d->visible[index] : d->cols;
    float scale = d->scale == 0 ? 1 : d->scale;
    r.scale = rdk_split_scale(d->row_scale ? d->row_scale[index] : scale);

    double l;
    if (isfinite(r.scale.ch)) {
        choose_reference(&r);
        l = sum_of_weights(&r);
    } else {
        l = all_absent(&r) ? 0 : NAN;
    }
    double log2_l = l > 0 ? rdk_log2(l) : 0;
    if (d->lse)
        write_lse(d, index, r.M, l, log2_l);
    if (d->mode != RDK_SOFTMAX_LSE)
        write_row(d, index, &r, l, log2_l);
}

RDK_SOFTMAX_KERNEL(rdk_softmax_scalar) {
    for (int64_t r = 0; r < d->rows; r++)
        rdk_softmax_row_scalar(d, r);
}
