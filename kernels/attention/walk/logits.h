/* From scores to logits: keys that a row does not see are hidden. Logits are then looked at in
 * whole sixteens of lanes. */

/* The first of the sixteens of lanes that a group sees, and the end of the last. */
static int first_lane(const group *g) {
    return g->lo / RDK_LANES * RDK_LANES;
}

static int end_lane(const group *g) {
    return (int)rdk_round_up(g->hi, RDK_LANES);
}

/* Sets n logits to -inf. It stores whole vectors, since whole vectors are loaded soon; what lies
 * behind the n in the last one stays as it is. */
RDK_INLINE void hide_first(float *s, int n) {
    const f32x16 hidden = f32x16_set1(-INFINITY);
    for (; n >= RDK_LANES; n -= RDK_LANES, s += RDK_LANES)
        f32x16_store(s, hidden);
    if (n > 0)
        f32x16_store(s, f32x16_select(b32x16_first(n), hidden, f32x16_load(s)));
}

/* Hides those of some lanes that lie before the first one that each of 16 rows sees. */
RDK_INLINE void hide_before(const group *g, int row, lanes l) {
    const f32x16 hidden = f32x16_set1(-INFINITY), first = f32x16_load(g->from + row);
    for (int lane = l.lo; lane < l.hi; lane++) {
        float *s = score_at(g, lane, row);
        const b32x16 sees = f32x16_le(first, f32x16_set1((float)lane));
        f32x16_store(s, f32x16_select(sees, f32x16_load(s), hidden));
    }
}

/* Hides those of some lanes that lie behind the last one that each of 16 rows sees. */
RDK_INLINE void hide_behind(const group *g, int row, lanes l) {
    const f32x16 hidden = f32x16_set1(-INFINITY), end = f32x16_load(g->end + row);
    for (int lane = l.lo; lane < l.hi; lane++) {
        float *s = score_at(g, lane, row);
        const b32x16 sees = f32x16_le(f32x16_set1((float)(lane + 1)), end);
        f32x16_store(s, f32x16_select(sees, f32x16_load(s), hidden));
    }
}

/* Hides, from all rows, the lanes that the group does not see. */
static void hide_outside(const group *g) {
    for (int lane = first_lane(g); lane < g->lo; lane++)
        hide_first(score_at(g, lane, 0), g->width);
    for (int lane = g->hi; lane < end_lane(g); lane++)
        hide_first(score_at(g, lane, 0), g->width);
}

/* Where logits lie by key. A vector of rows is two parts, the last perhaps one; where that one is
 * alone in a whole vector, no tile has written the rest of the vector. */
static void hide_by_key(const group *g) {
    const int from = first_lane(g), end = end_lane(g);
    if (g->whole) {
        hide_outside(g);
        return;
    }
    for (int row = 0; row < g->width; row += RDK_LANES) {
        const bool is_last = row + PART >= g->count,
                   has_no_other = is_last && row + PART < g->width;
        const part *one = &g->parts[row / PART], *other = is_last ? one : one + 1;
        const int64_t lo = has_no_other ? end : rdk_most(one->shared.lo, other->shared.lo);
        const int64_t hi = rdk_least(one->shared.hi, other->shared.hi);
        hide_before(g, row, (lanes){from, (int)rdk_least(lo, end)});
        hide_behind(g, row, (lanes){(int)rdk_most(hi, from), end});
    }
}

static void hide_by_query(const group *g) {
    for (int i = 0; i < g->count; i++) {
        const int from = (int)rdk_least(from_of(g, i), end_lane(g)), end = end_of(g, i);
        hide_first(score_at(g, first_lane(g), i), from - first_lane(g));
        if (end > from)
            hide_first(score_at(g, end, i), end_lane(g) - end);
    }
}

static void hide_unseen(const group *g) {
    (g->by_query ? hide_by_query : hide_by_key)(g);
}

/* Where keys are hidden, the tiles' notes are not used: they are of hidden scores, too. */
static void logits_of_group(group *g) {
    if (!g->whole || g->lo % RDK_LANES || g->hi % RDK_LANES) {
        hide_unseen(g);
        g->has_notes = false;
    }
}
