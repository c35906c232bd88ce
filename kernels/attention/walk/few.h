/* The schedule of thin row blocks, which wait for K and V more than for sums. So that both are read
 * all the time, the scores of a block are computed beside the values of the block before: a panel
 * of keys, then a panel of values, in turn. What comes next of both is fetched meanwhile, half of
 * it beside the keys and half beside the values. */

/* ---- Queries by four elements -------------------------------------------------------------- */

/* Whether queries are entered by four elements, for the thin function. They are entered side by
 * side, too, where tiles must read them. */
static bool wants_quads(const row_block *rows) {
    return THIN_QUADS && is_thin(rows);
}

/* Queries by four elements, [d_qk / 4][THIN][4], behind the room of those side by side. */
static float *quads_of(const pass *p, const group *g) {
    return queries_of(p, g) + g->width * rdk_whole_fours(p->call->d_qk);
}

static void enter_quads(const pass *p, const group *g) {
    const int64_t d = p->call->d_qk;
    const float scale = p->call->scale;
    for (int i = 0; i < g->count; i++) {
        const rdk_row *r = &p->rows[g->first + i];
        const char *q = rdk_const_view_row(&p->call->q, r->batch, r->head, r->query);
        float *to = quads_of(p, g) + 4 * i;
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

/* Enters a group's queries, before its first block. */
static void enter_group(const pass *p, const group *g) {
    if (wants_quads(g->of))
        enter_quads(p, g);
    else
        enter_queries(p, g);
}

/* ---- Panels -------------------------------------------------------------------------------- */

/* A group at a block; two of them are under way at once. */
typedef struct group_block {
    key_block b;
    group g;
} group_block;

/* Sets what all scores of a block have in common. */
RDK_INLINE void begin_few(const pass *p, const group *g, thin *f) {
    f->q = queries_of(p, g);
    f->quads = quads_of(p, g);
    f->d = p->call->d_qk;
    f->chains = p->chains;
    f->often = p->plan->from_memory;
}

/* Scores the next panel, by query. f has been set by begin_few(). Where fewer keys are left than
 * the thin function takes, it scores some once more. */
static void score_few(const pass *p, const overlap *s, thin *f) {
    const group *g = s->now;
    const bool is_far = g->kv.k_step >= p->plan->packing.far_step;
    const int end = (int)rdk_least(s->key + s->at_once, s->keys_end);
    int64_t times = s->at_once / s->keys;
    for (int lane = s->key, first; lane < end; lane += s->keys * (int)times) {
        first = lane;
        if (is_far || lane + s->keys * times > end) {
            first = (int)rdk_least(lane, g->hi - s->keys);
            times = 1;
        }
        f->key = key_at(g, first);
        f->key_step = g->kv.k_step;
        f->times = times;
        f->c = score_at(g, first, 0);
        if (is_far)
            gather_keys(p, f, s->keys);
        run_thin(f, g->count);
    }
}

/* Adds the next panel of values. t has been set by begin_values(). */
static void add_few_values(const pass *p, const overlap *s, tile *t) {
    const group *g = s->before;
    const lanes l = {s->value, (int)rdk_least(s->value + s->at_once, s->values_end)};
    const int rows = may_be_multiplied(p, g, l) ? g->count : 1;
    for (int i = 0; i < g->count; i += rows)
        add_rectangle(p, g, (rectangle){i, i + rows, l.lo, l.hi}, t);
}

/* Begins the scores of a block. If it has fewer keys than the thin function takes, tiles score all
 * of them here. */
static void begin_scores(const pass *p, group *g, overlap *s) {
    s->key = s->keys_end = g->lo;
    if (g->hi - g->lo < s->keys) {
        stream none = no_stream();
        if (wants_quads(g->of))
            enter_queries(p, g);
        score_group(p, g, &none);
        return;
    }
    g->by_query = true;
    g->lane_step = 1;
    g->row_step = RDK_BLOCK;
    s->keys_end = g->hi;
}

/* The scores of `now` beside the values of `before`; either may be NULL. */
static void score_beside_values(const pass *p, group *now, const group *before, panel after) {
    overlap s = {.now = now, .before = before, .after = after};
    thin f;
    tile t;
    s.keys = thin_keys(now ? now->count : before->count, p->chains);
    s.at_once = (int)rdk_most(p->plan->thin_panel, s.keys);
    if (now) {
        begin_scores(p, now, &s);
        begin_few(p, now, &f);
    }
    if (before) {
        begin_values(p, before, NULL, &t);
        t.b_row = t.b_step = before->kv.v_step;
        s.value = before->lo;
        s.values_end = before->hi;
    }
    for (; s.key < s.keys_end || s.value < s.values_end; s.key += s.at_once, s.value += s.at_once) {
        prefetch next = prefetch_panels(p, &s);
        f.fetch = &next.by_scores;
        t.fetch = stream_beside_values(&next);
        if (s.key < s.keys_end)
            score_few(p, &s, &f);
        if (s.value < s.values_end)
            add_few_values(p, &s, &t);
    }
}

/* ---- The walk ------------------------------------------------------------------------------ */

/* Takes all row blocks through block b. Returns the one whose values are still to be added. */
static group_block *pass_few(const pass *p, const key_block *b, group_block slots[2],
                             group_block *before) {
    for (int i = 0; i < p->count; i++) {
        group_block *now = before == slots ? slots + 1 : slots;
        now->b = *b;
        find_group(p, &p->blocks[i], 0, &now->g);
        if (!look_at(p, &now->b, &now->g))
            continue;
        if (is_first_block(&now->g))
            enter_group(p, &now->g);
        now->g.scores += (now - slots) * UNIT * RDK_BLOCK;
        const rdk_run next = run_after(p, i, b);
        if (p->plan->from_memory)
            touch_run(p, next);
        score_beside_values(p, &now->g, before ? &before->g : NULL, (panel){next.k, next.count});
        if (before)
            end_block(p, &before->g);
        weigh_block(p, &now->g);
        before = now;
    }
    return before;
}

/* Adds the values that are left when no scores come any more. */
static void end_few(const pass *p, const group_block *last) {
    const rdk_run next = run_of_next_task(p);
    score_beside_values(p, NULL, &last->g, (panel){next.k, next.count});
    end_block(p, &last->g);
}

static void walk_few(const pass *p) {
    key_block b = {.hi = 0};
    group_block slots[2], *last = NULL;
    while (next_block(p, &b))
        last = pass_few(p, &b, slots, last);
    if (last)
        end_few(p, last);
}
