/* Attention over tiles: the walk that every vector ISA compiles. Included by attention_<isa>.c after its
 * vocabulary and its tiles; gives attention_walk(). The arithmetic is docs/arithmetic.md section 10, as in
 * attention_scalar.c.
 *
 * A row is one query of one head. The rows of a key/value head, all query heads of its group together,
 * are worked on in blocks of a few hundred, their queries and sums in the scratch (L2). For each block of 128
 * keys, these are brought into panels and the values into strips (L2), once for all rows; then the rows go
 * in groups of 24, each phase over the whole group, whose scores stay in L1:
 *
 *     scores     panel by panel, tile by tile      a panel of keys stays in L1 for the group
 *     maxima     row by row                        M, and what the sums so far must be multiplied with
 *     weights    row by row                        in place of the scores
 *     values     strip by strip, tile by tile      a strip of values stays in L1 for the group
 *
 * With one group or less there is nothing to share a panel with: then keys are brought into panels one
 * tile ahead, values are read where they lie, and what the next phase reads is fetched meanwhile. */
#include "kernels/attention/attention.h"
#include "kernels/attention/scratch.h"
#include "kernels/vec/f32x16_types.h"
#include "kernels/vec/weights.h"

enum {
    MAX_UNITS = 64,
    VALUES_AT_ONCE = 32, /* keys whose values, read where they lie, stay in L1 for all strips */
};

typedef struct walk {
    const rdk_attention_desc *d;
    rdk_scale scale;
    float ch;              /* abs(scale.ch); where that is negative, queries are negated */
    int64_t group;         /* query heads of one key/value head */
    int64_t q_step, width; /* floats of a query and of a row's sums in the scratch */
    int64_t max_rows;
    float *q, *o, *total, *scores, *keys, *values;
    rdk_row *rows;
} walk;

/* The rows of one key/value head that are being worked on. */
typedef struct unit {
    const char *k, *v;           /* of key 0 */
    const char *next_k, *next_v; /* of the unit that comes after this one */
    int64_t first, count;
} unit;

/* Up to 128 keys, by their lane: key j has lane j - base. Lanes below lo are before the first key. */
typedef struct block {
    int64_t base;
    int lo, hi;
    bool opens_chunk;
} block;

/* A tile's rows, counted within the group, and the lanes that the last of them sees. */
typedef struct band {
    int first, rows, hi;
} band;

/* Some rows of one unit that share panels and strips while these lie in L1. */
typedef struct group {
    int64_t first; /* row */
    int count;
    int band_count;
    band bands[RDK_GROUP];
    float shrink[RDK_GROUP]; /* what the sums so far must be multiplied with */
} group;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Keys into panels, values into strips ------------------------------------------------------------ */

static const char *key_at(const walk *w, const unit *u, int64_t j) {
    return u->k + j * w->d->k.row_stride * 4;
}

static const char *value_at(const walk *w, const unit *u, int64_t j) {
    return u->v + j * w->d->v.row_stride * 4;
}

/* Lanes without a key get zeros, which their scores' -inf will hide. */
static void pack_keys(const walk *w, const unit *u, const block *b, int panel, float *to) {
    static const float NO_KEY[RDK_MAX_HEAD_DIM];
    const char *key[RDK_LANES];
    for (int i = 0; i < RDK_LANES; i++) {
        int lane = panel * RDK_LANES + i;
        bool there = lane >= b->lo && lane < b->hi;
        key[i] = there ? key_at(w, u, b->base + lane) : (const char *)NO_KEY;
    }
    pack_panel(to, key, w->d->d_qk);
}

static float *strip_at(const walk *w, int strip) {
    return w->values + (int64_t)strip * RDK_BLOCK * RDK_LANES;
}

/* From strip `first` on, for all keys of the block. */
static void pack_values(const walk *w, const unit *u, const block *b, int first) {
    int whole = (int)(w->d->d_v / RDK_LANES), rest = (int)(w->d->d_v % RDK_LANES);
    for (int lane = b->lo; lane < b->hi; lane++) {
        const char *v = value_at(w, u, b->base + lane);
        float *to = w->values + lane * RDK_LANES;
        for (int s = first; s < whole; s++)
            f32x16_store(to + s * RDK_BLOCK * RDK_LANES, f32x16_load(v + s * RDK_LANES * 4));
        if (rest)
            f32x16_store(to + whole * RDK_BLOCK * RDK_LANES,
                         f32x16_load_first(v + whole * RDK_LANES * 4, rest));
    }
}

