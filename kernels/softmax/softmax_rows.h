/* Softmax over f32x16: the row code that every vector ISA compiles. softmax_<isa>.c includes it
 * after its vocabulary, for softmax_rows(). The arithmetic is that of docs/arithmetic.md, as in
 * softmax_scalar.c.
 *
 * Rows go in groups, and each phase goes over the whole group: maxima; references; weights and
 * sums; results. The phases of one row wait for each other with long latencies (reduce, divide).
 * Rows do not wait for each other, so a group keeps the core busy where a single short row would
 * not. The last phase of a group and the first of the next go together, row by row: one is all
 * stores, the other all loads.
 *
 * The types of x and y are constants where speed asks for it: in functions marked RDK_INLINE. The
 * static functions around them choose an instance. */
#include "kernels/contract.h"
#include "kernels/softmax/softmax.h"
#include "kernels/vec/f32x16_types.h"
#include "kernels/vec/weights.h"

enum {
    GROUP = 16,           /* rows of a group at most */
    GROUP_COLUMNS = 2048, /* columns of a group, roughly: its x and y stay in L1 */
    KEEP = 4096,          /* weights kept in float where y is narrower */
    FETCH_BYTES =
        131072, /* the longest row of x that is fetched ahead: a longer one would not stay */
};

typedef struct row {
    const char *x, *bias;
    char *y;
    int64_t index, visible;
    rdk_scale scale;
    const char *later; /* x of the row in this place of the next group, fetched meanwhile */
    char *keep; /* where weights, or logits relative to M, wait for l; NULL if they are not kept */
    float T;    /* the largest logit, base 2; +inf also where the float path cannot take it */
    float M;
    double l;
} row;

typedef struct group {
    const rdk_softmax_desc *d;
    rdk_scale scale;       /* of every row, unless each has its own */
    float *kept;           /* room for the weights of a group, or NULL */
    int64_t to_later_bias; /* bytes from a row's bias to that in its place of the next group */
    int count;
    row rows[GROUP];
    double log2_l[GROUP]; /* where it is asked for */
} group;

/* The properties that an instance of a loop is compiled for. */
typedef struct kind {
    rdk_type x_type, bias_type;
    bool biased, keeps;
    bool log; /* log-softmax: logits relative to M are kept, not weights */
} kind;

/* ---- Elements -------------------------------------------------------------------------------- */

RDK_INLINE f32x16 x_at(const row *r, rdk_type type, int64_t j) {
    return f32x16_load_as(r->x + j * rdk_type_size(type), type);
}

RDK_INLINE f32x16 x_first(const row *r, rdk_type type, int64_t j, int n) {
    return f32x16_load_first_as(r->x + j * rdk_type_size(type), type, n);
}

/* A bias in base 2. */
RDK_INLINE f32x16 bias2(f32x16 bias) {
    f32x16 low = f32x16_mul(bias, f32x16_set1(RDK_LOG2E_LO));
    return f32x16_fma(bias, f32x16_set1(RDK_LOG2E_HI), low);
}

/* A bias of f32 is a constant type. Any other costs a branch, which always goes the same way. */
RDK_INLINE f32x16 bias_at(const row *r, rdk_type type, int64_t j) {
    return f32x16_load_as(r->bias + j * rdk_type_size(type), type);
}

RDK_INLINE f32x16 bias_first(const row *r, rdk_type type, int64_t j, int n) {
    return f32x16_load_first_as(r->bias + j * rdk_type_size(type), type, n);
}

RDK_INLINE b32x16 is_absent(f32x16 bias) {
    return f32x16_le(bias, f32x16_set1(RDK_ABSENT));
}

/* t of x and its bias; -inf where the column is absent, whatever x holds. */
RDK_INLINE f32x16 biased_logit(f32x16 x, f32x16 bias, f32x16 ch) {
    return f32x16_select(is_absent(bias), f32x16_set1(-INFINITY), f32x16_fma(x, ch, bias2(bias)));
}

/* ---- Phase 1: maxima ------------------------------------------------------------------------- */

/* A look at a row before its weights: the largest element, and a sum that is NaN if any element is.
 * The sum costs nothing here. (A sum of +inf and -inf, or one that overflows, looks like NaN: such
 * a row goes to the reference as well.) */
typedef struct seen {
    f32x16 max, sum;
} seen;

