/* Softmax over f32x16: the row code that every vector ISA compiles. Included by softmax_<isa>.c after
 * its vocabulary; gives softmax_rows(). The arithmetic is docs/arithmetic.md, as in softmax_scalar.c.
 *
 * Rows go in groups, each phase over the whole group: maxima; references; weights and sums;
 * normalisation. A row's phases hang on each other by long latencies (reduce, divide), those of its
 * neighbours do not, so the group keeps the core busy where a single short row would wait. */
#include "kernels/contract.h"
#include "kernels/softmax/softmax.h"
#include "kernels/vec/f32x16_types.h"

enum {
    GROUP = 16,           /* rows of a group at most: the lanes of a vector of row statistics */
    GROUP_COLUMNS = 8192, /* columns of a group, roughly: x and y of one stay in L1 or near it */
    KEEP = 2048,          /* weights of a row kept in float when y is narrower */
};

/* A row on its way through the phases. */
typedef struct row {
    const char *x, *bias;
    char *y;
    rdk_type x_type, bias_type, y_type;
    int64_t visible;
    rdk_scale scale;
    float M;
    double l, log2_l;
} row;

/* The constants of a row's weights, in registers as far as they go. */
typedef struct weigher {
    f32x16 ch, cl, flush_below;
    i32x16 exponent_offset;
} weigher;

RDK_INLINE weigher weigher_of(const row *r) {
    return (weigher){
        .ch = f32x16_set1(r->scale.ch),
        .cl = f32x16_set1(r->scale.cl),
        .flush_below = f32x16_set1(RDK_MAGIC + (r->M + RDK_FLUSH)),
        .exponent_offset = i32x16_set1((int32_t)((uint32_t)(127 - (int)r->M) << 23)),
    };
}

/* What is left of a weight once u = MAGIC + n and f are known: 2^(n - M) * 2^f, or +0 far below. */
RDK_INLINE f32x16 weigh(const weigher *w, f32x16 u, f32x16 f) {
    f32x16 g = f32x16_fma(f32x16_set1(RDK_A6), f, f32x16_set1(RDK_A5));
    f32x16 h = f32x16_fma(f32x16_set1(RDK_A4), f, f32x16_set1(RDK_A3));
    f32x16 i = f32x16_fma(f32x16_set1(RDK_A2), f, f32x16_set1(RDK_A1));
    f32x16 f2 = f32x16_mul(f, f);
    h = f32x16_fma(g, f2, h);
    i = f32x16_fma(h, f2, i);
    f32x16 s = f32x16_pow2(u, w->exponent_offset);
    f32x16 e = f32x16_fma(i, f32x16_mul(f, s), s);
    return f32x16_zero_where(f32x16_lt(u, w->flush_below), e);
}

RDK_INLINE f32x16 weight(const weigher *w, f32x16 x) {
    f32x16 u = f32x16_fma(x, w->ch, f32x16_set1(RDK_MAGIC));
    f32x16 minus_n = f32x16_sub(f32x16_set1(RDK_MAGIC), u);
    f32x16 f = f32x16_fma(x, w->ch, minus_n);
    return weigh(w, u, f32x16_fma(x, w->cl, f));
}

RDK_INLINE f32x16 bias2(f32x16 bias) {
    f32x16 low = f32x16_mul(bias, f32x16_set1(RDK_LOG2E_LO));
    return f32x16_fma(bias, f32x16_set1(RDK_LOG2E_HI), low);
}

RDK_INLINE b32x16 is_absent(f32x16 b) {
    return f32x16_le(b, f32x16_set1(RDK_ABSENT));
}

RDK_INLINE f32x16 biased_weight(const weigher *w, f32x16 x, f32x16 bias) {
    f32x16 b = bias2(bias);
    f32x16 u = f32x16_add(f32x16_fma(x, w->ch, b), f32x16_set1(RDK_MAGIC));
    f32x16 minus_n = f32x16_sub(f32x16_set1(RDK_MAGIC), u);
    f32x16 f = f32x16_add(f32x16_fma(x, w->ch, minus_n), b);
    return f32x16_zero_where(is_absent(b), weigh(w, u, f32x16_fma(x, w->cl, f)));
}

