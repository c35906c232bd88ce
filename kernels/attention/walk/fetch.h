/* Prefetching, and the TLB: what memory is asked for beside the sums. No bit of a result
 * depends on this file.
 *
 * The last group that sees a block fetches the K and V that are read next. Were they fetched
 * sooner, the other groups' queries and sums would drive them out of the caches. The groups before
 * it fetch the results that they will write, and the queries that the next group will transpose. */

/* What tiles of scores fetch, and what tiles of values do. */
typedef struct prefetch {
    stream by_scores, by_values;
    bool together; /* tiles of values go on with by_scores */
} prefetch;

static stream no_stream(void) {
    return (stream){.left = 0};
}

static stream *stream_beside_values(prefetch *f) {
    return f->together ? &f->by_scores : &f->by_values;
}

/* ---- K and V ------------------------------------------------------------------------------- */

/* Rows in two places: the first half of them, and the second. */
static stream halves_of(const char *rows, int64_t d, int64_t step, int64_t count) {
    return stream_of(rows, count / 2 * step, d * 4, step, (count + 1) / 2);
}

/* Keys and values of the same layout as one stream. */
static stream keys_and_values(const pass *p, rdk_run r) {
    return stream_of(r.k, (int64_t)((uintptr_t)r.v - (uintptr_t)r.k), p->call->d_qk * 4, r.k_step,
                     r.count);
}

static prefetch prefetch_run(const pass *p, rdk_run r) {
    if (p->same_layout)
        return (prefetch){.by_scores = keys_and_values(p, r), .together = true};
    return (prefetch){.by_scores = halves_of(r.k, p->call->d_qk, r.k_step, r.count),
                      .by_values = halves_of(r.v, p->call->d_v, r.v_step, r.count)};
}

static rdk_run no_run(const pass *p) {
    return (rdk_run){.k = p->call->kv.k.data, .v = p->call->kv.v.data, .count = 0};
}

/* What the next task reads first. */
static rdk_run run_of_next_task(const pass *p) {
    const rdk_problem *c = p->call;
    const rdk_task *t = &p->next;
    if (t->rows == 0)
        return no_run(p);
    const rdk_sight sees = rdk_sight_of(&c->sight, t->batch, t->first / c->heads_per_kv);
    return rdk_run_at(&c->kv, t->batch, t->kv_head, sees.first,
                      rdk_least(sees.end, sees.first + RDK_BLOCK));
}

/* What is read after block b of row block i: the block for the next row block, the next block,
 * or the next task. */
static rdk_run run_after(const pass *p, int i, const key_block *b) {
    const bool another = i + 1 < p->count;
    const row_block *rows = &p->blocks[another ? i + 1 : 0];
    key_block next = *b;
    if (!another && !next_block(p, &next))
        return run_of_next_task(p);
    return rdk_run_at(&p->call->kv, rows->batch, rows->kv_head, next.key0 + next.lo,
                      next.key0 + next.hi);
}

/* ---- Queries and results ------------------------------------------------------------------- */

static rdk_const_view out_view(const pass *p) {
    const rdk_view *out = &p->call->out;
    return (rdk_const_view){out->data, out->batch_stride, out->head_stride, out->row_stride,
                            out->type};
}

/* As many bytes in two places; the second is `second` bytes after the first. */
static stream stream_of_bytes(const char *at, int64_t second, int64_t bytes) {
    const int64_t whole = (bytes + RDK_LINE - 1) / RDK_LINE * RDK_LINE;
    return stream_of(at, second, whole, whole, 1);
}

/* `count` rows from r on, of a view where the rows of a head follow each other; nothing of another
 * view. Where a key/value head has one query head, the two places are the halves of its rows.
 * Where it has several, they are two of these heads, `head` and head + 1. */