RDK_INLINE seen seen_nothing(void) {
    return (seen){f32x16_set1(-INFINITY), f32x16_set1(0)};
}

RDK_INLINE seen see(seen s, f32x16 t) {
    return (seen){f32x16_max(s.max, t), f32x16_add(s.sum, t)};
}

RDK_INLINE seen see_first(seen s, f32x16 t, int n) {
    b32x16 first = b32x16_first(n);
    return (seen){f32x16_max(s.max, f32x16_select(first, t, s.max)),
                  f32x16_add(s.sum, f32x16_select(first, t, f32x16_set1(0)))};
}

RDK_INLINE seen see_both(seen a, seen b) {
    return (seen){f32x16_max(a.max, b.max), f32x16_add(a.sum, b.sum)};
}

/* The maximum, or +inf if the float path cannot take the row. */
RDK_INLINE float largest(seen s) {
    return f32x16_has_nan(s.sum) ? INFINITY : f32x16_max_lanes(s.max);
}

/* fl(max(x) * ch) = max(fl(x * ch)) for ch > 0, since rounding is monotonous: one operation less.
 * Columns before j are in s already. */
RDK_INLINE float max_logit_from(const row *r, rdk_type type, int64_t j, seen s[2]) {
    for (; j + 2 * RDK_LANES <= r->visible; j += 2 * RDK_LANES) {
        s[0] = see(s[0], x_at(r, type, j));
        s[1] = see(s[1], x_at(r, type, j + RDK_LANES));
    }
    if (j + RDK_LANES <= r->visible) {
        s[0] = see(s[0], x_at(r, type, j));
        j += RDK_LANES;
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        s[1] = see_first(s[1], x_first(r, type, j, n), n);
    }
    return largest(see_both(s[0], s[1])) * r->scale.ch;
}

RDK_INLINE float max_logit(const row *r, rdk_type type) {
    seen s[2] = {seen_nothing(), seen_nothing()};
    return max_logit_from(r, type, 0, s);
}

/* For ch <= 0, product by product. */
RDK_INLINE float max_product(const row *r, rdk_type type) {
    f32x16 ch = f32x16_set1(r->scale.ch);
    seen s = seen_nothing();
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16)
        s = see(s, f32x16_mul(x_at(r, type, j), ch));
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        s = see_first(s, f32x16_mul(x_first(r, type, j, n), ch), n);
    }
    return largest(s);
}

/* The same with a bias: a look at the row's logits and at its biases. */
typedef struct seen_biased {
    seen logits;
    f32x16 bias;
} seen_biased;

RDK_INLINE seen_biased seen_no_bias(void) {
    return (seen_biased){seen_nothing(), f32x16_set1(-INFINITY)};
}

RDK_INLINE seen_biased see_biased(seen_biased s, const row *r, kind k, int64_t j) {
    f32x16 bias = bias_at(r, k.bias_type, j), x = x_at(r, k.x_type, j);
    s.logits = see(s.logits, biased_logit(x, bias, f32x16_set1(r->scale.ch)));
    s.bias = f32x16_max(s.bias, bias);
    return s;
}

RDK_INLINE seen_biased see_biased_first(seen_biased s, const row *r, kind k, int64_t j, int n) {
    f32x16 bias = bias_first(r, k.bias_type, j, n), x = x_first(r, k.x_type, j, n);
    s.logits = see_first(s.logits, biased_logit(x, bias, f32x16_set1(r->scale.ch)), n);
    s.bias = f32x16_max(s.bias, f32x16_select(b32x16_first(n), bias, s.bias));
    return s;
}

/* A bias above HOT makes the row cold, though its logits may not be. The largest bias is the
 * largest in base 2 as well. Columns before j are in s already. */
RDK_INLINE float max_biased_logit_from(const row *r, kind k, int64_t j, seen_biased s[2]) {
    for (; j + 2 * RDK_LANES <= r->visible; j += 2 * RDK_LANES) {
        s[0] = see_biased(s[0], r, k, j);
        s[1] = see_biased(s[1], r, k, j + RDK_LANES);
    }
    if (j + RDK_LANES <= r->visible) {
        s[0] = see_biased(s[0], r, k, j);
        j += RDK_LANES;
    }
    if (j < r->visible)
        s[1] = see_biased_first(s[1], r, k, j, (int)(r->visible - j));
    float T = largest(see_both(s[0].logits, s[1].logits));
    float B = rdk_bias2(f32x16_max_lanes(f32x16_max(s[0].bias, s[1].bias)));
    return T > -INFINITY && B > RDK_HOT ? INFINITY : T;
}

