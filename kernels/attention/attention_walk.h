/* Attention over tiles: the walk that every vector ISA compiles. Included by attention_<isa>.c after its
 * vocabulary and its tiles; gives attention_walk(). The arithmetic is docs/arithmetic.md section 10, as in
 * attention_scalar.c.
 *
 * A row is one query of one head. The rows of a key/value head, all query heads of its group together,
 * are worked on some hundred at a time, their queries and sums in the scratch (L2), in groups of 24 or 48.
 * For each block of 128 keys, a group goes through four phases, its scores in L1:
 *
 *     scores     keys are the rows of a tile, the group's queries its columns
 *     maxima     M, and what the sums so far must be multiplied with, if it moves
 *     weights    in place of the scores, and their sums
 *     values     queries are the rows of a tile, columns of the values its columns
 *
 * Scores lie by key, [key][query]: keys are read where they lie, one vector holds many queries' scores of one
 * key, and what is done for each query (its maximum, M, the sums) is done for a vector of them at once. Those of
 * very few queries, which would not fill a vector, lie by query.
 *
 * V is read in place, unless its rows are far apart (they share a few sets of the cache) or many groups will read it: then the block's V
 * is packed into strips, by the first assembly tiles that read it where they can, else by pack_values(). The keys and values of the next block are
 * fetched meanwhile.
 *
 * A tile of values sums from +0 and is joined to the sums of its rows at its end. Where the block is the last that a group sees, and its chunk the only
 * one, assembly tiles write the results instead. Values that are not finite, and that some rows of a group do not see, are added
 * row by row.
 *
 * Very few queries wait for keys and values more than for sums: they read both at once, the keys of a block beside the
 * values of the block before. */
#include "kernels/attention/attention.h"
#include "kernels/attention/scratch.h"
#include "kernels/caches.h"
#include "kernels/vec/f32x16_types.h"
#include "kernels/vec/weights.h"

enum {
    MAX_UNITS = 32,
    WORTH_PACKING = 10,      /* groups, from where on strips in L1 make up for packing them apart */
    LARGEST_CACHE = 1 << 24, /* bytes of keys and values that a call may well find in a cache */
    MANY_PAGES = 1 << 21,    /* bytes of operands, from where on addresses are translated ahead */
    PAGE = 4096,             /* bytes; where pages are larger, little is lost */
    LARGE_L2 = 1 << 20,      /* bytes, from where on very few queries go through whole blocks */
    FAR_APART = 2048,        /* bytes between values, from where on the caches' sets hold too few */
    QUANTUM = TILE_LANES > 8 ? TILE_LANES : 8, /* where groups begin, in rows */
    PACKED_STRIP = TILE_STRIP * RDK_BLOCK * 4, /* bytes of a strip of packed values */
    SUMS_BESIDE = F32X16_IN_FLIGHT > 2,        /* there are registers for sums beside the weights */
};

typedef struct walk {
    const rdk_attention_desc *d;
    float scale;      /* of queries, so that scores are logits in base 2 */
    int64_t group;    /* query heads of one key/value head */
    int64_t width;    /* floats of a row's sums */
    int64_t chains;   /* of a score */
    bool twins;       /* rows of keys and of values are alike */
    bool from_memory; /* keys and values are more than a cache may be expected to hold */
    bool translates;  /* operands lie in more pages than a core may be expected to know */
    int panel;        /* keys and values of very few queries, in turn */
    int64_t far;      /* how many ahead they are fetched, from memory */
    int64_t max_rows;
    float *q;      /* group by group, [d_qk][width of the group] */
    float *total;  /* sums of the first chunk, then of all that are closed; row by row */
    float *o;      /* sums of another chunk that is open */
    float *part;   /* sums of a group over the first keys of a block that is added in parts */
    float *scores; /* of one block and group, [key][width of the group] or [query][key]; weights */
    float *values; /* of one block, [strip][key][columns of the strip] */
    float *M, *T;  /* of the open chunk: reference, largest logit; group by group, all rows twice */
    double *l;     /* of the open chunk, relative to M */
    rdk_row *rows;
} walk;

/* The rows of one key/value head that are being worked on. */
typedef struct unit {
    const char *k, *v;           /* of key 0 */
    const char *next_k, *next_v; /* of the unit that comes after this one */
    rdk_row next_row;            /* where its queries begin */
    int64_t next_count;          /* how many it has; 0 if there is none */
    int64_t first, count;
} unit;

/* Up to 128 keys, by their lane: key j has lane j - base. Lanes below lo are before the first key. */
typedef struct block {
    int64_t base;
    int lo, hi;
    int64_t chunk; /* that it is of */
    bool opens_chunk, closes_chunk;
} block;

/* Rows that share the passes over keys and values. Each sees as many keys as the one before, or more. */
typedef struct group {
    int64_t first;
    int count, width;        /* rows; the same, rounded up to whole vectors */
    int ends[TILE_GROUP];    /* of the lanes that each row sees */
    int hi;                  /* the last of them */
    bool by_chain;           /* its queries lie chain by chain */
    float *scores;           /* of a block; then weights */
    int lane_step, row_step; /* floats from a score to that of the next lane, and row */
    bool noted;              /* by tiles, in `notes` */
    /* The largest score of each row; sums, to look for NaN in. */
    _Alignas(RDK_LINE) float notes[2 * TILE_GROUP];
    /* What the sums so far are multiplied with, all rows twice; eight more are read. */
    _Alignas(RDK_LINE) float shrink[2 * TILE_GROUP + 8];
    bool shrinks; /* one of these is not 1 */
} group;

/* Keys and values that lie together. */
typedef struct place {
    const char *k, *v;
    int64_t count;
} place;

/* What is fetched beside scores, and beside values; or beside both, as one stream. */
typedef struct ahead {
    stream by_scores, by_values;
    bool together;
} ahead;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int round_up(int n, int to) {
    return (n + to - 1) / to * to;
}

static const char *key_at(const walk *w, const unit *u, int64_t j) {
    return u->k + j * w->d->k.row_stride * 4;
}

static const char *value_at(const walk *w, const unit *u, int64_t j) {
    return u->v + j * w->d->v.row_stride * 4;
}

/* Rows of a view in two places: the first half of them, and the second. */
static stream halves_of(const char *rows, int64_t d, int64_t row_stride, int64_t count) {
    return stream_of(rows, count / 2 * row_stride * 4, d * 4, row_stride * 4, (count + 1) / 2);
}

/* Keys and values that are alike, as one stream. */
static stream stream_of_both(const walk *w, const char *keys, const char *values, int64_t rows) {
    return stream_of(keys, (int64_t)((uintptr_t)values - (uintptr_t)keys), w->d->d_qk * 4,
                     w->d->k.row_stride * 4, rows);
}

static ahead ahead_of(const walk *w, place p) {
    const rdk_attention_desc *d = w->d;
    if (w->twins)
        return (ahead){.by_scores = stream_of_both(w, p.k, p.v, p.count), .together = true};
    return (ahead){.by_scores = halves_of(p.k, d->d_qk, d->k.row_stride, p.count),
                   .by_values = halves_of(p.v, d->d_v, d->v.row_stride, p.count)};
}

/* ---- Addresses -------------------------------------------------------------------------------------------- */

/* Before a line can be fetched, its address is translated. Where that is not known yet of its page, it takes longer than a core looks
 * ahead, and the sums wait: so it is done for many pages at once, which takes little longer than for one. */
static void translate(const char *at, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += PAGE - (int64_t)((uintptr_t)(at + i) % PAGE))
        __builtin_prefetch(at + i, 0, 2);
}

/* Rows of d elements, where they follow each other. */
static void translate_rows(const char *rows, int64_t d, int64_t row_stride, int64_t count) {
    if (row_stride == d)
        translate(rows, count * d * 4);
}

static void translate_place(const walk *w, place p) {
    translate_rows(p.k, w->d->d_qk, w->d->k.row_stride, p.count);
    translate_rows(p.v, w->d->d_v, w->d->v.row_stride, p.count);
}

/* As a view of what may be read. */
static rdk_const_view out_view(const rdk_attention_desc *d) {
    return (rdk_const_view){d->out.data, d->out.batch_stride, d->out.head_stride, d->out.row_stride,
                            d->out.type};
}

/* The queries and results of a unit. Keys and values are translated block by block. */
static void translate_unit(const walk *w, const unit *u) {
    const rdk_attention_desc *d = w->d;
    const rdk_const_view out = out_view(d);
    const rdk_row *r = &w->rows[u->first], *last = r + u->count - 1;
    const int64_t queries = last->query - r->query + 1;
    const int64_t first = r->head - r->head % w->group;
    for (int64_t h = first; h < first + w->group; h++) {
        translate_rows(rdk_const_view_row(&d->q, r->batch, h, r->query), d->d_qk, d->q.row_stride,
                       queries);
        translate_rows(rdk_const_view_row(&out, r->batch, h, r->query), d->d_v, d->out.row_stride,
                       queries);
    }
}

/* The lanes of a block that a row sees end here. */
static int seen_end(const block *b, const rdk_row *r) {
    return (int)least(b->hi, r->visible - b->base);
}

/* Every row that sees a key sees one of this chunk. */
static bool is_first_chunk(const walk *w, int64_t chunk) {
    return chunk == w->d->key_pos0 / RDK_CHUNK;
}

/* Where the sums of a row are while a chunk is open. */
static float *sums_of(const walk *w, int64_t chunk, int64_t row) {
    return (is_first_chunk(w, chunk) ? w->total : w->o) + row * w->width;
}

static float *score_at(const group *g, int lane, int row) {
    return g->scores + lane * g->lane_step + row * g->row_step;
}

/* ---- Phase 0: queries ----------------------------------------------------------------------------------- */

