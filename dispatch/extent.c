/* Extents: the bytes they span, and whether two of them share any. */
#include "dispatch/extent.h"

/* From the first byte to behind the last. */
static int64_t span_within(const rdk_extent *e, int dim) {
    int64_t span = e->length;
    for (int i = dim; i < e->dims; i++)
        span += (e->dim[i].count - 1) * e->dim[i].stride;
    return span;
}

static int64_t span_of(const rdk_extent *e) {
    return span_within(e, 0);
}

static rdk_status has_addresses(const rdk_extent *e) {
    return (uint64_t)span_of(e) <= UINTPTR_MAX - e->first ? RDK_OK : RDK_ERR_SIZE;
}

rdk_status rdk_extent_begin(rdk_extent *e, const void *p, int64_t size, int64_t length) {
    *e = (rdk_extent){.first = (uintptr_t)p};
    if (length > PTRDIFF_MAX / size)
        return RDK_ERR_SIZE;
    e->length = length * size;
    return has_addresses(e);
}

rdk_status rdk_extent_repeat(rdk_extent *e, int64_t size, int64_t count, int64_t stride) {
    if (count == 0)
        e->length = 0;
    if (e->length == 0)
        e->dims = 0;
    if (count <= 1 || e->length == 0)
        return RDK_OK;
    if (stride > (PTRDIFF_MAX - span_of(e)) / size / (count - 1))
        return RDK_ERR_SIZE;
    int at = e->dims++;
    for (; at > 0 && e->dim[at - 1].stride < stride * size; at--)
        e->dim[at] = e->dim[at - 1];
    e->dim[at].count = count;
    e->dim[at].stride = stride * size;
    return has_addresses(e);
}

int64_t rdk_extent_tight_stride(const rdk_extent *e) {
    for (int i = e->dims - 1; i >= 0; i--)
        if (e->dim[i].stride < span_within(e, i + 1))
            return e->dim[i].stride;
    return -1;
}

/* ---- Whether two share a byte ------------------------------------------------------------------
 *
 * Two pieces share one if their first bytes are close: first of a - first of b is more than
 * -a->length and less than b->length. Each first byte is a sum of strides times indices. With b's
 * indices counted from the last piece down, all signs are alike. So the question is: can indices be
 * chosen, each below its count, such that the sum of strides times indices lies within a certain
 * range? Division answers it for up to two strides, and for all strides that nest in each other, so
 * that views of any size take little time. */

/* stride times 0 ... count - 1; nothing overflows, since spans have addresses. */
typedef struct term {
    uint64_t stride, count; /* 1 or more */
} term;

/* The terms, by falling strides. Their sum is to be high - width ... high, or 0 ... high
 * if width is more than high. */
typedef struct sums {
    uint64_t high, width;
    int terms;
    term term[2 * RDK_EXTENT_DIMS];
} sums;

enum { MOST_TRIES = 1 << 16 };
#define NO_INDEX UINT64_MAX

static uint64_t largest_of(const term *t) {
    return t->stride * (t->count - 1);
}

static uint64_t low_of(const sums *s) {
    return s->high > s->width ? s->high - s->width : 0;
}

static void drop_term(sums *s, int at) {
    s->terms--;
    for (int i = at; i < s->terms; i++)
        s->term[i] = s->term[i + 1];
}

static void add_terms(sums *s, const rdk_extent *e) {
    for (int i = 0; i < e->dims; i++) {
        const term t = {(uint64_t)e->dim[i].stride, (uint64_t)e->dim[i].count};
        int at = s->terms;
        if (t.stride == 0) /* the same bytes again and again */
            continue;
        for (; at > 0 && s->term[at - 1].stride < t.stride; at--)
            s->term[at] = s->term[at - 1];
        s->term[at] = t;
        s->terms++;
    }
}

/* Term `at` and the next become one if all multiples of the smaller stride are among their sums. */
static bool join_terms(sums *s, int at) {
    const term *above = &s->term[at];
    term *below = &s->term[at + 1];
    const uint64_t ratio = above->stride / below->stride;
    if (above->stride % below->stride || below->count < ratio)
        return false;
    below->count += (above->count - 1) * ratio;
    drop_term(s, at);
    return true;
}

/* The last term becomes part of the range if its steps leave no gap there. */
static bool widen_range(sums *s) {
    const term *last = &s->term[s->terms - 1];
    if (last->stride - 1 > s->width)
        return false;
    s->width += largest_of(last);
    s->terms--;
    return true;
}