/* ---- Groups and bands --------------------------------------------------------------------------------- */

/* The lanes of a block that a row sees end here. */
static int seen_end(const block *b, const rdk_row *r) {
    return (int)least(b->hi, r->visible - b->base);
}

/* Bands of nearly equal height: 8 rows are 4 and 4, not 6 and 2. */
static void split_into_bands(const walk *w, const block *b, group *g) {
    int first = 0;
    g->band_count = (g->count + TILE_ROWS - 1) / TILE_ROWS;
    for (int i = 0; i < g->band_count; i++) {
        int end = g->count * (i + 1) / g->band_count;
        g->bands[i] = (band){first, end - first, seen_end(b, &w->rows[g->first + end - 1])};
        first = end;
    }
}

/* Panels, or strips, that all bands go through before the next: no more than a tile takes, so that they
 * stay in L1. The first band is the lowest. */
static int panels_at_once(const group *g) {
    return TILE_PANELS_OF[g->bands[0].rows];
}

/* Runs as many of the panels as a tile takes, at least one, and moves on; returns how many. */
static int run_tile(tile *t, int rows, int panels) {
    int most = (int)least(panels, TILE_PANELS_OF[rows]), log = 0;
    while (2 << log <= most)
        log++;
    TILES[rows][log](t);
    t->b += t->b_panel << log;
    t->c += RDK_LANES << log;
    return 1 << log;
}

/* ---- Phase 1: scores ------------------------------------------------------------------------------------ */

static float *scores_of(const walk *w, int row) {
    return w->scores + row * RDK_BLOCK;
}

/* Panels from `panel` on, `count` of them, of which the first lies at `keys`. */
static void score_band(const walk *w, const group *g, const band *t, int panel, int count,
                       const float *keys, stream *next) {
    int end = (t->hi + RDK_LANES - 1) / RDK_LANES;
    int64_t panel_floats = w->d->d_qk * RDK_LANES;
    tile k = {.a = w->q + (g->first + t->first) * w->q_step, .a_step = w->q_step};
    k.b = (const char *)keys;
    k.b_step = RDK_LANES * 4;
    k.b_panel = panel_floats * 4;
    k.c = scores_of(w, t->first) + panel * RDK_LANES;
    k.c_step = RDK_BLOCK;
    k.steps = w->d->d_qk;
    k.fetch = next;
    for (int left = (int)least(count, end - panel); left > 0;)
        left -= run_tile(&k, t->rows, left);
}

static void score_group(const walk *w, const block *b, const group *g, stream *next) {
    int end = (b->hi + RDK_LANES - 1) / RDK_LANES;
    int at_once = panels_at_once(g);
    for (int panel = b->lo / RDK_LANES; panel < end; panel += at_once)
        for (int i = 0; i < g->band_count; i++)
            score_band(w, g, &g->bands[i], panel, (int)least(at_once, end - panel),
                       w->keys + panel * w->d->d_qk * RDK_LANES, next);
}

/* The same for a group that is alone: panels are made as they are needed. */
static void score_alone(const walk *w, const unit *u, const block *b, const group *g,
                        stream *next) {
    int end = (b->hi + RDK_LANES - 1) / RDK_LANES;
    int at_once = panels_at_once(g);
    for (int panel = b->lo / RDK_LANES; panel < end; panel += at_once) {
        int count = (int)least(at_once, end - panel);
        for (int i = 0; i < count; i++)
            pack_keys(w, u, b, panel + i, w->keys + i * w->d->d_qk * RDK_LANES);
        for (int i = 0; i < g->band_count; i++)
            score_band(w, g, &g->bands[i], panel, count, w->keys, next);
    }
}

/* ---- Phase 2: maxima ------------------------------------------------------------------------------------ */

/* Scores from lane `from` to `to`, of which the row sees lo ... hi - 1, become -inf elsewhere. */
static void hide(float *s, int from, int lo, int hi, int to) {
    for (int i = from; i < lo; i++)
        s[i] = -INFINITY;
    for (int i = hi; i < to; i++)
        s[i] = -INFINITY;
}

