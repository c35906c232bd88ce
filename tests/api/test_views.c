/* What the header's inline functions fill in: against fields and strides set by hand, and attention
 * over arrays of every layout against the same numbers in another. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rootdk/rootdk.h"

/* ---- Strides --------------------------------------------------------------------------------- */

static bool has_strides(rdk_const_view v, const void *data, int64_t batch, int64_t head,
                        int64_t row) {
    return v.data == data && v.batch_stride == batch && v.head_stride == head &&
           v.row_stride == row && v.type == RDK_F32;
}

static rdk_const_view as_const(rdk_view v) {
    return (rdk_const_view){v.data, v.batch_stride, v.head_stride, v.row_stride, v.type};
}

TEST strides_are_those_of_the_array(void) {
    float a[2] = {0};
    ASSERT(has_strides(rdk_const_view_bhsd(a, 3, 5, 7), a, 105, 35, 7));
    ASSERT(has_strides(rdk_const_view_bshd(a + 1, 5, 3, 7), a + 1, 105, 7, 21));
    ASSERT(has_strides(as_const(rdk_view_bhsd(a, 3, 5, 7)), a, 105, 35, 7));
    ASSERT(has_strides(as_const(rdk_view_bshd(a + 1, 5, 3, 7)), a + 1, 105, 7, 21));
    ASSERT(has_strides(as_const(rdk_view_bhsd(a, 6, 4, 1)), a, 24, 4, 1));
    const rdk_const_view odd = {a, 11, 5, 2, RDK_F32};
    ASSERT(has_strides(as_const(rdk_view_like(a + 1, odd)), a + 1, 11, 5, 2));
    PASS();
}

