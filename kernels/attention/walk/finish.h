/* What becomes of sums: chunks open and close, and rows are written. */

/* ---- Chunks -------------------------------------------------------------------------------- */

RDK_INLINE void fold_sums(float *sums, const float *chunk, int64_t width, rdk_fold_factors by) {
    const f32x16 a = f32x16_set1(by.sums), b = f32x16_set1(by.chunk);
    for (int64_t c = 0; c < width; c += RDK_LANES)
        f32x16_store(sums + c, f32x16_add(f32x16_mul(f32x16_load(sums + c), a),
                                          f32x16_mul(f32x16_load(chunk + c), b)));
}

/* Whether row i sees something of the open chunk. */
static bool sees_open_chunk(const pass *p, const group *g, int i) {
    const int64_t first = g->span->open * RDK_CHUNK - p->call->key_pos0; /* or before key 0 */
    return !rdk_sees_nothing(
        rdk_sight_within(p->rows[g->first + i].sees, first, first + RDK_CHUNK));
}

/* The state of row i over the open chunk, whose sums are at o. A cold chunk is done once more,
 * by the reference. */
static rdk_state state_of(const pass *p, const group *g, int i, float *o) {
    const rdk_row *r = &p->rows[g->first + i];
    const float M = p->M[2 * g->first + i], T = p->T[2 * g->first + i];
    if (T == INFINITY)
        return rdk_state_closed(0, NAN, false);
    if (!rdk_is_cold(T))
        return rdk_state_closed(M, p->l[g->first + i], false);
    const rdk_query q = rdk_query_of(p->call, r->batch, r->head, r->query);
    return rdk_attention_chunk_scalar(&q, g->span->open, o);
}

static void close_chunk_of_row(const pass *p, const group *g, int i) {
    rdk_row *r = &p->rows[g->first + i];
    float *first = p->first_sums + (g->first + i) * p->width;
    float *o = sums_of(p, g, g->span->open) + i * p->width;
    const rdk_state chunk = state_of(p, g, i, o);
    if (o == first) {
        r->closed = chunk;
        return;
    }
    fold_sums(first, o, p->width, rdk_state_fold(&r->closed, &chunk));
}

/* Closes the chunk that is open for a group, if there is one. A row that sees nothing of the
 * group's first chunk gets a state of no keys, and sums of 0. */
static void close_chunk(const pass *p, const group *g) {
    if (g->span->open == NO_CHUNK)
        return;
    for (int i = 0; i < g->count; i++)
        if (is_first_chunk(p, g, g->span->open) || sees_open_chunk(p, g, i))
            close_chunk_of_row(p, g, i);
    g->span->open = NO_CHUNK;
}

/* Opens the block's chunk. The chunk before may be open still, and is closed: only now are its sums
 * complete. */