static stream rows_in_order(const pass *p, const rdk_const_view *v, int64_t d, rdk_row r,
                            int64_t count, int head) {
    const int64_t heads = p->call->heads_per_kv, in_heads = heads == 1 ? 0 : r.head % heads;
    const char *at = rdk_const_view_row(v, r.batch, r.head - in_heads + head, r.query);
    if (v->row_stride != d || count <= 0)
        return no_stream();
    if (heads == 1)
        return stream_of_bytes(at, count / 2 * d * 4, (count + 1) / 2 * d * 4);
    return stream_of_bytes(at, v->head_stride * 4, ((in_heads + count - 1) / heads + 1) * d * 4);
}

static stream queries_in_order(const pass *p, rdk_row r, int64_t count, int head) {
    return rows_in_order(p, &p->call->q, p->call->d_qk, r, rdk_least(TILE_GROUP, count), head);
}

/* Whether queries follow each other, so that prefetch_rows() and the CPU fetch them. */
static bool queries_follow(const pass *p) {
    return p->call->heads_per_kv == 1 && p->call->q.row_stride == p->call->d_qk;
}

/* Fetches a line of each row, at every element c that may begin one. */
RDK_INLINE void fetch_of_rows(const char *const row[TILE_LANES], int64_t c) {
    if (c % (RDK_LINE / 4) == 0)
        for (int i = 0; i < TILE_LANES; i++)
            __builtin_prefetch(row[i] + c * 4);
}

static rdk_row first_row_of_next_task(const pass *p) {
    const int64_t heads = p->call->heads_per_kv;
    return (rdk_row){.batch = p->next.batch,
                     .head = p->next.kv_head * heads + p->next.first % heads,
                     .query = p->next.first / heads};
}

/* The results that the group writes with this block, and the queries that the next group, or the
 * next task, transposes. */
static prefetch prefetch_rows(const pass *p, const group *g) {
    const rdk_const_view out = out_view(p);
    const row_block *rows = g->of;
    const rdk_row *r = &p->rows[g->first];
    const int64_t left = rows->first + rows->count - g->first - g->count;
    const int64_t end = g->block->key0 + g->block->hi;
    const bool ends = is_last_block(g), more_heads = p->call->heads_per_kv > 2;
    const bool all_end = left <= TILE_GROUP && rows->sees.end <= end;
    const bool begins = is_first_block(g);
    prefetch f = {.together = false};
    if (ends) {
        const int64_t count = g->count + (all_end ? left : 0);
        f.by_scores = rows_in_order(p, &out, p->call->d_v, *r, count, 0);
        if (more_heads)
            f.by_values = rows_in_order(p, &out, p->call->d_v, *r, count, 2);
    }
    if (begins && left > 0) {
        f.by_values = queries_in_order(p, r[g->count], left, 0);
        if (more_heads && !ends)
            f.by_scores = queries_in_order(p, r[g->count], left, 2);
    } else if (!begins && all_end && !more_heads) {
        f.by_values = queries_in_order(p, first_row_of_next_task(p), p->next.rows, 0);
    }
    return f;
}

/* ---- Panels, where scores are computed beside values --------------------------------------- */

/* Rows of K or V; none if `count` is 0. */
typedef struct panel {
    const char *at;
    int64_t count;
} panel;

/* The scores of `now` beside the values of `before`; either may be NULL. */
typedef struct overlap {
    const group *now, *before;
    int key, keys_end, value, values_end; /* lanes that are still to come */
    int at_once, keys; /* lanes of a panel, and of one run of the thin function */
    panel after;       /* the keys that are read after those of `now` */
} overlap;

/* What is read `rows` rows after the first of `now`: more of `now`, then `then`. A `now` without
 * an address is nothing to read: its rows only say how long it takes until `then`. */
static panel rows_on(panel now, panel then, int64_t rows, int64_t step) {
    if (rows < now.count) {
        if (!now.at)
            return (panel){.count = 0};
        const bool go_on = now.at + now.count * step == then.at;
        return (panel){now.at + rows * step, now.count - rows + (go_on ? then.count : 0)};
    }
    rows -= now.count;
    return rows < then.count ? (panel){then.at + rows * step, then.count - rows}
                             : (panel){.count = 0};
}

