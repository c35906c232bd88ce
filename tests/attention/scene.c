#include "tests/attention/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/values.h"

uint64_t seed;
float floats[MAX_FLOATS];
char scratch[MAX_SCRATCH];
result alone;

static float query[MAX_D], keys[MAX_KEYS * MAX_D], values[MAX_KEYS * MAX_D];

static void set_scene(const scene *s) {
    rng r = {seed + (uint64_t)(s->keys * 1000 + s->d_qk)};
    for (int64_t i = 0; i < s->d_qk; i++)
        query[i] = normal(&r) * s->spread;
    for (int64_t i = 0; i < s->keys * s->d_qk; i++)
        keys[i] = normal(&r) * s->spread;
    for (int64_t i = 0; i < s->keys * s->d_v; i++)
        values[i] = normal(&r);
}

/* ---- Settings ------------------------------------------------------------------------------ */

static int64_t or_one(int64_t n) {
    return n ? n : 1;
}

static float noise_value(noise n, rng *r) {
    switch (n) {
    case NOISE_NAN:
        return PICK(r, NAN, INFINITY, -INFINITY, NAN, 1);
    case NOISE_COLD:
        return (float)(int32_t)rng_next(r) * 0x1p-12f;
    default: /* anything that is neither special nor the same everywhere */
        return (float)(int32_t)rng_next(r) * 0x1p-30f;
    }
}

