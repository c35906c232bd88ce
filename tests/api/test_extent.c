/* dispatch/extent.c against sets of bytes: every answer on small random views, and addresses that
 * overflow. */
#include "tests/lib/suite.h"

#include <stdint.h>

#include "dispatch/extent.h"
#include "tests/api/bytes.h"
#include "tests/lib/seed.h"
#include "tests/softmax/cases.h"

/* Set by the build: an emulator looks at fewer. */
#ifndef RDK_VIEWS
#define RDK_VIEWS 20000
#endif

enum { SPAN = 480 }; /* small enough that views often meet, large enough that they often do not */

static uint64_t seed;
static unsigned covers_a[BYTES_MAX], covers_b[BYTES_MAX];

/* ---- Views ----------------------------------------------------------------------------------- */

/* Elements of 1 or 4 bytes, at most 4 x 4 x 4 pieces of 6, dimensions in any order of strides. */
static strided draw_few(rng *r, int64_t *size) {
    strided s;
    *size = rng_below(r, 2) ? 4 : 1;
    s.first = rng_below(r, SPAN);
    s.length = *size * rng_below(r, 7);
    for (int i = 0; i < BYTES_DIMS; i++) {
        static const int64_t UP_TO[] = {4, 12, 60, 120};
        s.count[i] = rng_below(r, 12) ? 1 + rng_below(r, 4) : 0;
        s.stride[i] = *size * rng_below(r, UP_TO[rng_below(r, 4)]);
    }
    return s;
}

/* At most 24 x 24 x 24 pieces. Their strides are multiples of `unit` and mostly larger than the
 * pieces, so that two of these views are often entangled and yet apart. */
static strided draw_many(rng *r, int64_t unit) {
    strided s = {.first = rng_below(r, SPAN), .length = 1 + rng_below(r, unit / 2)};
    for (int i = 0; i < BYTES_DIMS; i++) {
        s.count[i] = 1 + rng_below(r, rng_below(r, 2) ? 24 : 3);
        s.stride[i] = unit * rng_below(r, 108 / unit);
    }
    return s;
}

/* Base addresses are only compared, so any will do. */
static rdk_status extent_of(rdk_extent *e, uintptr_t base, const strided *s, int64_t size) {
    rdk_status status =
        rdk_extent_begin(e, (const void *)(base + (uintptr_t)s->first), size, s->length / size);
    for (int i = 0; i < BYTES_DIMS && status == RDK_OK; i++)
        status = rdk_extent_repeat(e, size, s->count[i], s->stride[i] / size);
    return status;
}

/* The definition of nesting, dimension by dimension: all that smaller strides span fits into the
 * stride. The first stride into which it does not fit, or -1. */
static int64_t tight_stride(const strided *s) {
    bool done[BYTES_DIMS] = {false};
    int64_t span = s->length;
    if (!s->length || !s->count[0] || !s->count[1] || !s->count[2])
        return -1;
    for (int n = 0; n < BYTES_DIMS; n++) {
        int least = -1;
        for (int i = 0; i < BYTES_DIMS; i++)
            if (!done[i] && (least < 0 || s->stride[i] < s->stride[least]))
                least = i;
        done[least] = true;
        if (s->count[least] > 1 && s->stride[least] < span)
            return s->stride[least];
        span += (s->count[least] - 1) * s->stride[least];
    }
    return -1;
}

/* ---- Small views ----------------------------------------------------------------------------- */

/* How many pairs overlap, and how many of those that do not are views of several pieces each. */
typedef struct met {
    int64_t share, interleave;
} met;