RDK_INLINE float max_biased_logit(const row *r, kind k) {
    seen_biased s[2] = {seen_no_bias(), seen_no_bias()};
    return max_biased_logit_from(r, k, 0, s);
}

RDK_INLINE float max_as(const rdk_softmax_desc *d, const row *r, rdk_type type) {
    if (!isfinite(r->scale.ch))
        return INFINITY;
    if (d->bias && d->bias_type == RDK_F32)
        return max_biased_logit(r, (kind){type, RDK_F32, .biased = true});
    if (d->bias)
        return max_biased_logit(r, (kind){type, d->bias_type, .biased = true});
    return r->scale.ch > 0 ? max_logit(r, type) : max_product(r, type);
}

static void look(const rdk_softmax_desc *d, row *r) {
    if (d->x_type == RDK_F32)
        r->T = max_as(d, r, RDK_F32);
    else if (d->x_type == RDK_F16)
        r->T = max_as(d, r, RDK_F16);
    else
        r->T = max_as(d, r, RDK_BF16);
}

/* ---- Phase 2: references --------------------------------------------------------------------- */

/* Gives every row its M. Rows that are cold, hold a NaN or have no finite scale go to the
 * reference, and the others move up. */
static void choose_references(group *g) {
    int hot = 0;
    for (int i = 0; i < g->count; i++) {
        row *r = &g->rows[i];
        if (r->T > RDK_HOT || (r->T > -INFINITY && r->T < -RDK_HOT)) {
            rdk_softmax_row_scalar(g->d, r->index);
            continue;
        }
        r->M = r->T < -RDK_HOT ? -RDK_HOT : (r->T + RDK_MAGIC) - RDK_MAGIC;
        if (hot != i)
            g->rows[hot] = *r;
        hot++;
    }
    g->count = hot;
}

/* ---- Phase 3: weights and their sums --------------------------------------------------------- */

typedef struct weigher {
    f32x16 ch, cl, magic, M; /* magic = MAGIC - M */
    const char *later_bias;  /* fetched beside `later` */
} weigher;

RDK_INLINE weigher weigher_of(const row *r) {
    return (weigher){f32x16_set1(r->scale.ch), f32x16_set1(r->scale.cl),
                     f32x16_set1(RDK_MAGIC - r->M), f32x16_set1(r->M), r->bias};
}

/* u = MAGIC + k and f: the two parts that a weight is made of. */
RDK_INLINE void split(const weigher *w, const f32x16 *x, f32x16 *u, f32x16 *f, int n) {
    rdk_split(w->ch, w->magic, x, u, f, n);
    EACH f[v] = f32x16_fma(x[v], w->cl, f[v]);
}

/* The same with r = k + f for log-softmax. Where a logit is -inf, r is -inf or NaN. */
RDK_INLINE void split_log(const weigher *w, const f32x16 *x, f32x16 *u, f32x16 *f, f32x16 *r,
                          int n) {
    EACH u[v] = f32x16_fma(x[v], w->ch, w->magic);
    EACH r[v] = f32x16_sub(u[v], w->magic);
    EACH f[v] = f32x16_fms(x[v], w->ch, r[v]);
    EACH r[v] = f32x16_sub(r[v], w->M);
    EACH f[v] = f32x16_fma(x[v], w->cl, f[v]);
    EACH r[v] = f32x16_add(r[v], f[v]);
}

/* The same for one vector with a bias, which has an integer part of its own. Where a column is
 * absent u is -inf, and its weight will be cleared. */
RDK_INLINE void split_biased(const weigher *w, f32x16 x, f32x16 bias, f32x16 *u, f32x16 *f,
                             f32x16 *r) {
    f32x16 magic = f32x16_set1(RDK_MAGIC);
    f32x16 high = f32x16_set1(RDK_LOG2E_HI), low = f32x16_set1(RDK_LOG2E_LO);
    *u = f32x16_add(biased_logit(x, bias, w->ch), w->magic);
    f32x16 n = f32x16_sub(*u, w->magic);
    f32x16 n_x = f32x16_sub(f32x16_fma(x, w->ch, magic), magic);
    f32x16 n_bias = f32x16_sub(n, n_x);
    *f = f32x16_add(f32x16_fms(x, w->ch, n_x), f32x16_fms(bias, high, n_bias));
    *f = f32x16_fma(x, w->cl, *f);
    *f = f32x16_fma(bias, low, *f);
    *r = f32x16_add(f32x16_sub(n, w->M), *f);
}

