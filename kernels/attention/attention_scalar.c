/* Attention, the reference, which is docs/arithmetic.md written in C. Plain loops, no
 * cleverness. */
#include "kernels/attention/attention.h"

/* ---- A query ------------------------------------------------------------------------------- */

rdk_query rdk_query_of(const rdk_problem *p, int64_t b, int64_t h, int64_t i) {
    rdk_query q = {.of = p, .batch = b, .kv_head = h / p->heads_per_kv};
    q.q = rdk_const_view_row(&p->q, b, h, i);
    q.sees = rdk_sight_of(&p->sight, b, i);
    return q;
}

static rdk_run key_and_value(const rdk_query *q, int64_t j) {
    return rdk_run_at(&q->of->kv, q->batch, q->kv_head, j, j + 1);
}

/* The logit of key j, in base 2. */
static float score(const rdk_query *q, int64_t j) {
    const char *k = key_and_value(q, j).k;
    const float scale = q->of->scale;
    int64_t d = q->of->d_qk, chains = rdk_chains(d), end;
    float x = 0;
    for (int64_t first = 0; first < d; first = end) {
        end = rdk_piece_end(first, d);
        for (int64_t i = 0; i < chains; i++) {
            float s = 0;
            for (int64_t c = first + i; c < end; c += chains)
                s = rdk_fma(rdk_load(q->q, RDK_F32, c) * scale, rdk_load(k, RDK_F32, c), s);
            x = x + s;
        }
    }
    return x;
}

/* Scores are logits as they are: section 4 with a scale of 1. */
static const rdk_scale AS_IT_IS = {.c2 = 1, .ch = 1, .cl = 0};

/* ---- One chunk ----------------------------------------------------------------------------- */

typedef struct chunk {
    const rdk_query *q;
    rdk_sight sees;     /* of the chunk's keys */
    float x[RDK_CHUNK]; /* their scores */
    float e[RDK_CHUNK]; /* their weights */
    double M, l;
    bool cold;
    float *o;
} chunk;

/* The largest score of some keys. NaN is passed over: every comparison with it is false. */
static float largest_score(const chunk *c, rdk_sight keys) {
    float T = -INFINITY;
    for (int64_t j = keys.first; j < keys.end; j++) {
        float x = c->x[j - c->sees.first];
        if (x > T)
            T = x;
    }
    return T;
}

static float weight_of_key(const chunk *c, int64_t j) {
    float x = c->x[j - c->sees.first];
    return c->cold ? rdk_cold_weight(x, c->M) : rdk_hot_weight(x, AS_IT_IS, (float)c->M);
}

static void add_block_weights(chunk *c, rdk_sight keys, float r) {
    float lane[RDK_LANES] = {0};
    for (int64_t j = keys.first; j < keys.end; j++) {
        float e = weight_of_key(c, j);
        c->e[j - c->sees.first] = e;
        lane[(c->q->of->key_pos0 + j) % RDK_LANES] += e;
    }
    c->l = c->l * r + rdk_fold(lane);
}

/* The values of a block have a sum of their own, to which o times r is added. */
static void add_block_values(const chunk *c, rdk_sight keys, float r) {
    const int64_t d_v = c->q->of->d_v;
    float p[RDK_MAX_HEAD_DIM] = {0};
    for (int64_t j = keys.first; j < keys.end; j++) {
        const float e = c->e[j - c->sees.first];
        const char *v = key_and_value(c->q, j).v;
        for (int64_t i = 0; i < d_v; i++)
            p[i] = rdk_fma(e, rdk_load(v, RDK_F32, i), p[i]);
    }
    for (int64_t i = 0; i < d_v; i++)
        c->o[i] = rdk_fma(c->o[i], r, p[i]);
}

static void add_blocks(chunk *c) {
    rdk_sight keys = c->sees;
    for (; keys.first < c->sees.end; keys.first = keys.end) {
        keys.end = keys.first + RDK_BLOCK - (c->q->of->key_pos0 + keys.first) % RDK_BLOCK;
        keys = rdk_sight_within(keys, keys.first, c->sees.end);
        float T = largest_score(c, keys), r = 1;
        if (!c->cold && T > c->M + RDK_HEADROOM) {
            double M = rintf(T) + 0.0; /* never -0 */
            r = rdk_rescale(c->M, M);
            c->M = M;
        }
        add_block_weights(c, keys, r);
        add_block_values(c, keys, r);
    }
}