/* ---- Where the elements are ---------------------------------------------------------------------- */

RDK_INLINE f32x16 x_at(const row *r, rdk_type type, int64_t j) {
    return f32x16_load_as(r->x + j * rdk_type_size(type), type);
}

RDK_INLINE f32x16 x_first(const row *r, rdk_type type, int64_t j, int n) {
    return f32x16_load_first_as(r->x + j * rdk_type_size(type), type, n);
}

/* A bias of another type than f32 costs a branch that is always the same. */
RDK_INLINE f32x16 bias_at(const row *r, int64_t j) {
    return f32x16_load_as(r->bias + j * rdk_type_size(r->bias_type), r->bias_type);
}

RDK_INLINE f32x16 bias_first(const row *r, int64_t j, int n) {
    return f32x16_load_first_as(r->bias + j * rdk_type_size(r->bias_type), r->bias_type, n);
}

/* ---- Phase 1: maxima ----------------------------------------------------------------------------- */

/* fl(max(x) * ch) = max(fl(x * ch)) for ch > 0, since rounding is monotonous: one operation each. */
RDK_INLINE float max_logit(const row *r, rdk_type type) {
    f32x16 low = f32x16_set1(-INFINITY), m0 = low, m1 = low, m2 = low, m3 = low;
    int64_t j = 0;
    for (; j + 64 <= r->visible; j += 64) {
        m0 = f32x16_max(m0, x_at(r, type, j));
        m1 = f32x16_max(m1, x_at(r, type, j + 16));
        m2 = f32x16_max(m2, x_at(r, type, j + 32));
        m3 = f32x16_max(m3, x_at(r, type, j + 48));
    }
    for (; j + 16 <= r->visible; j += 16)
        m0 = f32x16_max(m0, x_at(r, type, j));
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        m1 = f32x16_max(m1, f32x16_select(b32x16_first(n), x_first(r, type, j, n), low));
    }
    m0 = f32x16_max(f32x16_max(m0, m1), f32x16_max(m2, m3));
    return f32x16_max_lanes(m0) * r->scale.ch;
}

/* For ch <= 0, product by product. */
RDK_INLINE float max_product(const row *r, rdk_type type) {
    f32x16 low = f32x16_set1(-INFINITY), m = low, ch = f32x16_set1(r->scale.ch);
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16)
        m = f32x16_max(m, f32x16_mul(x_at(r, type, j), ch));
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 t = f32x16_mul(x_first(r, type, j, n), ch);
        m = f32x16_max(m, f32x16_select(b32x16_first(n), t, low));
    }
    return f32x16_max_lanes(m);
}

typedef struct maxima {
    f32x16 logit, bias;
} maxima;

RDK_INLINE maxima max_biased(maxima m, f32x16 x, f32x16 bias, f32x16 ch) {
    f32x16 b = bias2(bias), t = f32x16_fma(x, ch, b);
    t = f32x16_select(is_absent(b), f32x16_set1(-INFINITY), t);
    return (maxima){f32x16_max(m.logit, t), f32x16_max(m.bias, b)};
}

/* With a bias. If a bias is so large that the row is cold, though its logits are not, says +inf. */
RDK_INLINE float max_biased_logit(const row *r, rdk_type type) {
    f32x16 low = f32x16_set1(-INFINITY), ch = f32x16_set1(r->scale.ch);
    maxima m = {low, low};
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16)
        m = max_biased(m, x_at(r, type, j), bias_at(r, j), ch);
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 bias = f32x16_select(b32x16_first(n), bias_first(r, j, n), low);
        m = max_biased(m, x_first(r, type, j, n), bias, ch);
    }
    float T = f32x16_max_lanes(m.logit);
    return T > -INFINITY && f32x16_max_lanes(m.bias) > RDK_HOT ? INFINITY : T;
}

RDK_INLINE float max_of_type(const row *r, rdk_type type) {
    if (r->bias)
        return max_biased_logit(r, type);
    return r->scale.ch > 0 ? max_logit(r, type) : max_product(r, type);
}