/* Where the queries of rows first ... first + TILE_LANES - 1 lie; zeros for those from `end` on. */
static void find_queries(const walk *w, int64_t first, int64_t end, const char *q[TILE_LANES]) {
    static const float NONE[RDK_MAX_HEAD_DIM];
    for (int i = 0; i < TILE_LANES; i++)
        q[i] = (const char *)NONE;
    for (int i = 0; i < TILE_LANES && first + i < end; i++) {
        const rdk_row *r = &w->rows[first + i];
        q[i] = rdk_const_view_row(&w->d->q, r->batch, r->head, r->query);
    }
}

static void prefetch_rows(const char *const row[TILE_LANES], int64_t c) {
    for (int i = 0; i < TILE_LANES; i++)
        __builtin_prefetch(row[i] + c * 4);
}

/* TILE_LANES rows, anywhere: elements c ... end - 1 side by side, times scale. Those of even c go to even[...], the others
 * to odd[...], `step` floats apart. The rows `next` are fetched meanwhile, if any are named. */
static void pack_rows(float *even, float *odd, int64_t step, const char *const row[TILE_LANES],
                      const char *const next[TILE_LANES], int64_t c, int64_t end, float scale) {
    const int64_t on = TILE_LANES / 2 * step;
    tile_vec by = tile_splat(&scale);
    for (; c + TILE_LANES <= end; c += TILE_LANES, even += on, odd += on) {
        if (next && c % (RDK_LINE / 4) == 0)
            prefetch_rows(next, c);
        pack_columns(even, odd, step, row, c, TILE_LANES, by);
    }
    if (c < end)
        pack_columns(even, odd, step, row, c, (int)(end - c), by);
}

static float *queries_of(const walk *w, const group *g) {
    return w->q + g->first * rdk_whole_fours(w->d->d_qk);
}

/* Those of very few queries by four elements: [four elements][THIN][4]. */
static float *quads_of(const walk *w, const group *g) {
    return queries_of(w, g) + g->width * rdk_whole_fours(w->d->d_qk);
}

static void enter_quads(const walk *w, const group *g) {
    const int64_t d = w->d->d_qk;
    const float scale = w->scale;
    for (int i = 0; i < g->count; i++) {
        const rdk_row *r = &w->rows[g->first + i];
        const char *q = rdk_const_view_row(&w->d->q, r->batch, r->head, r->query);
        float *to = quads_of(w, g) + 4 * i;
        for (int64_t c = 0; c < d; c += 4, to += 4 * THIN) {
            float four[4] = {0};
            if (c + 4 <= d)
                memcpy(four, q + c * 4, sizeof four);
            else
                memcpy(four, q + c * 4, (size_t)(d - c) * sizeof *four);
            for (int k = 0; k < 4; k++)
                to[k] = four[k] * scale;
        }
    }
}

/* The queries of a group side by side, times the scale; zeros where there is none. Half a vector comes first, and is packed as
 * a whole one: what lies beside it is packed once more, or is what the next element overwrites. Those that lie one after
 * the other are not fetched here: rows_ahead() and the CPU do. */
static void enter_queries(const walk *w, const group *g, int64_t end) {
    float *to = queries_of(w, g);
    const char *row[TILE_LANES], *others[TILE_LANES];
    int64_t group_end = g->first + g->count, d = w->d->d_qk;
    const char *const *next = w->group == 1 && w->d->q.row_stride == d ? NULL : others;
    for (int i = 0, beside; i < g->width; i = beside) {
        beside = i + ((g->width - i) % TILE_LANES ? TILE_HALF : TILE_LANES);
        find_queries(w, g->first + i, group_end, row);
        if (next)
            find_queries(w, g->first + beside, end, others);
        if (!g->by_chain)
            pack_rows(to + i, to + i + g->width, 2 * g->width, row, next, 0, d, w->scale);
        for (int64_t c = 0, after; g->by_chain && c < d; c = after) {
            after = rdk_piece_end(c, d);
            pack_rows(to + i + c * g->width, to + i + (c + (after - c + 1) / 2) * g->width,
                      g->width, row, next, c, after, w->scale);
        }
    }
}

/* ---- Phase 1: scores ------------------------------------------------------------------------------------ */

/* So many keys, so many times; moves on. Returns whether scores were noted. */
static bool score_keys(tile *t, int keys, int vectors, int times) {
    bool noted = true;
    t->times = times;
    if (keys > 0 && times > 0)
        noted = run_tile(t, keys, vectors) == TILE_DONE_WITH_MAX;
    t->a += keys * times * t->a_row;
    t->c += keys * times * t->c_row;
    return noted;
}

/* Lanes `lane` ... end - 1 for so many vectors of rows, from row `first` on; 0 is half a vector. */
static void score_rows(const walk *w, const unit *u, const block *b, group *g, int lane, int end,
                       int first, int vectors, stream *next) {
    const int at_once = TILE_KEYS_OF[vectors];
    tile t;
    t.kind = TILE_SCORES;
    t.a_row = w->d->k.row_stride * 4;
    t.a_step = 4 * w->chains;
    t.a = key_at(w, u, b->base + lane);
    t.b = (const char *)(queries_of(w, g) + first);
    t.b_row = g->width * 4;
    t.b_step = g->by_chain ? t.b_row : t.b_row * w->chains;
    t.by_chain = g->by_chain;
    t.c = score_at(g, lane, first);
    t.c_row = g->width;
    t.steps = w->d->d_qk;
    t.chains = w->chains;
    t.from = NULL;
    t.factors = NULL;
    t.fetch = next;
    t.often = false;
    t.across = 1;
    t.b_across = 0;
    t.notes = g->notes + first;
    int whole = (end - lane) / at_once, rest = (end - lane) % at_once, half = 0;
    if (whole > 0 && rest > 0) { /* 8 keys are 4 and 4, not 6 and 2 */
        whole--;
        rest += at_once;
        half = rest / 2;
    }
    g->noted &= score_keys(&t, at_once, vectors, whole);
    g->noted &= score_keys(&t, rest - half, vectors, 1);
    g->noted &= score_keys(&t, half, vectors, 1);
}

/* Lanes `lane` ... end - 1 for all rows from `skip` on; returns the lane after those that are done. */
static int score_lanes(const walk *w, const unit *u, const block *b, group *g, int lane, int end,
                       int skip, stream *next) {
    const bool half = (g->width - skip) % TILE_LANES > 0;
    const int whole = skip + (half ? TILE_HALF : 0), vectors = (g->width - whole) / TILE_LANES;
    if (lane >= end)
        return lane;
    if (half)
        score_rows(w, u, b, g, lane, end, skip, 0, next);
    if (vectors > 0)
        score_rows(w, u, b, g, lane, end, whole, vectors, next);
    return end;
}

/* Where the lanes end that one of the first n rows sees. */
static int end_of_rows(const group *g, int n) {
    return g->ends[least(n, g->count) - 1];
}

/* On the diagonal, rows at the front that see nothing of a lane are left out as far as vectors go, or halves of them where
 * that is worth a tile. */
static void score_group(const walk *w, const unit *u, const block *b, group *g, stream *next) {
    int lane = b->lo;
    for (int i = 0; i < TILE_GROUP; i++) {
        g->notes[i] = -INFINITY;
        g->notes[TILE_GROUP + i] = 0;
    }
    g->noted = true;
    for (int skip = 0; skip < g->width; skip += QUANTUM) {
        int end = end_of_rows(g, skip + QUANTUM), after_half = skip + TILE_HALF;
        if (TILE_HALF > 0 && end - end_of_rows(g, after_half) >= TILE_KEYS_OF[0]) {
            lane = score_lanes(w, u, b, g, lane, end_of_rows(g, after_half), skip, next);
            lane = score_lanes(w, u, b, g, lane, end, after_half, next);
        }
        lane = score_lanes(w, u, b, g, lane, end, skip, next);
    }
}

/* Whether scores lie by query. */
static bool by_query(const group *g) {
    return THIN > 0 && g->lane_step == 1;
}

/* ---- Phase 2: maxima ------------------------------------------------------------------------------------ */

static int first_lane(const block *b) {
    return b->lo / RDK_LANES * RDK_LANES;
}

static int end_lane(const group *g) {
    return round_up(g->hi, RDK_LANES);
}

/* Sets n scores to -inf. Whole vectors are stored, for those that are read soon: of the last one, what lies behind
 * the n stays as it is. */
RDK_INLINE void hide_first(float *s, int n) {
    const f32x16 hidden = f32x16_set1(-INFINITY);
    for (; n >= RDK_LANES; n -= RDK_LANES, s += RDK_LANES)
        f32x16_store(s, hidden);
    if (n > 0)
        f32x16_store(s, f32x16_select(b32x16_first(n), hidden, f32x16_load(s)));
}

/* What is not seen becomes -inf, over whole sixteens of lanes. Where scores lie by key: a lane that some rows do not see is
 * one that the first rows do not see. */
static void hide_by_key(const block *b, const group *g) {
    int lane = first_lane(b), unseeing = 0;
    for (; lane < b->lo; lane++)
        hide_first(score_at(g, lane, 0), g->width);
    for (lane = g->ends[0] > lane ? g->ends[0] : lane; lane < end_lane(g); lane++) {
        while (unseeing < g->count && g->ends[unseeing] <= lane)
            unseeing++;
        hide_first(score_at(g, lane, 0), lane < g->hi ? unseeing : g->width);
    }
}

static void hide_by_query(const block *b, const group *g) {
    for (int i = 0; i < g->count; i++) {
        int end = g->ends[i] > b->lo ? g->ends[i] : b->lo;
        hide_first(score_at(g, first_lane(b), i), b->lo - first_lane(b));
        hide_first(score_at(g, end, i), end_lane(g) - end);
    }
}

static void hide_unseen(const block *b, const group *g) {
    (by_query(g) ? hide_by_query : hide_by_key)(b, g);
}

/* Gives the rows that see a score of NaN a T of +inf: with either all of a chunk's sums are NaN. */
static void note_nan(const block *b, const group *g, float *T) {
    for (int i = 0; i < g->count; i++) {
        int lane = b->lo;
        while (lane < g->ends[i] && !isnan(*score_at(g, lane, i)))
            lane++;
        if (lane < g->ends[i])
            T[i] = T[g->width + i] = INFINITY;
    }
}

