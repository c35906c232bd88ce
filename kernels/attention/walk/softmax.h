/* Softmax over a block: references, weights in place of the logits, and their sums. */

/* ---- References ---------------------------------------------------------------------------- */

/* Sets T to +inf for each row that sees a logit of NaN. With either, all sums of the chunk are
 * NaN. */
static void note_nan(const group *g, float *T) {
    for (int i = 0; i < g->count; i++) {
        int lane = from_of(g, i);
        while (lane < end_of(g, i) && !isnan(*score_at(g, lane, i)))
            lane++;
        if (lane < end_of(g, i))
            T[i] = T[g->width + i] = INFINITY;
    }
}

/* The largest of each of 16 columns of logits; of a NaN and a number, it may be either. All logits
 * are added to `sum`, which becomes NaN if one is. (It does so, too, where +inf meets -inf: then
 * a search for NaN finds none.) FMAs add them, because maxima take the pipes of additions. */
RDK_INLINE f32x16 largest_of_columns(const float *s, int64_t step, int from, int to, f32x16 *sum) {
    const int n = F32X16_IN_FLIGHT;
    const f32x16 one = f32x16_set1(1);
    f32x16 largest[F32X16_IN_FLIGHT], all[F32X16_IN_FLIGHT];
    EACH largest[v] = all[v] = f32x16_load(s + (from + 2 * v) * step);
    for (int lane = from + 2 * n; lane < to; lane += 2 * n) {
        f32x16 x[F32X16_IN_FLIGHT];
        EACH x[v] = f32x16_load(s + (lane + 2 * v) * step);
        EACH largest[v] = f32x16_max(largest[v], x[v]);
        EACH all[v] = f32x16_fma(x[v], one, all[v]);
    }
    EACH *sum = f32x16_add(*sum, all[v]);
    for (int v = 1; v < n; v++)
        largest[0] = f32x16_max(largest[0], largest[v]);
    return largest[0];
}

/* The largest of each row, of even lanes, then of odd lanes, then of even lanes again. */
static void largest_by_key(const group *g, float *max, f32x16 *sum) {
    for (int i = 0; i < 2 * g->width; i += RDK_LANES)
        f32x16_store(max + i,
                     largest_of_columns(g->scores + i, g->width, first_lane(g), end_lane(g), sum));
    memcpy(max + 2 * g->width, max, (size_t)g->width * sizeof *max);
}

/* The same from the tiles' notes: the largest of all lanes, three times. */
static void largest_noted(const group *g, float *max, f32x16 *sum) {
    for (int i = 0; i < 3; i++)
        memcpy(max + i * g->width, g->notes, (size_t)g->width * sizeof *max);
    for (int i = 0; i + RDK_LANES <= TILE_GROUP; i += RDK_LANES / 2)
        *sum = f32x16_add(*sum, f32x16_load(g->notes + TILE_GROUP + i));
}

/* The same where logits lie by query: the largest of all lanes, three times. */
static void largest_by_query(const group *g, float *max, f32x16 *sum) {
    for (int i = 0; i < g->width; i++) {
        max[i] = 0;
        if (i < g->count) {
            const float *s = score_at(g, 0, i);
            f32x16 largest = f32x16_load(s + first_lane(g)), all = largest;
            for (int lane = first_lane(g) + RDK_LANES; lane < end_lane(g); lane += RDK_LANES) {
                largest = f32x16_max(largest, f32x16_load(s + lane));
                all = f32x16_add(all, f32x16_load(s + lane));
            }
            max[i] = f32x16_max_lanes(largest);
            *sum = f32x16_add(*sum, all);
        }
        max[g->width + i] = max[2 * g->width + i] = max[i];
    }
}

/* 2^(M - larger), for integers M <= larger; +0 below 2^-126: the exponent's bits are 0 there. */
RDK_INLINE f32x16 rescale_of(f32x16 M, f32x16 larger) {
    f32x16 k = f32x16_max(f32x16_sub(M, larger), f32x16_set1(-127));
    return f32x16_times_pow2(f32x16_set1(1), f32x16_add(k, f32x16_set1(RDK_MAGIC)));
}

