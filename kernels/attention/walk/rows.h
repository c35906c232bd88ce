/* Rows: row blocks, groups, and what these see of a block. Queries are entered, scaled and
 * transposed. */

/* ---- Row blocks ---------------------------------------------------------------------------- */

static int groups_of(const row_block *rows) {
    return (int)((rows->count + TILE_GROUP - 1) / TILE_GROUP);
}

/* The rows of group i. Groups are as equal as whole units allow: 32 rows are 16 and 16, not 24 and
 * 8. */
static void rows_of_group(const row_block *rows, int i, int64_t *first, int *count) {
    const int64_t units = (rows->count + UNIT - 1) / UNIT, groups = groups_of(rows);
    const int64_t from = units * i / groups * UNIT, end = units * (i + 1) / groups * UNIT;
    *first = rows->first + from;
    *count = (int)(rdk_least(end, rows->count) - from);
}

/* The span of a group. Where sight grows from row to row, the first row and the last say all. */
static span span_of_rows(const pass *p, const rdk_row *rows, int count) {
    span s = {.sees = rows[0].sees, .all = rows[0].sees, .open = NO_CHUNK};
    for (int i = rdk_sight_grows(&p->call->sight) ? count - 1 : 0; i < count; i++) {
        s.sees = rdk_sight_hull(s.sees, rows[i].sees);
        s.all = rdk_sight_within(s.all, rows[i].sees.first, rows[i].sees.end);
    }
    return s;
}

/* Enters rows->count rows of a key/value head, from row `first` on. */
static void enter_row_block(const pass *p, row_block *rows, int64_t first) {
    const int64_t heads = p->call->heads_per_kv;
    int64_t head = first % heads, query = first / heads;
    rdk_sight sees = rdk_sight_of(&p->call->sight, rows->batch, query);
    for (int64_t i = 0; i < rows->count; i++) {
        rdk_row *r = &p->rows[rows->first + i];
        r->batch = rows->batch;
        r->head = rows->kv_head * heads + head;
        r->query = query;
        r->sees = sees;
        if (++head == heads && i + 1 < rows->count) {
            head = 0;
            sees = rdk_sight_of(&p->call->sight, rows->batch, ++query);
        }
    }
}

static void enter_spans(const pass *p, row_block *rows) {
    rows->sees = (rdk_sight){0, 0};
    for (int i = 0; i < groups_of(rows); i++) {
        int64_t first;
        int count;
        rows_of_group(rows, i, &first, &count);
        rows->spans[i] = span_of_rows(p, &p->rows[first], count);
        rows->sees = rdk_sight_hull(rows->sees, rows->spans[i].sees);
    }
}

/* ---- Groups -------------------------------------------------------------------------------- */

/* Makes g group i of a row block; what it sees is left to look_at(). Its last vector may be half a
 * vector. */
static void find_group(const pass *p, const row_block *rows, int i, group *g) {
    g->of = rows;
    g->span = &rows->spans[i];
    rows_of_group(rows, i, &g->first, &g->count);
    g->by_chain = !is_thin(rows) && p->call->d_qk > RDK_PIECE;
    g->width = (int)rdk_round_up(g->count, is_thin(rows) || g->by_chain ? UNIT : PART);
    g->scores = p->scores;
    g->by_query = false;
    g->lane_step = g->width;
    g->row_step = 1;
}

/* The sums of a group's first chunk lie where later chunks are added to them. */
static bool is_first_chunk(const pass *p, const group *g, int64_t chunk) {
    return chunk == chunk_of(p, g->span->sees.first);
}

/* Where the sums of a group are while a chunk is open. */
static float *sums_of(const pass *p, const group *g, int64_t chunk) {
    return (is_first_chunk(p, g, chunk) ? p->first_sums : p->sums) + g->first * p->width;
}

RDK_INLINE float smaller(float a, float b) {
    return a < b ? a : b;
}

RDK_INLINE float larger(float a, float b) {
    return a > b ? a : b;
}

/* Notes which lanes `count` rows from row i on see. */
static part look_at_part(group *g, const rdk_row *r, int i, int count) {
    const int64_t key0 = g->block->key0;
    const float lo = (float)g->lo, hi = (float)g->hi;
    float some_lo = RDK_BLOCK, some_hi = 0, lo_of_all = 0, hi_of_all = RDK_BLOCK;
    for (const int after = i + count; i < after; i++, r++) {
        float from = larger((float)(r->sees.first - key0), lo);
        float end = smaller((float)(r->sees.end - key0), hi);
        const bool none = end <= from;
        from = none ? RDK_BLOCK : from;
        end = none ? 0 : end;
        g->from[i] = from;
        g->end[i] = end;
        some_lo = smaller(some_lo, from);
        some_hi = larger(some_hi, end);
        lo_of_all = larger(lo_of_all, from);
        hi_of_all = smaller(hi_of_all, end);
    }
    return (part){{(int)some_lo, (int)some_hi}, {(int)lo_of_all, (int)hi_of_all}};
}

/* Notes what each row and each part sees. Rows that only fill the last vector see nothing. A vector
 * may also reach past the group, where the scores of the next lane lie: rows there see everything,
 * so that nothing of them is hidden. */