static float *take(int64_t *used, int64_t count) {
    float *p = floats + *used;
    *used += count;
    if (*used > MAX_FLOATS) {
        fprintf(stderr, "a setting is too large\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

rdk_attention_desc describe(const scene *s, const setting *t) {
    rdk_attention_desc d = {.size = sizeof d, .batch = or_one(t->batch), .d_qk = s->d_qk};
    d.d_v = s->d_v;
    d.kv_heads = or_one(t->heads);
    d.q_heads = d.kv_heads * or_one(t->group);
    d.q_len = or_one(t->q_len);
    d.kv_len = s->keys + t->hidden;
    d.scale = s->scale;
    d.key_pos0 = s->key_pos0 + t->ahead;
    d.causal = (rdk_causal)(t->hidden && !t->causal ? RDK_CAUSAL_FROM_POSITION : t->causal);
    if (d.causal == RDK_CAUSAL_FROM_POSITION)
        d.q_pos = d.key_pos0 + s->keys - 1 - t->at_query;
    return d;
}

static void set_strides(const setting *t, int64_t heads, int64_t rows, int64_t width,
                        int64_t *batch, int64_t *head, int64_t *row) {
    *batch = heads * rows * width;
    *head = t->by_position ? width : rows * width;
    *row = t->by_position ? heads * width : width;
}

static void set_in(const setting *t, rdk_const_view *v, float *p, int64_t heads, int64_t rows,
                   int64_t width) {
    set_strides(t, heads, rows, width, &v->batch_stride, &v->head_stride, &v->row_stride);
    v->data = p;
}

static void set_out(const setting *t, rdk_view *v, float *p, int64_t heads, int64_t rows,
                    int64_t width) {
    set_strides(t, heads, rows, width, &v->batch_stride, &v->head_stride, &v->row_stride);
    v->data = p;
}

room find_room(const setting *t, rdk_attention_desc *d) {
    int64_t used = 0, rows = d->batch * d->q_heads * d->q_len;
    int64_t all_keys = d->batch * d->kv_heads * d->kv_len;
    room m;
    m.q = take(&used, rows * d->d_qk);
    m.k = take(&used, all_keys * d->d_qk);
    m.v = take(&used, all_keys * d->d_v);
    rng r = {seed + (uint64_t)used};
    for (int64_t i = 0; i < used; i++)
        floats[i] = noise_value(t->noise, &r);
    m.out = take(&used, rows * d->d_v);
    m.lse = take(&used, rows);
    m.weights = take(&used, t->weights ? rows * d->kv_len : 0);
    set_in(t, &d->q, m.q, d->q_heads, d->q_len, d->d_qk);
    set_in(t, &d->k, m.k, d->kv_heads, d->kv_len, d->d_qk);
    set_in(t, &d->v, m.v, d->kv_heads, d->kv_len, d->d_v);
    set_out(t, &d->out, m.out, d->q_heads, d->q_len, d->d_v);
    if (!t->no_lse)
        set_out(t, &d->lse, m.lse, d->q_heads, d->q_len, 1);
    if (t->weights)
        set_out(t, &d->weights, m.weights, d->q_heads, d->q_len, d->kv_len);
    return m;
}

static float *in_row(float *p, const rdk_const_view *v, int64_t b, int64_t h, int64_t i) {
    return p + b * v->batch_stride + h * v->head_stride + i * v->row_stride;
}

static float *out_row(float *p, const rdk_view *v, int64_t b, int64_t h, int64_t i) {
    return p + b * v->batch_stride + h * v->head_stride + i * v->row_stride;
}

void put_scene(const scene *s, const setting *t, const rdk_attention_desc *d, const room *m) {
    int64_t kv_head = t->at_head / or_one(t->group);
    memcpy(in_row(m->q, &d->q, t->at_batch, t->at_head, t->at_query), query, (size_t)s->d_qk * 4);
    for (int64_t j = 0; j < s->keys; j++) {
        memcpy(in_row(m->k, &d->k, t->at_batch, kv_head, j), keys + j * s->d_qk,
               (size_t)s->d_qk * 4);
        memcpy(in_row(m->v, &d->v, t->at_batch, kv_head, j), values + j * s->d_v,
               (size_t)s->d_v * 4);
    }
}

/* ---- Results ------------------------------------------------------------------------------- */

void run(const path *p, const scene *s, const setting *t, result *got) {
    rdk_attention_desc d = describe(s, t);
    room m = find_room(t, &d);
    int64_t b = t->at_batch, h = t->at_head, i = t->at_query;
    put_scene(s, t, &d, &m);
    d.scratch = scratch;
    rdk_attention_scratch(&d, &d.scratch_size);
    if (d.scratch_size > sizeof scratch)
        exit(EXIT_FAILURE);
    memset(scratch, 0xff, d.scratch_size);
    memset(got, 0, sizeof *got);
    got->status = rdk_attention_with(&p->table, &d);
    memcpy(got->out, out_row(m.out, &d.out, b, h, i), (size_t)s->d_v * 4);
    if (!t->no_lse)
        got->lse = *out_row(m.lse, &d.lse, b, h, i);
    if (t->weights)
        memcpy(got->weights, out_row(m.weights, &d.weights, b, h, i), (size_t)s->keys * 4);
}

static bool differs(const char *what, const path *p, const scene *s, const setting *t, int64_t at,
                    float got, float want) {
    printf(
        "\n%s, %lld keys, d %lld and %lld, position %lld: %s[%lld] is %#x (%g), alone %#x (%g)\n"
        "    in a batch of %lld at %lld, %lld heads of keys x group %lld at %lld, %lld queries at "
        "%lld,\n    %lld hidden keys, causal %lld, positions + %lld, noise %d, lse %d, "
        "weights %d, by position %d\n",
        p->name, (long long)s->keys, (long long)s->d_qk, (long long)s->d_v, (long long)s->key_pos0,
        what, (long long)at, (unsigned)rdk_bits(got), (double)got, (unsigned)rdk_bits(want),
        (double)want, (long long)or_one(t->batch), (long long)t->at_batch,
        (long long)or_one(t->heads), (long long)or_one(t->group), (long long)t->at_head,
        (long long)or_one(t->q_len), (long long)t->at_query, (long long)t->hidden,
        (long long)t->causal, (long long)t->ahead, (int)t->noise, !t->no_lse, t->weights,
        t->by_position);
    return false;
}

bool same_floats(const char *what, const path *p, const scene *s, const setting *t,
                 const float *got, const float *want, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (rdk_bits(got[i]) != rdk_bits(want[i]))
            return differs(what, p, s, t, i, got[i], want[i]);
    return true;
}

bool same(const path *p, const scene *s, const setting *t) {
    static result got;
    run(p, s, t, &got);
    if (got.status != RDK_OK)
        return differs("status", p, s, t, 0, (float)got.status, RDK_OK);
    return same_floats("out", p, s, t, got.out, alone.out, s->d_v) &&
           (t->no_lse || same_floats("lse", p, s, t, &got.lse, &alone.lse, 1)) &&
           (!t->weights || same_floats("weights", p, s, t, got.weights, alone.weights, s->keys));
}

bool stand_alone(const path *p, const scene *s) {
    set_scene(s);
    run(p, s, &(setting){.weights = true}, &alone);
    return alone.status == RDK_OK;
}