static void open_chunk(const pass *p, const group *g) {
    close_chunk(p, g);
    for (int i = 0; i < 2 * g->width; i++) {
        p->M[2 * g->first + i] = -RDK_ATTENTION_HOT;
        p->T[2 * g->first + i] = -INFINITY;
    }
    for (int i = 0; i < g->width; i++)
        p->l[g->first + i] = 0;
    g->span->open = g->block->chunk;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

RDK_INLINE f32x16 times_inverse(f32x16 o, rdk_inverse by) {
    f32x16 rest = f32x16_fma(o, f32x16_set1(by.lo), f32x16_set1(0));
    return f32x16_fma(o, f32x16_set1(by.inv), rest);
}

/* Writes n elements of `from` times an inverse. Returns `sum` plus what was written: NaN if a
 * result is NaN, as that of an infinite element may be. */
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

/* The same, with every NaN in its one form, and infinite elements as the reference has them. */
RDK_INLINE void write_times_inverse(char *to, const float *from, int64_t n, rdk_inverse by) {
    if (f32x16_has_nan(write_as_they_are(to, from, n, by, f32x16_set1(0))))
        for (int64_t i = 0; i < n; i++)
            rdk_store(to, RDK_F32, i, rdk_times_inverse(from[i], by));
}

static char *out_row(const pass *p, const rdk_row *r) {
    return rdk_view_row(&p->call->out, r->batch, r->head, r->query);
}

static void write_row_lse(const pass *p, const rdk_row *r) {
    const rdk_view *lse = &p->call->lse;
    if (lse->data)
        rdk_store(rdk_view_row(lse, r->batch, r->head, r->query), RDK_F32, 0,
                  rdk_state_lse(&r->closed));
}

/* Writes a row of the scratch. All its chunks are closed. */
static void write_closed_row(const pass *p, int64_t row) {
    const rdk_row *r = &p->rows[row];
    const double l = r->closed.l;
    if (l > 0)
        write_times_inverse(out_row(p, r), p->first_sums + row * p->width, p->call->d_v,
                            rdk_inverse_of(l));
    else
        f32x16_fill(out_row(p, r), RDK_F32, 0, p->call->d_v, l == 0 ? 0 : NAN);
    write_row_lse(p, r);
}

static void write_rows(const pass *p, const group *g) {
    for (int i = 0; i < g->count; i++)
        write_closed_row(p, g->first + i);
}

/* ---- Plain groups -------------------------------------------------------------------------- */

/* Whether the open chunk is all that the rows of a group see, and is neither cold nor NaN for any
 * of them. Then every l is above 0, since the largest logit has a weight above 0. A row that sees
 * nothing has a T of -inf, and its group is not plain. */
static bool is_plain(const pass *p, const group *g) {
    const float *T = p->T + 2 * g->first;
    const f32x16 hot = f32x16_set1(RDK_ATTENTION_HOT), cold = f32x16_set1(-RDK_ATTENTION_HOT);
    const f32x16 zero = f32x16_set1(0), one = f32x16_set1(1);
    f32x16 not_plain = zero;
    for (int i = 0; i < g->count; i += RDK_LANES) {
        const int n = (int)rdk_least(g->count - i, RDK_LANES);
        const f32x16 t = f32x16_select(b32x16_first(n), f32x16_load(T + i), hot);
        not_plain = f32x16_select(f32x16_le(t, hot), not_plain, one);
        not_plain = f32x16_select(f32x16_le(cold, t), not_plain, one);
    }
    return is_first_chunk(p, g, g->block->chunk) && f32x16_max_lanes(not_plain) == 0;
}

/* Closes the chunk of a plain group. States are kept only if the caller asks for what depends on
 * them. */
static void close_plainly(const pass *p, const group *g) {
    for (int i = 0; p->keeps_states && i < g->count; i++) {
        rdk_row *r = &p->rows[g->first + i];
        r->closed = rdk_state_closed(p->M[2 * g->first + i], p->l[g->first + i], false);
        write_row_lse(p, r);
    }
}

/* Writes the rows of a plain group. False if a NaN is among the results: then the rows are to be
 * closed and written as others are. */
static bool write_plainly(const pass *p, const group *g) {
    const float *o = g->sums;
    f32x16 sum = f32x16_set1(0);
    for (int i = 0; i < g->count; i++, o += p->width)
        sum = write_as_they_are(out_row(p, &p->rows[g->first + i]), o, p->call->d_v,
                                rdk_inverse_of(p->l[g->first + i]), sum);
    close_plainly(p, g);
    return !f32x16_has_nan(sum);
}

/* Adds the last values of a plain group, by tiles that write results instead of sums. False if that
 * is not possible, or if a NaN is among the results: then no sum has changed, and the values are to
 * be added and the rows written as others are. */
static bool write_with_values(const pass *p, const group *g, staging s, stream *fetch) {
    tile_result results[TILE_GROUP];
    _Alignas(RDK_LINE) float notes[RDK_LANES] = {0};
    if (s == PACK || !strips_are_whole(p) || !is_last_block(g) || !is_plain(p, g))
        return false;
    for (int i = 0; i < g->count; i++) {
        results[i].row = out_row(p, &p->rows[g->first + i]);
        results[i].inverse = rdk_inverse_of(p->l[g->first + i]);
    }
    const strips from = s == PACKED ? packed_strips(p, 0, g->lo) : strips_in_place(g);
    const addition v = {from, 0, fetch, results, notes};
    if (!add_strips(p, g, &v, 0, p->width) || f32x16_has_nan(f32x16_load(notes)))
        return false;
    close_plainly(p, g);
    return true;
}

/* ---- The block ----------------------------------------------------------------------------- */

/* Turns the scores of a block into weights. */
static void weigh_block(const pass *p, group *g) {
    if (g->opens)
        open_chunk(p, g);
    logits_of_group(g);
    weigh_group(p, g);
}

/* Closes the chunk that ends with the block, while its sums are in the caches. Writes the rows that
 * see no later block. */
static void end_block(const pass *p, const group *g) {
    const bool is_last = is_last_block(g);
    const bool ends_chunk = chunk_of(p, g->block->key0 + RDK_BLOCK) != g->block->chunk;
    if (is_last && is_plain(p, g) && write_plainly(p, g))
        return;
    if (is_last || ends_chunk)
        close_chunk(p, g);
    if (is_last)
        write_rows(p, g);
}