/* The largest score; where one is NaN, another or NaN. */
RDK_INLINE float largest_score(const float *s, int from, int to) {
    f32x16 max = f32x16_load(s + from);
    for (int i = from + RDK_LANES; i < to; i += RDK_LANES)
        max = f32x16_max(max, f32x16_load(s + i));
    return f32x16_max_lanes(max);
}

/* 2^(M - larger) or +0, for integers M <= larger within +-HOT. */
RDK_INLINE float shrink_of(float M, float larger) {
    int k = (int)(M - larger);
    return rdk_float((uint32_t)(k < -127 ? 0 : k + 127) << 23);
}

RDK_INLINE void find_reference(const walk *w, rdk_row *r, const float *s, int from, int to,
                               float *shrink) {
    float T = largest_score(s, from, to) * w->ch;
    bool odd = !(T <= RDK_HOT);
    float n = odd ? r->chunk_M : (T + RDK_MAGIC) - RDK_MAGIC;
    float M = n > r->chunk_M ? n : r->chunk_M;
    *shrink = shrink_of(r->chunk_M, M);
    r->chunk_is_odd = r->chunk_is_odd || odd;
    r->chunk_T = T > r->chunk_T ? T : r->chunk_T;
    r->chunk_M = M;
}

static void find_references(const walk *w, const block *b, group *g) {
    int from = b->lo / RDK_LANES * RDK_LANES;
    for (int t = 0; t < g->band_count; t++) {
        const band *n = &g->bands[t];
        int to = (n->hi + RDK_LANES - 1) / RDK_LANES * RDK_LANES;
        for (int i = n->first; i < n->first + n->rows; i++) {
            rdk_row *r = &w->rows[g->first + i];
            int hi = seen_end(b, r);
            if (b->lo > from || hi < to)
                hide(scores_of(w, i), from, b->lo, hi, to);
            r->padded = r->padded || hi < n->hi;
            find_reference(w, r, scores_of(w, i), from, to, &g->shrink[i]);
        }
    }
}

/* ---- Phase 3: weights ----------------------------------------------------------------------------------- */

/* Sums over a row's scores: the lanes of its weights, and of u, which shows whether any score is NaN. (A sum
 * of +inf and -inf cries wolf: such a chunk goes to the reference as well.) */
typedef struct row_sums {
    f32x16 lanes, u;
} row_sums;

/* Turns n vectors of scores into weights. */
RDK_INLINE row_sums weigh(float *s, f32x16 ch, f32x16 magic, int n, row_sums sums) {
    f32x16 x[F32X16_IN_FLIGHT], u[F32X16_IN_FLIGHT], f[F32X16_IN_FLIGHT];
    EACH x[v] = f32x16_load(s + v * RDK_LANES);
    rdk_split(ch, magic, x, u, f, n);
    EACH sums.u = f32x16_add(sums.u, u[v]);
    rdk_weights(u, f, x, n);
    EACH f32x16_store(s + v * RDK_LANES, x[v]);
    EACH sums.lanes = f32x16_add(sums.lanes, x[v]);
    return sums;
}

/* Scores from lane `from` to `to` into weights relative to M. */
RDK_INLINE row_sums weigh_row(float *s, float ch1, float M, int from, int to) {
    f32x16 ch = f32x16_set1(ch1), magic = f32x16_set1(RDK_MAGIC - M);
    row_sums sums = {f32x16_set1(0), f32x16_set1(0)};
    int i = from;
    for (; i + F32X16_IN_FLIGHT * RDK_LANES <= to; i += F32X16_IN_FLIGHT * RDK_LANES)
        sums = weigh(s + i, ch, magic, F32X16_IN_FLIGHT, sums);
    for (; i < to; i += RDK_LANES)
        sums = weigh(s + i, ch, magic, 1, sums);
    return sums;
}

