/* The schedule of row blocks that are not thin: block by block, group by group, scores, weights and
 * values in turn. */

/* The last group whose span has keys of block b. */
static int last_group(const row_block *rows, const key_block *b) {
    int i = groups_of(rows) - 1;
    while (i > 0 && rdk_sees_nothing(
                        rdk_sight_within(rows->spans[i].sees, b->key0 + b->lo, b->key0 + b->hi)))
        i--;
    return i;
}

/* Takes row block i through block b. */
static void pass_many(const pass *p, int i, const key_block *b) {
    const row_block *rows = &p->blocks[i];
    const rdk_run next = run_after(p, i, b);
    const int last = last_group(rows, b);
    bool packed = false;
    for (int n = 0; n <= last; n++) {
        group g;
        find_group(p, rows, n, &g);
        if (!look_at(p, b, &g))
            continue;
        if (is_first_block(&g))
            enter_group(p, &g);
        prefetch f = prefetch_beside(p, &g, n == last, next);
        score_group(p, &g, &f.by_scores);
        weigh_block(p, &g);
        const staging s = staging_of(p, &g, last + 1 - n, packed);
        stream *fetch = stream_beside_values(&f);
        packed = s != IN_PLACE;
        if (write_with_values(p, &g, s, fetch))
            continue;
        packed = add_values(p, &g, s, fetch);
        end_block(p, &g);
    }
}

static void walk_many(const pass *p) {
    key_block b = {.hi = 0};
    while (next_block(p, &b))
        for (int i = 0; i < p->count; i++)
            pass_many(p, i, &b);
}
