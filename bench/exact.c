/* The oracle: plain loops in double. */
#include "bench/exact.h"

#include <math.h>

oracle oracle_of(const double *z, int64_t n) {
    oracle o = {.max = -INFINITY};
    double lost = 0; /* Neumaier */
    for (int64_t j = 0; j < n; j++)
        o.max = fmax(o.max, z[j]);
    for (int64_t j = 0; j < n; j++) {
        double e = exp(z[j] - o.max), s = o.sum + e;
        lost += o.sum >= e ? (o.sum - s) + e : (e - s) + o.sum;
        o.sum = s;
    }
    o.sum += lost;
    o.lse = o.max + log(o.sum);
    return o;
}

double oracle_weight(const oracle *o, double z) {
    return o->max == -INFINITY ? 0 : exp(z - o->max) / o->sum;
}

void oracle_logits(double *z, float scale, const float *q, const float *k, int64_t stride,
                   int64_t d, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        double s = 0;
        for (int64_t c = 0; c < d; c++)
            s += (double)q[c] * k[j * stride + c];
        z[j] = s * scale;
    }
}

void oracle_output(double *out, const oracle *o, const double *z, const float *v, int64_t stride,
                   int64_t d, int64_t n) {
    for (int64_t c = 0; c < d; c++)
        out[c] = 0;
    for (int64_t j = 0; j < n; j++) {
        double w = oracle_weight(o, z[j]);
        for (int64_t c = 0; c < d; c++)
            out[c] += w * v[j * stride + c];
    }
}

double ulp_of(double v, int bits, int least) {
    int e = v == 0 ? least : ilogb(v);
    return ldexp(1, (e > least ? e : least) - bits);
}
