/* Sums of values, P V by tiles: queries are the rows of a tile, columns of V its columns. A tile
 * adds up a block from +0, and at its end adds that to the sums of its rows. */

/* How values are added to the sums of a group. */
typedef struct addition {
    strips from;
    int first_band; /* the bands before it are done */
    stream *fetch;
    const tile_result *results; /* NULL; or where results go, row by row, instead of sums */
    float *notes;               /* then: a sum of them */
} addition;

/* What the sums so far of rows from `row` on are multiplied with; NULL where there are none yet. */
static const float *factors_of(const group *g, int row) {
    return g->opens ? NULL : g->rescales ? g->rescale + row : TILE_ONES;
}

/* Sets what all tiles of a group have in common. An initialiser would clear t first, by a slow
 * instruction. */
RDK_INLINE void begin_values(const pass *p, const group *g, stream *fetch, tile *t) {
    t->kind = g->by_query ? TILE_VALUES_BY_QUERY : TILE_VALUES;
    t->a_row = g->row_step * 4;
    t->a_step = g->lane_step * 4;
    t->by_chain = false;
    t->c_row = p->width;
    t->times = 1;
    t->chains = 1;
    t->from = NULL;
    t->results = NULL;
    t->fetch = fetch;
    t->often = p->plan->from_memory;
}

/* Adds some columns of values to one band, in tiles as wide as its height allows. Moves t on. */
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

/* ---- All rows of a group ------------------------------------------------------------------- */

/* Gives t the lanes that rows first ... after - 1 see. False if nothing is to be done for them. */
static bool begin_band(const group *g, const addition *v, int first, int after, tile *t) {
    lanes l = lanes_of_rows(g, first, after);
    if (l.hi <= l.lo && !g->opens && !v->results)
        return false;
    if (l.hi <= l.lo)
        l = (lanes){g->lo, g->lo};
    t->steps = l.hi - l.lo;
    t->a = (const char *)score_at(g, l.lo, first);
    t->b = v->from.values + (l.lo - g->lo) * v->from.step;
    t->results = v->results ? v->results + first : NULL;
    t->factors = factors_of(g, first);
    return true;
}

/* Adds columns c ... end - 1 of the values to all bands. Tiles as wide as a strip do all strips of
 * a band in one call, or of all bands that are alike. Other tiles do one strip in a call, or all
 * columns where strips lie side by side. False if results are asked for and tiles cannot write
 * them: then no sum has changed. */
static bool add_strips(const pass *p, const group *g, const addition *v, int64_t c, int64_t end) {
    const int bands = bands_of(g), rows = g->count / bands;
    const bool even = g->count % bands == 0, alike = even && g->whole;
    const bool at_once =
        fill_strips(rows) && (even || fill_strips(rows + 1)) && (end - c) % TILE_STRIP == 0;
    const bool strip_by_strip = !at_once && (bands > 1 || v->from.across != TILE_STRIP * 4);
    const int64_t columns = strip_by_strip ? TILE_STRIP : end - c;
    tile t;
    if (v->results && !at_once)
        return false;
    begin_values(p, g, v->fetch, &t);
    if (v->results)
        t.kind = TILE_RESULTS;
    t.notes = v->notes;
    t.b_row = t.b_step = v->from.step;
    t.times = alike ? bands - v->first_band : 1;
    for (int64_t strip = 0; c < end; c += columns, strip += v->from.across)
        for (int i = v->first_band; i < bands; i += (int)t.times) {
            const int first = g->count * i / bands, after = g->count * (i + 1) / bands;
            if (!begin_band(g, v, first, after, &t))
                continue;
            t.b += strip;
            t.c = g->sums + first * p->width + c;
            if (at_once) {
                t.across = columns / TILE_STRIP;
                t.b_across = v->from.across;
                if (run_tile(&t, after - first, TILE_STRIP / TILE_LANES) == TILE_NOT_POSSIBLE)
                    return false;
            } else {
                add_columns(&t, after - first, (int)rdk_least(columns, end - c));
            }
        }
    return true;
}

static void add_packed_values(const pass *p, const group *g, int first_band, stream *fetch) {
    const int64_t whole = whole_strips(p->width);
    addition v = {packed_strips(p, 0, g->lo), first_band, fetch, NULL, NULL};
    add_strips(p, g, &v, 0, whole);
    v.from = packed_strips(p, whole, g->lo);
    add_strips(p, g, &v, whole, p->width);
}

/* Adds values that are not packed yet. The first band reads them in place, by a tile in assembly
 * that packs what it reads; the other bands read what it has packed. */
static void add_and_pack_values(const pass *p, const group *g, stream *fetch) {
    tile t;
    begin_values(p, g, fetch, &t);
    t.kind = TILE_VALUES_COPY;
    t.steps = g->hi - g->lo;
    t.a = (const char *)score_at(g, g->lo, 0);
    t.b = g->kv.v;
    t.b_row = t.b_step = g->kv.v_step;
    t.c = g->sums;
    t.factors = factors_of(g, 0);
    t.across = p->width / TILE_STRIP;
    t.b_across = TILE_STRIP * 4;
    t.copy = (char *)(p->values + g->lo * TILE_STRIP);
    t.copy_across = PACKED_STRIP;
    const int rows = g->count / bands_of(g);
    const bool packed = run_tile(&t, rows, TILE_STRIP / TILE_LANES) == TILE_DONE;
    if (!packed)
        pack_values(p, g, (lanes){g->lo, g->hi}, 0);
    add_packed_values(p, g, packed ? 1 : 0, fetch);
}

