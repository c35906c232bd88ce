/* Softmax over f32x16: the row code that every vector ISA compiles. Included by softmax_<isa>.c after
 * its vocabulary; gives softmax_rows(). The arithmetic is docs/arithmetic.md, as in softmax_scalar.c.
 *
 * Rows go in groups, each phase over the whole group: maxima; references; weights and sums; what is
 * written. A row's phases hang on each other by long latencies (reduce, divide), those of its neighbours
 * do not, so the group keeps the core busy where a single short row would wait. The last phase of a group
 * and the first of the next go together, row by row: one is all stores, the other all loads.
 *
 * The types of x and y are constants where speed asks for it: in functions marked RDK_INLINE, of which the
 * static ones around them choose an instance. */
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
    char *keep;        /* where the weights wait to be normalised; NULL if they are not kept */
    float T; /* the largest logit, base 2; +inf also where the float path cannot take it */
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

/* ---- Elements ------------------------------------------------------------------------------------ */

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

/* The type of a bias is a constant only if it is f32: with another it costs a branch, always the same. */
RDK_INLINE f32x16 bias_at(const row *r, rdk_type type, int64_t j) {
    return f32x16_load_as(r->bias + j * rdk_type_size(type), type);
}

RDK_INLINE f32x16 bias_first(const row *r, rdk_type type, int64_t j, int n) {
    return f32x16_load_first_as(r->bias + j * rdk_type_size(type), type, n);
}

RDK_INLINE b32x16 is_absent(f32x16 b) {
    return f32x16_le(b, f32x16_set1(RDK_ABSENT));
}

/* ---- Phase 1: maxima ----------------------------------------------------------------------------- */

/* What a row's elements tell before their weights: the largest, and whether any is NaN, which a sum
 * shows at no cost. (A sum of +inf and -inf, or one that overflows, cries wolf: such a row goes to the
 * reference as well.) */
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

/* The maximum, or +inf to say: not for the float path. */
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

RDK_INLINE f32x16 present_logit(f32x16 x, f32x16 b, f32x16 ch) {
    return f32x16_select(is_absent(b), f32x16_set1(-INFINITY), f32x16_fma(x, ch, b));
}

/* With a bias; one above HOT makes the row cold, though its logits may not be. */
RDK_INLINE float max_biased_logit(const row *r, rdk_type type, rdk_type bias_type) {
    f32x16 ch = f32x16_set1(r->scale.ch), bias_max = f32x16_set1(-INFINITY);
    seen s = seen_nothing();
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16) {
        f32x16 b = bias2(bias_at(r, bias_type, j));
        s = see(s, present_logit(x_at(r, type, j), b, ch));
        bias_max = f32x16_max(bias_max, b);
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 b = bias2(bias_first(r, bias_type, j, n));
        s = see_first(s, present_logit(x_first(r, type, j, n), b, ch), n);
        bias_max = f32x16_max(bias_max, f32x16_select(b32x16_first(n), b, bias_max));
    }
    float T = largest(s);
    return T > -INFINITY && f32x16_max_lanes(bias_max) > RDK_HOT ? INFINITY : T;
}