static void look_row_by_row(const pass *p, group *g) {
    lanes all = {RDK_BLOCK, 0};
    for (int i = 0; i < g->count; i += PART) {
        const part of =
            look_at_part(g, &p->rows[g->first + i], i, (int)rdk_least(PART, g->count - i));
        all.lo = (int)rdk_least(all.lo, of.some.lo);
        all.hi = (int)rdk_most(all.hi, of.some.hi);
        g->shared.lo = (int)rdk_most(g->shared.lo, of.shared.lo);
        g->shared.hi = (int)rdk_least(g->shared.hi, of.shared.hi);
        g->parts[i / PART] = of;
    }
    const f32x16 zero = f32x16_set1(0), block = f32x16_set1(RDK_BLOCK);
    f32x16_store(g->from + g->count, block);
    f32x16_store(g->end + g->count, zero);
    f32x16_store(g->from + g->width, zero);
    f32x16_store(g->end + g->width, block);
    g->lo = all.lo;
    g->hi = all.hi;
}

/* Notes what the group sees of block b. False if that is nothing. */
static bool look_at(const pass *p, const key_block *b, group *g) {
    const rdk_sight block = {b->key0 + b->lo, b->key0 + b->hi};
    const rdk_sight sees = rdk_sight_within(g->span->sees, block.first, block.end);
    if (rdk_sees_nothing(sees))
        return false;
    g->block = b;
    g->lo = (int)(sees.first - b->key0);
    g->hi = (int)(sees.end - b->key0);
    g->shared = (lanes){g->lo, g->hi};
    g->whole = g->span->all.first <= sees.first && g->span->all.end >= sees.end;
    if (!g->whole)
        look_row_by_row(p, g);
    if (g->hi <= g->lo)
        return false;
    g->opens = g->span->open != b->chunk;
    g->sums = sums_of(p, g, b->chunk);
    g->kv =
        rdk_run_at(&p->call->kv, g->of->batch, g->of->kv_head, b->key0 + g->lo, b->key0 + g->hi);
    return true;
}

static int from_of(const group *g, int row) {
    return g->whole ? g->lo : (int)g->from[row];
}

static int end_of(const group *g, int row) {
    return g->whole ? g->hi : (int)g->end[row];
}

/* From the first lane that one of rows first ... after - 1 sees to the last. */
static lanes lanes_of_rows(const group *g, int first, int after) {
    float lo = RDK_BLOCK, hi = 0;
    if (g->whole)
        return (lanes){g->lo, g->hi};
    for (int i = first; i < after; i++) {
        lo = smaller(lo, g->from[i]);
        hi = larger(hi, g->end[i]);
    }
    return (lanes){(int)lo, (int)hi};
}

/* ---- Queries ------------------------------------------------------------------------------- */

static float *queries_of(const pass *p, const group *g) {
    return p->q + g->first * rdk_whole_fours(p->call->d_qk);
}

/* Where the queries of rows first ... first + TILE_LANES - 1 lie. Rows from `end` on are zeros. */
static void find_queries(const pass *p, int64_t first, int64_t end, const char *q[TILE_LANES]) {
    static const float NONE[RDK_MAX_HEAD_DIM];
    for (int lane = 0; lane < TILE_LANES; lane++) {
        q[lane] = (const char *)NONE;
        if (first + lane < end) {
            const rdk_row *r = &p->rows[first + lane];
            q[lane] = rdk_const_view_row(&p->call->q, r->batch, r->head, r->query);
        }
    }
}

/* Transposes elements c ... end - 1 of TILE_LANES rows, times scale. The rows `next` are fetched
 * meanwhile, unless that is NULL. */
static void transpose_queries(tile_transposed to, const char *const row[TILE_LANES],
                              const char *const next[TILE_LANES], int64_t c, int64_t end,
                              float scale) {
    const int64_t on = TILE_LANES / 2 * to.step;
    tile_vec by = tile_splat(&scale);
    for (; c + TILE_LANES <= end; c += TILE_LANES, to.even += on, to.odd += on) {
        if (next)
            fetch_of_rows(next, c);
        transpose_rows(to, row, c, TILE_LANES, by);
    }
    if (c < end)
        transpose_rows(to, row, c, (int)(end - c), by);
}

/* Enters the queries of one vector of rows at `to`. */
static void enter_vector(const pass *p, const group *g, float *to,
                         const char *const row[TILE_LANES], const char *const next[TILE_LANES]) {
    const int64_t d = p->call->d_qk, w = g->width;
    const float scale = p->call->scale;
    if (!g->by_chain)
        transpose_queries((tile_transposed){to, to + w, 2 * w}, row, next, 0, d, scale);
    for (int64_t c = 0, after; g->by_chain && c < d; c = after) {
        after = rdk_piece_end(c, d);
        float *even = to + c * w, *odd = to + (c + (after - c + 1) / 2) * w;
        transpose_queries((tile_transposed){even, odd, w}, row, next, c, after, scale);
    }
}

/* Enters the queries of a group side by side, times the scale; zeros where there is none. Half a
 * vector comes first, and is transposed like a whole one. What that writes too much is written
 * over: by the vector beside it, or by the next element. Rows that follow each other are not
 * fetched here: prefetch_rows() and the CPU do that. */
static void enter_queries(const pass *p, const group *g) {
    const char *row[TILE_LANES], *others[TILE_LANES];
    const int64_t group_end = g->first + g->count, end = g->of->first + g->of->count;
    const bool in_order = queries_follow(p);
    for (int i = 0, next; i < g->width; i = next) {
        next = i + ((g->width - i) % TILE_LANES ? TILE_HALF : TILE_LANES);
        find_queries(p, g->first + i, group_end, row);
        if (!in_order)
            find_queries(p, g->first + next, end, others);
        enter_vector(p, g, queries_of(p, g) + i, row, in_order ? NULL : others);
    }
}