/* Adds values that lie in the caller's memory, but packs the last columns if they are no whole
 * vector. */
static void add_values_in_place(const pass *p, const group *g, stream *fetch) {
    const int64_t whole = whole_vectors(p), in_strips = whole_strips(whole);
    addition v = {strips_in_place(g), 0, fetch, NULL, NULL};
    add_strips(p, g, &v, 0, in_strips);
    v.from.values += in_strips * 4;
    add_strips(p, g, &v, in_strips, whole);
    if (whole < p->width) {
        pack_values(p, g, (lanes){g->lo, g->hi}, whole);
        v.from = packed_strips(p, whole, g->lo);
        add_strips(p, g, &v, whole, p->width);
    }
}

/* ---- Values that are not finite: only rows that see them may multiply them ----------------- */

/* Whether the values of some lanes are all finite. Any other value, times 0, is NaN. */
static bool are_finite(const pass *p, const group *g, lanes l) {
    const int64_t n = p->call->d_v;
    const f32x16 zero = f32x16_set1(0);
    f32x16 sum = zero;
    for (int lane = l.lo; lane < l.hi; lane++) {
        const char *v = value_at(g, lane);
        int64_t c = 0;
        for (; c + RDK_LANES <= n; c += RDK_LANES)
            sum = f32x16_add(sum, f32x16_mul(f32x16_load(v + c * 4), zero));
        if (c < n)
            sum = f32x16_add(sum, f32x16_mul(f32x16_load_first(v + c * 4, (int)(n - c)), zero));
    }
    return !f32x16_has_nan(sum);
}

/* Whether the values of some lanes may be multiplied with +0 for the rows that do not see them. */
static bool may_be_multiplied(const pass *p, const group *g, lanes l) {
    if (g->whole)
        return true;
    const int before = (int)rdk_least(l.hi, g->shared.lo),
              after = (int)rdk_most(l.lo, g->shared.hi);
    return are_finite(p, g, (lanes){l.lo, before}) && are_finite(p, g, (lanes){after, l.hi});
}

/* Packs the last columns of some lanes, if they are no whole vector, and adds them. */
static void add_last_columns(const pass *p, const group *g, lanes l, int rows, tile *t) {
    const int64_t whole = whole_vectors(p), step = t->b_step;
    if (whole == p->width)
        return;
    pack_values(p, g, l, whole);
    const strips v = packed_strips(p, whole, l.lo);
    t->b = v.values;
    t->b_row = t->b_step = v.step;
    add_columns(t, rows, (int)(p->width - whole));
    t->b_row = t->b_step = step;
}

/* Adds some lanes of the block to some rows. Rectangles of the same rows come in the order of their
 * lanes; their sums wait at p->partial until the block's last lane is added. t has been set by
 * begin_values(). */
static void add_rectangle(const pass *p, const group *g, rectangle r, tile *t) {
    const int64_t first = r.first * p->width;
    const bool is_last = r.hi == g->hi;
    lanes l = lanes_of_rows(g, r.first, r.after);
    l = (lanes){(int)rdk_most(l.lo, r.lo), (int)rdk_least(l.hi, r.hi)};
    if (l.hi <= l.lo)
        l = (lanes){r.lo, r.lo};
    t->steps = l.hi - l.lo;
    t->a = (const char *)score_at(g, l.lo, r.first);
    t->b = value_at(g, l.lo);
    t->from = r.lo == g->lo ? NULL : p->partial + first;
    t->c = is_last ? g->sums + first : p->partial + first;
    t->factors = is_last ? factors_of(g, r.first) : NULL;
    add_columns(t, r.after - r.first, (int)whole_vectors(p));
    add_last_columns(p, g, l, r.after - r.first, t);
}

static void add_row_by_row(const pass *p, const group *g, lanes l, tile *t) {
    for (int i = 0; i < g->count && l.lo < l.hi; i++)
        add_rectangle(p, g, (rectangle){i, i + 1, l.lo, l.hi}, t);
}

/* Adds the lanes that all rows see to bands of rows. Lanes before and behind these are added row by
 * row, each row's as far as it sees. */
static void add_values_by_row(const pass *p, const group *g, stream *fetch) {
    const int lo = (int)rdk_least(g->shared.lo, g->hi), hi = (int)rdk_most(lo, g->shared.hi);
    const int bands = bands_of(g);
    tile t;
    begin_values(p, g, fetch, &t);
    t.b_row = t.b_step = g->kv.v_step;
    add_row_by_row(p, g, (lanes){g->lo, lo}, &t);
    for (int i = 0; i < bands && lo < hi; i++) {
        const int first = g->count * i / bands, after = g->count * (i + 1) / bands;
        add_rectangle(p, g, (rectangle){first, after, lo, hi}, &t);
    }
    add_row_by_row(p, g, (lanes){hi, g->hi}, &t);
}

/* ---- A block ------------------------------------------------------------------------------- */

/* Adds the values of a block. Returns whether all of them are packed now. */
static bool add_values(const pass *p, const group *g, staging s, stream *fetch) {
    if (s == PACK)
        add_and_pack_values(p, g, fetch);
    else if (!may_be_multiplied(p, g, (lanes){g->lo, g->hi})) {
        add_values_by_row(p, g, fetch);
        return false;
    } else if (s == PACKED)
        add_packed_values(p, g, 0, fetch);
    else
        add_values_in_place(p, g, fetch);
    return s != IN_PLACE;
}