/* u and f of n vectors of x, with their biases if there are any; r for log-softmax alone. */
RDK_INLINE void split_as(const weigher *w, kind k, const f32x16 *x, const f32x16 *bias, f32x16 *u,
                         f32x16 *f, f32x16 *r, int n) {
    if (k.biased)
        EACH split_biased(w, x[v], bias[v], &u[v], &f[v], &r[v]);
    else if (k.log)
        split_log(w, x, u, f, r, n);
    else
        split(w, x, u, f, n);
}

RDK_INLINE void fetch_later(const row *r, const weigher *w, kind k, int64_t j) {
    __builtin_prefetch(r->later + j * rdk_type_size(k.x_type));
    if (k.biased)
        __builtin_prefetch(w->later_bias + j * rdk_type_size(k.bias_type));
}

RDK_INLINE void keep(const row *r, int64_t j, const f32x16 *kept, int n) {
    EACH f32x16_store(r->keep + (j + RDK_LANES * v) * 4, kept[v]);
}

/* Adds the weights of n vectors of columns from j on to the lanes, in order. */
RDK_INLINE f32x16 add_weights(const row *r, const weigher *w, kind k, int64_t j, int n,
                              f32x16 lanes) {
    f32x16 e[F32X16_IN_FLIGHT], b[F32X16_IN_FLIGHT], relative[F32X16_IN_FLIGHT];
    f32x16 u[F32X16_IN_FLIGHT], f[F32X16_IN_FLIGHT];
    EACH e[v] = x_at(r, k.x_type, j + RDK_LANES * v);
    if (k.biased)
        EACH b[v] = bias_at(r, k.bias_type, j + RDK_LANES * v);
    split_as(w, k, e, b, u, f, relative, n);
    if (k.keeps && k.log)
        keep(r, j, relative, n);
    rdk_weights(u, f, e, n);
    EACH fetch_later(r, w, k, j + RDK_LANES * v);
    EACH lanes = f32x16_add(lanes, e[v]);
    if (k.keeps && !k.log)
        keep(r, j, e, n);
    return lanes;
}

/* The last n < 16 columns: their weights, with +0 in the other lanes, and r for log-softmax. */
RDK_INLINE f32x16 last_weights(const row *r, const weigher *w, kind k, int64_t j, int n,
                               f32x16 *relative) {
    f32x16 e = x_first(r, k.x_type, j, n), b = f32x16_set1(0), u, f;
    if (k.biased)
        b = bias_first(r, k.bias_type, j, n);
    split_as(w, k, &e, &b, &u, &f, relative, 1);
    rdk_weights(&u, &f, &e, 1);
    return f32x16_select(b32x16_first(n), e, f32x16_set1(0));
}

RDK_INLINE f32x16 add_block(const row *r, const weigher *w, kind k, int64_t j) {
    enum { VECTORS = RDK_BLOCK / RDK_LANES };
    f32x16 lanes = f32x16_set1(0);
    RDK_UNROLL
    for (int v = 0; v < VECTORS; v += F32X16_IN_FLIGHT) {
        int n = VECTORS - v < F32X16_IN_FLIGHT ? VECTORS - v : F32X16_IN_FLIGHT;
        lanes = add_weights(r, w, k, j + RDK_LANES * v, n, lanes);
    }
    return lanes;
}

/* With biases, in two passes: the chain before a weight is as long as the weight's own, and a core
 * overlaps less of the two in one pass. */
