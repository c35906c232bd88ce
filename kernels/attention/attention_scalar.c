/* Attention, the reference: docs/arithmetic.md written in C. Plain loops, no cleverness. */
#include "kernels/attention/attention.h"

/* ---- A query ---------------------------------------------------------------------------------- */

float rdk_attention_scale(const rdk_attention_desc *d) {
    float scale = d->scale == 0 ? (float)(1 / sqrt((double)d->d_qk)) : d->scale;
    return rdk_split_scale(scale).ch;
}

rdk_query rdk_attention_query(const rdk_attention_desc *d, int64_t b, int64_t h, int64_t i) {
    int64_t kv_head = h / (d->q_heads / d->kv_heads);
    rdk_query q = {.d_qk = d->d_qk, .d_v = d->d_v, .key_pos0 = d->key_pos0};
    q.q = rdk_const_view_row(&d->q, b, h, i);
    q.k = rdk_const_view_row(&d->k, b, kv_head, 0);
    q.v = rdk_const_view_row(&d->v, b, kv_head, 0);
    q.k_step = d->k.row_stride * 4;
    q.v_step = d->v.row_stride * 4;
    q.visible = rdk_attention_visible(d, i);
    q.scale = rdk_attention_scale(d);
    return q;
}

/* The logit of key j, in base 2. */
static float score(const rdk_query *q, int64_t j) {
    const char *k = q->k + j * q->k_step;
    int64_t chains = rdk_chains(q->d_qk), end;
    float x = 0;
    for (int64_t first = 0; first < q->d_qk; first = end) {
        end = rdk_piece_end(first, q->d_qk);
        for (int64_t i = 0; i < chains; i++) {
            float s = 0;
            for (int64_t c = first + i; c < end; c += chains)
                s = rdk_fma(rdk_load(q->q, RDK_F32, c) * q->scale, rdk_load(k, RDK_F32, c), s);
            x = x + s;
        }
    }
    return x;
}

/* Scores are logits as they are: section 4 with a scale of 1. */
static const rdk_scale AS_IT_IS = {.c2 = 1, .ch = 1, .cl = 0};

/* ---- One chunk ---------------------------------------------------------------------------------- */

typedef struct chunk {
    const rdk_query *q;
    int64_t first, end; /* the visible keys of it */
    float x[RDK_CHUNK]; /* their scores */
    float e[RDK_CHUNK]; /* their weights */
} chunk;

/* NaN is passed over: every comparison with it is false. */
static float largest(const chunk *c, int64_t first, int64_t end) {
    float T = -INFINITY;
    for (int64_t j = first; j < end; j++) {
        float x = c->x[j - c->first];
        if (x > T)
            T = x;
    }
    return T;
}

static float weight(const chunk *c, int64_t j, const rdk_state *s) {
    float x = c->x[j - c->first];
    return s->cold ? rdk_cold_weight(x, s->M) : rdk_hot_weight(x, AS_IT_IS, (float)s->M);
}

static void add_weights(chunk *c, int64_t first, int64_t end, float r, rdk_state *s) {
    float lane[RDK_LANES] = {0};
    for (int64_t j = first; j < end; j++) {
        float e = weight(c, j, s);
        c->e[j - c->first] = e;
        lane[(c->q->key_pos0 + j) % RDK_LANES] += e;
    }
    s->l = s->l * r + rdk_fold(lane);
}

/* The values of a block have a sum of their own, which is added to o times r. */
static void add_values(const chunk *c, int64_t first, int64_t end, float r, rdk_state *s) {
    const rdk_query *q = c->q;
    float p[RDK_MAX_HEAD_DIM] = {0};
    for (int64_t j = first; j < end; j++) {
        float e = c->e[j - c->first];
        for (int64_t i = 0; i < q->d_v; i++)
            p[i] = rdk_fma(e, rdk_load(q->v + j * q->v_step, RDK_F32, i), p[i]);
    }
    for (int64_t i = 0; i < q->d_v; i++)
        s->o[i] = rdk_fma(s->o[i], r, p[i]);
}

static void add_blocks(chunk *c, rdk_state *s) {
    int64_t end;
    for (int64_t first = c->first; first < c->end; first = end) {
        end = first + RDK_BLOCK - (c->q->key_pos0 + first) % RDK_BLOCK;
        if (end > c->end)
            end = c->end;
        float T = largest(c, first, end), r = 1;
        if (!s->cold && T > s->M + RDK_HEADROOM) {
            double M = rintf(T) + 0.0; /* never -0 */
            r = rdk_rescale(s->M, M);
            s->M = M;
        }
        add_weights(c, first, end, r, s);
        add_values(c, first, end, r, s);
    }
}