static float row_max(const row *r) {
    if (r->x_type == RDK_F32)
        return max_of_type(r, RDK_F32);
    return r->x_type == RDK_F16 ? max_of_type(r, RDK_F16) : max_of_type(r, RDK_BF16);
}

/* ---- Phase 3: weights and their sum ------------------------------------------------------------------ */

RDK_INLINE f32x16 weight_at(const row *r, const weigher *w, rdk_type type, bool biased, int64_t j) {
    f32x16 x = x_at(r, type, j);
    return biased ? biased_weight(w, x, bias_at(r, j)) : weight(w, x);
}

RDK_INLINE f32x16 weight_first(const row *r, const weigher *w, rdk_type type, bool biased,
                               int64_t j, int n) {
    f32x16 x = x_first(r, type, j, n);
    f32x16 e = biased ? biased_weight(w, x, bias_first(r, j, n)) : weight(w, x);
    return f32x16_select(b32x16_first(n), e, f32x16_set1(0));
}

RDK_INLINE double fold(f32x16 lanes) {
    return f64x8_fold(f64x8_add(f64x8_low(lanes), f64x8_high(lanes)));
}

/* Sums the weights; keeps them in `keep`, unless that is NULL. */
RDK_INLINE double sum_of_type(const row *r, rdk_type type, bool biased, char *keep) {
    weigher w = weigher_of(r);
    double l = 0;
    int64_t j = 0;
    while (j < r->visible) {
        f32x16 lanes = f32x16_set1(0);
        int64_t end = j + RDK_BLOCK < r->visible ? j + RDK_BLOCK : r->visible;
        for (; j + 32 <= end; j += 32) {
            f32x16 e0 = weight_at(r, &w, type, biased, j);
            f32x16 e1 = weight_at(r, &w, type, biased, j + 16);
            lanes = f32x16_add(f32x16_add(lanes, e0), e1);
            if (keep) {
                f32x16_store(keep + j * 4, e0);
                f32x16_store(keep + j * 4 + 64, e1);
            }
        }
        if (j + 16 <= end) {
            f32x16 e = weight_at(r, &w, type, biased, j);
            lanes = f32x16_add(lanes, e);
            if (keep)
                f32x16_store(keep + j * 4, e);
            j += 16;
        }
        if (j < end) {
            int n = (int)(end - j);
            f32x16 e = weight_first(r, &w, type, biased, j, n);
            lanes = f32x16_add(lanes, e);
            if (keep)
                f32x16_store_first_as(keep + j * 4, RDK_F32, e, n);
            j = end;
        }
        l += fold(lanes);
    }
    return l;
}

static double sum_f32(const row *r, char *keep) {
    return keep ? sum_of_type(r, RDK_F32, false, keep) : sum_of_type(r, RDK_F32, false, NULL);
}

static double sum_f16(const row *r, char *keep) {
    return sum_of_type(r, RDK_F16, false, keep);
}

static double sum_bf16(const row *r, char *keep) {
    return sum_of_type(r, RDK_BF16, false, keep);
}

static double sum_biased(const row *r, char *keep) {
    return sum_of_type(r, r->x_type, true, keep);
}

static double row_sum(const row *r, char *keep) {
    if (r->bias)
        return sum_biased(r, keep);
    if (r->x_type == RDK_F32)
        return sum_f32(r, keep);
    return r->x_type == RDK_F16 ? sum_f16(r, keep) : sum_bf16(r, keep);
}

/* ---- Phase 5: what is written ------------------------------------------------------------------------ */

RDK_INLINE void normalise_to(const row *r, rdk_type type, const char *keep) {
    f32x16 inv = f32x16_set1((float)(1 / r->l));
    int size = rdk_type_size(type);
    int64_t j = 0;
    for (; j + 32 <= r->visible; j += 32) {
        f32x16 y0 = f32x16_mul(f32x16_load(keep + j * 4), inv);
        f32x16 y1 = f32x16_mul(f32x16_load(keep + j * 4 + 64), inv);
        f32x16_store_as(r->y + j * size, type, y0);
        f32x16_store_as(r->y + j * size + 16 * size, type, y1);
    }
    if (j + 16 <= r->visible) {
        f32x16_store_as(r->y + j * size, type, f32x16_mul(f32x16_load(keep + j * 4), inv));
        j += 16;
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 e = f32x16_load_first(keep + j * 4, n);
        f32x16_store_first_as(r->y + j * size, type, f32x16_mul(e, inv), n);
    }
}