/* Whether the answer is that of the bytes, and the same the other way round. */
static bool is_exact(const strided *a, int64_t size_a, const strided *b, int64_t size_b,
                     uintptr_t base, met *m) {
    rdk_extent ea, eb;
    if (extent_of(&ea, base, a, size_a) != RDK_OK || extent_of(&eb, base, b, size_b) != RDK_OK)
        return false;
    count_bytes(covers_a, a);
    count_bytes(covers_b, b);
    bool share = covers_share(covers_a, covers_b);
    m->share += share;
    m->interleave += !share && ea.length && eb.length && ea.dims && eb.dims;
    if (rdk_extents_overlap(&ea, &eb) == share && rdk_extents_overlap(&eb, &ea) == share)
        return true;
    printf("\nviews of %d and %d dimensions: share a byte: %d\n", ea.dims, eb.dims, share);
    return false;
}

TEST overlap_is_exact(void) {
    static const uintptr_t BASE[] = {4096, UINTPTR_MAX / 2 - SPAN, UINTPTR_MAX - BYTES_MAX};
    rng r = {seed};
    met few = {0, 0}, many = {0, 0};
    for (int64_t n = 0; n < RDK_VIEWS; n++) {
        int64_t size_a, size_b, unit = 2 + rng_below(&r, 35);
        strided a = draw_few(&r, &size_a), b = draw_few(&r, &size_b);
        ASSERT(is_exact(&a, size_a, &b, size_b, BASE[n % 3], &few));
        a = draw_many(&r, unit);
        b = draw_many(&r, unit);
        ASSERT(is_exact(&a, 1, &b, 1, BASE[n % 3], &many));
    }
    printf("\n%d pairs of few pieces, %lld of them overlap; as many of many pieces, %lld\n",
           RDK_VIEWS, (long long)few.share, (long long)many.share);
    ASSERT(few.share > RDK_VIEWS / 10 && few.interleave > RDK_VIEWS / 10);
    ASSERT(many.share > RDK_VIEWS / 10 && many.interleave > RDK_VIEWS / 10);
    PASS();
}

TEST side_by_side_is_apart(void) {
    rdk_extent a, b;
    ASSERT_EQ(RDK_OK, rdk_extent_begin(&a, (const void *)(uintptr_t)4096, 1, 20));
    for (uintptr_t p = 4096 - 20; p <= 4096 + 30; p++) {
        ASSERT_EQ(RDK_OK, rdk_extent_begin(&b, (const void *)p, 1, 10));
        bool share = p + 10 > 4096 && p < 4096 + 20;
        ASSERT(rdk_extents_overlap(&a, &b) == share && rdk_extents_overlap(&b, &a) == share);
    }
    PASS();
}

/* A view that nests covers no byte twice. The reverse does not hold: strides of 2 and 3 may
 * interleave. */
TEST nesting_is_as_defined(void) {
    rng r = {seed + 1};
    int64_t nested = 0, cautious = 0;
    for (int64_t n = 0; n < RDK_VIEWS; n++) {
        int64_t size;
        strided s = draw_few(&r, &size);
        rdk_extent e;
        ASSERT_EQ(RDK_OK, extent_of(&e, 4096, &s, size));
        count_bytes(covers_a, &s);
        bool twice = covers_itself(covers_a);
        const int64_t tight = tight_stride(&s);
        if (rdk_extent_tight_stride(&e) != tight || (tight < 0 && twice)) {
            printf("\nview %lld: too small: stride %lld, covers a byte twice: %d\n", (long long)n,
                   (long long)tight, twice);
            FAIL();
        }
        nested += tight < 0;
        cautious += tight >= 0 && !twice;
    }
    printf("\n%d views: %lld nest, %lld more cover no byte twice\n", RDK_VIEWS, (long long)nested,
           (long long)cautious);
    ASSERT(nested > RDK_VIEWS / 10 && cautious > 0);
    PASS();
}

/* Rows of `length` bytes, `count` of them, `stride` bytes apart. */
static rdk_extent rows_of(uintptr_t p, int64_t length, int64_t count, int64_t stride) {
    rdk_extent e;
    if (rdk_extent_begin(&e, (const void *)p, 1, length) != RDK_OK ||
        rdk_extent_repeat(&e, 1, count, stride) != RDK_OK)
        e.length = 0;
    return e;
}