/* Whether references stay: the largest logits lie above them by HEADROOM at most, or below. Mostly
 * they do. */
RDK_INLINE b32x16 may_stay(f32x16 max, f32x16 M) {
    return f32x16_le(max, f32x16_add(M, f32x16_set1(RDK_HEADROOM)));
}

/* Moves the references that must move. Notes what the sums so far are multiplied with. */
static void move_references(group *g, const float *max, float *M) {
    const f32x16 magic = f32x16_set1(RDK_MAGIC);
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 t = f32x16_load(max + i), old = f32x16_load(M + i);
        f32x16 rint = f32x16_sub(f32x16_add(t, magic), magic);
        f32x16 new = f32x16_select(may_stay(t, old), old, rint);
        f32x16_store(g->rescale + i, rescale_of(old, new));
        f32x16_store(M + i, new);
    }
}

/* Finds the largest logits of the block, and moves references. A chunk with a T above HOT, or with
 * a NaN, is done again by the reference or is all NaN, so its numbers may become anything here. */
static void find_references(const pass *p, group *g) {
    _Alignas(RDK_LINE) float max[3 * TILE_GROUP];
    float *M = p->M + 2 * g->first, *T = p->T + 2 * g->first;
    f32x16 sum = f32x16_set1(0), moved = sum;
    (g->by_query ? largest_by_query : g->has_notes ? largest_noted : largest_by_key)(g, max, &sum);
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 t = f32x16_max(f32x16_load(max + i), f32x16_load(max + g->width + i));
        f32x16_store(max + i, t);
        f32x16_store(T + i, f32x16_max(f32x16_load(T + i), t));
        moved =
            f32x16_add(moved, f32x16_zero_where(may_stay(t, f32x16_load(M + i)), f32x16_set1(1)));
    }
    if (f32x16_has_nan(sum))
        note_nan(g, T);
    g->rescales = f32x16_max_lanes(moved) > 0;
    if (g->rescales)
        move_references(g, max, M);
}

/* ---- Weights ------------------------------------------------------------------------------- */

/* Turns n vectors of logits, `step` floats apart, into weights e. */
RDK_INLINE void weigh(float *s, int64_t step, f32x16 magic, f32x16 *e, int n) {
    f32x16 u[F32X16_IN_FLIGHT], f[F32X16_IN_FLIGHT];
    EACH e[v] = f32x16_load(s + v * step);
    rdk_split_log2(magic, e, u, f, n);
    rdk_weights(u, f, e, n);
    EACH f32x16_store(s + v * step, e[v]);
}

/* Whether registers are left for sums beside the weights. */
enum { SUMS_BESIDE = F32X16_IN_FLIGHT > 2 };

/* Turns all logits of a block, which lie by key, into weights relative to M. A column of 16 may be
 * even lanes of some rows and odd lanes of others. With SUMS_BESIDE, the 16 sums of a block that
 * docs/arithmetic.md calls lanes are put at `sums`, [lane][row]. */
static void weigh_by_key(const group *g, const float *M, float *sums) {
    enum { N = F32X16_IN_FLIGHT, SUMS = RDK_LANES / 2 };
    const int n = N, from = first_lane(g), to = end_lane(g);
    const int64_t step = 2 * g->width;
    for (int i = 0; i < 2 * g->width; i += RDK_LANES) {
        f32x16 magic = f32x16_sub(f32x16_set1(RDK_MAGIC), f32x16_load(M + i));
        float *s = score_at(g, from, i);
        f32x16 e[N], sum[SUMS];
        RDK_UNROLL
        for (int k = 0; k < SUMS; k++)
            sum[k] = f32x16_set1(0);
        for (int lane = from; lane < to; lane += RDK_LANES) {
            RDK_UNROLL
            for (int k = 0; k < SUMS; k += N, s += N * step) {
                weigh(s, step, magic, e, N);
                EACH sum[k + v] = f32x16_add(sum[k + v], e[v]);
            }
        }
        if (SUMS_BESIDE)
            for (int k = 0; k < SUMS; k++)
                f32x16_store(sums + i + k * step, sum[k]);
    }
}

/* ---- Sums of weights ----------------------------------------------------------------------- */