static void normalise(const row *r, const char *keep) {
    if (r->y_type == RDK_F32)
        normalise_to(r, RDK_F32, keep);
    else if (r->y_type == RDK_F16)
        normalise_to(r, RDK_F16, keep);
    else
        normalise_to(r, RDK_BF16, keep);
}

/* For a row too long to keep: its weights once more. */
RDK_INLINE void weigh_again(const row *r, bool biased) {
    weigher w = weigher_of(r);
    f32x16 inv = f32x16_set1((float)(1 / r->l));
    int size = rdk_type_size(r->y_type);
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16) {
        f32x16 e = weight_at(r, &w, r->x_type, biased, j);
        f32x16_store_as(r->y + j * size, r->y_type, f32x16_mul(e, inv));
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 e = weight_first(r, &w, r->x_type, biased, j, n);
        f32x16_store_first_as(r->y + j * size, r->y_type, f32x16_mul(e, inv), n);
    }
}

typedef struct logger {
    f64x8 c2, log2e, M, log2_l, ln2;
} logger;

RDK_INLINE f64x8 log_half(const logger *k, f64x8 x, f64x8 bias, bool biased) {
    f64x8 t = f64x8_mul(x, k->c2);
    if (biased)
        t = f64x8_add(t, f64x8_mul(bias, k->log2e));
    return f64x8_mul(f64x8_sub(f64x8_sub(t, k->M), k->log2_l), k->ln2);
}

RDK_INLINE f32x16 log_weight(const logger *k, f32x16 x, f32x16 bias, bool biased) {
    f32x16 y = f32x16_narrow(log_half(k, f64x8_low(x), f64x8_low(bias), biased),
                             log_half(k, f64x8_high(x), f64x8_high(bias), biased));
    return biased ? f32x16_select(is_absent(bias2(bias)), f32x16_set1(-INFINITY), y) : y;
}

RDK_INLINE void log_weights(const row *r, bool biased) {
    logger k = {f64x8_set1(r->scale.c2), f64x8_set1(RDK_LOG2E), f64x8_set1(r->M),
                f64x8_set1(r->log2_l), f64x8_set1(RDK_LN2)};
    f32x16 none = f32x16_set1(0);
    int size = rdk_type_size(r->y_type);
    int64_t j = 0;
    for (; j + 16 <= r->visible; j += 16) {
        f32x16 x = x_at(r, r->x_type, j), bias = biased ? bias_at(r, j) : none;
        f32x16_store_as(r->y + j * size, r->y_type, log_weight(&k, x, bias, biased));
    }
    if (j < r->visible) {
        int n = (int)(r->visible - j);
        f32x16 x = x_first(r, r->x_type, j, n), bias = biased ? bias_first(r, j, n) : none;
        f32x16_store_first_as(r->y + j * size, r->y_type, log_weight(&k, x, bias, biased), n);
    }
}

/* Columns from .. to of y are all v, which is not NaN, or the canonical NaN in every type. */
static void fill(const row *r, int64_t from, int64_t to, float v) {
    int size = rdk_type_size(r->y_type);
    char whole[64];
    for (int i = 0; i < RDK_LANES; i++)
        rdk_store(whole, r->y_type, i, v);
    for (; from + RDK_LANES <= to; from += RDK_LANES)
        memcpy(r->y + from * size, whole, (size_t)(RDK_LANES * size));
    if (from < to)
        rdk_copy_few(r->y + from * size, whole, (int)(to - from) * size);
}

/* ---- The walk ------------------------------------------------------------------------------------------ */