RDK_INLINE f32x16 add_biased_block(const row *r, const weigher *w, kind k, int64_t j) {
    enum { VECTORS = RDK_BLOCK / RDK_LANES };
    f32x16 u[VECTORS], f[VECTORS], lanes = f32x16_set1(0);
    for (int v = 0; v < VECTORS; v++) {
        int64_t at = j + RDK_LANES * v;
        f32x16 x = x_at(r, k.x_type, at), bias = bias_at(r, k.bias_type, at), relative;
        split_biased(w, x, bias, &u[v], &f[v], &relative);
        if (k.keeps && k.log)
            keep(r, at, &relative, 1);
        fetch_later(r, w, k, at);
    }
    RDK_UNROLL
    for (int v = 0; v < VECTORS; v += F32X16_IN_FLIGHT) {
        int n = VECTORS - v < F32X16_IN_FLIGHT ? VECTORS - v : F32X16_IN_FLIGHT;
        f32x16 e[F32X16_IN_FLIGHT];
        rdk_weights(u + v, f + v, e, n);
        for (int i = 0; i < n; i++)
            lanes = f32x16_add(lanes, e[i]);
        if (k.keeps && !k.log)
            keep(r, j + RDK_LANES * v, e, n);
    }
    return lanes;
}

RDK_INLINE f32x16 add_part_of_block(const row *r, const weigher *w, kind k, int64_t j) {
    f32x16 lanes = f32x16_set1(0);
    for (; j + 2 * RDK_LANES <= r->visible; j += 2 * RDK_LANES)
        lanes = add_weights(r, w, k, j, 2, lanes);
    if (j + RDK_LANES <= r->visible) {
        lanes = add_weights(r, w, k, j, 1, lanes);
        j += RDK_LANES;
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 relative, e = last_weights(r, w, k, j, n, &relative);
        lanes = f32x16_add(lanes, e);
        if (k.keeps)
            f32x16_store_first_as(r->keep + j * 4, RDK_F32, k.log ? relative : e, n);
    }
    return lanes;
}

/* All of a row's sum but its last block, whose lanes are returned. A block is folded only after the
 * next one, of this row or another, has been dispatched: folding at once would wait for the last
 * weight and hold the scheduler's slots meanwhile. */
RDK_INLINE f32x16 sum_as(row r, kind k, int64_t to_later_bias, double *l) {
    weigher w = weigher_of(&r);
    if (k.biased && r.later != r.x)
        w.later_bias += to_later_bias;
    f32x16 last = f32x16_set1(0);
    *l = 0;
    for (int64_t j = 0; j < r.visible; j += RDK_BLOCK) {
        bool whole = j + RDK_BLOCK <= r.visible;
        f32x16 lanes = !whole     ? add_part_of_block(&r, &w, k, j)
                       : k.biased ? add_biased_block(&r, &w, k, j)
                                  : add_block(&r, &w, k, j);
        if (j)
            *l += rdk_fold_lanes(last);
        last = lanes;
    }
    return last;
}

RDK_INLINE void sums_as(group *g, kind k) {
    f32x16 last[GROUP];
    for (int i = 0; i < g->count; i++)
        last[i] = sum_as(g->rows[i], k, g->to_later_bias, &g->rows[i].l);
    for (int i = 0; i < g->count; i++)
        g->rows[i].l += rdk_fold_lanes(last[i]);
}

RDK_INLINE void sums_of_type(group *g, rdk_type type) {
    if (g->d->bias && g->d->bias_type == RDK_F32)
        sums_as(g, (kind){type, RDK_F32, .biased = true, .keeps = true});
    else if (g->d->bias)
        sums_as(g, (kind){type, g->d->bias_type, .biased = true, .keeps = true});
    else
        sums_as(g, (kind){type, RDK_F32, .keeps = true});
}

static void sums_kept(group *g) {
    if (g->d->x_type == RDK_F32)
        sums_of_type(g, RDK_F32);
    else if (g->d->x_type == RDK_F16)
        sums_of_type(g, RDK_F16);
    else
        sums_of_type(g, RDK_BF16);
}

/* Constants only where all are f32: fewer instances to compile. */
static void sums_log(group *g) {
    const rdk_softmax_desc *d = g->d;
    kind k = {d->x_type, d->bias_type, .biased = d->bias != NULL, .keeps = true, .log = true};
    if (k.x_type == RDK_F32 && !k.biased)
        sums_as(g, (kind){RDK_F32, RDK_F32, .keeps = true, .log = true});
    else if (k.x_type == RDK_F32 && k.bias_type == RDK_F32)
        sums_as(g, (kind){RDK_F32, RDK_F32, .biased = true, .keeps = true, .log = true});
    else if (k.biased)
        sums_as(g, (kind){k.x_type, k.bias_type, .biased = true, .keeps = true, .log = true});
    else
        sums_as(g, (kind){k.x_type, RDK_F32, .keeps = true, .log = true});
}