/* The largest of each of 16 columns of the scores; of a NaN and another, one or the other. All of them are added to
 * `sum`, which becomes NaN if one is. (A sum of +inf and -inf cries wolf.) By FMAs, for maxima take the
 * pipes of additions. */
RDK_INLINE f32x16 largest_scores(const float *s, int64_t step, int from, int to, f32x16 *sum) {
    const int n = F32X16_IN_FLIGHT;
    const f32x16 one = f32x16_set1(1);
    f32x16 most[F32X16_IN_FLIGHT], all[F32X16_IN_FLIGHT];
    EACH most[v] = all[v] = f32x16_load(s + (from + 2 * v) * step);
    for (int lane = from + 2 * n; lane < to; lane += 2 * n) {
        f32x16 x[F32X16_IN_FLIGHT];
        EACH x[v] = f32x16_load(s + (lane + 2 * v) * step);
        EACH most[v] = f32x16_max(most[v], x[v]);
        EACH all[v] = f32x16_fma(x[v], one, all[v]);
    }
    EACH *sum = f32x16_add(*sum, all[v]);
    for (int v = 1; v < n; v++)
        most[0] = f32x16_max(most[0], most[v]);
    return most[0];
}

/* 2^(M - larger) or +0, for integers M <= larger: an exponent of 0 at the least is +0. */
RDK_INLINE f32x16 shrink_of(f32x16 M, f32x16 larger) {
    f32x16 k = f32x16_max(f32x16_sub(M, larger), f32x16_set1(-127));
    return f32x16_times_pow2(f32x16_set1(1), f32x16_add(k, f32x16_set1(RDK_MAGIC)));
}

/* The largest of each row, of even lanes, then of odd lanes, then of even lanes again. */
static void largest_by_key(const block *b, const group *g, float *max, f32x16 *sum) {
    for (int i = 0; i < 2 * g->width; i += RDK_LANES)
        f32x16_store(max + i,
                     largest_scores(g->scores + i, g->width, first_lane(b), end_lane(g), sum));
    memcpy(max + 2 * g->width, max, (size_t)g->width * sizeof *max);
}

/* The same where tiles have noted it: of all lanes, three times. */
static void largest_noted(const block *b, const group *g, float *max, f32x16 *sum) {
    (void)b;
    for (int i = 0; i < 3; i++)
        memcpy(max + i * g->width, g->notes, (size_t)g->width * sizeof *max);
    for (int i = 0; i + RDK_LANES <= TILE_GROUP; i += RDK_LANES / 2)
        *sum = f32x16_add(*sum, f32x16_load(g->notes + TILE_GROUP + i));
}

/* The same where scores lie by query: of all lanes, three times. */
static void largest_by_query(const block *b, const group *g, float *max, f32x16 *sum) {
    for (int i = 0; i < g->width; i++) {
        max[i] = 0;
        if (i < g->count) {
            const float *s = score_at(g, 0, i);
            f32x16 most = f32x16_load(s + first_lane(b)), all = most;
            for (int lane = first_lane(b) + RDK_LANES; lane < end_lane(g); lane += RDK_LANES) {
                most = f32x16_max(most, f32x16_load(s + lane));
                all = f32x16_add(all, f32x16_load(s + lane));
            }
            max[i] = f32x16_max_lanes(most);
            *sum = f32x16_add(*sum, all);
        }
        max[g->width + i] = max[2 * g->width + i] = max[i];
    }
}

/* Whether references go on as they are, though the largest scores may lie above them; mostly they do. */
RDK_INLINE b32x16 may_stay(f32x16 max, f32x16 M) {
    return f32x16_le(max, f32x16_add(M, f32x16_set1(RDK_HEADROOM)));
}

/* Moves those that must, and notes what the sums so far must be multiplied with. */
static void move_references(group *g, const float *max, float *M) {
    const f32x16 magic = f32x16_set1(RDK_MAGIC);
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 t = f32x16_load(max + i), old = f32x16_load(M + i);
        f32x16 rint = f32x16_sub(f32x16_add(t, magic), magic);
        f32x16 new = f32x16_select(may_stay(t, old), old, rint);
        f32x16_store(g->shrink + i, shrink_of(old, new));
        f32x16_store(M + i, new);
    }
}

/* What comes of a chunk with a T above HOT, or a NaN, is not used: here it may become anything. */
static void find_references(const walk *w, const block *b, group *g) {
    _Alignas(RDK_LINE) float max[3 * TILE_GROUP];
    float *M = w->M + 2 * g->first, *T = w->T + 2 * g->first;
    f32x16 sum = f32x16_set1(0), moved = sum;
    (by_query(g) ? largest_by_query : g->noted ? largest_noted : largest_by_key)(b, g, max, &sum);
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 t = f32x16_max(f32x16_load(max + i), f32x16_load(max + g->width + i));
        f32x16_store(max + i, t);
        f32x16_store(T + i, f32x16_max(f32x16_load(T + i), t));
        moved =
            f32x16_add(moved, f32x16_zero_where(may_stay(t, f32x16_load(M + i)), f32x16_set1(1)));
    }
    if (f32x16_has_nan(sum))
        note_nan(b, g, T);
    g->shrinks = f32x16_max_lanes(moved) > 0;
    if (g->shrinks)
        move_references(g, max, M);
}

/* ---- Phase 3: weights ----------------------------------------------------------------------------------- */

/* Turns n vectors of scores, `step` floats apart, into weights e. */
RDK_INLINE void weigh(float *s, int64_t step, f32x16 magic, f32x16 *e, int n) {
    f32x16 u[F32X16_IN_FLIGHT], f[F32X16_IN_FLIGHT];
    EACH e[v] = f32x16_load(s + v * step);
    rdk_split_log2(magic, e, u, f, n);
    rdk_weights(u, f, e, n);
    EACH f32x16_store(s + v * step, e[v]);
}

/* All scores of a block relative to M, column by column of 16: even lanes of some rows, odd lanes of others. Where there are
 * registers for them, the sums of the 16 lanes of docs/arithmetic.md are put at `lanes`, [lane][row]. */
static void weigh_block(const block *b, const group *g, const float *M, float *lanes) {
    enum { N = F32X16_IN_FLIGHT, SUMS = RDK_LANES / 2 };
    const int n = N, from = first_lane(b), to = end_lane(g);
    const int64_t step = 2 * g->width;
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 magic = f32x16_sub(f32x16_set1(RDK_MAGIC), f32x16_load(M + i));
        float *s = score_at(g, from, i);
        f32x16 e[N], sum[SUMS];
        RDK_UNROLL
        for (int k = 0; k < SUMS; k++)
            sum[k] = f32x16_set1(0);
        for (int lane = from; lane < to; lane += RDK_LANES) {
            RDK_UNROLL
            for (int k = 0; k < SUMS; k += N, s += N * step) {
                weigh(s, step, magic, e, N);
                EACH sum[k + v] = f32x16_add(sum[k + v], e[v]);
            }
        }
        if (SUMS_BESIDE)
            for (int k = 0; k < SUMS; k++)
                f32x16_store(lanes + i + k * step, sum[k]);
    }
}

/* The sums of n vectors of weights, `step` floats apart, for all vectors of 16 lanes. Where n is a constant, no loop is left. */
RDK_INLINE void sum_vectors(const float *e, int64_t step, int n, float *sums) {
    for (int64_t i = 0; i < step; i += RDK_LANES) {
        f32x16 sum = f32x16_load(e + i);
        for (int k = 1; k < n; k++)
            sum = f32x16_add(sum, f32x16_load(e + i + k * step));
        f32x16_store(sums + i, sum);
    }
}

/* The same sums, of weights. */
static void sum_lanes(const block *b, const group *g, float *lanes) {
    const float *e = score_at(g, first_lane(b), 0);
    int64_t step = RDK_LANES * g->width;
    int n = (end_lane(g) - first_lane(b)) / RDK_LANES;
    if (n == RDK_BLOCK / RDK_LANES)
        sum_vectors(e, step, RDK_BLOCK / RDK_LANES, lanes);
    else
        sum_vectors(e, step, n, lanes);
}

/* The double of lane i of eight rows. */
RDK_INLINE f64x8 lane_of(const float *lanes, int width, int i) {
    return f64x8_low(f32x16_load(lanes + i * width));
}

RDK_INLINE f64x8 fold_2(const float *lanes, int width, int i) {
    return f64x8_add(lane_of(lanes, width, i), lane_of(lanes, width, i + 8));
}

RDK_INLINE f64x8 fold_4(const float *lanes, int width, int i) {
    return f64x8_add(fold_2(lanes, width, i), fold_2(lanes, width, i + 4));
}

RDK_INLINE f64x8 fold_8(const float *lanes, int width, int i) {
    return f64x8_add(fold_4(lanes, width, i), fold_4(lanes, width, i + 2));
}

static void weigh_group(const walk *w, const block *b, const group *g) {
    _Alignas(RDK_LINE) float lanes[RDK_LANES * TILE_GROUP + RDK_LANES];
    double *l = w->l + g->first;
    weigh_block(b, g, w->M + 2 * g->first, lanes);
    if (!SUMS_BESIDE)
        sum_lanes(b, g, lanes);
    for (int i = 0; i < g->width; i += 8) {
        f64x8 sum = f64x8_add(fold_8(lanes + i, g->width, 0), fold_8(lanes + i, g->width, 1));
        f64x8 before = f64x8_load(l + i);
        if (g->shrinks)
            before = f64x8_mul(before, f64x8_low(f32x16_load(g->shrink + i)));
        f64x8_store(l + i, f64x8_add(before, sum));
    }
}

/* Turns n vectors of scores that follow each other into weights; returns the sum of `sum` and them, in order. */
RDK_INLINE f32x16 weigh_in_turn(float *s, f32x16 magic, int n, f32x16 sum) {
    f32x16 e[F32X16_IN_FLIGHT];
    weigh(s, RDK_LANES, magic, e, n);
    EACH sum = f32x16_add(sum, e[v]);
    return sum;
}