/* The same sums once the weights are there: of n vectors of weights, `step` floats apart. Where n
 * is a constant, no loop over it is left. */
RDK_INLINE void sum_vectors(const float *e, int64_t step, int n, float *sums) {
    for (int64_t i = 0; i < step; i += RDK_LANES) {
        f32x16 sum = f32x16_load(e + i);
        for (int k = 1; k < n; k++)
            sum = f32x16_add(sum, f32x16_load(e + i + k * step));
        f32x16_store(sums + i, sum);
    }
}

static void sum_lanes(const group *g, float *sums) {
    const float *e = score_at(g, first_lane(g), 0);
    int64_t step = RDK_LANES * g->width;
    int n = (end_lane(g) - first_lane(g)) / RDK_LANES;
    if (n == RDK_BLOCK / RDK_LANES)
        sum_vectors(e, step, RDK_BLOCK / RDK_LANES, sums);
    else
        sum_vectors(e, step, n, sums);
}

/* The sum of lane i of eight rows, in double; then the folds of lanes, each over the one before. */
RDK_INLINE f64x8 lane_of(const float *sums, int width, int i) {
    return f64x8_low(f32x16_load(sums + i * width));
}

RDK_INLINE f64x8 fold_2(const float *sums, int width, int i) {
    return f64x8_add(lane_of(sums, width, i), lane_of(sums, width, i + 8));
}

RDK_INLINE f64x8 fold_4(const float *sums, int width, int i) {
    return f64x8_add(fold_2(sums, width, i), fold_2(sums, width, i + 4));
}

RDK_INLINE f64x8 fold_8(const float *sums, int width, int i) {
    return f64x8_add(fold_4(sums, width, i), fold_4(sums, width, i + 2));
}

/* Turns logits that lie by key into weights, and adds their sums to l. */
static void weigh_columns(const pass *p, const group *g) {
    _Alignas(RDK_LINE) float sums[RDK_LANES * TILE_GROUP + RDK_LANES];
    double *l = p->l + g->first;
    weigh_by_key(g, p->M + 2 * g->first, sums);
    if (!SUMS_BESIDE)
        sum_lanes(g, sums);
    for (int i = 0; i < g->width; i += 8) {
        f64x8 sum = f64x8_add(fold_8(sums + i, g->width, 0), fold_8(sums + i, g->width, 1));
        f64x8 before = f64x8_load(l + i);
        if (g->rescales)
            before = f64x8_mul(before, f64x8_low(f32x16_load(g->rescale + i)));
        f64x8_store(l + i, f64x8_add(before, sum));
    }
}

/* Turns n vectors of logits that follow each other into weights; returns the sum of `sum` and
 * them, in order. */
RDK_INLINE f32x16 weigh_in_turn(float *s, f32x16 magic, int n, f32x16 sum) {
    f32x16 e[F32X16_IN_FLIGHT];
    weigh(s, RDK_LANES, magic, e, n);
    EACH sum = f32x16_add(sum, e[v]);
    return sum;
}

/* The same as weigh_columns() where logits lie by query: 16 lanes are a vector. */
static void weigh_queries(const pass *p, const group *g) {
    enum { AT_ONCE = F32X16_IN_FLIGHT * RDK_LANES };
    for (int i = 0; i < g->count; i++) {
        f32x16 magic = f32x16_set1(RDK_MAGIC - p->M[2 * g->first + i]);
        float *s = score_at(g, 0, i);
        f32x16 sum = f32x16_set1(0);
        int lane = first_lane(g), to = end_lane(g);
        for (; lane + AT_ONCE <= to; lane += AT_ONCE)
            sum = weigh_in_turn(s + lane, magic, F32X16_IN_FLIGHT, sum);
        for (; lane < to; lane += RDK_LANES)
            sum = weigh_in_turn(s + lane, magic, 1, sum);
        double *l = p->l + g->first + i, before = g->rescales ? *l * g->rescale[i] : *l;
        *l = before + rdk_fold_lanes(sum);
    }
}

static void weigh_group(const pass *p, group *g) {
    find_references(p, g);
    (g->by_query ? weigh_queries : weigh_columns)(p, g);
}