/* What to fetch beside the next panels. From a cache, keys are fetched one panel ahead, and values
 * half a panel, so that fewer lines wait in L1. From memory, both are fetched further ahead. */
static prefetch prefetch_panels(const pass *p, const overlap *s) {
    const rdk_plan *plan = p->plan;
    const rdk_run *run = s->now ? &s->now->kv : &s->before->kv;
    panel keys = {NULL, s->values_end - s->value}, values = {NULL, s->keys_end - s->key};
    panel next_values = {.count = 0};
    if (s->now) {
        keys = (panel){key_at(s->now, s->key), s->now->hi - s->key};
        next_values = (panel){s->now->kv.v, s->now->kv.count};
    }
    if (s->before)
        values = (panel){value_at(s->before, s->value), s->before->hi - s->value};
    const int64_t panel_rows = plan->thin_panel, ahead = plan->thin_ahead;
    keys = rows_on(keys, s->after, plan->from_memory ? ahead : panel_rows, run->k_step);
    values = rows_on(values, next_values, plan->from_memory ? ahead : panel_rows / 2, run->v_step);
    keys.count = rdk_least(keys.count, s->at_once);
    values.count = rdk_least(values.count, s->at_once);
    if (p->same_layout && keys.count > 0 && values.count > 0) {
        const rdk_run both = {keys.at, values.at, run->k_step, run->v_step,
                              rdk_least(keys.count, values.count)};
        return (prefetch){.by_scores = keys_and_values(p, both), .together = true};
    }
    return (prefetch){
        .by_scores = halves_of(keys.at, p->call->d_qk, run->k_step, keys.count),
        .by_values = halves_of(values.at, p->call->d_v, run->v_step, values.count),
    };
}

/* ---- The TLB ------------------------------------------------------------------------------- */

/* A prefetch that misses the TLB takes longer than a core can hide. So one line of each page is
 * fetched first: the page walks overlap. Where pages are larger than 4 KB, little is lost. */
static void touch_pages(const char *at, int64_t bytes) {
    enum { PAGE = 4096 };
    for (int64_t i = 0; i < bytes; i += PAGE - (int64_t)((uintptr_t)(at + i) % PAGE))
        __builtin_prefetch(at + i, 0, 2);
}

/* Touches the pages of rows of d elements, if these follow each other. */
static void touch_rows(const char *rows, int64_t d, int64_t step, int64_t count) {
    if (step == d * 4)
        touch_pages(rows, count * d * 4);
}

static void touch_run(const pass *p, rdk_run r) {
    touch_rows(r.k, p->call->d_qk, r.k_step, r.count);
    touch_rows(r.v, p->call->d_v, r.v_step, r.count);
}

/* Touches the queries and results of a row block. Its K and V are touched block by block. */
static void touch_row_block(const pass *p, const row_block *rows) {
    const rdk_problem *c = p->call;
    const rdk_const_view out = out_view(p);
    const rdk_row *r = &p->rows[rows->first], *last = r + rows->count - 1;
    const int64_t queries = last->query - r->query + 1;
    const int64_t first = r->head - r->head % c->heads_per_kv;
    for (int64_t h = first; h < first + c->heads_per_kv; h++) {
        touch_rows(rdk_const_view_row(&c->q, r->batch, h, r->query), c->d_qk, c->q.row_stride * 4,
                   queries);
        touch_rows(rdk_const_view_row(&out, r->batch, h, r->query), c->d_v, out.row_stride * 4,
                   queries);
    }
}

/* ---- One call for each schedule ------------------------------------------------------------ */

/* What a group fetches beside its block. The last group of a block fetches `next`. */
static prefetch prefetch_beside(const pass *p, const group *g, bool is_last, rdk_run next) {
    if (!is_last)
        return prefetch_rows(p, g);
    if (p->plan->touches_pages)
        touch_run(p, next);
    return prefetch_run(p, next);
}