/* The same where scores lie by query: 16 lanes are a vector. */
static void weigh_queries(const walk *w, const block *b, const group *g) {
    enum { AT_ONCE = F32X16_IN_FLIGHT * RDK_LANES };
    for (int i = 0; i < g->count; i++) {
        f32x16 magic = f32x16_set1(RDK_MAGIC - w->M[2 * g->first + i]);
        float *s = score_at(g, 0, i);
        f32x16 sum = f32x16_set1(0);
        int lane = first_lane(b), to = end_lane(g);
        for (; lane + AT_ONCE <= to; lane += AT_ONCE)
            sum = weigh_in_turn(s + lane, magic, F32X16_IN_FLIGHT, sum);
        for (; lane < to; lane += RDK_LANES)
            sum = weigh_in_turn(s + lane, magic, 1, sum);
        double *l = w->l + g->first + i, before = g->shrinks ? *l * g->shrink[i] : *l;
        *l = before + rdk_fold_lanes(sum);
    }
}

/* ---- Phase 4: values ------------------------------------------------------------------------------------ */

/* Brings the values of lanes `lane` ... end - 1 together in strips, from column `first` on. */
static void pack_values(const walk *w, const unit *u, const block *b, int lane, int end,
                        int64_t first) {
    int64_t whole = w->d->d_v / RDK_LANES * RDK_LANES;
    for (; lane < end; lane++) {
        const char *v = value_at(w, u, b->base + lane);
        for (int64_t c = first; c < w->width; c += RDK_LANES) {
            int64_t strip = c - (c - first) % TILE_STRIP;
            int64_t columns = least(TILE_STRIP, w->width - strip);
            float *to = w->values + strip * RDK_BLOCK + lane * columns + (c - strip);
            f32x16_store(to, c < whole ? f32x16_load(v + c * 4)
                                       : f32x16_load_first(v + c * 4, (int)(w->d->d_v - c)));
        }
    }
}

/* One band of rows over some columns, in tiles as wide as it takes; moves on. */
static void add_columns(tile *t, int rows, int columns) {
    int vectors = TILE_VECTORS_OF[rows];
    for (int left = columns / TILE_LANES; left > 0; left -= (int)t->across * vectors) {
        while (vectors > left)
            vectors /= 2;
        t->across = left / vectors;
        t->b_across = vectors * TILE_LANES * 4;
        run_tile(t, rows, vectors);
        t->b += t->across * t->b_across;
        const int64_t done = t->across * vectors * TILE_LANES;
        t->c += done;
        if (t->from)
            t->from += done;
    }
}

/* Values of a block, in strips: bytes from lane to lane, and from strip to strip; what is fetched meanwhile; and, if these
 * are the last, where each row goes, and where a sum of all is noted. */
typedef struct strips {
    const char *values; /* of the block's first lane */
    int64_t step, across;
    stream *next;
    const tile_result *results;
    float *sum;
} strips;

/* What the sums of all rows are multiplied with when a block is added; NULL if it is the chunk's first. */
static const float *factors_of(const block *b, const group *g) {
    return b->opens_chunk ? NULL : g->shrinks ? g->shrink : TILE_ONES;
}

/* Those of row `row`. */
static const float *factors_of_row(const float *factors, const group *g, int row) {
    return factors == g->shrink ? factors + row : factors;
}

/* What all tiles of a group have in common. An initialiser would clear them by a slow instruction. */
RDK_INLINE void begin_values(const walk *w, const group *g, const strips *v, tile *t) {
    t->kind = by_query(g) ? TILE_VALUES_BY_QUERY : v->results ? TILE_RESULTS : TILE_VALUES;
    t->a_row = g->row_step * 4;
    t->a_step = g->lane_step * 4;
    t->b_row = t->b_step = v->step;
    t->by_chain = false;
    t->c_row = w->width;
    t->times = 1;
    t->chains = 1;
    t->from = NULL;
    t->notes = v->sum;
    t->fetch = v->next;
    t->often = w->from_memory;
}

/* Whether tiles of so many rows are as wide as a strip. */
static bool fill_strips(int rows) {
    return TILE_VECTORS_OF[rows] * TILE_LANES == TILE_STRIP;
}

/* How many bands the rows of a group make, of nearly equal height: 8 rows are 4 and 4, not 6 and 2. */
static int bands_of(const group *g) {
    return (g->count + TILE_QUERIES - 1) / TILE_QUERIES;
}

/* Whether every row sees every lane. */
static bool sees_all(const block *b, const group *g) {
    return g->ends[0] == b->hi;
}

/* Adds all lanes to columns c ... c_end - 1, which v has, of rows from band `first_band` on. Tiles as wide as a strip go through all
 * of them in one call, and those of bands that are all alike in the same call; others strip by strip, or, where strips
 * lie side by side, in tiles as wide as it takes. False if results are asked for and tiles cannot write them: then no sum has changed. */
static bool add_values(const walk *w, const block *b, const group *g, const strips *v,
                       int first_band, int64_t c, int64_t c_end) {
    const float *factors = factors_of(b, g);
    const int bands = bands_of(g), rows = g->count / bands;
    const bool even = g->count % bands == 0, alike = even && g->ends[0] == g->hi;
    const bool at_once =
        fill_strips(rows) && (even || fill_strips(rows + 1)) && (c_end - c) % TILE_STRIP == 0;
    const bool strip_by_strip = !at_once && (bands > 1 || v->across != TILE_STRIP * 4);
    const int64_t columns = strip_by_strip ? TILE_STRIP : c_end - c;
    tile t;
    if (v->results && !at_once)
        return false;
    begin_values(w, g, v, &t);
    t.times = alike ? bands - first_band : 1;
    for (const char *values = v->values; c < c_end; c += columns, values += v->across)
        for (int i = first_band; i < bands; i += (int)t.times) {
            const int first = g->count * i / bands, after = g->count * (i + 1) / bands;
            t.steps = g->ends[after - 1] - b->lo;
            if (t.steps <= 0 && !v->results)
                continue;
            t.a = (const char *)score_at(g, b->lo, first);
            t.c = sums_of(w, b->chunk, g->first + first) + c;
            t.results = v->results ? v->results + first : NULL;
            t.factors = factors_of_row(factors, g, first);
            t.b = values;
            if (at_once) {
                t.across = columns / TILE_STRIP;
                t.b_across = v->across;
                if (run_tile(&t, after - first, TILE_STRIP / TILE_LANES) == TILE_NOT_POSSIBLE)
                    return false;
            } else {
                add_columns(&t, after - first, (int)least(columns, c_end - c));
            }
        }
    return true;
}

/* Those that were brought together, from column `first` on. */
static strips packed_strips(const walk *w, int64_t first, int lane, stream *next) {
    int64_t columns = least(TILE_STRIP, w->width - first);
    return (strips){.values = (const char *)(w->values + first * RDK_BLOCK + lane * columns),
                    .step = columns * 4,
                    .across = PACKED_STRIP,
                    .next = next};
}

/* Where the columns end that are whole strips. */
static int64_t whole_strips(int64_t columns) {
    return columns / TILE_STRIP * TILE_STRIP;
}

/* Where those end that can be read where they lie. */
static int64_t whole_vectors(const walk *w) {
    return w->d->d_v / RDK_LANES * RDK_LANES;
}

static void add_packed_values(const walk *w, const block *b, const group *g, const strips *v,
                              int first_band) {
    const int64_t whole = whole_strips(w->width);
    const strips first = packed_strips(w, 0, b->lo, v->next);
    const strips rest = packed_strips(w, whole, b->lo, v->next);
    add_values(w, b, g, &first, first_band, 0, whole);
    add_values(w, b, g, &rest, first_band, whole, w->width);
}

static strips strips_in_place(const walk *w, const unit *u, const block *b, stream *next) {
    return (strips){.values = value_at(w, u, b->base + b->lo),
                    .step = w->d->v.row_stride * 4,
                    .across = TILE_STRIP * 4,
                    .next = next};
}

/* Whether all columns are whole strips, so that a tile may put them where it is asked to. */
static bool packs_beside(const walk *w) {
    return w->d->d_v % TILE_STRIP == 0;
}

/* Those that nobody has brought together yet: the first band reads them where they lie, and a tile by hand puts what it
 * has read where the others find it. */
static void add_and_pack_values(const walk *w, const unit *u, const block *b, const group *g,
                                const strips *v) {
    const int rows = g->count / bands_of(g);
    tile t;
    begin_values(w, g, v, &t);
    t.kind = TILE_VALUES_COPY;
    t.steps = b->hi - b->lo;
    t.a = (const char *)score_at(g, b->lo, 0);
    t.b = v->values;
    t.c = sums_of(w, b->chunk, g->first);
    t.factors = factors_of(b, g);
    t.across = w->width / TILE_STRIP;
    t.b_across = v->across;
    t.copy = (char *)(w->values + b->lo * TILE_STRIP);
    t.copy_across = PACKED_STRIP;
    const bool packed = run_tile(&t, rows, TILE_STRIP / TILE_LANES) == TILE_DONE;
    if (!packed)
        pack_values(w, u, b, b->lo, b->hi, 0);
    add_packed_values(w, b, g, v, packed ? 1 : 0);
}

/* From where they lie, but for the last columns. */
static void add_values_in_place(const walk *w, const unit *u, const block *b, const group *g,
                                const strips *v) {
    const int64_t whole = whole_vectors(w), in_strips = whole_strips(whole);
    strips rest = *v;
    add_values(w, b, g, v, 0, 0, in_strips);
    rest.values += in_strips * 4;
    add_values(w, b, g, &rest, 0, in_strips, whole);
    if (whole < w->width) {
        pack_values(w, u, b, b->lo, g->hi, whole);
        rest = packed_strips(w, whole, b->lo, v->next);
        add_values(w, b, g, &rest, 0, whole, w->width);
    }
}

/* ---- Values that are not finite: only rows that see them may multiply them ------------------------------------ */