/* The scores of a chunk; those of keys the query does not see are left out. */
static void look(chunk *c, const rdk_query *q, int64_t number) {
    c->q = q;
    c->first = number * RDK_CHUNK - q->key_pos0;
    c->end = c->first + RDK_CHUNK;
    if (c->first < 0)
        c->first = 0;
    if (c->end > q->visible)
        c->end = q->visible;
    for (int64_t j = c->first; j < c->end; j++)
        c->x[j - c->first] = score(q, j);
}

void rdk_attention_chunk_scalar(const rdk_query *q, int64_t number, rdk_state *s) {
    chunk c;
    look(&c, q, number);
    float T = largest(&c, c.first, c.end);
    s->cold = T > RDK_ATTENTION_HOT || (T > -INFINITY && T < -RDK_ATTENTION_HOT);
    s->M = s->cold ? rint((double)T) + 0.0 : -RDK_ATTENTION_HOT; /* never -0 */
    s->l = 0;
    memset(s->o, 0, sizeof s->o);
    add_blocks(&c, s);
    if (s->l == 0)
        s->M = -INFINITY;
    if (s->l != s->l)
        s->M = 0;
}

/* ---- A query -------------------------------------------------------------------------------------- */

static void fold(const rdk_query *q, rdk_state *s, const rdk_state *of_chunk) {
    double M = of_chunk->M > s->M ? of_chunk->M : s->M;
    float r = rdk_rescale(s->M, M), r_chunk = rdk_rescale(of_chunk->M, M);
    s->M = M;
    s->l = s->l * r + of_chunk->l * r_chunk;
    for (int64_t c = 0; c < q->d_v; c++)
        s->o[c] = s->o[c] * r + of_chunk->o[c] * r_chunk;
    s->cold = s->cold || of_chunk->cold;
}

static void attend(const rdk_query *q, rdk_state *s) {
    rdk_state of_chunk;
    *s = (rdk_state){.M = -INFINITY};
    if (!isfinite(q->scale)) {
        s->l = q->visible > 0 ? NAN : 0;
        return;
    }
    int64_t last = q->key_pos0 + q->visible - 1;
    for (int64_t n = q->key_pos0 / RDK_CHUNK; q->visible > 0 && n <= last / RDK_CHUNK; n++) {
        rdk_attention_chunk_scalar(q, n, &of_chunk);
        fold(q, s, &of_chunk);
    }
}

float rdk_attention_lse(double M, double l) {
    if (l != l)
        return NAN;
    return l == 0 ? -INFINITY : (float)((M + rdk_log2(l)) * RDK_LN2);
}

static void write_out(const rdk_query *q, const rdk_state *s, char *out) {
    rdk_inverse inverse = rdk_inverse_of(s->l);
    for (int64_t c = 0; c < q->d_v; c++) {
        float v = rdk_times_inverse(s->o[c], inverse);
        if (s->l == 0)
            v = 0;
        if (s->l != s->l)
            v = NAN;
        rdk_store(out, RDK_F32, c, v);
    }
}

void rdk_attention_weights_scalar(const rdk_query *q, double M, double l, bool cold, char *weights,
                                  int64_t kv_len) {
    float inv = (float)(1 / l);
    for (int64_t j = 0; j < kv_len; j++) {
        float w = 0;
        if (j < q->visible && l != l)
            w = NAN;
        else if (j < q->visible && l > 0 && cold)
            w = rdk_cold_weight(score(q, j), M) * inv;
        else if (j < q->visible && l > 0)
            w = rdk_hot_weight(score(q, j), AS_IT_IS, (float)M) * inv;
        rdk_store(weights, RDK_F32, j, w);
    }
}

static void attend_and_write(const rdk_attention_desc *d, int64_t b, int64_t h, int64_t i) {
    rdk_query q = rdk_attention_query(d, b, h, i);
    rdk_state s;
    attend(&q, &s);
    write_out(&q, &s, rdk_view_row(&d->out, b, h, i));
    if (d->lse.data)
        rdk_store(rdk_view_row(&d->lse, b, h, i), RDK_F32, 0, rdk_attention_lse(s.M, s.l));
    if (d->weights.data)
        rdk_attention_weights_scalar(&q, s.M, s.l, s.cold, rdk_view_row(&d->weights, b, h, i),
                                     d->kv_len);
}

RDK_ATTENTION_KERNEL(rdk_attention_scalar) {
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t h = 0; h < d->q_heads; h++)
            for (int64_t i = 0; i < d->q_len; i++)
                attend_and_write(d, b, h, i);
}