TEST no_stride_is_an_overflow(void) {
    static const int64_t NONE[] = {0, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        ASSERT_EQ(INT64_MAX, rdk_stride(NONE[i], 3));
        ASSERT_EQ(INT64_MAX, rdk_stride(3, NONE[i]));
        ASSERT_EQ(INT64_MAX, rdk_stride(NONE[i], NONE[i]));
    }
    for (int shift = 1; shift < 62; shift++) {
        const int64_t a = (int64_t)1 << shift, most = INT64_MAX / a;
        ASSERT_EQ(a * most, rdk_stride(a, most));
        ASSERT_EQ(a * most, rdk_stride(most, a));
        ASSERT_EQ(INT64_MAX, rdk_stride(a, most + 1));
        ASSERT_EQ(INT64_MAX, rdk_stride(most + 1, a));
    }
    PASS();
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

TEST softmax_is_filled_in(void) {
    float x[6] = {0}, y[6];
    const rdk_softmax_desc d = rdk_softmax_init(2, 3, x, y);
    ASSERT(d.size == sizeof d && d.isa == RDK_ISA_DEFAULT && d.mode == RDK_SOFTMAX);
    ASSERT(d.rows == 2 && d.cols == 3);
    ASSERT(d.x == x && d.x_stride == 3 && d.x_type == RDK_F32);
    ASSERT(d.y == y && d.y_stride == 3 && d.y_type == RDK_F32);
    ASSERT(d.scale == 0 && !d.row_scale && !d.bias && !d.bias_stride && d.bias_type == RDK_F32);
    ASSERT(!d.visible && !d.lse);
    PASS();
}

static bool is_unset(rdk_const_view v) {
    return has_strides(v, NULL, 0, 0, 0);
}

TEST attention_is_filled_in(void) {
    const rdk_attention_desc d = rdk_attention_init(2, 12, 4, 5, 7, 64);
    ASSERT(d.size == sizeof d && d.isa == RDK_ISA_DEFAULT && d.causal == RDK_CAUSAL_NONE);
    ASSERT(d.batch == 2 && d.q_heads == 12 && d.kv_heads == 4 && d.q_len == 5 && d.kv_len == 7);
    ASSERT(d.d_qk == 64 && d.d_v == 0 && d.q_pos == 0 && d.key_pos0 == 0 && d.scale == 0);
    ASSERT(is_unset(d.q) && is_unset(d.k) && is_unset(d.v));
    ASSERT(is_unset(as_const(d.out)) && is_unset(as_const(d.lse)) && is_unset(as_const(d.weights)));
    ASSERT(!d.scratch && !d.scratch_size);
    PASS();
}

/* ---- Layouts --------------------------------------------------------------------------------- */

enum { B = 2, Q_HEADS = 6, KV_HEADS = 2, ROWS = 3, KEYS = 5, ROOM = 8, D_QK = 7, D_V = 4 };

/* The same numbers in both layouts. The caches have room for more keys than there are. */
static struct {
    float q[B][Q_HEADS][ROWS][D_QK], k[B][KV_HEADS][ROOM][D_QK], v[B][KV_HEADS][ROOM][D_V];
} bhsd;

static struct {
    float q[B][ROWS][Q_HEADS][D_QK], k[B][ROOM][KV_HEADS][D_QK], v[B][ROOM][KV_HEADS][D_V];
} bshd;

static struct {
    float out[B][Q_HEADS][ROWS][D_V], lse[B][Q_HEADS][ROWS], weights[B][Q_HEADS][ROWS][KEYS];
} expected, out_bhsd;

static struct {
    float out[B][ROWS][Q_HEADS][D_V], lse[B][ROWS][Q_HEADS], weights[B][ROWS][Q_HEADS][KEYS];
} out_bshd;

static char scratch[1 << 20];

/* NaN where no key is. */
static float number(int which, int b, int h, int row, int i) {
    if (which > 0 && row >= KEYS)
        return (float)NAN;
    return (float)((which * 5 + b * 31 + h * 17 + row * 13 + i * 7) % 23) / 8 - 1.25f;
}

static void fill(void) {
    for (int b = 0; b < B; b++)
        for (int row = 0; row < ROOM; row++)
            for (int i = 0; i < D_QK; i++) {
                for (int h = 0; h < Q_HEADS && row < ROWS; h++)
                    bhsd.q[b][h][row][i] = bshd.q[b][row][h][i] = number(0, b, h, row, i);
                for (int h = 0; h < KV_HEADS; h++)
                    bhsd.k[b][h][row][i] = bshd.k[b][row][h][i] = number(1, b, h, row, i);
                for (int h = 0; h < KV_HEADS && i < D_V; h++)
                    bhsd.v[b][h][row][i] = bshd.v[b][row][h][i] = number(2, b, h, row, i);
            }
}

static rdk_attention_desc counts(void) {
    rdk_attention_desc d = rdk_attention_init(B, Q_HEADS, KV_HEADS, ROWS, KEYS, D_QK);
    d.d_v = D_V;
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    d.scratch = scratch;
    d.scratch_size = sizeof scratch;
    return d;
}

/* Every stride as the array's sizes have it, in elements. */
static rdk_status by_hand(void) {
    rdk_attention_desc d = counts();
    d.q = (rdk_const_view){bhsd.q, Q_HEADS * ROWS * D_QK, ROWS * D_QK, D_QK, RDK_F32};
    d.k = (rdk_const_view){bhsd.k, KV_HEADS * ROOM * D_QK, ROOM * D_QK, D_QK, RDK_F32};
    d.v = (rdk_const_view){bhsd.v, KV_HEADS * ROOM * D_V, ROOM * D_V, D_V, RDK_F32};
    d.out = (rdk_view){expected.out, Q_HEADS * ROWS * D_V, ROWS * D_V, D_V, RDK_F32};
    d.lse = (rdk_view){expected.lse, Q_HEADS * ROWS, ROWS, 1, RDK_F32};
    d.weights = (rdk_view){expected.weights, Q_HEADS * ROWS * KEYS, ROWS * KEYS, KEYS, RDK_F32};
    return rdk_attention(&d);
}

static rdk_attention_desc all_bhsd(void) {
    rdk_attention_desc d = counts();
    d.q = rdk_const_view_bhsd(bhsd.q, Q_HEADS, ROWS, D_QK);
    d.k = rdk_const_view_bhsd(bhsd.k, KV_HEADS, ROOM, D_QK);
    d.v = rdk_const_view_bhsd(bhsd.v, KV_HEADS, ROOM, D_V);
    d.out = rdk_view_bhsd(out_bhsd.out, Q_HEADS, ROWS, D_V);
    d.lse = rdk_view_bhsd(out_bhsd.lse, Q_HEADS, ROWS, 1);
    d.weights = rdk_view_bhsd(out_bhsd.weights, Q_HEADS, ROWS, KEYS);
    return d;
}

static rdk_attention_desc all_bshd(void) {
    rdk_attention_desc d = counts();
    d.q = rdk_const_view_bshd(bshd.q, ROWS, Q_HEADS, D_QK);
    d.k = rdk_const_view_bshd(bshd.k, ROOM, KV_HEADS, D_QK);
    d.v = rdk_const_view_bshd(bshd.v, ROOM, KV_HEADS, D_V);
    d.out = rdk_view_bshd(out_bshd.out, ROWS, Q_HEADS, D_V);
    d.lse = rdk_view_bshd(out_bshd.lse, ROWS, Q_HEADS, 1);
    d.weights = rdk_view_bshd(out_bshd.weights, ROWS, Q_HEADS, KEYS);
    return d;
}

static bool is_expected(const void *at, const void *of_expected, size_t floats) {
    return memcmp(at, of_expected, floats * sizeof(float)) == 0;
}

static bool bshd_is_expected(void) {
    bool ok = true;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < Q_HEADS; h++)
            for (int row = 0; row < ROWS; row++) {
                ok &= is_expected(out_bshd.out[b][row][h], expected.out[b][h][row], D_V);
                ok &= is_expected(&out_bshd.lse[b][row][h], &expected.lse[b][h][row], 1);
                ok &= is_expected(out_bshd.weights[b][row][h], expected.weights[b][h][row], KEYS);
            }
    return ok;
}