/* Whether all of `rows` rows, `step` bytes apart, of n floats each are finite: what is not, times 0, is NaN. */
static bool are_finite(const char *v, int64_t step, int64_t rows, int64_t n) {
    const f32x16 zero = f32x16_set1(0);
    f32x16 sum = zero;
    for (; rows > 0; rows--, v += step) {
        int64_t c = 0;
        for (; c + RDK_LANES <= n; c += RDK_LANES)
            sum = f32x16_fma(f32x16_load(v + c * 4), zero, sum);
        if (c < n)
            sum = f32x16_fma(f32x16_load_first(v + c * 4, (int)(n - c)), zero, sum);
    }
    return !f32x16_has_nan(sum);
}

/* From which lane on, of lanes `lane` ... end - 1, some rows do not see the value. */
static int first_unseen(const group *g, int lane, int end) {
    return (int)least(end, g->ends[0] > lane ? g->ends[0] : lane);
}

/* Whether rows may give the values of lanes `lane` ... end - 1 that they do not see the weight +0. */
static bool may_be_multiplied(const walk *w, const unit *u, const block *b, const group *g,
                              int lane, int end) {
    const int unseen = first_unseen(g, lane, end);
    return unseen >= end || are_finite(value_at(w, u, b->base + unseen), w->d->v.row_stride * 4,
                                       end - unseen, w->d->d_v);
}

/* ---- Values of a part of a block ------------------------------------------------------------------------------- */

/* Lanes of a block, and rows of a group. */
typedef struct part {
    int lane, end, first, rows;
} part;

/* Adds the lanes, with what t knows of all lanes, to the sums of the rows, which wait for the block's other lanes unless these are the
 * last. The last columns are brought together first. */
static void add_part(const walk *w, const unit *u, const block *b, const group *g, part p,
                     tile *t) {
    const int64_t whole = whole_vectors(w), step = t->b_step, first = p.first * w->width;
    const int64_t steps = least(g->ends[p.first + p.rows - 1], p.end) - p.lane;
    const bool is_last = p.end == g->hi;
    t->steps = steps > 0 ? steps : 0;
    t->a = (const char *)score_at(g, p.lane, p.first);
    t->b = value_at(w, u, b->base + p.lane);
    t->from = p.lane == b->lo ? NULL : w->part + first;
    t->c = is_last ? sums_of(w, b->chunk, g->first + p.first) : w->part + first;
    t->factors = is_last ? factors_of_row(factors_of(b, g), g, p.first) : NULL;
    add_columns(t, p.rows, (int)whole);
    if (whole == w->width)
        return;
    pack_values(w, u, b, p.lane, p.lane + (int)t->steps, whole);
    const strips v = packed_strips(w, whole, p.lane, t->fetch);
    t->b = v.values;
    t->b_row = t->b_step = v.step;
    add_columns(t, p.rows, (int)(w->width - whole));
    t->b_row = t->b_step = step;
}

/* What all rows see for bands of them; the rest row by row, each as far as it sees. */
static void add_values_by_row(const walk *w, const unit *u, const block *b, const group *g,
                              const strips *v) {
    const int unseen = first_unseen(g, b->lo, g->hi), bands = bands_of(g);
    tile t;
    begin_values(w, g, v, &t);
    for (int i = 0; i < bands && unseen > b->lo; i++) {
        const int first = g->count * i / bands, after = g->count * (i + 1) / bands;
        add_part(w, u, b, g, (part){b->lo, unseen, first, after - first}, &t);
    }
    for (int i = 0; i < g->count; i++)
        if (g->ends[i] > b->lo)
            add_part(w, u, b, g, (part){unseen, g->hi, i, 1}, &t);
}

/* ---- Groups --------------------------------------------------------------------------------------------- */

/* The groups of a unit are as equal as whole vectors allow: 32 rows are 16 and 16, not 24 and 8. The last one may have half a
 * vector. */
static void find_group(const walk *w, const unit *u, int i, int groups, group *g) {
    int64_t parts = (u->count + QUANTUM - 1) / QUANTUM;
    int64_t first = parts * i / groups * QUANTUM, end = parts * (i + 1) / groups * QUANTUM;
    g->first = u->first + first;
    g->count = (int)(least(end, u->count) - first);
    g->by_chain = u->count > THIN && w->d->d_qk > RDK_PIECE;
    g->width = round_up(g->count, u->count <= THIN || g->by_chain ? QUANTUM : 8);
    g->scores = w->scores;
    g->lane_step = g->width;
    g->row_step = 1;
}

static int groups_of(const unit *u) {
    return (int)((u->count + TILE_GROUP - 1) / TILE_GROUP);
}

/* What the rows of a group see of a block. */
static void look_at(const walk *w, const block *b, group *g) {
    bool all = seen_end(b, &w->rows[g->first]) == b->hi; /* the first sees the least */
    for (int i = 0; i < g->count; i++)
        g->ends[i] = all ? b->hi : seen_end(b, &w->rows[g->first + i]);
    g->hi = seen_end(b, &w->rows[g->first + g->count - 1]);
}

/* ---- Chunks ----------------------------------------------------------------------------------------------- */

static void open_chunk(const walk *w, const group *g) {
    for (int i = 0; i < 2 * g->width; i++) {
        w->M[2 * g->first + i] = -RDK_ATTENTION_HOT;
        w->T[2 * g->first + i] = -INFINITY;
    }
    for (int i = 0; i < g->width; i++)
        w->l[g->first + i] = 0;
}

/* The state of a row's sums over one chunk, but for o. */
typedef struct closed {
    double M, l;
} closed;

/* A cold chunk, by the reference. */
static closed redo_chunk(const walk *w, rdk_row *r, float *o, int64_t chunk) {
    rdk_query q = rdk_attention_query(w->d, r->batch, r->head, r->query);
    rdk_state s;
    rdk_attention_chunk_scalar(&q, chunk, &s);
    memcpy(o, s.o, (size_t)w->d->d_v * sizeof *o);
    r->cold = r->cold || s.cold;
    return (closed){s.M, s.l};
}

RDK_INLINE void fold_sums(float *total, const float *o, int64_t width, float r, float r_chunk) {
    f32x16 a = f32x16_set1(r), b = f32x16_set1(r_chunk);
    for (int64_t c = 0; c < width; c += RDK_LANES)
        f32x16_store(total + c, f32x16_add(f32x16_mul(f32x16_load(total + c), a),
                                           f32x16_mul(f32x16_load(o + c), b)));
}

/* Row `row`, whose M and T stand at `at`. */
static void close_chunk(const walk *w, int64_t row, int64_t at, int64_t chunk) {
    rdk_row *r = &w->rows[row];
    float *o = sums_of(w, chunk, row), T = w->T[at];
    bool cold = T > RDK_ATTENTION_HOT || (T > -INFINITY && T < -RDK_ATTENTION_HOT);
    closed c = {w->l[row] == 0 ? -INFINITY : w->M[at], w->l[row]};
    if (T == INFINITY)
        c = (closed){0, NAN};
    else if (cold)
        c = redo_chunk(w, r, o, chunk);
    if (is_first_chunk(w, chunk)) {
        r->M = c.M;
        r->l = c.l;
        return;
    }
    double larger = c.M > r->M ? c.M : r->M;
    float a = rdk_rescale(r->M, larger), b = rdk_rescale(c.M, larger);
    fold_sums(w->total + row * w->width, o, w->width, a, b);
    r->l = r->l * a + c.l * b;
    r->M = larger;
}

/* ---- What is written -------------------------------------------------------------------------------------- */

RDK_INLINE f32x16 times_inverse(f32x16 o, rdk_inverse by) {
    f32x16 rest = f32x16_fma(o, f32x16_set1(by.lo), f32x16_set1(0));
    return f32x16_fma(o, f32x16_set1(by.inv), rest);
}

/* n elements of `from` times an inverse; returns the sum of `sum` and them, which is NaN if one is, as where `from` is infinite. */
RDK_INLINE f32x16 write_as_they_are(char *to, const float *from, int64_t n, rdk_inverse by,
                                    f32x16 sum) {
    int64_t i = 0;
    for (; i + RDK_LANES <= n; i += RDK_LANES) {
        f32x16 y = times_inverse(f32x16_load(from + i), by);
        f32x16_store(to + i * 4, y);
        sum = f32x16_add(sum, y);
    }
    if (i < n) {
        f32x16 y = times_inverse(f32x16_load_first(from + i, (int)(n - i)), by);
        f32x16_store_first_as(to + i * 4, RDK_F32, y, (int)(n - i));
        sum = f32x16_add(sum, y);
    }
    return sum;
}

/* The same, with every NaN made the one NaN, and what is infinite as the reference has it. */
RDK_INLINE void write_times_inverse(char *to, const float *from, int64_t n, rdk_inverse by) {
    if (f32x16_has_nan(write_as_they_are(to, from, n, by, f32x16_set1(0))))
        for (int64_t i = 0; i < n; i++)
            rdk_store(to, RDK_F32, i, rdk_times_inverse(from[i], by));
}

static void write_lse(const walk *w, const rdk_row *r) {
    const rdk_attention_desc *d = w->d;
    if (d->lse.data)
        rdk_store(rdk_view_row(&d->lse, r->batch, r->head, r->query), RDK_F32, 0,
                  rdk_attention_lse(r->M, r->l));
}

static void write_row(const walk *w, int64_t row) {
    const rdk_attention_desc *d = w->d;
    const rdk_row *r = &w->rows[row];
    const float *o = w->total + row * w->width;
    char *out = rdk_view_row(&d->out, r->batch, r->head, r->query);
    if (r->l > 0)
        write_times_inverse(out, o, d->d_v, rdk_inverse_of(r->l));
    else
        f32x16_fill(out, RDK_F32, 0, d->d_v, r->l == 0 ? 0 : NAN);
    write_lse(w, r);
}

/* ---- One block of keys ---------------------------------------------------------------------------------- */

static bool sees_no_more(const walk *w, const block *b, const group *g) {
    return w->rows[g->first + g->count - 1].visible <= b->base + b->hi;
}