/* Where only the sum is wanted, x's type is a constant for f32 alone:
 * fewer instances to compile. */
static void sums_alone(group *g) {
    if (g->d->bias)
        sums_as(g, (kind){g->d->x_type, g->d->bias_type, .biased = true});
    else if (g->d->x_type == RDK_F32)
        sums_as(g, (kind){RDK_F32, RDK_F32, .keeps = false});
    else
        sums_as(g, (kind){g->d->x_type, RDK_F32, .keeps = false});
}

/* ---- Phase 4: results ------------------------------------------------------------------------ */

/* The kept value becomes y: a weight times 1 / l, or a logit relative to M, in base e
 * and less the logarithm of l. */
typedef struct finish {
    bool log;
    f32x16 factor, term;
} finish;

RDK_INLINE finish finish_of(const row *r, bool log, double log2_l) {
    if (!log)
        return (finish){false, f32x16_set1((float)(1 / r->l)), f32x16_set1(0)};
    float c = (float)(log2_l * RDK_LN2);
    return (finish){true, f32x16_set1(RDK_LN2_FLOAT), f32x16_set1(-c)};
}

RDK_INLINE f32x16 finished(const finish *f, f32x16 kept) {
    if (f->log)
        return f32x16_minus_inf_for_nan(f32x16_fma(kept, f->factor, f->term));
    return f32x16_mul(kept, f->factor);
}

RDK_INLINE void finish_from(const row *r, rdk_type type, int64_t j, const finish *f) {
    int size = rdk_type_size(type);
    for (; j + RDK_LANES <= r->visible; j += RDK_LANES)
        f32x16_store_as(r->y + j * size, type, finished(f, f32x16_load(r->keep + j * 4)));
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 kept = f32x16_load_first(r->keep + j * 4, n);
        f32x16_store_first_as(r->y + j * size, type, finished(f, kept), n);
    }
}

RDK_INLINE void finish_two(const row *r, int64_t j, const finish *f) {
    char *y = r->y + j * 4;
    const char *kept = r->keep + j * 4;
    f32x16_store(y, finished(f, f32x16_load(kept)));
    f32x16_store(y + 64, finished(f, f32x16_load(kept + 64)));
}

static int64_t common_columns(const row *r, const row *next) {
    return r->visible < next->visible ? r->visible : next->visible;
}

/* Phase 4 of a row and phase 1 of another, both f32: stores of one beside loads of the other. Loads
 * come first: rows may lie 4096 bytes apart. */
RDK_INLINE float finish_and_max(row r, row next, bool log, double log2_l) {
    finish f = finish_of(&r, log, log2_l);
    seen s[2] = {seen_nothing(), seen_nothing()};
    int64_t j = 0, common = common_columns(&r, &next);
    for (; j + 2 * RDK_LANES <= common; j += 2 * RDK_LANES) {
        s[0] = see(s[0], x_at(&next, RDK_F32, j));
        s[1] = see(s[1], x_at(&next, RDK_F32, j + RDK_LANES));
        finish_two(&r, j, &f);
    }
    finish_from(&r, RDK_F32, j, &f);
    return max_logit_from(&next, RDK_F32, j, s);
}

/* The same with biases, f32 as well. */
RDK_INLINE float finish_and_max_biased(row r, row next, bool log, double log2_l) {
    kind k = {RDK_F32, RDK_F32, .biased = true};
    finish f = finish_of(&r, log, log2_l);
    seen_biased s[2] = {seen_no_bias(), seen_no_bias()};
    int64_t j = 0, common = common_columns(&r, &next);
    for (; j + 2 * RDK_LANES <= common; j += 2 * RDK_LANES) {
        s[0] = see_biased(s[0], &next, k, j);
        s[1] = see_biased(s[1], &next, k, j + RDK_LANES);
        finish_two(&r, j, &f);
    }
    finish_from(&r, RDK_F32, j, &f);
    return max_biased_logit_from(&next, k, j, s);
}

RDK_INLINE void finish_row_as(const row *r, rdk_type y_type, bool log, double log2_l) {
    finish f = finish_of(r, log, log2_l);
    if (y_type == RDK_F32)
        finish_from(r, RDK_F32, 0, &f);
    else if (y_type == RDK_F16)
        finish_from(r, RDK_F16, 0, &f);
    else
        finish_from(r, RDK_BF16, 0, &f);
}