/* q, k and v in either layout, each alone. */
TEST layouts_give_the_same_bits(void) {
    fill();
    ASSERT_EQ(RDK_OK, by_hand());
    for (int which = 0; which < 8; which++) {
        rdk_attention_desc first = all_bhsd(), other = all_bshd();
        const rdk_attention_desc second = other;
        memset(&out_bhsd, 0xa5, sizeof out_bhsd);
        memset(&out_bshd, 0xa5, sizeof out_bshd);
        other.q = which & 1 ? first.q : second.q;
        first.q = which & 1 ? second.q : first.q;
        other.k = which & 2 ? first.k : second.k;
        first.k = which & 2 ? second.k : first.k;
        other.v = which & 4 ? first.v : second.v;
        first.v = which & 4 ? second.v : first.v;
        ASSERT_EQ(RDK_OK, rdk_attention(&first));
        ASSERT_EQ(RDK_OK, rdk_attention(&other));
        ASSERT_EQ(0, memcmp(&expected, &out_bhsd, sizeof expected));
        ASSERT(bshd_is_expected());
    }
    PASS();
}

/* ---- Numbers that are fields with a default -------------------------------------------------- */

#define NAMES(d, name)                                                                             \
    do {                                                                                           \
        const char *field_;                                                                        \
        ASSERT_EQ(RDK_ERR_SIZE, rdk_attention_check(d, &field_));                                  \
        ASSERT_STR_EQ(name, field_);                                                               \
    } while (0)

/* A d_v or kv_heads of 0 stands for another number in a descriptor; in a view it is an error. */
TEST zero_in_a_view_is_refused(void) {
    rdk_attention_desc d = all_bhsd();
    d.v = rdk_const_view_bhsd(bhsd.v, KV_HEADS, ROOM, 0);
    NAMES(&d, "v.row_stride");
    d = all_bhsd();
    d.k = rdk_const_view_bhsd(bhsd.k, 0, ROOM, D_QK);
    NAMES(&d, "k.batch_stride");
    d = all_bshd();
    d.k = rdk_const_view_bshd(bshd.k, ROOM, 0, D_QK);
    NAMES(&d, "k.row_stride");
    d = all_bshd();
    d.out = rdk_view_bshd(out_bshd.out, 0, Q_HEADS, D_V);
    NAMES(&d, "out.batch_stride");
    PASS();
}

/* Views of no keys have no elements, and so nothing to refuse. */
TEST empty_views_are_right(void) {
    rdk_attention_desc d = all_bhsd();
    d.kv_len = 0;
    d.k = rdk_const_view_bhsd(NULL, KV_HEADS, 0, D_QK);
    d.v = rdk_const_view_bhsd(NULL, KV_HEADS, 0, D_V);
    d.weights = rdk_view_bhsd(out_bhsd.weights, Q_HEADS, ROWS, 0);
    ASSERT_EQ(RDK_OK, rdk_attention(&d));
    PASS();
}

SUITE(views) {
    RUN_TEST(strides_are_those_of_the_array);
    RUN_TEST(no_stride_is_an_overflow);
    RUN_TEST(softmax_is_filled_in);
    RUN_TEST(attention_is_filled_in);
    RUN_TEST(layouts_give_the_same_bits);
    RUN_TEST(zero_in_a_view_is_refused);
    RUN_TEST(empty_views_are_right);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(views);
    RDK_MAIN_END();
}