/* Whether the open chunk is all that every row of a group sees, and none of it is cold or NaN. Then every l is above 0, since
 * the largest score has a weight. */
static bool is_plain(const walk *w, const block *b, const group *g) {
    const float *T = w->T + 2 * g->first;
    const f32x16 hot = f32x16_set1(RDK_ATTENTION_HOT), cold = f32x16_set1(-RDK_ATTENTION_HOT);
    const f32x16 yes = f32x16_set1(0), no = f32x16_set1(1);
    f32x16 odd = yes;
    for (int i = 0; i < g->count; i += RDK_LANES) {
        const int n = (int)least(g->count - i, RDK_LANES);
        const f32x16 t = f32x16_select(b32x16_first(n), f32x16_load(T + i), hot);
        odd = f32x16_select(f32x16_le(t, hot), odd, no);
        odd = f32x16_select(f32x16_le(cold, t), odd, no);
    }
    return is_first_chunk(w, b->chunk) && w->rows[g->first].visible > 0 && /* the least */
           f32x16_max_lanes(odd) == 0;
}

/* Closes and writes such rows, with little to do for each. False if a NaN is among them: then it is to be done once more, as ever. */
static bool write_plainly(const walk *w, const group *g) {
    const rdk_attention_desc *d = w->d;
    const float *o = w->total + g->first * w->width;
    f32x16 sum = f32x16_set1(0);
    for (int i = 0; i < g->count; i++, o += w->width) {
        rdk_row *r = &w->rows[g->first + i];
        r->M = w->M[2 * g->first + i];
        r->l = w->l[g->first + i];
        sum = write_as_they_are(rdk_view_row(&d->out, r->batch, r->head, r->query), o, d->d_v,
                                rdk_inverse_of(r->l), sum);
        write_lse(w, r);
    }
    return !f32x16_has_nan(sum);
}

/* Adds the last values of such rows, and writes what becomes of them at once. False if it cannot be done so, or a NaN is among them:
 * then no sum has changed, and all is to be done as ever. */
static bool write_with_values(const walk *w, const block *b, const group *g, strips v) {
    const rdk_attention_desc *d = w->d;
    tile_result results[TILE_GROUP];
    _Alignas(RDK_LINE) float sum[RDK_LANES] = {0};
    if (!packs_beside(w) || !sees_no_more(w, b, g) || !is_plain(w, b, g))
        return false;
    for (int i = 0; i < g->count; i++) {
        const rdk_row *r = &w->rows[g->first + i];
        results[i].row = rdk_view_row(&d->out, r->batch, r->head, r->query);
        results[i].inverse = rdk_inverse_of(w->l[g->first + i]);
    }
    v.results = results;
    v.sum = sum;
    if (!add_values(w, b, g, &v, 0, 0, w->width) || f32x16_has_nan(f32x16_load(sum)))
        return false;
    for (int i = 0; i < g->count; i++) {
        rdk_row *r = &w->rows[g->first + i];
        r->M = w->M[2 * g->first + i];
        r->l = w->l[g->first + i];
        write_lse(w, r);
    }
    return true;
}

/* After a block: closes the chunk that ends with it, and writes the rows that see nothing more. */
static void leave(const walk *w, const block *b, const group *g) {
    int64_t chunk_first = b->chunk * RDK_CHUNK - w->d->key_pos0; /* or before the first key */
    bool is_last = sees_no_more(w, b, g);
    if (!is_last && !b->closes_chunk)
        return;
    if (is_last && is_plain(w, b, g) && write_plainly(w, g))
        return;
    for (int i = 0; i < g->count; i++) {
        int64_t visible = w->rows[g->first + i].visible;
        if (visible > 0 && visible > chunk_first)
            close_chunk(w, g->first + i, 2 * g->first + i, b->chunk);
        if (is_last)
            write_row(w, g->first + i);
    }
}

/* The scores of a block become weights. */
static void weigh_scores(const walk *w, const block *b, group *g) {
    if (b->opens_chunk)
        open_chunk(w, g);
    if (b->lo % RDK_LANES || g->hi % RDK_LANES || g->ends[0] < g->hi) {
        hide_unseen(b, g);
        g->noted = false; /* of what is unseen, too */
    }
    find_references(w, b, g);
    (by_query(g) ? weigh_queries : weigh_group)(w, b, g);
}

/* Whether queries lie by four elements, side by side only where tiles are to read them. */
static bool wants_quads(const unit *u) {
    return THIN_QUADS && u->count <= THIN;
}

static bool is_first(const block *b) {
    return b->base + b->lo == 0;
}

/* A group's rows come and go while their queries and sums are in the caches: turned before their first block, written
 * after their last. */
static bool come_to(const walk *w, const unit *u, const block *b, group *g) {
    look_at(w, b, g);
    if (g->hi <= b->lo)
        return false;
    if (is_first(b)) {
        if (wants_quads(u))
            enter_quads(w, g);
        else
            enter_queries(w, g, u->first + u->count);
    }
    return true;
}

/* Bytes in two places, `twin` apart. */
static stream runs_of(const char *at, int64_t twin, int64_t bytes) {
    int64_t whole = (bytes + RDK_LINE - 1) / RDK_LINE * RDK_LINE;
    return stream_of(at, twin, whole, whole, 1);
}

/* `count` rows from r on, in a view where those of a head follow each other: the two halves of one head, or heads
 * `head` and head + 1 of several. Otherwise nothing. */
static stream rows_in_order(const walk *w, const rdk_const_view *v, int64_t d, const rdk_row *r,
                            int64_t count, int head) {
    const int64_t in_group = w->group == 1 ? 0 : r->head % w->group;
    const char *at = rdk_const_view_row(v, r->batch, r->head - in_group + head, r->query);
    if (v->row_stride != d || count <= 0)
        return (stream){.left = 0};
    if (w->group == 1)
        return runs_of(at, count / 2 * d * 4, (count + 1) / 2 * d * 4);
    return runs_of(at, v->head_stride * 4, ((in_group + count - 1) / w->group + 1) * d * 4);
}

/* What a group fetches that is not the last of its block: the rows that it will write, if it sees nothing more, and the
 * queries that the next one will turn, if this is their first block. The last but one does the same for the last, which has other
 * things to fetch: the rows that it will write, and the queries of the unit that comes then. */
static ahead rows_ahead(const walk *w, const unit *u, const block *b, const group *g) {
    const rdk_attention_desc *d = w->d;
    const rdk_const_view out = out_view(d);
    const rdk_row *r = &w->rows[g->first], *last = &w->rows[u->first + u->count - 1];
    const int64_t left = u->first + u->count - g->first - g->count;
    const bool leaves = sees_no_more(w, b, g), more_heads = w->group > 2;
    const bool all_leave = left <= TILE_GROUP && last->visible <= b->base + b->hi;
    ahead rows = {.together = false};
    if (leaves) {
        const int64_t count = g->count + (all_leave ? left : 0);
        rows.by_scores = rows_in_order(w, &out, d->d_v, r, count, 0);
        if (more_heads)
            rows.by_values = rows_in_order(w, &out, d->d_v, r, count, 2);
    }
    if (is_first(b)) {
        rows.by_values = rows_in_order(w, &d->q, d->d_qk, r + g->count, least(TILE_GROUP, left), 0);
        if (more_heads && !leaves)
            rows.by_scores =
                rows_in_order(w, &d->q, d->d_qk, r + g->count, least(TILE_GROUP, left), 2);
    } else if (all_leave && !more_heads) {
        rows.by_values =
            rows_in_order(w, &d->q, d->d_qk, &u->next_row, least(TILE_GROUP, u->next_count), 0);
    }
    return rows;
}

/* Whether values should be brought together for this group and those after it, `groups` in all. Where it costs little to read them
 * where they lie, that waits for a group that sees all of them: it can do it beside its tiles. */
static bool is_worth_packing(const walk *w, const block *b, const group *g, int groups) {
    if (TILE_PACKS == 0)
        return false;
    if (w->d->v.row_stride * 4 >= FAR_APART)
        return groups > 2;
    return sees_all(b, g) && groups > (packs_beside(w) ? TILE_PACKS : WORTH_PACKING);
}

/* Where the values of a block are read. */
typedef enum packing {
    IN_PLACE, /* where they lie */
    PACK,     /* the same, and the first band brings them together */
    PACKED,   /* where they were brought together */
} packing;

/* Packs the block at once if the first band cannot do it. */
static packing packing_of(const walk *w, const unit *u, const block *b, const group *g) {
    if (fill_strips(g->count / bands_of(g)) && packs_beside(w) && sees_all(b, g))
        return PACK;
    pack_values(w, u, b, b->lo, b->hi, 0);
    return PACKED;
}

/* Adds the values of a block. True if results were written with them. */
static bool add_block(const walk *w, const unit *u, const block *b, const group *g, packing p,
                      stream *next) {
    const strips v = strips_in_place(w, u, b, next);
    if (p == PACK)
        add_and_pack_values(w, u, b, g, &v);
    else if (write_with_values(w, b, g, p == IN_PLACE ? v : packed_strips(w, 0, b->lo, next)))
        return true;
    else if (!may_be_multiplied(w, u, b, g, b->lo, g->hi))
        add_values_by_row(w, u, b, g, &v);
    else if (p == PACKED)
        add_packed_values(w, b, g, &v, 0);
    else
        add_values_in_place(w, u, b, g, &v);
    return false;
}

/* One block for all groups. The last one fetches `next`, what is read after the block: were it fetched sooner, the other
 * groups' queries and sums would drive it out of the caches again. */
static void attend(const walk *w, const unit *u, block b, place next) {
    const int groups = groups_of(u);
    bool packed = false;
    for (int i = 0; i < groups; i++) {
        group g;
        find_group(w, u, i, groups, &g);
        if (!come_to(w, u, &b, &g))
            continue;
        if (i + 1 == groups && w->translates)
            translate_place(w, next);
        ahead now = i + 1 < groups ? rows_ahead(w, u, &b, &g) : ahead_of(w, next);
        score_group(w, u, &b, &g, &now.by_scores);
        weigh_scores(w, &b, &g);
        const bool packs = !packed && is_worth_packing(w, &b, &g, groups - i);
        const packing p = packs ? packing_of(w, u, &b, &g) : packed ? PACKED : IN_PLACE;
        packed |= packs;
        if (!add_block(w, u, &b, &g, p, now.together ? &now.by_scores : &now.by_values))
            leave(w, &b, &g);
    }
}

