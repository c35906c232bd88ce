/* Invariance: a query gives the same bits however it is computed. It may come alone or among
 * others, in any batch, head or group, as a row of a prefill or as a decode step, with or without
 * keys that it cannot see.
 *
 * A scene is a query with its keys and values. A setting puts the scene somewhere into a larger
 * call whose other elements are noise. The query's results there are compared with those of the
 * query alone. */
#include <math.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/paths.h"
#include "tests/lib/seed.h"
#include "tests/lib/suite.h"
#include "tests/lib/values.h"

enum { MAX_KEYS = 1200, MAX_D = 160, MAX_FLOATS = 1 << 22, MAX_SCRATCH = 1 << 23 };

static path paths[RDK_MAX_PATHS];
static int path_count;
static uint64_t seed;

/* ---- Scenes -------------------------------------------------------------------------------- */

typedef struct scene {
    int64_t keys, d_qk, d_v, key_pos0;
    float scale, spread; /* of the queries and keys: large ones make cold chunks */
} scene;

static const scene SCENES[] = {
    {1, 1, 1, 0, 0, 1},        {5, 3, 4, 1, 1, 1},        {17, 16, 16, 1020, 0, 1},
    {33, 33, 9, 7, 0, 2},      {130, 20, 21, 0, 0, 1},    {130, 7, 40, 127, -0.5f, 1},
    {140, 64, 64, 0, 0, 1},    {35, 128, 128, 0, 0, 1},   {40, 8, 8, 1000, 0, 1000},
    {1040, 3, 4, 0, 0, 2},     {700, 4, 3, 513, 0, 300},  {1100, 3, 2, 1023, 1, 1},
    {41, 8, 8, 1000, 0, 4000}, {690, 4, 3, 513, 0, 1500}, {70, 50, 5, 64, 0, 1},
    {131, 98, 3, 1087, 0, 1},  {67, 2, 17, 191, 1, 3},
};

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

typedef enum noise { NOISE_NORMAL, NOISE_NAN, NOISE_COLD, NOISE_COUNT } noise;

/* Where the query is, and what is around it. Zero is the query alone. */
typedef struct setting {
    int64_t batch, heads, group, q_len; /* of the call; 0: 1 */
    int64_t at_batch, at_head, at_query;
    int64_t hidden; /* keys behind those of the scene, for causal modes to hide */
    int64_t causal; /* 0 with hidden keys: 2 */
    int64_t ahead;  /* added to the positions of keys and queries */
    noise noise;
    bool no_lse, weights, by_position; /* [batch][position][head] */
} setting;

static int64_t or_one(int64_t n) {
    return n ? n : 1;
}

/* Room for everything a call reads and writes, none of it where it was for the last call. */
typedef struct room {
    float *q, *k, *v, *out, *lse, *weights;
} room;

static float floats[MAX_FLOATS];
static char scratch[MAX_SCRATCH];

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

