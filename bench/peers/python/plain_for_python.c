/* Attention as anyone would write it in float, for error.py: a kernel is judged by its error. Sums
 * run strictly one element, or one key, after another; only different queries, or different
 * columns, are side by side. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { LANES = 16 }; /* queries side by side */

EXPORT void plain_attention(float *out, float *e, float *turned, const float *q, const float *k,
                            const float *v, int64_t queries, int64_t keys, int64_t d, float scale);

/* Scores of up to LANES queries, which lie in `turned` as [element][lane], to e as [key][lane]. */
static void scores(float *e, const float *turned, const float *k, int64_t keys, int64_t d,
                   float scale) {
    for (int64_t j = 0; j < keys; j++) {
        float s[LANES] = {0};
        for (int64_t c = 0; c < d; c++)
            for (int i = 0; i < LANES; i++)
                s[i] += turned[c * LANES + i] * k[j * d + c];
        for (int i = 0; i < LANES; i++)
            e[j * LANES + i] = s[i] * scale;
    }
}

static void turn(float *turned, const float *q, int64_t queries, int64_t d) {
    memset(turned, 0, (size_t)d * LANES * sizeof *turned);
    for (int64_t i = 0; i < queries; i++)
        for (int64_t c = 0; c < d; c++)
            turned[c * LANES + i] = q[i * d + c];
}

/* One query's output; its scores are e[0], e[LANES], ... */
static void output(float *out, float *e, const float *v, int64_t keys, int64_t d) {
    float max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; j++)
        max = e[j * LANES] > max ? e[j * LANES] : max;
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t j = 0; j < keys; j++) {
        float weight = expf(e[j * LANES] - max);
        sum += weight;
        for (int64_t c = 0; c < d; c++)
            out[c] += weight * v[j * d + c];
    }
    for (int64_t c = 0; c < d; c++)
        out[c] /= sum;
}

/* One head, rows dense. `e` has room for 16 * keys floats, `turned` for 16 * d. */
void plain_attention(float *out, float *e, float *turned, const float *q, const float *k,
                     const float *v, int64_t queries, int64_t keys, int64_t d, float scale) {
    for (int64_t first = 0; first < queries; first += LANES) {
        int64_t count = queries - first < LANES ? queries - first : LANES;
        turn(turned, q + first * d, count, d);
        scores(e, turned, k, keys, d, scale);
        for (int64_t i = 0; i < count; i++)
            output(out + (first + i) * d, e + i, v, keys, d);
    }
}