/* ---- The weights themselves: the scores once more, when M and l are known -------------------------------------- */

static char *weights_of(const walk *w, const rdk_row *r) {
    return rdk_view_row(&w->d->weights, r->batch, r->head, r->query);
}

static bool has_plain_weights(const rdk_row *r) {
    return r->l > 0 && !r->cold;
}

static void write_weights_of_row(const walk *w, const block *b, const group *g, int i) {
    const rdk_row *r = &w->rows[g->first + i];
    float row[RDK_BLOCK];
    int hi = g->ends[i];
    if (!has_plain_weights(r) || hi <= b->lo)
        return;
    for (int lane = b->lo; lane < hi; lane++)
        row[lane] = *score_at(g, lane, i);
    write_times_inverse(weights_of(w, r) + (b->base + b->lo) * 4, row + b->lo, hi - b->lo,
                        (rdk_inverse){(float)(1 / r->l), 0});
}

static void write_weights_of_block(const walk *w, const unit *u, block b) {
    float M[2 * TILE_GROUP], sums[RDK_LANES * TILE_GROUP];
    stream none = {.left = 0};
    int groups = groups_of(u);
    for (int n = 0; n < groups; n++) {
        group g;
        find_group(w, u, n, groups, &g);
        look_at(w, &b, &g);
        if (g.hi <= b.lo)
            continue;
        for (int i = 0; i < g.width; i++) {
            const rdk_row *r = &w->rows[g.first + i];
            M[i] = M[g.width + i] = i < g.count && has_plain_weights(r) ? (float)r->M : 0;
        }
        score_group(w, u, &b, &g, &none);
        hide_unseen(&b, &g);
        weigh_block(&b, &g, M, sums);
        for (int i = 0; i < g.count; i++)
            write_weights_of_row(w, &b, &g, i);
    }
}

/* The weights of rows that are all zero, NaN or cold; and of keys that are not visible. */
static void write_other_weights(const walk *w, const rdk_row *r) {
    char *to = weights_of(w, r);
    rdk_query q = rdk_attention_query(w->d, r->batch, r->head, r->query);
    if (has_plain_weights(r))
        f32x16_fill(to, RDK_F32, r->visible, w->d->kv_len, 0);
    else
        rdk_attention_weights_scalar(&q, r->M, r->l, r->cold, to, w->d->kv_len);
}

/* ---- The walk ----------------------------------------------------------------------------------------------- */

/* The block of the key at `position`, of keys up to that at `end`. */
static block block_at(const walk *w, int64_t position, int64_t end) {
    int64_t start = position / RDK_BLOCK * RDK_BLOCK;
    block b = {.base = start - w->d->key_pos0, .lo = (int)(position - start)};
    b.hi = (int)least(RDK_BLOCK, end - start);
    b.chunk = position / RDK_CHUNK;
    b.opens_chunk = position % RDK_CHUNK == 0 || position == w->d->key_pos0;
    b.closes_chunk = (start + b.hi) % RDK_CHUNK == 0;
    return b;
}

/* What follows block b of unit i: the same block of the next unit, or the next block, or the next head. */
static place after(const walk *w, const unit *units, int count, int i, const block *b) {
    bool another = i + 1 < count;
    const unit *u = &units[another ? i + 1 : 0], *last = &units[count - 1];
    int64_t first = b->base + (another ? b->lo : b->hi);
    int64_t n = least(another ? b->hi - b->lo : RDK_BLOCK, w->d->kv_len - first);
    if (n > 0)
        return (place){key_at(w, u, first), value_at(w, u, first), n};
    return (place){last->next_k, last->next_v, least(RDK_BLOCK, w->d->kv_len)};
}

static int64_t most_visible(const walk *w, const unit *u) {
    return u->count ? w->rows[u->first + u->count - 1].visible : 0;
}

/* Rows of groups that no block came to: they see nothing. */
static void write_unseeing(const walk *w, const unit *u) {
    int groups = groups_of(u);
    for (int i = 0; i < groups; i++) {
        group g;
        find_group(w, u, i, groups, &g);
        if (w->rows[g.first + g.count - 1].visible <= 0)
            for (int k = 0; k < g.count; k++)
                write_row(w, g.first + k);
    }
}

static void write_all_weights(const walk *w, const unit *units, int count) {
    int64_t end = w->d->key_pos0 + most_visible(w, &units[0]), position = w->d->key_pos0;
    for (int i = 0; i < count; i++) {
        if (wants_quads(&units[i])) {
            group g;
            find_group(w, &units[i], 0, 1, &g);
            enter_queries(w, &g, g.first + g.count);
        }
        for (int64_t r = 0; r < units[i].count; r++)
            write_other_weights(w, &w->rows[units[i].first + r]);
    }
    while (position < end) {
        block b = block_at(w, position, end);
        for (int i = 0; i < count; i++)
            write_weights_of_block(w, &units[i], b);
        position = w->d->key_pos0 + b.base + b.hi;
    }
}

/* ---- Very few queries --------------------------------------------------------------------------------------- */

/* Reading keys and values takes as long as everything else. So that both are read all the time, the scores of a block
 * are computed beside the values of the one before, a panel of keys after a panel of values. What comes next of both is fetched
 * meanwhile, half of it beside the keys and half beside the values. Panels are short where memory is to deliver both at an even
 * rate, or L1 to hold what was fetched; where a large L2 does, there is less to do between long ones. */

/* What one group does with one block. */
typedef struct work {
    const unit *u;
    block b;
    group g;
} work;

/* Rows of keys or values, none if `count` is 0. */
typedef struct panel {
    const char *at;
    int64_t count;
} panel;

static panel keys_from(const walk *w, const work *k, int lane) {
    return (panel){key_at(w, k->u, k->b.base + lane), k->g.hi - lane};
}

static panel values_from(const walk *w, const work *k, int lane) {
    return (panel){value_at(w, k->u, k->b.base + lane), k->g.hi - lane};
}

/* Keys that lie so far apart that a cache's sets hold too few of them, brought together. There is room where
 * packed values would be, since very few queries pack none. */
static void gather_keys(const walk *w, thin *f, int count) {
    int64_t d = w->d->d_qk;
    if (count * d > RDK_BLOCK * w->width)
        return;
    for (int i = 0; i < count; i++)
        memcpy(w->values + i * d, f->key + i * f->key_step, (size_t)d * sizeof(float));
    f->key = (const char *)w->values;
    f->key_step = d * 4;
}

/* What all scores of a block have in common. */
RDK_INLINE void begin_few(const walk *w, const group *g, thin *f) {
    f->q = queries_of(w, g);
    f->quads = quads_of(w, g);
    f->d = w->d->d_qk;
    f->chains = w->chains;
    f->often = w->from_memory;
}

/* The scores of very few queries, by query: lanes `lane` ... end - 1, `times` times `keys` of them where there are so many,
 * with what f knows of all lanes. The last keys may come twice in part. */
static void score_few(const walk *w, const work *k, int lane, int end, int keys, int times,
                      thin *f) {
    const group *g = &k->g;
    bool far_apart = w->d->k.row_stride * 4 >= FAR_APART;
    for (int first; lane < end; lane += keys * times) {
        first = lane;
        if (far_apart || lane + keys * times > end) {
            first = (int)least(lane, g->hi - keys);
            times = 1;
        }
        f->key = key_at(w, k->u, k->b.base + first);
        f->key_step = w->d->k.row_stride * 4;
        f->times = times;
        f->c = score_at(g, first, 0);
        if (far_apart)
            gather_keys(w, f, keys);
        run_thin(f, g->count);
    }
}

/* Adds lanes `lane` ... end - 1, with what t knows of all lanes. */
static void add_few_values(const walk *w, const work *k, int lane, int end, tile *t) {
    const group *g = &k->g;
    const int rows = may_be_multiplied(w, k->u, &k->b, g, lane, end) ? g->count : 1;
    for (int i = 0; i < g->count; i += rows)
        add_part(w, k->u, &k->b, g, (part){lane, end, i, rows}, t);
}

/* The scores of `now` and the values of `before`, some at once; either may be NULL. */
typedef struct beside {
    work *now;
    const work *before;
    int key, keys_end, value, values_end; /* lanes that are still to come */
    int at_once;
    panel after; /* the first keys of what comes then */
} beside;

/* What lies so many rows after the first of `now`: more of them, then those of `then`. Rows of `now` that lie nowhere count. */
static panel rows_on(panel now, panel then, int64_t rows, int64_t step) {
    if (rows < now.count) {
        if (!now.at)
            return (panel){.count = 0};
        bool go_on = now.at + now.count * step == then.at;
        return (panel){now.at + rows * step, now.count - rows + (go_on ? then.count : 0)};
    }
    rows -= now.count;
    return rows < then.count ? (panel){then.at + rows * step, then.count - rows}
                             : (panel){.count = 0};
}

/* What to fetch beside the next panels of both. From a cache: keys one panel ahead, values half a panel, so that less of them
 * waits in L1. From memory: further. */
static void look_ahead(const walk *w, const beside *s, ahead *next) {
    const int64_t k_step = w->d->k.row_stride * 4, v_step = w->d->v.row_stride * 4;
    panel keys = {NULL, s->values_end - s->value}, values = {NULL, s->keys_end - s->key};
    panel next_values = {.count = 0};
    if (s->now) {
        keys = keys_from(w, s->now, s->key);
        next_values = values_from(w, s->now, s->now->b.lo);
    }
    if (s->before)
        values = values_from(w, s->before, s->value);
    keys = rows_on(keys, s->after, w->from_memory ? w->far : w->panel, k_step);
    values = rows_on(values, next_values, w->from_memory ? w->far : w->panel / 2, v_step);
    keys.count = least(keys.count, s->at_once);
    values.count = least(values.count, s->at_once);
    next->together = w->twins && keys.count > 0 && values.count > 0;
    if (next->together) {
        next->by_scores = stream_of_both(w, keys.at, values.at, least(keys.count, values.count));
    } else {
        next->by_scores = halves_of(keys.at, w->d->d_qk, w->d->k.row_stride, keys.count);
        next->by_values = halves_of(values.at, w->d->d_v, w->d->v.row_stride, values.count);
    }
}