rdk_state rdk_attention_chunk_scalar(const rdk_query *q, int64_t number, float *o) {
    const int64_t first = number * RDK_CHUNK - q->of->key_pos0; /* perhaps before the first key */
    chunk c = {.q = q, .sees = rdk_sight_within(q->sees, first, first + RDK_CHUNK), .o = o};
    for (int64_t j = c.sees.first; j < c.sees.end; j++)
        c.x[j - c.sees.first] = score(q, j);
    float T = largest_score(&c, c.sees);
    c.cold = rdk_is_cold(T);
    c.M = c.cold ? rint((double)T) + 0.0 : -RDK_ATTENTION_HOT; /* never -0 */
    memset(o, 0, (size_t)q->of->d_v * sizeof *o);
    add_blocks(&c);
    return rdk_state_closed(c.M, c.l, c.cold);
}

/* ---- A row --------------------------------------------------------------------------------- */

/* o += the sums of chunk `number`. */
static void add_chunk(const rdk_query *q, int64_t number, rdk_state *s, float *o) {
    float of_chunk[RDK_MAX_HEAD_DIM];
    rdk_state c = rdk_attention_chunk_scalar(q, number, of_chunk);
    rdk_fold_factors by = rdk_state_fold(s, &c);
    for (int64_t i = 0; i < q->of->d_v; i++)
        o[i] = o[i] * by.sums + of_chunk[i] * by.chunk;
}

static rdk_state attend(const rdk_query *q, float *o) {
    const int64_t pos0 = q->of->key_pos0;
    rdk_state s = rdk_state_empty();
    if (rdk_sees_nothing(q->sees))
        return s;
    if (!isfinite(q->of->scale)) {
        s.l = NAN;
        return s;
    }
    const int64_t last = (pos0 + q->sees.end - 1) / RDK_CHUNK;
    for (int64_t n = (pos0 + q->sees.first) / RDK_CHUNK; n <= last; n++)
        add_chunk(q, n, &s, o);
    return s;
}

static void write_out(const rdk_query *q, const rdk_state *s, const float *o, char *out) {
    rdk_inverse inverse = rdk_inverse_of(s->l);
    for (int64_t c = 0; c < q->of->d_v; c++) {
        float v = rdk_times_inverse(o[c], inverse);
        if (s->l == 0)
            v = 0;
        if (s->l != s->l)
            v = NAN;
        rdk_store(out, RDK_F32, c, v);
    }
}

/* The weight that is written for key j, which the query sees. */
static float written_weight(const rdk_query *q, const rdk_state *s, int64_t j) {
    if (s->l != s->l)
        return NAN;
    if (s->l == 0)
        return 0;
    float x = score(q, j);
    float e = s->cold ? rdk_cold_weight(x, s->M) : rdk_hot_weight(x, AS_IT_IS, (float)s->M);
    return e * rdk_state_weight_factor(s);
}

void rdk_attention_weights_scalar(const rdk_query *q, const rdk_state *s, char *weights) {
    for (int64_t j = 0; j < q->of->kv_len; j++) {
        bool seen = j >= q->sees.first && j < q->sees.end;
        rdk_store(weights, RDK_F32, j, seen ? written_weight(q, s, j) : 0);
    }
}

static void attend_and_write(const rdk_problem *p, int64_t b, int64_t h, int64_t i) {
    float o[RDK_MAX_HEAD_DIM] = {0};
    rdk_query q = rdk_query_of(p, b, h, i);
    rdk_state s = attend(&q, o);
    write_out(&q, &s, o, rdk_view_row(&p->out, b, h, i));
    if (p->lse.data)
        rdk_store(rdk_view_row(&p->lse, b, h, i), RDK_F32, 0, rdk_state_lse(&s));
    if (p->weights.data)
        rdk_attention_weights_scalar(&q, &s, rdk_view_row(&p->weights, b, h, i));
}

RDK_ATTENTION_KERNEL(rdk_attention_scalar) {
    const rdk_problem *p = &plan->problem;
    (void)scratch;
    for (int64_t n = first; n < end; n++) {
        const rdk_task t = rdk_plan_task(plan, n);
        for (int64_t kv_head = t.kv_head; kv_head < t.kv_head + t.heads; kv_head++)
            for (int64_t r = t.first; r < t.first + t.rows; r++)
                attend_and_write(p, t.batch, kv_head * p->heads_per_kv + r % p->heads_per_kv,
                                 r / p->heads_per_kv);
    }
}