/* The lanes are folded at the end, for all rows: at once, the folding would wait for the last weight. */
static void weigh_group(const walk *w, const block *b, const group *g) {
    row_sums sums[RDK_GROUP];
    int from = b->lo / RDK_LANES * RDK_LANES;
    for (int t = 0; t < g->band_count; t++) {
        const band *n = &g->bands[t];
        int to = (n->hi + RDK_LANES - 1) / RDK_LANES * RDK_LANES;
        for (int i = n->first; i < n->first + n->rows; i++)
            sums[i] = weigh_row(scores_of(w, i), w->ch, w->rows[g->first + i].chunk_M, from, to);
    }
    for (int i = 0; i < g->count; i++) {
        rdk_row *r = &w->rows[g->first + i];
        r->chunk_l = r->chunk_l * g->shrink[i] + rdk_fold_lanes(sums[i].lanes);
        if (f32x16_has_nan(sums[i].u))
            r->chunk_is_odd = true;
    }
}

/* ---- Phase 4: values ------------------------------------------------------------------------------------ */

/* What a tile of a strip needs, but for its band. */
static tile strip_tile(const walk *w, const unit *u, const block *b, int strip, bool packed,
                       stream *next) {
    tile k = {.a_step = RDK_BLOCK, .c_step = w->width, .fetch = next};
    if (packed) {
        k.b = (const char *)(strip_at(w, strip) + b->lo * RDK_LANES);
        k.b_step = RDK_LANES * 4;
        k.b_panel = RDK_BLOCK * RDK_LANES * 4;
    } else {
        k.b = value_at(w, u, b->base + b->lo) + strip * RDK_LANES * 4;
        k.b_step = w->d->v.row_stride * 4;
        k.b_panel = RDK_LANES * 4;
    }
    return k;
}

/* Adds `steps` keys' values from lane `lane` on to columns of strips first ... end - 1. */
static void add_values(const walk *w, const group *g, tile k, int strip, int end, int lane,
                       int lane_end, const float *shrink) {
    for (int t = 0; t < g->band_count; t++) {
        const band *n = &g->bands[t];
        tile of_band = k;
        of_band.steps = least(lane_end, n->hi) - lane;
        if (of_band.steps <= 0)
            continue;
        of_band.a = scores_of(w, n->first) + lane;
        of_band.c = w->o + (g->first + n->first) * w->width + strip * RDK_LANES;
        of_band.shrink = shrink ? shrink + n->first : NULL;
        for (int left = end - strip; left > 0;)
            left -= run_tile(&of_band, n->rows, left);
    }
}

static void add_values_of_group(const walk *w, const unit *u, const block *b, const group *g,
                                stream *next) {
    int strips = (int)(w->width / RDK_LANES);
    const float *shrink = b->opens_chunk ? NULL : g->shrink;
    int at_once = panels_at_once(g);
    for (int strip = 0; strip < strips; strip += at_once) {
        tile k = strip_tile(w, u, b, strip, true, next);
        add_values(w, g, k, strip, (int)least(strips, strip + at_once), b->lo, b->hi, shrink);
    }
}

/* The same for a group that is alone: values are read where they lie, but for the last columns. */
static void add_values_alone(const walk *w, const unit *u, const block *b, const group *g,
                             stream *next) {
    static const float ONE[RDK_GROUP] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int strips = (int)(w->width / RDK_LANES), whole = (int)(w->d->d_v / RDK_LANES);
    const float *shrink = b->opens_chunk ? NULL : g->shrink;
    if (whole < strips)
        pack_values(w, u, b, whole);
    for (int lane = b->lo; lane < b->hi; lane += VALUES_AT_ONCE) {
        int end = (int)least(b->hi, lane + VALUES_AT_ONCE);
        block part = {b->base, lane, end, false};
        if (whole)
            add_values(w, g, strip_tile(w, u, &part, 0, false, next), 0, whole, lane, end, shrink);
        if (whole < strips)
            add_values(w, g, strip_tile(w, u, &part, whole, true, next), whole, strips, lane, end,
                       shrink);
        shrink = ONE;
    }
}

/* ---- One block of keys ---------------------------------------------------------------------------------- */