RDK_INLINE float max_as(const rdk_softmax_desc *d, const row *r, rdk_type type) {
    if (!isfinite(r->scale.ch))
        return INFINITY;
    if (d->bias && d->bias_type == RDK_F32)
        return max_biased_logit(r, type, RDK_F32);
    if (d->bias)
        return max_biased_logit(r, type, d->bias_type);
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

/* ---- Phase 2: references -------------------------------------------------------------------------- */

/* Gives every row its M and closes the ranks over rows that are cold, hold a NaN or have no finite
 * scale: those go to the reference. */
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

/* ---- Phase 3: weights and their sums ------------------------------------------------------------------ */

typedef struct weigher {
    f32x16 ch, cl, magic;   /* magic = MAGIC - M */
    const char *later_bias; /* fetched beside `later` */
} weigher;

RDK_INLINE weigher weigher_of(const row *r) {
    return (weigher){f32x16_set1(r->scale.ch), f32x16_set1(r->scale.cl),
                     f32x16_set1(RDK_MAGIC - r->M), r->bias};
}

RDK_INLINE void split(const weigher *w, const f32x16 *x, f32x16 *u, f32x16 *f, int n) {
    rdk_split(w->ch, w->magic, x, u, f, n);
    EACH f[v] = f32x16_fma(x[v], w->cl, f[v]);
}

/* The same for one vector with a bias, which has an integer part of its own. Where a column is absent u is +0, and its
 * weight will be cleared. */
RDK_INLINE void split_biased(const weigher *w, f32x16 x, f32x16 bias, f32x16 *u, f32x16 *f) {
    f32x16 magic = f32x16_set1(RDK_MAGIC);
    f32x16 high = f32x16_set1(RDK_LOG2E_HI), low = f32x16_set1(RDK_LOG2E_LO);
    f32x16 b = bias2(bias), sum = f32x16_add(f32x16_fma(x, w->ch, b), w->magic);
    f32x16 n_x = f32x16_sub(f32x16_fma(x, w->ch, magic), magic);
    f32x16 n_bias = f32x16_sub(f32x16_sub(sum, w->magic), n_x);
    *u = f32x16_zero_where(is_absent(b), sum);
    *f = f32x16_add(f32x16_fms(x, w->ch, n_x), f32x16_fms(bias, high, n_bias));
    *f = f32x16_fma(x, w->cl, *f);
    *f = f32x16_fma(bias, low, *f);
}

/* Turns n vectors of x, with their biases or NULL, into weights. */
RDK_INLINE void weigh(const weigher *w, f32x16 *x, const f32x16 *bias, int n) {
    f32x16 u[F32X16_IN_FLIGHT], f[F32X16_IN_FLIGHT];
    if (bias)
        EACH split_biased(w, x[v], bias[v], &u[v], &f[v]);
    else
        split(w, x, u, f, n);
    rdk_weights(u, f, x, n);
}

/* What an instance of the weight loops is made for. */
typedef struct kind {
    rdk_type x_type, bias_type;
    bool biased, keeps;
} kind;

RDK_INLINE void fetch_later(const row *r, const weigher *w, kind k, int64_t j) {
    __builtin_prefetch(r->later + j * rdk_type_size(k.x_type));
    if (k.biased)
        __builtin_prefetch(w->later_bias + j * rdk_type_size(k.bias_type));
}

/* Adds n vectors of weights, of columns from j on, to the lanes, in order. */
RDK_INLINE f32x16 take_weights(const row *r, kind k, int64_t j, const f32x16 *e, int n,
                               f32x16 lanes) {
    EACH lanes = f32x16_add(lanes, e[v]);
    if (k.keeps)
        EACH f32x16_store(r->keep + (j + RDK_LANES * v) * 4, e[v]);
    return lanes;
}

/* The same for weights that are still to be computed. */
RDK_INLINE f32x16 add_weights(const row *r, const weigher *w, kind k, int64_t j, int n,
                              f32x16 lanes) {
    f32x16 e[F32X16_IN_FLIGHT], b[F32X16_IN_FLIGHT];
    EACH e[v] = x_at(r, k.x_type, j + RDK_LANES * v);
    if (k.biased)
        EACH b[v] = bias_at(r, k.bias_type, j + RDK_LANES * v);
    weigh(w, e, k.biased ? b : NULL, n);
    EACH fetch_later(r, w, k, j + RDK_LANES * v);
    return take_weights(r, k, j, e, n, lanes);
}

/* The weights of the last n < 16 columns; +0 in the other lanes. */
RDK_INLINE f32x16 last_weights(const row *r, const weigher *w, kind k, int64_t j, int n) {
    f32x16 e = x_first(r, k.x_type, j, n), b = f32x16_set1(0);
    if (k.biased)
        b = bias_first(r, k.bias_type, j, n);
    weigh(w, &e, k.biased ? &b : NULL, 1);
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

/* With biases, in two passes: what goes before a weight is as long a chain again, and a core sees less of both at once. */
RDK_INLINE f32x16 add_biased_block(const row *r, const weigher *w, kind k, int64_t j) {
    enum { VECTORS = RDK_BLOCK / RDK_LANES };
    f32x16 u[VECTORS], f[VECTORS], lanes = f32x16_set1(0);
    for (int v = 0; v < VECTORS; v++) {
        int64_t at = j + RDK_LANES * v;
        split_biased(w, x_at(r, k.x_type, at), bias_at(r, k.bias_type, at), &u[v], &f[v]);
        fetch_later(r, w, k, at);
    }
    RDK_UNROLL
    for (int v = 0; v < VECTORS; v += F32X16_IN_FLIGHT) {
        int n = VECTORS - v < F32X16_IN_FLIGHT ? VECTORS - v : F32X16_IN_FLIGHT;
        f32x16 e[F32X16_IN_FLIGHT];
        rdk_weights(u + v, f + v, e, n);
        lanes = take_weights(r, k, j + RDK_LANES * v, e, n, lanes);
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
        f32x16 e = last_weights(r, w, k, j, n);
        lanes = f32x16_add(lanes, e);
        if (k.keeps)
            f32x16_store_first_as(r->keep + j * 4, RDK_F32, e, n);
    }
    return lanes;
}

/* All of a row's sum but its last block, whose lanes are returned: a block is folded only when the next,
 * of this row or another, has been dispatched. At once, the folding would wait for the last weight with
 * the scheduler's slots in its hands. */
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
        sums_as(g, (kind){type, RDK_F32, true, true});
    else if (g->d->bias)
        sums_as(g, (kind){type, g->d->bias_type, true, true});
    else
        sums_as(g, (kind){type, RDK_F32, false, true});
}

static void sums_kept(group *g) {
    if (g->d->x_type == RDK_F32)
        sums_of_type(g, RDK_F32);
    else if (g->d->x_type == RDK_F16)
        sums_of_type(g, RDK_F16);
    else
        sums_of_type(g, RDK_BF16);
}

/* Where the sum is all that is wanted, x's type is a constant only if it is f32 and alone: fewer instances to compile. */
static void sums_alone(group *g) {
    if (g->d->bias)
        sums_as(g, (kind){g->d->x_type, g->d->bias_type, true, false});
    else if (g->d->x_type == RDK_F32)
        sums_as(g, (kind){RDK_F32, RDK_F32, false, false});
    else
        sums_as(g, (kind){g->d->x_type, RDK_F32, false, false});
}

/* ---- Phase 4: what is written ------------------------------------------------------------------------ */

RDK_INLINE void normalise_from(const row *r, rdk_type type, int64_t j, f32x16 inv) {
    int size = rdk_type_size(type);
    for (; j + RDK_LANES <= r->visible; j += RDK_LANES)
        f32x16_store_as(r->y + j * size, type, f32x16_mul(f32x16_load(r->keep + j * 4), inv));
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 e = f32x16_load_first(r->keep + j * 4, n);
        f32x16_store_first_as(r->y + j * size, type, f32x16_mul(e, inv), n);
    }
}