static void finish_row(const row *r, rdk_type y_type, bool log, double log2_l) {
    if (log)
        finish_row_as(r, y_type, true, log2_l);
    else
        finish_row_as(r, y_type, false, log2_l);
}

/* For a row too long to keep: computes the kept values once more. */
RDK_INLINE void split_again(const row *r, kind k, rdk_type y_type, double log2_l) {
    weigher w = weigher_of(r);
    finish f = finish_of(r, k.log, log2_l);
    int size = rdk_type_size(y_type);
    int64_t j = 0;
    for (; j + RDK_LANES <= r->visible; j += RDK_LANES) {
        f32x16 x = x_at(r, k.x_type, j), bias = f32x16_set1(0), u, part, e;
        if (k.biased)
            bias = bias_at(r, k.bias_type, j);
        split_as(&w, k, &x, &bias, &u, &part, &e, 1);
        if (!k.log)
            rdk_weights(&u, &part, &e, 1);
        f32x16_store_as(r->y + j * size, y_type, finished(&f, e));
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 relative, e = last_weights(r, &w, k, j, n, &relative);
        f32x16_store_first_as(r->y + j * size, y_type, finished(&f, k.log ? relative : e), n);
    }
}

static void write_again(const row *r, kind k, rdk_type y_type, double log2_l) {
    if (k.log)
        split_again(r, (kind){k.x_type, k.bias_type, k.biased, .log = true}, y_type, log2_l);
    else
        split_again(r, (kind){k.x_type, k.bias_type, k.biased, .log = false}, y_type, log2_l);
}

/* l is not NaN here: rows that hold a NaN went to the reference. */
static void write_lse(const rdk_softmax_desc *d, const row *r, double log2_l) {
    float lse = r->l > 0 ? (float)((r->M + log2_l) * RDK_LN2) : -INFINITY;
    rdk_store(d->lse, RDK_F32, r->index, lse);
}

static void write_visible(const rdk_softmax_desc *d, const row *r, double log2_l, float nothing) {
    bool log = d->mode == RDK_LOG_SOFTMAX;
    kind k = {d->x_type, d->bias_type, .biased = d->bias != NULL, .log = log};
    if (r->l == 0)
        f32x16_fill(r->y, d->y_type, 0, r->visible, nothing);
    else if (r->keep)
        finish_row(r, d->y_type, log, log2_l);
    else
        write_again(r, k, d->y_type, log2_l);
}

static void write_row(const rdk_softmax_desc *d, const row *r, double log2_l,
                      bool visible_is_written) {
    float nothing = d->mode == RDK_LOG_SOFTMAX ? -INFINITY : 0;
    if (d->lse)
        write_lse(d, r, log2_l);
    if (d->mode == RDK_SOFTMAX_LSE)
        return;
    if (!visible_is_written)
        write_visible(d, r, log2_l, nothing);
    if (r->visible < d->cols)
        f32x16_fill(r->y, d->y_type, r->visible, d->cols, nothing);
}

/* Whether a row can be written while another is looked at, if its l > 0. */
static bool is_in_step(const rdk_softmax_desc *d) {
    return d->mode != RDK_SOFTMAX_LSE && d->x_type == RDK_F32 && d->y_type == RDK_F32 &&
           (!d->bias || d->bias_type == RDK_F32);
}

/* Writes the rows of a group and looks at as many of the next, in pairs where
 * possible. Returns how many. */
RDK_INLINE int write_in_step(const rdk_softmax_desc *d, const group *now, group *next, bool biased,
                             bool log) {
    bool plain = !d->lse && !d->visible; /* a pair leaves nothing else to do */
    int i = 0;
    for (; i < now->count && i < next->count; i++) {
        const row *r = &now->rows[i];
        row *q = &next->rows[i];
        float ch = q->scale.ch;
        bool pair = r->l > 0 && ch < INFINITY && ch > (biased ? -INFINITY : 0);
        if (!pair)
            look(d, q);
        else if (biased)
            q->T = finish_and_max_biased(*r, *q, log, now->log2_l[i]);
        else
            q->T = finish_and_max(*r, *q, log, now->log2_l[i]);
        if (!pair || !plain)
            write_row(d, r, now->log2_l[i], pair);
    }
    return i;
}

/* One function for each kind of row, so that the loop of the commonest kind has no code of the
 * others. */