static rdk_attention_desc describe(const scene *s, const setting *t) {
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

static room find_room(const setting *t, rdk_attention_desc *d) {
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

static void put_scene(const scene *s, const setting *t, const rdk_attention_desc *d,
                      const room *m) {
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

typedef struct result {
    rdk_status status;
    float out[MAX_D], lse, weights[MAX_KEYS];
} result;

static void run(const path *p, const scene *s, const setting *t, result *got) {
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

static bool same_floats(const char *what, const path *p, const scene *s, const setting *t,
                        const float *got, const float *want, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (rdk_bits(got[i]) != rdk_bits(want[i]))
            return differs(what, p, s, t, i, got[i], want[i]);
    return true;
}

static result alone; /* of the scene at hand, on the path at hand */

static bool same(const path *p, const scene *s, const setting *t) {
    static result got;
    run(p, s, t, &got);
    if (got.status != RDK_OK)
        return differs("status", p, s, t, 0, (float)got.status, RDK_OK);
    return same_floats("out", p, s, t, got.out, alone.out, s->d_v) &&
           (t->no_lse || same_floats("lse", p, s, t, &got.lse, &alone.lse, 1)) &&
           (!t->weights || same_floats("weights", p, s, t, got.weights, alone.weights, s->keys));
}

/* Those whose query alone succeeds; alone_is_the_reference() counts them. */
#define EACH_SCENE(p, s)                                                                           \
    for (const scene *s = SCENES; s < SCENES + COUNT(SCENES); s++)                                 \
        if (stand_alone(p, s))

/* These get fewer settings: the short ones have most edges, and are quick. */
static bool is_long(const scene *s) {
    return s->keys * (s->d_qk + s->d_v) > 3000;
}

static bool stand_alone(const path *p, const scene *s) {
    set_scene(s);
    run(p, s, &(setting){.weights = true}, &alone);
    return alone.status == RDK_OK;
}

/* ---- Tests --------------------------------------------------------------------------------- */

/* On every path the query alone is what the reference makes of it, and something at all. */
TEST alone_is_the_reference(const path *p) {
    static result reference;
    int seen = 0;
    EACH_SCENE(p, s) {
        setting t = {.weights = true};
        run(&paths[0], s, &t, &reference);
        ASSERT(same_floats("out", p, s, &t, alone.out, reference.out, s->d_v));
        ASSERT(same_floats("lse", p, s, &t, &alone.lse, &reference.lse, 1));
        ASSERT(same_floats("weights", p, s, &t, alone.weights, reference.weights, s->keys));
        ASSERT(isfinite(alone.out[0]) && isfinite(alone.lse));
        seen++;
    }
    ASSERT_EQ((int)COUNT(SCENES), seen);
    PASS();
}

TEST in_a_batch(const path *p) {
    static const int64_t SIZES[] = {2, 7, 64};
    EACH_SCENE(p, s) {
        for (size_t i = 0; i < COUNT(SIZES); i++)
            for (int at = 0; at < 3; at++) {
                const int64_t place[] = {0, SIZES[i] / 2, SIZES[i] - 1};
                setting t = {.batch = SIZES[i], .at_batch = place[at]};
                t.noise = (noise)(at % NOISE_COUNT);
                if (is_long(s) && SIZES[i] == 64 && at != 1)
                    continue;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

TEST among_other_queries(const path *p) {
    static const int64_t SIZES[] = {2, 3, 5, 6, 7, 12, 13, 24, 25, 64};
    EACH_SCENE(p, s) {
        for (size_t i = 0; i < COUNT(SIZES); i++)
            for (int64_t at = 0; at<SIZES[i]; at += SIZES[i]> 13 || is_long(s) ? 11 : 1) {
                setting t = {.q_len = SIZES[i], .at_query = at};
                t.noise = (noise)((i + (size_t)at) % NOISE_COUNT);
                if (is_long(s) && SIZES[i] > 13 && at % 2)
                    continue;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* So many that they are worked on in several blocks. */
TEST among_hundreds(const path *p) {
    EACH_SCENE(p, s) {
        for (int64_t at = 0; at < 800; at += 133) {
            setting t = {.q_len = 800, .at_query = at, .noise = NOISE_NAN};
            if (s->keys * (s->d_qk + s->d_v) < 1000)
                ASSERT(same(p, s, &t));
        }
    }
    PASS();
}

TEST among_other_heads(const path *p) {
    EACH_SCENE(p, s) {
        for (int64_t heads = 2; heads <= 8; heads += 3)
            for (int64_t at = 0; at < heads; at++) {
                setting t = {.heads = heads, .at_head = at, .q_len = 1 + at % 3};
                t.noise = (noise)(at % NOISE_COUNT);
                t.by_position = at % 2;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

TEST in_a_group(const path *p) {
    EACH_SCENE(p, s) {
        for (int64_t group = 2; group <= 16; group += is_long(s) ? 5 : 1)
            for (int64_t at = 0; at < group; at += is_long(s) ? 4 : 1) {
                setting t = {.group = group, .heads = 1 + at % 2};
                t.at_head = at + (t.heads - 1) * group; /* in the last group */
                t.q_len = is_long(s) ? 1 : 1 + at % 4;
                t.at_query = t.q_len - 1;
                t.noise = (noise)((group + at) % NOISE_COUNT);
                t.by_position = group % 2;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* The last of as many queries as there are keys, or of a few. */
TEST last_of_a_prefill(const path *p) {
    EACH_SCENE(p, s) {
        const int64_t lengths[] = {s->keys, 2, 40, 1};
        for (size_t i = s->keys > 300; i < COUNT(lengths); i++)
            for (int64_t causal = 1; causal <= 2; causal++) {
                setting t = {.q_len = lengths[i], .at_query = lengths[i] - 1, .causal = causal};
                t.noise = (noise)(i % 2 ? NOISE_NORMAL : NOISE_COLD);
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* A prefill whose later queries, and their keys, come after the one at hand. */
TEST decoded_or_prefilled(const path *p) {
    EACH_SCENE(p, s) {
        for (int64_t later = 1; later <= 40; later += is_long(s) ? 13 : 6)
            for (noise n = 0; n < NOISE_COUNT; n++)
                for (int64_t before = 0; before <= 7; before += 7) {
                    setting t = {.q_len = before + 1 + later, .at_query = before, .hidden = later};
                    t.noise = n;
                    t.causal = n == NOISE_COLD ? RDK_CAUSAL_FROM_POSITION : RDK_CAUSAL_BOTTOM_RIGHT;
                    ASSERT(same(p, s, &t));
                }
    }
    PASS();
}

TEST decode_step(const path *p) {
    EACH_SCENE(p, s) {
        setting t = {.causal = RDK_CAUSAL_FROM_POSITION};
        ASSERT(same(p, s, &t));
        t.group = 4;
        t.heads = 2;
        t.at_head = 6;
        t.noise = NOISE_NAN;
        ASSERT(same(p, s, &t));
    }
    PASS();
}

TEST without_the_keys_beyond(const path *p) {
    static const int64_t HIDDEN[] = {1, 2, 15, 16, 17, 100, 128, 129, 1024};
    EACH_SCENE(p, s) {
        for (size_t i = 0; i < COUNT(HIDDEN); i++)
            for (int64_t rows = 1; rows <= 7; rows += 6) {
                setting t = {.hidden = HIDDEN[i], .q_len = rows, .at_query = rows / 2};
                t.noise = NOISE_NAN;
                t.weights = rows == 1;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* Blocks, chunks and lanes follow the position: modulo 1024 nothing changes. */
TEST at_another_position(const path *p) {
    static const int64_t AHEAD[] = {1024, 2048, 1024 * 77, (int64_t)1 << 40};
    EACH_SCENE(p, s) {
        for (size_t i = 0; i < COUNT(AHEAD); i++)
            for (int64_t causal = 0; causal <= 2; causal++) {
                setting t = {.ahead = AHEAD[i], .causal = causal, .weights = true};
                ASSERT(same(p, s, &t));
                t.causal = 0;
                t.hidden = 9;
                t.noise = NOISE_NAN;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* ... and otherwise something does, or the test before would show nothing. */
TEST position_counts(const path *p) {
    static result got;
    int changed = 0;
    EACH_SCENE(p, s) {
        for (int64_t ahead = 1; ahead < 100; ahead += 40) {
            run(p, s, &(setting){.ahead = ahead}, &got);
            changed += rdk_bits(got.lse) != rdk_bits(alone.lse) ||
                       memcmp(got.out, alone.out, (size_t)s->d_v * 4) != 0;
        }
    }
    ASSERT(changed > 0);
    PASS();
}

TEST whatever_is_asked_for(const path *p) {
    EACH_SCENE(p, s) {
        for (int outputs = 0; outputs < 4; outputs++)
            for (int64_t rows = 1; rows <= 13; rows += 6) {
                setting t = {.q_len = rows, .at_query = rows - 1, .causal = rows == 7};
                t.no_lse = outputs & 1;
                t.weights = outputs & 2;
                ASSERT(same(p, s, &t));
            }
    }
    PASS();
}

/* A chunk of keys that have no weight at all may as well have been cut off. */
TEST keys_cut_off_in_front(const path *p) {
    enum { FRONT = RDK_CHUNK, REST = 200 };
    static float k[FRONT + REST], v[FRONT + REST];
    float q = 1, out[2], lse[2];
    rng r = {seed + 5};
    for (int i = 0; i < FRONT + REST; i++) {
        k[i] = i < FRONT ? -INFINITY : normal(&r);
        v[i] = normal(&r);
    }
    for (int cut = 0; cut < 2; cut++) {
        rdk_attention_desc d = {.size = sizeof d, .batch = 1, .q_heads = 1, .kv_heads = 1};
        d.q_len = d.d_qk = d.d_v = 1;
        d.kv_len = cut ? REST : FRONT + REST;
        d.key_pos0 = cut ? FRONT : 0;
        d.q.data = &q;
        d.k = (rdk_const_view){.data = k + d.key_pos0, .row_stride = 1};
        d.v = (rdk_const_view){.data = v + d.key_pos0, .row_stride = 1};
        d.out.data = &out[cut];
        d.lse.data = &lse[cut];
        d.scratch = scratch;
        d.scratch_size = sizeof scratch;
        ASSERT_EQ(RDK_OK, rdk_attention_with(&p->table, &d));
    }
    ASSERT_EQ(rdk_bits(out[0]), rdk_bits(out[1]));
    ASSERT_EQ(rdk_bits(lse[0]), rdk_bits(lse[1]));
    PASS();
}

/* Keys and values that exceed the largest cache are fetched otherwise, and so are those on a CPU
 * with a large L2. Here all batches have the same ones. */
TEST beyond_the_caches(const path *p) {
    enum { KEYS = 333, MAX_GROUP = 5, MAX_SIZE = 128, BYTES = 1 << 25 };
    static const int64_t SIZES[] = {64, 128};
    static float k[KEYS * MAX_SIZE], v[KEYS * MAX_SIZE], q[MAX_GROUP * MAX_SIZE];
    rdk_table on = p->table, itself = p->table;
    itself.attention_streaming = NULL;
    rng r = {seed + 6};
    for (size_t i = 0; i < COUNT(k); i++) {
        k[i] = normal(&r);
        v[i] = normal(&r);
    }
    for (size_t i = 0; i < COUNT(q); i++)
        q[i] = normal(&r);
    for (size_t i = 0; i < COUNT(SIZES); i++)
        for (int64_t group = 1; group <= MAX_GROUP; group++) {
            const int64_t size = SIZES[i], row = group * size;
            const int64_t batch = BYTES / (KEYS * 2 * size * 4) + 1;
            float *one = floats + batch * row;
            rdk_attention_desc d = {.size = sizeof d, .q_heads = group, .kv_heads = 1};
            d.q_len = 1;
            d.kv_len = KEYS;
            d.d_qk = d.d_v = size;
            d.q = (rdk_const_view){.data = q, .head_stride = size};
            d.k = (rdk_const_view){.data = k, .row_stride = size};
            d.v = (rdk_const_view){.data = v, .row_stride = size};
            d.out = (rdk_view){.batch_stride = row, .head_stride = size};
            d.scratch = scratch;
            d.scratch_size = sizeof scratch;
            d.batch = 1;
            d.out.data = one;
            on.machine.l2 = 0;
            ASSERT_EQ(RDK_OK, rdk_attention_with(&on, &d));
            d.out.data = floats;
            on.machine.l2 = 1 << 20;
            ASSERT_EQ(RDK_OK, rdk_attention_with(&on, &d));
            ASSERT(!memcmp(floats, one, (size_t)row * sizeof *one));
            d.batch = batch;
            for (int streams = 0; streams < 2; streams++) {
                memset(floats, 0, (size_t)(batch * row) * sizeof *floats);
                ASSERT_EQ(RDK_OK, rdk_attention_with(streams ? &on : &itself, &d));
                for (int64_t b = 0; b < batch; b++)
                    ASSERT(!memcmp(floats + b * row, one, (size_t)row * sizeof *one));
            }
        }
    PASS();
}

enum { RANGED = 60 };

/* Whether row i, which saw a range of the keys of d, is as a call of its own over these keys
 * alone. */
static bool is_as_alone(const path *p, const rdk_attention_desc *d, int64_t i, rdk_sight range) {
    static float out[MAX_D], weights[MAX_KEYS];
    const float *whole = (const float *)d->weights.data + i * d->weights.row_stride;
    float lse;
    rdk_attention_desc one = *d;
    one.q_len = 1;
    one.kv_len = range.end - range.first;
    one.key_pos0 += range.first;
    one.q.data = (const float *)d->q.data + i * d->q.row_stride;
    one.k.data = (const float *)d->k.data + range.first * d->k.row_stride;
    one.v.data = (const float *)d->v.data + range.first * d->v.row_stride;
    one.out.data = out;
    one.lse.data = &lse;
    one.weights.data = weights;
    if (rdk_attention_with(&p->table, &one) != RDK_OK ||
        memcmp(out, (float *)d->out.data + i * d->out.row_stride, (size_t)d->d_v * 4) ||
        rdk_bits(lse) != rdk_bits(((float *)d->lse.data)[i * d->lse.row_stride]) ||
        memcmp(weights, whole + range.first, (size_t)one.kv_len * 4))
        return false;
    for (int64_t j = 0; j < d->kv_len; j++)
        if ((j < range.first || j >= range.end) && rdk_bits(whole[j]) != 0)
            return false;
    return true;
}

/* A query that sees a range of keys gives the bits of one that has no others. */
TEST a_range_is_all_there_is(const path *p) {
    static rdk_sight ranges[RANGED];
    const setting t = {.q_len = RANGED, .weights = true};
    EACH_SCENE(p, s) {
        rng r = {seed + (uint64_t)s->keys};
        if (is_long(s) && s->keys > 150 && s->d_qk > 4)
            continue;
        rdk_attention_desc d = describe(s, &t);
        const room m = find_room(&t, &d);
        put_scene(s, &t, &d, &m);
        d.scratch = scratch;
        d.scratch_size = sizeof scratch;
        for (int i = 0; i < RANGED; i++) {
            ranges[i].first = rng_below(&r, s->keys + 1);
            ranges[i].end = ranges[i].first + rng_below(&r, s->keys + 1 - ranges[i].first);
        }
        ASSERT_EQ(RDK_OK, rdk_attention_ranges_with(&p->table, &d, ranges));
        for (int i = 0; i < RANGED; i++)
            ASSERT(is_as_alone(p, &d, i, ranges[i]));
    }
    PASS();
}

SUITE(invariance) {
    for (int i = 0; i < path_count; i++) {
        const path *p = &paths[i];
        if (!rdk_path_is_wanted(p))
            continue;
        RUN_TESTp(alone_is_the_reference, p);
        RUN_TESTp(in_a_batch, p);
        RUN_TESTp(among_other_queries, p);
        RUN_TESTp(among_hundreds, p);
        RUN_TESTp(among_other_heads, p);
        RUN_TESTp(in_a_group, p);
        RUN_TESTp(last_of_a_prefill, p);
        RUN_TESTp(decoded_or_prefilled, p);
        RUN_TESTp(decode_step, p);
        RUN_TESTp(without_the_keys_beyond, p);
        RUN_TESTp(at_another_position, p);
        RUN_TESTp(position_counts, p);
        RUN_TESTp(whatever_is_asked_for, p);
        RUN_TESTp(keys_cut_off_in_front, p);
        RUN_TESTp(beyond_the_caches, p);
        RUN_TESTp(a_range_is_all_there_is, p);
    }
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    seed = seed_of_tests();
    seed_print(seed);
    path_count = rdk_paths(paths);
    RUN_SUITE(invariance);
    RDK_MAIN_END();
}
