/* Written weights: the scores once more, when M and l are known. */

static char *weights_row(const pass *p, const rdk_row *r) {
    return rdk_view_row(&p->call->weights, r->batch, r->head, r->query);
}

/* Neither all zeros, nor NaN, nor cold. */
static bool has_ordinary_weights(const rdk_row *r) {
    return r->closed.l > 0 && !r->closed.cold;
}

/* Writes the weights of the lanes that row i sees. */
static void write_weights_of_row(const pass *p, const group *g, int i) {
    const rdk_row *r = &p->rows[g->first + i];
    const int from = from_of(g, i), end = end_of(g, i);
    const rdk_inverse by = {rdk_state_weight_factor(&r->closed), 0};
    float row[RDK_BLOCK];
    if (!has_ordinary_weights(r) || end <= from)
        return;
    for (int lane = from; lane < end; lane++)
        row[lane] = *score_at(g, lane, i);
    write_times_inverse(weights_row(p, r) + (g->block->key0 + from) * 4, row + from, end - from,
                        by);
}

/* Writes the weights of the lanes that a group sees. */
static void write_weights_of_group(const pass *p, group *g) {
    float M[2 * TILE_GROUP], sums[RDK_LANES * TILE_GROUP];
    stream none = no_stream();
    for (int i = 0; i < g->width; i++) {
        const rdk_row *r = &p->rows[g->first + i];
        M[i] = M[g->width + i] = i < g->count && has_ordinary_weights(r) ? (float)r->closed.M : 0;
    }
    score_group(p, g, &none);
    hide_unseen(g);
    weigh_by_key(g, M, sums);
    for (int i = 0; i < g->count; i++)
        write_weights_of_row(p, g, i);
}

/* Writes what the blocks do not give: weights of 0 where a row does not see a key. The weights of a
 * row that is all zeros, NaN or cold are left to the reference. */
static void write_other_weights(const pass *p, const rdk_row *r) {
    char *to = weights_row(p, r);
    if (has_ordinary_weights(r)) {
        f32x16_fill(to, RDK_F32, 0, r->sees.first, 0);
        f32x16_fill(to, RDK_F32, r->sees.end, p->call->kv_len, 0);
        return;
    }
    const rdk_query q = rdk_query_of(p->call, r->batch, r->head, r->query);
    rdk_attention_weights_scalar(&q, &r->closed, to);
}

static void begin_weights(const pass *p, const row_block *rows) {
    if (wants_quads(rows)) {
        group g;
        find_group(p, rows, 0, &g);
        enter_queries(p, &g);
    }
    for (int64_t r = 0; r < rows->count; r++)
        write_other_weights(p, &p->rows[rows->first + r]);
}

static void write_weights_of_block(const pass *p, const row_block *rows, const key_block *b) {
    const int groups = groups_of(rows);
    for (int i = 0; i < groups; i++) {
        group g;
        find_group(p, rows, i, &g);
        if (look_at(p, b, &g))
            write_weights_of_group(p, &g);
    }
}

static void write_weights(const pass *p) {
    key_block b = {.hi = 0};
    for (int i = 0; i < p->count; i++)
        begin_weights(p, &p->blocks[i]);
    while (next_block(p, &b))
        for (int i = 0; i < p->count; i++)
            write_weights_of_block(p, &p->blocks[i], &b);
}
