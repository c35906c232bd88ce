/* Invariance: a query gives the same bits however it is computed. It may come alone or among
 * others, in any batch, head or group, as a row of a prefill or as a decode step, with or without
 * keys that it cannot see.
 *
 * A query's results within a larger call are compared with those of the query alone (scene.h). */
#include <string.h>

#include "kernels/contract.h"
#include "tests/attention/scene.h"
#include "tests/lib/paths.h"
#include "tests/lib/seed.h"
#include "tests/lib/suite.h"
#include "tests/lib/values.h"

static path paths[RDK_MAX_PATHS];
static int path_count;

/* ---- Scenes -------------------------------------------------------------------------------- */

static const scene SCENES[] = {
    {1, 1, 1, 0, 0, 1},        {5, 3, 4, 1, 1, 1},        {17, 16, 16, 1020, 0, 1},
    {33, 33, 9, 7, 0, 2},      {130, 20, 21, 0, 0, 1},    {130, 7, 40, 127, -0.5f, 1},
    {140, 64, 64, 0, 0, 1},    {35, 128, 128, 0, 0, 1},   {40, 8, 8, 1000, 0, 1000},
    {1040, 3, 4, 0, 0, 2},     {700, 4, 3, 513, 0, 300},  {1100, 3, 2, 1023, 1, 1},
    {41, 8, 8, 1000, 0, 4000}, {690, 4, 3, 513, 0, 1500}, {70, 50, 5, 64, 0, 1},
    {131, 98, 3, 1087, 0, 1},  {67, 2, 17, 191, 1, 3},
};

/* Those whose query alone succeeds; alone_is_the_reference() counts them. */
#define EACH_SCENE(p, s)                                                                           \
    for (const scene *s = SCENES; s < SCENES + COUNT(SCENES); s++)                                 \
        if (stand_alone(p, s))

/* These get fewer settings: the short ones have most edges, and are quick. */
static bool is_long(const scene *s) {
    return s->keys * (s->d_qk + s->d_v) > 3000;
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
