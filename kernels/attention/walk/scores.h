/* Scores, Q K^T by tiles: keys are the rows of a tile, the queries of a group its columns. A
 * vector holds the scores of one key with many queries, so that the softmax, too, is done for a
 * vector of queries at once. */

/* Scores `keys` keys by each of `times` tiles, and moves t on. Returns whether the tiles left
 * notes. */
static bool score_keys(tile *t, int keys, int vectors, int times) {
    bool noted = true;
    t->times = times;
    if (keys > 0 && times > 0)
        noted = run_tile(t, keys, vectors) == TILE_DONE_WITH_MAX;
    t->a += keys * times * t->a_row;
    t->c += keys * times * t->c_row;
    return noted;
}

/* Some rows of a group, and some lanes of its block. */
typedef struct rectangle {
    int first, after; /* rows */
    int lo, hi;       /* lanes */
} rectangle;

/* The scores of a rectangle whose rows are `vectors` vectors; 0 stands for half a vector. */
static void score_vectors(const pass *p, group *g, rectangle r, int vectors, stream *fetch) {
    const int at_once = TILE_KEYS_OF[vectors];
    tile t;
    t.kind = TILE_SCORES;
    t.a_row = g->kv.k_step;
    t.a_step = 4 * p->chains;
    t.a = key_at(g, r.lo);
    t.b = (const char *)(queries_of(p, g) + r.first);
    t.b_row = g->width * 4;
    t.b_step = g->by_chain ? t.b_row : t.b_row * p->chains;
    t.by_chain = g->by_chain;
    t.c = score_at(g, r.lo, r.first);
    t.c_row = g->width;
    t.steps = p->call->d_qk;
    t.chains = p->chains;
    t.from = NULL;
    t.factors = NULL;
    t.fetch = fetch;
    t.often = false;
    t.across = 1;
    t.b_across = 0;
    t.notes = g->notes + r.first;
    int whole = (r.hi - r.lo) / at_once, rest = (r.hi - r.lo) % at_once, half = 0;
    if (whole > 0 && rest > 0) { /* the last 8 keys are 4 and 4, not 6 and 2 */
        whole--;
        rest += at_once;
        half = rest / 2;
    }
    g->has_notes &= score_keys(&t, at_once, vectors, whole);
    g->has_notes &= score_keys(&t, rest - half, vectors, 1);
    g->has_notes &= score_keys(&t, half, vectors, 1);
}

/* Rows that are no whole number of vectors begin with half a vector. */
static void score_rectangle(const pass *p, group *g, rectangle r, stream *fetch) {
    const bool half = (r.after - r.first) % TILE_LANES > 0;
    const int whole = r.first + (half ? TILE_HALF : 0), vectors = (r.after - whole) / TILE_LANES;
    if (half)
        score_vectors(p, g, (rectangle){r.first, whole, r.lo, r.hi}, 0, fetch);
    if (vectors > 0)
        score_vectors(p, g, (rectangle){whole, r.after, r.lo, r.hi}, vectors, fetch);
}

/* ---- Groups whose rows see different lanes ------------------------------------------------- */

/* Two parts are a vector. Where half vectors have tiles of their own, such a tile takes several
 * keys: two parts that differ by fewer keys than that are made alike. */
static void join_parts(group *g, int count) {
    for (int i = 0; TILE_HALF > 0 && i + 1 < count; i += 2) {
        lanes *a = &g->parts[i].some, *b = &g->parts[i + 1].some;
        const int lo = (int)rdk_least(a->lo, b->lo), hi = (int)rdk_most(a->hi, b->hi);
        if (hi - rdk_least(a->hi, b->hi) < TILE_KEYS_OF[0])
            a->hi = b->hi = hi;
        if (rdk_most(a->lo, b->lo) - lo < TILE_KEYS_OF[0])
            a->lo = b->lo = lo;
    }
}

/* The rows from the first part that sees `lane` to the last, up to the lane where other parts
 * begin or end. */
static rectangle next_rectangle(const part *parts, int count, int lane, int end) {
    rectangle r = {RDK_BLOCK, 0, lane, end};
    for (int i = 0; i < count; i++) {
        if (parts[i].some.lo > lane)
            r.hi = (int)rdk_least(r.hi, parts[i].some.lo);
        else if (parts[i].some.hi > lane) {
            r.hi = (int)rdk_least(r.hi, parts[i].some.hi);
            r.first = (int)rdk_least(r.first, i * PART);
            r.after = (i + 1) * PART;
        }
    }
    return r;
}

/* Leaves out whole parts, at the front and at the back of the group, where they see none of some
 * lanes. */
static void score_parts(const pass *p, group *g, stream *fetch) {
    const int count = (g->count + PART - 1) / PART;
    join_parts(g, count);
    for (int lane = g->lo; lane < g->hi;) {
        const rectangle r = next_rectangle(g->parts, count, lane, g->hi);
        if (r.first < r.after)
            score_rectangle(p, g, r, fetch);
        lane = r.hi;
    }
}

static void score_group(const pass *p, group *g, stream *fetch) {
    for (int i = 0; i < TILE_GROUP; i++) {
        g->notes[i] = -INFINITY;
        g->notes[TILE_GROUP + i] = 0;
    }
    g->has_notes = true;
    if (g->whole)
        score_rectangle(p, g, (rectangle){0, g->width, g->lo, g->hi}, fetch);
    else
        score_parts(p, g, fetch);
}