RDK_INLINE f32x16 inverse_of(const row *r) {
    return f32x16_set1((float)(1 / r->l));
}

/* Phase 4 of a row and phase 1 of another, both f32: stores of one beside loads of the other. */
RDK_INLINE float normalise_and_max(row r, row next) {
    f32x16 inv = inverse_of(&r);
    seen s[2] = {seen_nothing(), seen_nothing()};
    int64_t j = 0, common = r.visible < next.visible ? r.visible : next.visible;
    for (; j + 2 * RDK_LANES <= common; j += 2 * RDK_LANES) {
        s[0] = see(s[0],
                   x_at(&next, RDK_F32, j)); /* before the stores: rows may lie 4096 bytes apart */
        s[1] = see(s[1], x_at(&next, RDK_F32, j + RDK_LANES));
        f32x16_store(r.y + j * 4, f32x16_mul(f32x16_load(r.keep + j * 4), inv));
        f32x16_store(r.y + j * 4 + 64, f32x16_mul(f32x16_load(r.keep + j * 4 + 64), inv));
    }
    normalise_from(&r, RDK_F32, j, inv);
    return max_logit_from(&next, RDK_F32, j, s);
}

static void normalise(const row *r, rdk_type y_type) {
    if (y_type == RDK_F32)
        normalise_from(r, RDK_F32, 0, inverse_of(r));
    else if (y_type == RDK_F16)
        normalise_from(r, RDK_F16, 0, inverse_of(r));
    else
        normalise_from(r, RDK_BF16, 0, inverse_of(r));
}

/* For a row too long to keep: its weights once more. */
static void weigh_again(const row *r, kind k, rdk_type y_type) {
    weigher w = weigher_of(r);
    f32x16 inv = inverse_of(r);
    int size = rdk_type_size(y_type);
    int64_t j = 0;
    for (; j + RDK_LANES <= r->visible; j += RDK_LANES) {
        f32x16 e = x_at(r, k.x_type, j);
        if (k.biased) {
            f32x16 b = bias_at(r, k.bias_type, j);
            weigh(&w, &e, &b, 1);
        } else {
            weigh(&w, &e, NULL, 1);
        }
        f32x16_store_as(r->y + j * size, y_type, f32x16_mul(e, inv));
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 e = last_weights(r, &w, k, j, n);
        f32x16_store_first_as(r->y + j * size, y_type, f32x16_mul(e, inv), n);
    }
}

typedef struct logger {
    f64x8 c2, log2e, M, log2_l, ln2;
    bool biased;
} logger;

/* For the logit t, base 2. */
RDK_INLINE f64x8 log_of(const logger *k, f64x8 t) {
    return f64x8_mul(f64x8_sub(f64x8_sub(t, k->M), k->log2_l), k->ln2);
}

RDK_INLINE f64x8 log_half(const logger *k, f64x8 x, f64x8 bias) {
    f64x8 t = f64x8_mul(x, k->c2);
    if (k->biased)
        t = f64x8_add(t, f64x8_mul(bias, k->log2e));
    return log_of(k, t);
}