RDK_INLINE row row_of(const rdk_softmax_desc *d, int64_t index, rdk_scale scale) {
    row r = {
        .x = (const char *)d->x + index * d->x_stride * rdk_type_size(d->x_type),
        .x_type = d->x_type,
        .bias_type = d->bias_type,
        .y_type = d->y_type,
        .visible = d->visible ? d->visible[index] : d->cols,
        .scale = d->row_scale ? rdk_split_scale(d->row_scale[index]) : scale,
    };
    if (d->bias)
        r.bias = (const char *)d->bias + index * d->bias_stride * rdk_type_size(d->bias_type);
    if (d->mode != RDK_SOFTMAX_LSE)
        r.y = (char *)d->y + index * d->y_stride * rdk_type_size(d->y_type);
    return r;
}

/* Whether the float path may take the row; sets its M. */
RDK_INLINE bool choose_reference(row *r, float T) {
    if (T > RDK_HOT || (T > -INFINITY && T < -RDK_HOT))
        return false;
    r->M = T < -RDK_HOT ? -RDK_HOT : (T + RDK_MAGIC) - RDK_MAGIC;
    return true;
}

RDK_INLINE void write_row(const rdk_softmax_desc *d, row *r, int64_t index, const char *keep) {
    bool something = r->l > 0;
    if (something && (d->lse || d->mode == RDK_LOG_SOFTMAX))
        r->log2_l = rdk_log2(r->l);
    if (d->lse) {
        float lse = something ? (float)((r->M + r->log2_l) * RDK_LN2) : r->l == 0 ? -INFINITY : NAN;
        rdk_store(d->lse, RDK_F32, index, lse);
    }
    if (d->mode == RDK_SOFTMAX_LSE)
        return;
    float nothing = d->mode == RDK_LOG_SOFTMAX ? -INFINITY : 0;
    if (!something)
        fill(r, 0, r->visible, r->l == 0 ? nothing : NAN);
    else if (d->mode == RDK_LOG_SOFTMAX)
        r->bias ? log_weights(r, true) : log_weights(r, false);
    else if (keep)
        normalise(r, keep);
    else
        r->bias ? weigh_again(r, true) : weigh_again(r, false);
    fill(r, r->visible, d->cols, nothing);
}

/* Rows first .. first + count - 1, count <= GROUP; `kept` has room for their weights, or is NULL. */
static void softmax_group(const rdk_softmax_desc *d, rdk_scale scale, int64_t first, int count,
                          float *kept) {
    row rows[GROUP];
    char *keep[GROUP];
    float T[GROUP];
    int hot = 0; /* rows[0 .. hot) take the float path; which[] says which of the group they are */
    int which[GROUP];

    for (int i = 0; i < count; i++) {
        rows[i] = row_of(d, first + i, scale);
        T[i] = isfinite(rows[i].scale.ch) ? row_max(&rows[i]) : INFINITY;
    }
    for (int i = 0; i < count; i++) {
        if (!choose_reference(&rows[i], T[i])) {
            rdk_softmax_row_scalar(d, first + i);
            continue;
        }
        rows[hot] = rows[i];
        which[hot++] = i;
    }
    for (int i = 0; i < hot; i++) {
        keep[i] = NULL;
        if (d->mode == RDK_SOFTMAX)
            keep[i] = d->y_type == RDK_F32 ? rows[i].y : kept ? (char *)(kept + i * d->cols) : NULL;
        rows[i].l = row_sum(&rows[i], keep[i]);
    }
    for (int i = 0; i < hot; i++)
        write_row(d, &rows[i], first + which[i], keep[i]);
}

static void softmax_rows(const rdk_softmax_desc *d) {
    float kept[KEEP];
    bool narrow = d->mode == RDK_SOFTMAX && d->y_type != RDK_F32;
    rdk_scale scale = rdk_split_scale(d->scale == 0 ? 1 : d->scale);
    int64_t at_once = GROUP_COLUMNS / (d->cols + 1);
    if (narrow && at_once * d->cols > KEEP)
        at_once = KEEP / d->cols;
    at_once = at_once < 1 ? 1 : at_once > GROUP ? GROUP : at_once;
    bool fits = at_once * d->cols <= KEEP;
    for (int64_t first = 0; first < d->rows; first += at_once) {
        int64_t left = d->rows - first;
        int count = (int)(left < at_once ? left : at_once);
        softmax_group(d, scale, first, count, narrow && fits ? kept : NULL);
    }
}