static void simplify(sums *s) {
    for (int i = s->terms - 2; i >= 0; i--)
        if (join_terms(s, i))
            i = s->terms - 1; /* the longer one may be joined by another */
    while (s->terms > 0 && widen_range(s))
        ;
}

static uint64_t divisor_of(uint64_t a, uint64_t b) {
    return b ? divisor_of(b, a % b) : a;
}

/* Whether the range can be reached at all, which is the whole answer for one term or none. The
 * largest sum must be large enough, and the range must hold a multiple of the strides' common
 * divisor. */
static bool may_reach(const sums *s) {
    uint64_t most = 0, divisor = 0;
    for (int i = 0; i < s->terms; i++) {
        most += largest_of(&s->term[i]);
        divisor = divisor_of(s->term[i].stride, divisor);
    }
    return most >= low_of(s) && (!divisor || s->high - s->high % divisor >= low_of(s));
}

/* The indices of a term with which the others may reach the range: first ... first + count - 1. */
typedef struct indices {
    uint64_t first, count;
} indices;

static indices indices_of(const sums *s, int at) {
    const term *t = &s->term[at];
    uint64_t others = 0, low = low_of(s), last = s->high / t->stride;
    for (int i = 0; i < s->terms; i++)
        if (i != at)
            others += largest_of(&s->term[i]);
    const uint64_t first = low > others ? (low - others - 1) / t->stride + 1 : 0;
    if (last > t->count - 1)
        last = t->count - 1;
    return (indices){first, last < first ? 0 : last - first + 1};
}

/* The least x for which a * x modulo m is low ... high. Here a < m and 0 < low <= high < m.
 * NO_INDEX if there is none, or if a * x has more than 64 bits. If no multiple of a below m is in
 * the range, a * x goes round y times: a * x - m * y is low ... high, and so m * y modulo a is
 * -high ... -low. */
static uint64_t first_within(uint64_t a, uint64_t m, uint64_t low, uint64_t high) {
    if (a == 0)
        return NO_INDEX;
    if (high / a > (low - 1) / a)
        return (low - 1) / a + 1;
    const uint64_t y = first_within(m % a, a, a - high % a, a - low % a);
    if (y > (UINT64_MAX - low) / m) /* NO_INDEX is, too */
        return NO_INDEX;
    return (low + m * y - 1) / a + 1;
}

/* Two terms. The first may take some indices in a row; the rest must be a multiple of the
 * other's stride, or more by `width` at most. The other has such an index, since indices_of()
 * left out what is beyond its last. */
static bool two_reach(const sums *s) {
    const indices x = indices_of(s, 0);
    const uint64_t m = s->term[1].stride;
    const uint64_t rest = (s->high - s->term[0].stride * x.first) % m;
    if (x.count == 0 || rest <= s->width)
        return x.count > 0;
    return first_within(s->term[0].stride % m, m, rest - s->width, rest) < x.count;
}

/* More terms: tries the indices of that with the fewest. */
static bool reach(const sums *s, int *tries) {
    if (!may_reach(s) || s->terms < 2)
        return may_reach(s);
    if (s->terms == 2)
        return two_reach(s);
    int at = 0;
    for (int i = 1; i < s->terms; i++)
        if (indices_of(s, i).count < indices_of(s, at).count)
            at = i;
    const indices x = indices_of(s, at);
    sums rest = *s;
    drop_term(&rest, at);
    for (uint64_t i = 0; i < x.count; i++) {
        rest.high = s->high - s->term[at].stride * (x.first + i);
        if (--*tries < 0 || reach(&rest, tries))
            return true;
    }
    return false;
}

bool rdk_extents_overlap(const rdk_extent *a, const rdk_extent *b) {
    if (!a->length || !b->length)
        return false;
    const uint64_t a_end = a->first + (uint64_t)span_of(a), b_end = b->first + (uint64_t)span_of(b);
    if (a_end <= b->first || b_end <= a->first)
        return false;
    sums s = {.high = b_end - 1 - a->first, .width = (uint64_t)a->length + (uint64_t)b->length - 2};
    int tries = MOST_TRIES;
    add_terms(&s, a);
    add_terms(&s, b);
    simplify(&s);
    return reach(&s, &tries);
}