static int write_plain(const rdk_softmax_desc *d, const group *now, group *next) {
    return write_in_step(d, now, next, false, false);
}

static int write_log(const rdk_softmax_desc *d, const group *now, group *next) {
    return write_in_step(d, now, next, false, true);
}

static int write_biased(const rdk_softmax_desc *d, const group *now, group *next) {
    return write_in_step(d, now, next, true, false);
}

static int write_biased_log(const rdk_softmax_desc *d, const group *now, group *next) {
    return write_in_step(d, now, next, true, true);
}

/* Writes the rows of a group and looks at those of the next. */
static void write_and_look(const rdk_softmax_desc *d, const group *now, group *next) {
    int written = 0;
    if (is_in_step(d) && d->mode == RDK_LOG_SOFTMAX)
        written = (d->bias ? write_biased_log : write_log)(d, now, next);
    else if (is_in_step(d))
        written = (d->bias ? write_biased : write_plain)(d, now, next);
    for (int i = written; i < next->count; i++)
        look(d, &next->rows[i]);
    for (int i = written; i < now->count; i++)
        write_row(d, &now->rows[i], now->log2_l[i], false);
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* Takes in up to `at_once` rows from `first` on; returns the row after them. */
static int64_t enter_rows(group *g, int64_t first, int64_t at_once) {
    const rdk_softmax_desc *d = g->d;
    int64_t x_step = d->x_stride * rdk_type_size(d->x_type), end = first + at_once;
    int64_t y_step = d->y_stride * rdk_type_size(d->y_type);
    int64_t bias_step = d->bias_stride * rdk_type_size(d->bias_type);
    bool short_rows = d->cols * rdk_type_size(d->x_type) <= FETCH_BYTES;
    row *r = g->rows;
    if (end > d->rows)
        end = d->rows;
    for (int64_t index = first; index < end; index++, r++) {
        r->index = index;
        r->x = (const char *)d->x + index * x_step;
        r->later = short_rows && index + at_once < d->rows ? r->x + at_once * x_step : r->x;
        r->bias = d->bias ? (const char *)d->bias + index * bias_step : NULL;
        r->y = d->mode == RDK_SOFTMAX_LSE ? NULL : (char *)d->y + index * y_step;
        r->visible = d->visible ? d->visible[index] : d->cols;
        r->scale = d->row_scale ? rdk_split_scale(d->row_scale[index]) : g->scale;
        r->keep = NULL;
        if (d->mode != RDK_SOFTMAX_LSE && d->y_type == RDK_F32)
            r->keep = r->y;
        else if (d->mode != RDK_SOFTMAX_LSE && g->kept)
            r->keep = (char *)(g->kept + (index - first) * d->cols);
    }
    g->count = (int)(end - first);
    g->to_later_bias = at_once * bias_step;
    return end;
}

static void sums(group *g) {
    if (!g->count || !g->rows[0].keep)
        sums_alone(g);
    else if (g->d->mode == RDK_LOG_SOFTMAX)
        sums_log(g);
    else
        sums_kept(g);
}

/* The logarithms of all rows side by side, since each is a chain of a hundred cycles. The logarithm
 * of 0 comes out as some number, which is not used. */
static void logarithms(group *g) {
    bool asked_for = g->d->lse || g->d->mode == RDK_LOG_SOFTMAX;
    for (int i = 0; asked_for && i < g->count; i++)
        g->log2_l[i] = rdk_log2(g->rows[i].l);
}

static void softmax_rows(const rdk_softmax_desc *d) {
    float kept[KEEP];
    group groups[2] = {{.d = d}, {.d = d}}, *now = &groups[0], *next = &groups[1];
    now->scale = next->scale = rdk_split_scale(d->scale == 0 ? 1 : d->scale);
    now->kept = next->kept = d->cols <= KEEP ? kept : NULL;
    int64_t at_once = d->cols ? GROUP_COLUMNS / d->cols : GROUP;
    at_once = at_once < 1 ? 1 : at_once > GROUP ? GROUP : at_once;

    next->count = 0;
    int64_t entered = enter_rows(now, 0, at_once);
    write_and_look(d, next, now);
    while (now->count) {
        entered = enter_rows(next, entered, at_once);
        choose_references(now);
        sums(now);
        logarithms(now);
        write_and_look(d, now, next);
        group *written = now;
        now = next;
        next = written;
    }
}
