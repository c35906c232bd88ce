/* Tasks: the pass is set up once, then the rows of each task go through the keys. */

static void begin_pass(pass *p, const rdk_plan *plan, void *scratch) {
    const rdk_problem *c = &plan->problem;
    const rdk_scratch *s = &plan->scratch;
    char *at = (char *)scratch + (-(uintptr_t)scratch % RDK_SCRATCH_ALIGN);
    p->plan = plan;
    p->call = c;
    p->width = rdk_whole_lanes(c->d_v);
    p->chains = rdk_chains(c->d_qk);
    p->same_layout = c->kv.k.row_stride == c->kv.v.row_stride && c->d_qk == c->d_v;
    p->keeps_states = c->lse.data || c->weights.data;
    p->q = (float *)(void *)(at + s->q);
    p->first_sums = (float *)(void *)(at + s->first_sums);
    p->sums = (float *)(void *)(at + s->sums);
    p->partial = (float *)(void *)(at + s->partial);
    p->scores = (float *)(void *)(at + s->scores);
    p->values = (float *)(void *)(at + s->values);
    p->M = (float *)(void *)(at + s->M);
    p->T = (float *)(void *)(at + s->T);
    p->l = (double *)(void *)(at + s->l);
    p->rows = (rdk_row *)(void *)(at + s->row);
}

/* Enters the rows of a task: one row block, or one of each of several heads in step. */
static void enter_task(pass *p, const rdk_task *t) {
    p->count = (int)t->heads;
    span *spans = p->spans;
    for (int i = 0; i < p->count; i++) {
        row_block *rows = &p->blocks[i];
        *rows = (row_block){.batch = t->batch, .kv_head = t->kv_head + i, .count = t->rows};
        rows->first = i * p->plan->rows_apart;
        rows->spans = spans;
        spans += groups_of(rows);
        enter_row_block(p, rows, t->first);
        enter_spans(p, rows);
    }
}

/* Writes the rows of groups that see nothing: no block came to them. */
static void write_unseeing(const pass *p, const row_block *rows) {
    const int groups = groups_of(rows);
    for (int i = 0; i < groups; i++) {
        group g;
        find_group(p, rows, i, &g);
        if (!rdk_sees_nothing(g.span->sees))
            continue;
        for (int k = 0; k < g.count; k++)
            p->rows[g.first + k].closed = rdk_state_empty();
        write_rows(p, &g);
    }
}

static void walk_task(const pass *p) {
    const bool few = is_thin(&p->blocks[0]);
    if (p->plan->touches_pages && !few && p->count == 1)
        touch_row_block(p, &p->blocks[0]);
    (few ? walk_few : walk_many)(p);
    for (int i = 0; i < p->count; i++)
        write_unseeing(p, &p->blocks[i]);
    if (p->call->weights.data)
        write_weights(p);
}

/* Does tasks first ... end - 1. With a scale that is not finite, every row that sees a key is NaN;
 * the reference does such a call. */
static void walk_tasks(const rdk_plan *plan, int64_t first, int64_t end, void *scratch) {
    pass p;
    if (!isfinite(plan->problem.scale)) {
        rdk_attention_scalar(plan, first, end, scratch);
        return;
    }
    begin_pass(&p, plan, scratch);
    for (int64_t i = first; i < end; i++) {
        const rdk_task t = rdk_plan_task(plan, i);
        p.next = (rdk_task){.rows = 0};
        if (i + 1 < end)
            p.next = rdk_plan_task(plan, i + 1);
        enter_task(&p, &t);
        walk_task(&p);
    }
}