/* Two matrices of as many rows as there may be, one in the other's gaps; then one byte too far. */
TEST long_interleaved_views_are_told_apart(void) {
    for (int64_t count = PTRDIFF_MAX / 64; count > 1000; count /= 99) {
        for (int64_t shift = 0; shift < 32; shift++) {
            rdk_extent a = rows_of(65536, 12, count, 32);
            rdk_extent b = rows_of((uintptr_t)(65536 + shift), 8, count, 32);
            ASSERT(a.length && b.length);
            ASSERT_EQ(shift < 12 || shift > 24, rdk_extents_overlap(&a, &b));
            ASSERT_EQ(shift < 12 || shift > 24, rdk_extents_overlap(&b, &a));
        }
    }
    PASS();
}

/* Rows of one byte whose strides p and q have no common divisor. b begins so that row q - 1 of a
 * and row p - 1 of b are the first that meet. Each of the two rows is there or not. */
TEST late_meetings_are_found(void) {
    static const int64_t COPRIME[][2] = {{3, 2}, {89, 55}, {1000003, 999983}, {1 << 28, 3}};
    for (size_t i = 0; i < sizeof COPRIME / sizeof *COPRIME; i++) {
        const int64_t p = COPRIME[i][0], q = COPRIME[i][1], away = p * (q - 1) - q * (p - 1);
        if (p > PTRDIFF_MAX / 4 / q)
            continue; /* not with addresses of 32 bits */
        for (int missing = 0; missing < 3; missing++) {
            rdk_extent a = rows_of((uintptr_t)PTRDIFF_MAX / 2, 1, q - (missing == 1), p);
            rdk_extent b = rows_of((uintptr_t)(PTRDIFF_MAX / 2 + away), 1, p - (missing == 2), q);
            ASSERT(a.length && b.length);
            ASSERT_EQ(!missing, rdk_extents_overlap(&a, &b));
            ASSERT_EQ(!missing, rdk_extents_overlap(&b, &a));
        }
    }
    PASS();
}

/* Strides without any order, so large that two views meet only by chance. With few pieces the
 * answer is exact. With many it may say that they overlap, but it must come before the test's time
 * limit, which trying all pieces would exceed. */