/* The scores of `now` beside the values of `before`; either may be NULL. `after` are the first keys of what comes then. */
static void score_beside_values(const walk *w, work *now, const work *before, panel after) {
    int keys = thin_keys(now ? now->g.count : before->g.count, w->chains);
    beside s = {.now = now, .before = before, .after = after};
    s.at_once = w->panel > keys ? w->panel : keys;
    if (now && now->g.hi - now->b.lo < keys) {
        if (wants_quads(now->u))
            enter_queries(w, &now->g, now->g.first + now->g.count);
        score_group(w, now->u, &now->b, &now->g, &(stream){.left = 0});
    } else if (now) {
        now->g.lane_step = 1;
        now->g.row_step = RDK_BLOCK;
        s.key = now->b.lo;
        s.keys_end = now->g.hi;
    }
    thin f;
    tile t;
    ahead next;
    if (now)
        begin_few(w, &now->g, &f);
    if (before) {
        begin_values(w, &before->g, &(strips){.step = w->d->v.row_stride * 4}, &t);
        s.value = before->b.lo;
        s.values_end = before->g.hi;
    }
    int times = s.at_once / keys;
    for (; s.key < s.keys_end || s.value < s.values_end; s.key += s.at_once, s.value += s.at_once) {
        look_ahead(w, &s, &next);
        f.fetch = &next.by_scores;
        t.fetch = next.together ? &next.by_scores : &next.by_values;
        if (s.key < s.keys_end)
            score_few(w, now, s.key, (int)least(s.key + s.at_once, s.keys_end), keys, times, &f);
        if (s.value < s.values_end)
            add_few_values(w, before, s.value, (int)least(s.value + s.at_once, s.values_end), &t);
    }
}

/* Block b of all units; returns the work whose values are still to be added. */
static work *attend_to_few(const walk *w, const unit *units, int count, block b, work works[2],
                           work *before) {
    for (int i = 0; i < count; i++) {
        work *now = before == works ? works + 1 : works;
        now->u = &units[i];
        now->b = b;
        find_group(w, now->u, 0, 1, &now->g);
        if (!come_to(w, now->u, &b, &now->g))
            continue;
        now->g.scores += (now - works) * QUANTUM * RDK_BLOCK;
        place p = after(w, units, count, i, &b);
        if (w->from_memory)
            translate_place(w, p);
        score_beside_values(w, now, before, (panel){p.k, p.count});
        if (before)
            leave(w, &before->b, &before->g);
        weigh_scores(w, &b, &now->g);
        before = now;
    }
    return before;
}

static void attend_to_all(const walk *w, const unit *units, int count) {
    int64_t end = w->d->key_pos0 + most_visible(w, &units[0]), position = w->d->key_pos0;
    work works[2], *last = NULL;
    while (position < end) {
        block b = block_at(w, position, end);
        if (units[0].count <= THIN)
            last = attend_to_few(w, units, count, b, works, last);
        else
            for (int i = 0; i < count; i++)
                attend(w, &units[i], b, after(w, units, count, i, &b));
        position = w->d->key_pos0 + b.base + b.hi;
    }
    if (last) {
        score_beside_values(w, NULL, last,
                            (panel){units[count - 1].next_k, least(RDK_BLOCK, w->d->kv_len)});
        leave(w, &last->b, &last->g);
    }
    for (int i = 0; i < count; i++)
        write_unseeing(w, &units[i]);
    if (w->d->weights.data)
        write_all_weights(w, units, count);
}

/* Rows first ... first + count - 1 of a key/value head: heads of the group within queries, so that a row
 * never sees less than the one before. */
static void enter_unit(const walk *w, unit *u, int64_t batch, int64_t kv_head, int64_t first) {
    u->k = rdk_const_view_row(&w->d->k, batch, kv_head, 0);
    u->v = rdk_const_view_row(&w->d->v, batch, kv_head, 0);
    const int64_t rows = w->group * w->d->q_len, after = first + u->count;
    const bool same_head = after < rows, is_last = !same_head && kv_head + 1 >= w->d->kv_heads;
    const int64_t next_head = same_head || is_last ? kv_head : kv_head + 1;
    u->next_k = rdk_const_view_row(&w->d->k, batch, next_head, 0);
    u->next_v = rdk_const_view_row(&w->d->v, batch, next_head, 0);
    u->next_count = same_head ? rows - after : is_last ? 0 : rows;
    u->next_row = (rdk_row){.batch = batch, .head = next_head * w->group};
    u->next_row.query = same_head ? after / w->group : 0;
    int64_t head = first % w->group, query = first / w->group;
    int64_t visible = rdk_attention_visible(w->d, query);
    for (int64_t i = 0; i < u->count; i++) {
        rdk_row *r = &w->rows[u->first + i];
        *r = (rdk_row){.batch = batch, .M = -INFINITY, .visible = visible};
        r->head = kv_head * w->group + head;
        r->query = query;
        if (++head == w->group) {
            head = 0;
            visible = rdk_attention_visible(w->d, ++query);
        }
    }
}

/* The rows of one key/value head, in blocks of nearly equal size: whole groups, but for the last. */
static void attend_with_head(const walk *w, int64_t batch, int64_t kv_head) {
    const int64_t rows = w->group * w->d->q_len, blocks = (rows + w->max_rows - 1) / w->max_rows;
    const int64_t size = blocks > 0 ? round_up((int)((rows + blocks - 1) / blocks), TILE_GROUP) : 0;
    for (int64_t first = 0; first < rows; first += size) {
        unit u = {.first = 0, .count = least(size, rows - first)};
        enter_unit(w, &u, batch, kv_head, first);
        if (w->translates && u.count > THIN)
            translate_unit(w, &u);
        attend_to_all(w, &u, 1);
    }
}

/* Rows that so many take in the scratch; the queries of very few lie there twice. */
static int64_t space_of(int64_t rows) {
    return rows <= THIN ? 2 * QUANTUM : round_up((int)rows, QUANTUM);
}

/* Several heads in step, each with a few rows: for keys that lie [position][head], so that memory is read
 * in order. */
static void attend_with_heads(const walk *w, int64_t batch, int64_t kv_head, int count) {
    unit units[MAX_UNITS] = {{.count = 0}};
    int64_t rows = w->group * w->d->q_len;
    for (int i = 0; i < count; i++) {
        units[i].first = i * space_of(rows);
        units[i].count = rows;
        enter_unit(w, &units[i], batch, kv_head + i, 0);
    }
    attend_to_all(w, units, count);
}

static int64_t heads_in_step(const walk *w) {
    int64_t rows = w->group * w->d->q_len;
    bool heads_within_positions = w->d->k.head_stride < w->d->k.row_stride;
    if (rows > TILE_GROUP || !heads_within_positions)
        return 1;
    return least(MAX_UNITS, w->max_rows / space_of(rows));
}

static char *take(char **scratch, size_t bytes) {
    char *p = *scratch;
    *scratch += bytes;
    return p;
}

/* Rows of so many bytes that are worth reading in turn, from memory. */
static int panel_of(int64_t row) {
    int rows = RDK_BLOCK;
    while (rows > 8 && rows * row > THIN_PANEL)
        rows /= 2;
    return rows;
}

static walk begin(const rdk_attention_desc *d) {
    rdk_scratch s = rdk_attention_scratch_parts(d->d_qk, d->d_v);
    char *free = (char *)d->scratch + (-(uintptr_t)d->scratch % RDK_ALIGN);
    walk w = {.d = d, .scale = rdk_attention_scale(d), .group = d->q_heads / d->kv_heads};
    w.width = rdk_whole_lanes(d->d_v);
    w.chains = rdk_chains(d->d_qk);
    w.twins = d->k.row_stride == d->v.row_stride && d->d_qk == d->d_v;
    const int64_t row = (d->d_qk > d->d_v ? d->d_qk : d->d_v) * (int64_t)sizeof(float);
    const double both = (double)(d->d_qk + d->d_v) * sizeof(float) * (double)d->batch;
    const double keys = both * (double)d->kv_heads * (double)d->kv_len;
    w.from_memory = keys > LARGEST_CACHE;
    w.translates = keys + both * (double)d->q_heads * (double)d->q_len > MANY_PAGES;
    w.panel = w.from_memory ? panel_of(row) : rdk_l2_size >= LARGE_L2 ? RDK_BLOCK : THIN_IN_L1;
    w.far = least(THIN_AHEAD / row, RDK_BLOCK);
    w.max_rows = s.rows;
    w.q = (float *)(void *)take(&free, (size_t)s.q * 4);
    w.o = (float *)(void *)take(&free, (size_t)s.o * 4);
    w.total = (float *)(void *)take(&free, (size_t)s.total * 4);
    w.part = (float *)(void *)take(&free, (size_t)s.part * 4);
    w.scores = (float *)(void *)take(&free, (size_t)s.scores * 4);
    w.values = (float *)(void *)take(&free, (size_t)s.values * 4);
    w.M = (float *)(void *)take(&free, (size_t)s.M * 4);
    w.T = (float *)(void *)take(&free, (size_t)s.T * 4);
    w.l = (double *)(void *)take(&free, (size_t)s.l * 8);
    w.rows = (rdk_row *)(void *)take(&free, (size_t)s.rows * sizeof *w.rows);
    return w;
}

static void attention_walk(const rdk_attention_desc *d) {
    walk w = begin(d);
    if (!isfinite(w.scale)) { /* all NaN, or nothing visible */
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