/* The first row, within the unit, that sees a key of the block; rows see ever more. */
static int64_t first_that_sees(const walk *w, const unit *u, const block *b) {
    int64_t low = 0, high = u->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (w->rows[u->first + middle].visible > b->base + b->lo)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What is read after a block: keys, and values unless these are fetched with their own block. */
typedef struct ahead {
    stream keys, values;
} ahead;

static stream keys_from(const walk *w, const char *k, int64_t first, int64_t count) {
    int64_t step = w->d->k.row_stride * 4;
    return stream_of(k + first * step, w->d->d_qk * 4, step, count);
}

static stream values_from(const walk *w, const char *v, int64_t first, int64_t count) {
    int64_t step = w->d->v.row_stride * 4;
    return stream_of(v + first * step, w->d->d_v * 4, step, count);
}

static void attend_alone(const walk *w, const unit *u, const block *b, group *g, ahead *next) {
    stream values = values_from(w, u->v, b->base + b->lo, b->hi - b->lo);
    split_into_bands(w, b, g);
    score_alone(w, u, b, g, &values);
    find_references(w, b, g);
    weigh_group(w, b, g);
    add_values_alone(w, u, b, g, &next->keys);
}

static void attend_group(const walk *w, const unit *u, const block *b, group *g, ahead *next) {
    split_into_bands(w, b, g);
    score_group(w, b, g, &next->keys);
    find_references(w, b, g);
    weigh_group(w, b, g);
    add_values_of_group(w, u, b, g, &next->values);
}

static void attend(const walk *w, const unit *u, block b, ahead next) {
    int64_t skip = first_that_sees(w, u, &b), rows = u->count - skip;
    group g = {.first = u->first + skip};
    if (!rows)
        return;
    b.hi = seen_end(&b, &w->rows[u->first + u->count - 1]);
    if (rows <= RDK_GROUP) {
        g.count = (int)rows;
        attend_alone(w, u, &b, &g, &next);
        return;
    }
    for (int panel = b.lo / RDK_LANES; panel * RDK_LANES < b.hi; panel++)
        pack_keys(w, u, &b, panel, w->keys + panel * w->d->d_qk * RDK_LANES);
    pack_values(w, u, &b, 0);
    for (; rows > 0; rows -= g.count, g.first += g.count) {
        g.count = rows > RDK_GROUP + TILE_ROWS / 2 ? RDK_GROUP
                                                   : (int)(rows > RDK_GROUP ? rows / 2 : rows);
        attend_group(w, u, &b, &g, &next);
    }
}

/* ---- Chunks ----------------------------------------------------------------------------------------------- */

static void open_chunk(rdk_row *r) {
    r->chunk_l = 0;
    r->chunk_M = -RDK_HOT;
    r->chunk_T = -INFINITY;
    r->chunk_is_odd = r->padded = false;
}

static bool has_nan(const float *o, int64_t width) {
    f32x16 sum = f32x16_set1(0);
    for (int64_t c = 0; c < width; c += RDK_LANES)
        sum = f32x16_add(sum, f32x16_load(o + c));
    return f32x16_has_nan(sum);
}

/* What the float path of the tiles cannot do, by the reference; gives the state's M. */
static double redo_chunk(const walk *w, rdk_row *r, float *o, int64_t chunk) {
    rdk_query q = rdk_attention_query(w->d, r->batch, r->head, r->query);
    rdk_state s;
    rdk_attention_chunk_scalar(&q, chunk, &s);
    memcpy(o, s.o, (size_t)w->d->d_v * sizeof *o);
    r->chunk_l = s.l;
    r->cold = r->cold || s.cold;
    return s.M;
}

RDK_INLINE void fold_sums(float *total, const float *o, int64_t width, float r, float r_chunk) {
    f32x16 a = f32x16_set1(r), b = f32x16_set1(r_chunk);
    for (int64_t c = 0; c < width; c += RDK_LANES)
        f32x16_store(total + c, f32x16_add(f32x16_mul(f32x16_load(total + c), a),
                                           f32x16_mul(f32x16_load(o + c), b)));
}

static void close_chunk(const walk *w, int64_t row, int64_t chunk, bool is_last) {
    rdk_row *r = &w->rows[row];
    float *o = w->o + row * w->width, *total = w->total + row * w->width;
    bool cold = r->chunk_T > -INFINITY && r->chunk_T < -RDK_HOT;
    double M = r->chunk_l == 0 ? -INFINITY : r->chunk_M;
    if (cold || r->chunk_is_odd || (r->padded && has_nan(o, w->width)))
        M = redo_chunk(w, r, o, chunk);
    if (!r->has_total && is_last) { /* it stays where it is */
        r->M = M;
        r->l = r->chunk_l;
    } else if (!r->has_total) {
        memcpy(total, o, (size_t)w->width * sizeof *o);
        r->M = M;
        r->l = r->chunk_l;
        r->has_total = true;
    } else {
        double larger = M > r->M ? M : r->M;
        float a = rdk_rescale(r->M, larger), b = rdk_rescale(M, larger);
        fold_sums(total, o, w->width, a, b);
        r->l = r->l * a + r->chunk_l * b;
        r->M = larger;
    }
}

/* ---- What is written -------------------------------------------------------------------------------------- */

static void fill(char *to, int64_t n, float v) {
    f32x16 whole = f32x16_set1(v);
    int64_t i = 0;
    for (; i + RDK_LANES <= n; i += RDK_LANES)
        f32x16_store(to + i * 4, whole);
    if (i < n)
        f32x16_store_first_as(to + i * 4, RDK_F32, whole, (int)(n - i));
}

/* n products of `from` and `by`, with every NaN made the one NaN. */
RDK_INLINE void write_products(char *to, const float *from, int64_t n, float by) {
    f32x16 inv = f32x16_set1(by), zero = f32x16_set1(0), sum = zero;
    int64_t i = 0;
    for (; i + RDK_LANES <= n; i += RDK_LANES) {
        f32x16 y = f32x16_fma(f32x16_load(from + i), inv, zero);
        f32x16_store(to + i * 4, y);
        sum = f32x16_add(sum, y);
    }
    if (i < n) {
        f32x16 y = f32x16_fma(f32x16_load_first(from + i, (int)(n - i)), inv, zero);
        f32x16_store_first_as(to + i * 4, RDK_F32, y, (int)(n - i));
        sum = f32x16_add(sum, y);
    }
    if (f32x16_has_nan(sum))
        for (i = 0; i < n; i++)
            rdk_store(to, RDK_F32, i, rdk_load(to, RDK_F32, i));
}

static void write_row(const walk *w, int64_t row) {
    const rdk_attention_desc *d = w->d;
    const rdk_row *r = &w->rows[row];
    const float *o = (r->has_total ? w->total : w->o) + row * w->width;
    char *out = rdk_view_row(&d->out, r->batch, r->head, r->query);
    if (r->l > 0)
        write_products(out, o, d->d_v, (float)(1 / r->l));
    else
        fill(out, d->d_v, r->l == 0 ? 0 : NAN);
    if (d->lse.data)
        rdk_store(rdk_view_row(&d->lse, r->batch, r->head, r->query), RDK_F32, 0,
                  rdk_attention_lse(r->M, r->l));
}

/* ---- The weights themselves: the scores once more, when M and l are known -------------------------------------- */

static char *weights_of(const walk *w, const rdk_row *r) {
    return rdk_view_row(&w->d->weights, r->batch, r->head, r->query);
}

static bool has_plain_weights(const rdk_row *r) {
    return r->l > 0 && !r->cold;
}

static void write_weights_of_group(const walk *w, const unit *u, const block *b, group *g) {
    int from = b->lo / RDK_LANES * RDK_LANES;
    stream none = {.left = 0};
    split_into_bands(w, b, g);
    score_alone(w, u, b, g, &none);
    for (int i = 0; i < g->count; i++) {
        const rdk_row *r = &w->rows[g->first + i];
        float *s = scores_of(w, i);
        int hi = seen_end(b, r), to = (hi + RDK_LANES - 1) / RDK_LANES * RDK_LANES;
        if (!has_plain_weights(r))
            continue;
        hide(s, from, b->lo, hi, to);
        weigh_row(s, w->ch, (float)r->M, from, to);
        write_products(weights_of(w, r) + (b->base + b->lo) * 4, s + b->lo, hi - b->lo,
                       (float)(1 / r->l));
    }
}

static void write_weights_of_block(const walk *w, const unit *u, block b) {
    group g;
    int64_t i = first_that_sees(w, u, &b);
    for (; i < u->count; i += g.count) {
        block part = b;
        g.first = u->first + i;
        g.count = (int)least(RDK_GROUP, u->count - i);
        part.hi = seen_end(&b, &w->rows[g.first + g.count - 1]);
        write_weights_of_group(w, u, &part, &g);
    }
}

/* The weights of rows that are all zero, NaN or cold; and of keys that are not visible. */
static void write_other_weights(const walk *w, const rdk_row *r) {
    char *to = weights_of(w, r);
    rdk_query q = rdk_attention_query(w->d, r->batch, r->head, r->query);
    if (has_plain_weights(r))
        fill(to + r->visible * 4, w->d->kv_len - r->visible, 0);
    else
        rdk_attention_weights_scalar(&q, r->M, r->l, r->cold, to, w->d->kv_len);
}

/* ---- The walk ----------------------------------------------------------------------------------------------- */

/* The block of the key at `position`, of keys up to that at `end`. */
static block block_at(const walk *w, int64_t position, int64_t end) {
    int64_t start = position / RDK_BLOCK * RDK_BLOCK;
    block b = {.base = start - w->d->key_pos0, .lo = (int)(position - start)};
    b.hi = (int)least(RDK_BLOCK, end - start);
    b.opens_chunk = position % RDK_CHUNK == 0 || position == w->d->key_pos0;
    return b;
}

/* What follows block b of unit i: the same block of the next unit, or the next block. */
static ahead after(const walk *w, const unit *units, int count, int i, const block *b) {
    bool another = i + 1 < count;
    const unit *u = &units[another ? i + 1 : 0];
    int64_t first = b->base + (another ? b->lo : b->hi);
    int64_t n = least(another ? b->hi - b->lo : RDK_BLOCK, w->d->kv_len - first);
    if (n > 0)
        return (ahead){keys_from(w, u->k, first, n), values_from(w, u->v, first, n)};
    n = least(RDK_BLOCK, w->d->kv_len);
    return (ahead){keys_from(w, u->next_k, 0, n), values_from(w, u->next_v, 0, n)};
}

static int64_t most_visible(const walk *w, const unit *u) {
    return u->count ? w->rows[u->first + u->count - 1].visible : 0;
}

static void attend_to_all(const walk *w, const unit *units, int count) {
    int64_t rows = units[count - 1].first + units[count - 1].count;
    int64_t end = w->d->key_pos0 + most_visible(w, &units[0]), position = w->d->key_pos0;
    while (position < end) {
        int64_t chunk = position / RDK_CHUNK, chunk_first = position - w->d->key_pos0;
        int64_t chunk_end = least(end, (chunk + 1) * RDK_CHUNK);
        for (int64_t r = 0; r < rows; r++)
            open_chunk(&w->rows[r]);
        while (position < chunk_end) {
            block b = block_at(w, position, chunk_end);
            for (int i = 0; i < count; i++)
                attend(w, &units[i], b, after(w, units, count, i, &b));
            position = w->d->key_pos0 + b.base + b.hi;
        }
        for (int64_t r = 0; r < rows; r++)
            if (w->rows[r].visible > chunk_first)
                close_chunk(w, r, chunk, position == end);
    }
}

static void write_all(const walk *w, const unit *units, int count) {
    int64_t rows = units[count - 1].first + units[count - 1].count;
    int64_t end = w->d->key_pos0 + most_visible(w, &units[0]), position = w->d->key_pos0;
    for (int64_t r = 0; r < rows; r++)
        write_row(w, r);
    if (!w->d->weights.data)
        return;
    for (int64_t r = 0; r < rows; r++)
        write_other_weights(w, &w->rows[r]);
    while (position < end) {
        block b = block_at(w, position, end);
        for (int i = 0; i < count; i++)
            write_weights_of_block(w, &units[i], b);
        position = w->d->key_pos0 + b.base + b.hi;
    }
}

/* Queries go into the scratch: contiguous, and negated where the scale is negative, so that the largest
 * score has the largest weight. */
static void enter_query(const walk *w, int64_t row, const rdk_row *r) {
    const char *from = rdk_const_view_row(&w->d->q, r->batch, r->head, r->query);
    float *to = w->q + row * w->q_step;
    int64_t c = 0, d = w->d->d_qk;
    f32x16 sign = f32x16_set1(w->scale.ch < 0 ? -1 : 1);
    for (; c + RDK_LANES <= d; c += RDK_LANES)
        f32x16_store(to + c, f32x16_mul(f32x16_load(from + c * 4), sign));
    if (c < d)
        f32x16_store(to + c, f32x16_mul(f32x16_load_first(from + c * 4, (int)(d - c)), sign));
}

/* Rows first ... first + count - 1 of a key/value head: heads of the group within queries, so that a row
 * never sees less than the one before. */
static void enter_unit(const walk *w, unit *u, int64_t batch, int64_t kv_head, int64_t first) {
    u->k = rdk_const_view_row(&w->d->k, batch, kv_head, 0);
    u->v = rdk_const_view_row(&w->d->v, batch, kv_head, 0);
    bool is_last = kv_head + 1 >= w->d->kv_heads;
    u->next_k = is_last ? u->k : rdk_const_view_row(&w->d->k, batch, kv_head + 1, 0);
    u->next_v = is_last ? u->v : rdk_const_view_row(&w->d->v, batch, kv_head + 1, 0);
    for (int64_t i = 0; i < u->count; i++) {
        rdk_row *r = &w->rows[u->first + i];
        *r = (rdk_row){.batch = batch, .M = -INFINITY};
        r->head = kv_head * w->group + (first + i) % w->group;
        r->query = (first + i) / w->group;
        r->visible = rdk_attention_visible(w->d, r->query);
        enter_query(w, u->first + i, r);
    }
}

/* The rows of one key/value head, in blocks of equal size. */
static void attend_with_head(const walk *w, int64_t batch, int64_t kv_head) {
    int64_t rows = w->group * w->d->q_len, blocks = (rows + w->max_rows - 1) / w->max_rows;
    for (int64_t i = 0; i < blocks; i++) {
        unit u = {.first = 0};
        int64_t first = rows * i / blocks;
        u.count = rows * (i + 1) / blocks - first;
        enter_unit(w, &u, batch, kv_head, first);
        attend_to_all(w, &u, 1);
        write_all(w, &u, 1);
    }
}

/* Several heads in step, each with a few rows: for keys that lie [position][head], so that memory is read
 * in order. */
static void attend_with_heads(const walk *w, int64_t batch, int64_t kv_head, int count) {
    unit units[MAX_UNITS];
    int64_t rows = w->group * w->d->q_len;
    for (int i = 0; i < count; i++) {
        units[i].first = i * rows;
        units[i].count = rows;
        enter_unit(w, &units[i], batch, kv_head + i, 0);
    }
    attend_to_all(w, units, count);
    write_all(w, units, count);
}

static int64_t heads_in_step(const walk *w) {
    int64_t rows = w->group * w->d->q_len;
    bool heads_within_positions = w->d->k.head_stride < w->d->k.row_stride;
    if (rows > RDK_GROUP || !heads_within_positions)
        return 1;
    return least(MAX_UNITS, w->max_rows / rows);
}

static char *take(char **scratch, size_t bytes) {
    char *p = *scratch;
    *scratch += bytes;
    return p;
}

static walk begin(const rdk_attention_desc *d) {
    rdk_scratch s = rdk_attention_scratch_parts(d->d_qk, d->d_v);
    char *free = (char *)d->scratch + (-(uintptr_t)d->scratch % RDK_ALIGN);
    walk w = {.d = d, .scale = rdk_attention_scale(d), .group = d->q_heads / d->kv_heads};
    w.ch = fabsf(w.scale.ch);
    w.q_step = rdk_whole_lanes(d->d_qk);
    w.width = rdk_whole_lanes(d->d_v);
    w.max_rows = s.rows;
    w.q = (float *)(void *)take(&free, (size_t)s.q * 4);
    w.o = (float *)(void *)take(&free, (size_t)s.o * 4);
    w.total = (float *)(void *)take(&free, (size_t)s.total * 4);
    w.scores = (float *)(void *)take(&free, (size_t)s.scores * 4);
    w.keys = (float *)(void *)take(&free, (size_t)s.keys * 4);
    w.values = (float *)(void *)take(&free, (size_t)s.values * 4);
    w.rows = (rdk_row *)(void *)take(&free, (size_t)s.rows * sizeof *w.rows);
    return w;
}

static void attention_walk(const rdk_attention_desc *d) {
    walk w = begin(d);
    if (!isfinite(w.scale.ch)) { /* all NaN, or nothing visible */
        rdk_attention_scalar(d);
        return;
    }
    int64_t in_step = heads_in_step(&w);
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t h = 0; h < d->kv_heads; h += in_step) {
            if (in_step == 1)
                attend_with_head(&w, b, h);
            else
                attend_with_heads(&w, b, h, (int)least(in_step, d->kv_heads - h));
        }
}