RDK_INLINE f32x16 log_weight(const logger *k, f32x16 x, f32x16 bias) {
    f32x16 y = f32x16_narrow(log_half(k, f64x8_low(x), f64x8_low(bias)),
                             log_half(k, f64x8_high(x), f64x8_high(bias)));
    return k->biased ? f32x16_select(is_absent(bias2(bias)), f32x16_set1(-INFINITY), y) : y;
}

/* Those of f32 without a bias, eight at a time; returns how many are done. */
static int64_t log_eights(const row *r, const logger *c) {
    const char *x = r->x;
    char *y = r->y;
    int64_t j = 0, visible = r->visible;
    for (; j + 8 <= visible; j += 8)
        f64x8_store_f32(y + j * 4, log_of(c, f64x8_mul(f64x8_load_f32(x + j * 4), c->c2)));
    return j;
}

static void log_weights(const row *r, kind k, rdk_type y_type, double log2_l) {
    logger c = {f64x8_set1(r->scale.c2), f64x8_set1(RDK_LOG2E), f64x8_set1(r->M),
                f64x8_set1(log2_l),      f64x8_set1(RDK_LN2),   k.biased};
    f32x16 none = f32x16_set1(0);
    int size = rdk_type_size(y_type);
    int64_t j = 0;
    if (k.x_type == RDK_F32 && y_type == RDK_F32 && !k.biased)
        j = log_eights(r, &c);
    for (; j + RDK_LANES <= r->visible; j += RDK_LANES) {
        f32x16 x = x_at(r, k.x_type, j), bias = k.biased ? bias_at(r, k.bias_type, j) : none;
        f32x16_store_as(r->y + j * size, y_type, log_weight(&c, x, bias));
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 x = x_first(r, k.x_type, j, n);
        f32x16 bias = k.biased ? bias_first(r, k.bias_type, j, n) : none;
        f32x16_store_first_as(r->y + j * size, y_type, log_weight(&c, x, bias), n);
    }
}

/* l is no NaN here: rows that hold one went to the reference. */
static void write_lse(const rdk_softmax_desc *d, const row *r, double log2_l) {
    float lse = r->l > 0 ? (float)((r->M + log2_l) * RDK_LN2) : -INFINITY;
    rdk_store(d->lse, RDK_F32, r->index, lse);
}

static void write_visible(const rdk_softmax_desc *d, const row *r, double log2_l, float nothing) {
    kind k = {d->x_type, d->bias_type, d->bias != NULL, false};
    if (r->l == 0)
        f32x16_fill(r->y, d->y_type, 0, r->visible, nothing);
    else if (d->mode == RDK_LOG_SOFTMAX)
        log_weights(r, k, d->y_type, log2_l);
    else if (r->keep)
        normalise(r, d->y_type);
    else
        weigh_again(r, k, d->y_type);
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

/* Writes the rows of a group and looks at those of the next, in pairs where normalise_and_max() can. */
static void write_and_look(const rdk_softmax_desc *d, const group *now, group *next) {
    bool pairs = d->mode == RDK_SOFTMAX && d->x_type == RDK_F32 && d->y_type == RDK_F32 && !d->bias;
    bool plain = pairs && !d->lse && !d->visible; /* a pair leaves nothing else to do */
    int i = 0;
    for (; i < now->count && i < next->count; i++) {
        const row *r = &now->rows[i];
        row *q = &next->rows[i];
        bool pair = pairs && r->l > 0 && q->scale.ch > 0 && q->scale.ch < INFINITY;
        if (pair)
            q->T = normalise_and_max(*r, *q);
        else
            look(d, q);
        if (!pair || !plain)
            write_row(d, r, now->log2_l[i], pair);
    }
    for (int k = i; k < next->count; k++)
        look(d, &next->rows[k]);
    for (; i < now->count; i++)
        write_row(d, &now->rows[i], now->log2_l[i], false);
}

/* ---- The walk ------------------------------------------------------------------------------------------ */

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
        if (d->mode == RDK_SOFTMAX && d->y_type == RDK_F32)
            r->keep = r->y;
        else if (d->mode == RDK_SOFTMAX && g->kept)
            r->keep = (char *)(g->kept + (index - first) * d->cols);
    }
    g->count = (int)(end - first);
    g->to_later_bias = at_once * bias_step;
    return end;
}

static void sums(group *g) {
    if (g->count && g->rows[0].keep)
        sums_kept(g);
    else
        sums_alone(g);
}

/* Those of all rows together: each is a chain of a hundred cycles. That of 0 is some number which is not used. */
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