TEST tangled_views_take_little_time(void) {
    rng r = {seed + 2};
    int64_t apart[2] = {0, 0};
    for (int n = 0; n < 40; n++) {
        const int64_t most = n % 2 ? 1000 : 8, stride = PTRDIFF_MAX / 4 / (3 * 1000);
        rdk_extent e[2];
        for (int i = 0; i < 2; i++) {
            e[i] = rows_of((uintptr_t)(4096 + rng_below(&r, 1 << 20)), 1, 2 + rng_below(&r, most),
                           1 + rng_below(&r, stride));
            for (int dim = 1; dim < RDK_EXTENT_DIMS; dim++)
                ASSERT_EQ(RDK_OK, rdk_extent_repeat(&e[i], 1, 2 + rng_below(&r, most),
                                                    1 + rng_below(&r, stride)));
        }
        apart[n % 2] += !rdk_extents_overlap(&e[0], &e[1]);
    }
    printf("\napart: %lld of 20 pairs of few pieces, %lld of 20 of many\n", (long long)apart[0],
           (long long)apart[1]);
    ASSERT(sizeof(void *) == 4 || apart[0] == 20);
    PASS();
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* From p on: `length` bytes, `count` times, `stride` bytes apart. */
static rdk_status status_of(uintptr_t p, int64_t length, int64_t count, int64_t stride) {
    rdk_extent e;
    rdk_status s = rdk_extent_begin(&e, (const void *)p, 1, length);
    return s == RDK_OK ? rdk_extent_repeat(&e, 1, count, stride) : s;
}

TEST last_byte_must_have_an_address(void) {
    for (int64_t over = -3; over <= 3; over++) {
        rdk_status expected = over > 0 ? RDK_ERR_SIZE : RDK_OK;
        ASSERT_EQ(expected, status_of(UINTPTR_MAX - 100, 100 + over, 1, 0));
        ASSERT_EQ(expected, status_of(UINTPTR_MAX - 100, 10 + over, 10, 10));
        ASSERT_EQ(expected, status_of(UINTPTR_MAX - 100, 10, 11 + over, 9));
        ASSERT_EQ(expected, status_of(0, PTRDIFF_MAX - 1000, 2, 1000 + over));
        ASSERT_EQ(expected, status_of(0, 7, 5, PTRDIFF_MAX / 4 - 1 + over));
    }
    PASS();
}

/* In every number of bits: a product that wraps to something small, in elements or in bytes. */
TEST products_that_wrap_are_refused(void) {
    rdk_extent e;
    for (int shift = 1; shift < 63; shift++) {
        int64_t count = ((int64_t)1 << (63 - shift)) + 1;
        ASSERT_EQ(RDK_ERR_SIZE, status_of(4096, 8, count, (int64_t)1 << shift));
        ASSERT_EQ(RDK_OK, rdk_extent_begin(&e, NULL, 4, 8));
        count = ((int64_t)1 << (shift < 62 ? 61 - shift : 0)) + 1;
        ASSERT_EQ(RDK_ERR_SIZE, rdk_extent_repeat(&e, 4, count, (int64_t)1 << shift));
    }
    ASSERT_EQ(RDK_ERR_SIZE, rdk_extent_begin(&e, NULL, 4, INT64_MAX));
    ASSERT_EQ(RDK_ERR_SIZE, rdk_extent_begin(&e, NULL, 4, INT64_MAX / 4 + 1));
    PASS();
}

/* Each dimension fits alone; together they do not. */
TEST dimensions_add_up(void) {
    rdk_extent e;
    const int64_t third = PTRDIFF_MAX / 3;
    ASSERT_EQ(RDK_OK, rdk_extent_begin(&e, NULL, 1, 1));
    ASSERT_EQ(RDK_OK, rdk_extent_repeat(&e, 1, 2, third));
    ASSERT_EQ(RDK_OK, rdk_extent_repeat(&e, 1, 2, third));
    ASSERT_EQ(RDK_ERR_SIZE, rdk_extent_repeat(&e, 1, 2, third + 2));
    PASS();
}

TEST nothing_has_any_stride(void) {
    rdk_extent e, other;
    ASSERT_EQ(RDK_OK, rdk_extent_begin(&other, (const void *)(uintptr_t)4096, 1, 64));
    for (int empty = 0; empty < 2; empty++) {
        ASSERT_EQ(RDK_OK, rdk_extent_begin(&e, (const void *)(uintptr_t)4096, 4, empty ? 0 : 5));
        ASSERT_EQ(RDK_OK, rdk_extent_repeat(&e, 4, empty ? 3 : 0, INT64_MAX));
        ASSERT_EQ(RDK_OK, rdk_extent_repeat(&e, 4, 3, INT64_MAX));
        ASSERT(!rdk_extents_overlap(&e, &other) && !rdk_extents_overlap(&other, &e));
        ASSERT_EQ(-1, rdk_extent_tight_stride(&e));
    }
    ASSERT_EQ(RDK_OK, rdk_extent_repeat(&other, 4, 1, INT64_MAX)); /* no second one */
    PASS();
}

SUITE(extent) {
    RUN_TEST(overlap_is_exact);
    RUN_TEST(side_by_side_is_apart);
    RUN_TEST(nesting_is_as_defined);
    RUN_TEST(long_interleaved_views_are_told_apart);
    RUN_TEST(late_meetings_are_found);
    RUN_TEST(tangled_views_take_little_time);
    RUN_TEST(last_byte_must_have_an_address);
    RUN_TEST(products_that_wrap_are_refused);
    RUN_TEST(dimensions_add_up);
    RUN_TEST(nothing_has_any_stride);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    seed = seed_of_tests();
    seed_print(seed);
    RUN_SUITE(extent);
    RDK_MAIN_END();
}
