/* Bad descriptors: each gives its status and leaves every byte as it was; odd but good ones run. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/api/refuse.h"

/* ---- The fixture ----------------------------------------------------------------------------- */

enum { ROWS = 3, COLS = 5, STRIDE = 8, CELLS = ROWS * STRIDE };

/* Everything a call may touch lies in here, so one comparison sees any byte that was written. */
typedef struct arena {
    float x[CELLS], y[CELLS], bias[CELLS], row_scale[STRIDE], lse[STRIDE];
    int64_t visible[STRIDE];
    float wide[ROWS][4 * STRIDE];
} arena;

static arena mem;

static void reset_memory(void) {
    memset(&mem, 0xa5, sizeof mem);
    for (int i = 0; i < CELLS; i++) {
        mem.x[i] = (float)(i % 7) - 3;
        mem.bias[i] = (float)(i % 5) * 0.25f;
    }
    for (int i = 0; i < STRIDE; i++) {
        mem.row_scale[i] = 1.5f;
        mem.visible[i] = COLS - i % 2;
    }
}

/* A descriptor with nothing wrong and every field in use. */
static rdk_softmax_desc good(void) {
    return (rdk_softmax_desc){.size = sizeof(rdk_softmax_desc),
                              .rows = ROWS,
                              .cols = COLS,
                              .x = mem.x,
                              .x_stride = STRIDE,
                              .y = mem.y,
                              .y_stride = STRIDE,
                              .row_scale = mem.row_scale,
                              .bias = mem.bias,
                              .bias_stride = STRIDE,
                              .visible = mem.visible,
                              .lse = mem.lse};
}

static rdk_status call(const void *desc) {
    return rdk_softmax(desc);
}

static rdk_status call_with(const rdk_table *table, const void *desc) {
    return rdk_softmax_with(table, desc);
}

static rdk_status check(const void *desc, const char **field) {
    return rdk_softmax_check(desc, field);
}

#define DESC rdk_softmax_desc
static const operation OPERATION = {
    "rdk_softmax", call, call_with, check, sizeof(rdk_softmax_desc), &mem, sizeof mem,
};

/* ---- The descriptor as a whole --------------------------------------------------------------- */

TEST good_one_is_accepted_and_writes(void) {
    arena before = mem;
    rdk_softmax_desc d = good();
    ACCEPTED(&d);
    ASSERT(memcmp(before.y, mem.y, sizeof mem.y) != 0);
    ASSERT(memcmp(before.lse, mem.lse, ROWS * sizeof(float)) != 0);
    memcpy(mem.y, before.y, sizeof mem.y);
    memcpy(mem.lse, before.lse, sizeof mem.lse);
    ASSERT(memcmp(&before, &mem, sizeof mem) == 0);
    PASS();
}

TEST null_is_refused(void) {
    REFUSED(NULL, RDK_ERR_NULL, "desc");
    PASS();
}

TEST short_size_is_refused(void) {
    rdk_softmax_desc d = good();
    ASSERT(wrong_sizes_are_refused(&OPERATION, &d));
    PASS();
}

TEST surplus_is_refused(void) {
    rdk_softmax_desc d = good();
    ASSERT(surplus_must_be_zero(&OPERATION, &d, 64));
    PASS();
}

/* ---- Numbers that name nothing --------------------------------------------------------------- */

TEST unknown_types_are_refused(void) {
    for (int i = 0; i < NO_ENUMS; i++) {
        REFUSED_WITH(x_type, NO_ENUM[i], RDK_ERR_TYPE);
        REFUSED_WITH(y_type, NO_ENUM[i], RDK_ERR_TYPE);
        REFUSED_WITH(bias_type, NO_ENUM[i], RDK_ERR_TYPE);
    }
    PASS();
}

TEST types_of_what_is_not_there_do_not_matter(void) {
    rdk_softmax_desc d = good();
    d.bias = NULL;
    d.bias_type = 77;
    d.bias_stride = -5;
    ACCEPTED(&d);
    d.mode = RDK_SOFTMAX_LSE;
    d.y_type = 77;
    d.y_stride = -5;
    ACCEPTED(&d);
    PASS();
}

TEST unknown_modes_are_refused(void) {
    for (int i = 0; i < NO_ENUMS; i++)
        REFUSED_WITH(mode, NO_ENUM[i], RDK_ERR_MODE);
    PASS();
}

TEST wrong_isas_are_refused_by_number_and_here(void) {
    rdk_softmax_desc d = good();
    ASSERT(wrong_isas_are_refused(&OPERATION, &d, offsetof(rdk_softmax_desc, isa)));
    PASS();
}

/* ---- Pointers -------------------------------------------------------------------------------- */

TEST needed_pointers_must_not_be_null(void) {
    REFUSED_WITH(x, NULL, RDK_ERR_NULL);
    REFUSED_WITH(y, NULL, RDK_ERR_NULL);
    rdk_softmax_desc d = good();
    d.mode = RDK_LOG_SOFTMAX;
    d.y = NULL;
    REFUSED(&d, RDK_ERR_NULL, "y");
    d = good();
    d.mode = RDK_SOFTMAX_LSE;
    d.lse = NULL;
    REFUSED(&d, RDK_ERR_NULL, "lse");
    d.cols = 0; /* a row of no columns has an LSE all the same */
    REFUSED(&d, RDK_ERR_NULL, "lse");
    d = good();
    d.mode = RDK_SOFTMAX_LSE;
    d.x = NULL;
    REFUSED(&d, RDK_ERR_NULL, "x");
    PASS();
}

TEST other_pointers_may_be_null(void) {
    ACCEPTED_WITH(row_scale, NULL);
    ACCEPTED_WITH(bias, NULL);
    ACCEPTED_WITH(visible, NULL);
    ACCEPTED_WITH(lse, NULL);
    rdk_softmax_desc d = good();
    d.mode = RDK_SOFTMAX_LSE;
    d.y = NULL;
    ACCEPTED(&d);
    PASS();
}

/* Whether a call that has no element to write changes nothing and needs no pointer. */
TEST nothing_to_do_needs_no_pointers(void) {
    arena before = mem;
    for (rdk_softmax_mode mode = 0; mode <= RDK_SOFTMAX_LSE; mode++) {
        rdk_softmax_desc d = {.size = sizeof d, .mode = mode, .cols = COLS};
        ACCEPTED(&d);
        d.x_stride = d.y_stride = d.bias_stride = INT64_MAX;
        ACCEPTED(&d);
        d.cols = 0;
        ACCEPTED(&d);
    }
    rdk_softmax_desc d = {.size = sizeof d, .rows = ROWS};
    ACCEPTED(&d);
    d.mode = RDK_LOG_SOFTMAX;
    d.rows = PTRDIFF_MAX / 64;
    ACCEPTED(&d);
    ASSERT(memcmp(&before, &mem, sizeof mem) == 0);
    PASS();
}

TEST rows_of_no_columns_have_lse(void) {
    rdk_softmax_desc d = {.size = sizeof d, .rows = ROWS, .lse = mem.lse};
    arena expected = mem;
    for (int r = 0; r < ROWS; r++)
        expected.lse[r] = (float)-INFINITY;
    ACCEPTED(&d);
    ASSERT(memcmp(&expected, &mem, sizeof mem) == 0);
    PASS();
}

/* ---- Counts and strides ---------------------------------------------------------------------- */

TEST counts_out_of_range_are_refused(void) {
    for (int i = 0; i < NEGATIVES; i++) {
        REFUSED_WITH(rows, NEGATIVE[i], RDK_ERR_SIZE);
        REFUSED_WITH(cols, NEGATIVE[i], RDK_ERR_SIZE);
        rdk_softmax_desc bare = {.size = sizeof bare, .rows = NEGATIVE[i], .x = mem.x, .y = mem.y};
        REFUSED(&bare, RDK_ERR_SIZE, "rows");
        bare.rows = 0;
        bare.cols = NEGATIVE[i];
        REFUSED(&bare, RDK_ERR_SIZE, "cols");
    }
    static const int64_t LARGE[] = {((int64_t)1 << 31) + 1, (int64_t)1 << 32, INT64_MAX};
    for (size_t i = 0; i < sizeof LARGE / sizeof LARGE[0]; i++)
        REFUSED_WITH(cols, LARGE[i], RDK_ERR_SIZE);
    REFUSED_WITH(rows, INT64_MAX, RDK_ERR_SIZE);
    PASS();
}

TEST extents_that_overflow_are_refused(void) {
    static const int64_t STRIDES[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX / 4, INT64_MAX / 8,
                                      INT64_MAX / 8 - 1}; /* (PTRDIFF_MAX / 4 - COLS) / 2 + 1 */
    for (size_t i = 0; i < sizeof STRIDES / sizeof STRIDES[0]; i++) {
        REFUSED_WITH(x_stride, STRIDES[i], RDK_ERR_SIZE);
        REFUSED_WITH(y_stride, STRIDES[i], RDK_ERR_SIZE);
        REFUSED_WITH(bias_stride, STRIDES[i], RDK_ERR_SIZE);
    }
    /* rows * stride wraps to something small in 64 bits */
    for (int shift = 31; shift < 59; shift++) {
        rdk_softmax_desc d = good();
        d.rows = ((int64_t)1 << (62 - shift)) + 1;
        d.x_stride = d.y_stride = d.bias_stride = (int64_t)1 << shift;
        /* on 32 bits there are fewer rows than that */
        const bool too_many = d.rows > PTRDIFF_MAX / (int64_t)sizeof(int64_t);
        REFUSED(&d, RDK_ERR_SIZE, too_many ? "rows" : "x_stride");
    }
    /* the last byte would lie beyond the end of the address space */
    REFUSED_WITH(x, (const void *)(UINTPTR_MAX - 4), RDK_ERR_SIZE);
    REFUSED_WITH(y, (void *)(UINTPTR_MAX - 4), RDK_ERR_SIZE);
    REFUSED_WITH(bias, (const void *)(UINTPTR_MAX - 4), RDK_ERR_SIZE);
    REFUSED_WITH(row_scale, (const float *)(UINTPTR_MAX - 3), RDK_ERR_SIZE);
    REFUSED_WITH(visible, (const int64_t *)(UINTPTR_MAX - 7), RDK_ERR_SIZE);
    REFUSED_WITH(lse, (float *)(UINTPTR_MAX - 3), RDK_ERR_SIZE);
    PASS();
}

TEST strides_that_overlap_are_refused(void) {
    for (int i = 0; i < NEGATIVES; i++) {
        REFUSED_WITH(x_stride, NEGATIVE[i], RDK_ERR_STRIDE);
        REFUSED_WITH(y_stride, NEGATIVE[i], RDK_ERR_STRIDE);
        REFUSED_WITH(bias_stride, NEGATIVE[i], RDK_ERR_STRIDE);
    }
    for (int64_t stride = 1; stride < COLS; stride++) {
        REFUSED_WITH(x_stride, stride, RDK_ERR_STRIDE);
        REFUSED_WITH(y_stride, stride, RDK_ERR_STRIDE);
        REFUSED_WITH(bias_stride, stride, RDK_ERR_STRIDE);
    }
    REFUSED_WITH(y_stride, 0, RDK_ERR_STRIDE);
    rdk_softmax_desc d = good();
    d.rows = 2; /* as few as can overlap */
    d.y_stride = COLS - 1;
    REFUSED(&d, RDK_ERR_STRIDE, "y_stride");
    PASS();
}

TEST strides_that_do_not_are_accepted(void) {
    ACCEPTED_WITH(x_stride, 0);
    ACCEPTED_WITH(bias_stride, 0);
    ACCEPTED_WITH(x_stride, COLS);
    ACCEPTED_WITH(y_stride, COLS);
    ACCEPTED_WITH(bias_stride, COLS);
    for (int64_t stride = 0; stride < COLS; stride++) { /* one row has no next */
        rdk_softmax_desc d = good();
        d.rows = 1;
        d.x_stride = d.y_stride = d.bias_stride = stride;
        ACCEPTED(&d);
    }
    PASS();
}

TEST visible_out_of_range_is_refused(void) {
    static const int64_t WRONG[] = {-1, -COLS, INT64_MIN, COLS + 1, (int64_t)1 << 32, INT64_MAX};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        for (int r = 0; r < ROWS; r++) {
            int64_t right = mem.visible[r];
            mem.visible[r] = WRONG[i];
            rdk_softmax_desc d = good();
            for (d.mode = 0; d.mode <= RDK_SOFTMAX_LSE; d.mode++)
                REFUSED(&d, RDK_ERR_VISIBLE, "visible");
            mem.visible[r] = right;
        }
    mem.visible[ROWS] = -1; /* not looked at */
    ACCEPTED_WITH(rows, ROWS);
    PASS();
}

/* ---- Overlap --------------------------------------------------------------------------------- */

/* From one byte on to one byte before the end of `x`, and as far the other way: all but equal. */
TEST shifted_in_place_is_refused(void) {
    const int extent = ((ROWS - 1) * STRIDE + COLS) * 4;
    char *base = (char *)mem.wide + 128; /* x; room for y on both sides */
    for (int shift = -extent; shift <= extent; shift++) {
        rdk_softmax_desc d = good();
        d.x = base;
        d.y = base + shift;
        int within = ((shift % (STRIDE * 4)) + STRIDE * 4) % (STRIDE * 4);
        bool apart = shift == extent || shift == -extent ||
                     (within >= COLS * 4 && within <= (STRIDE - COLS) * 4);
        if (shift == 0 || apart)
            ACCEPTED(&d);
        else
            REFUSED(&d, RDK_ERR_OVERLAP, "y");
        reset_memory();
    }
    PASS();
}

TEST in_place_needs_equal_type_and_stride(void) {
    rdk_softmax_desc d = good();
    d.y = mem.x;
    ACCEPTED(&d);
    d.y_stride = STRIDE - 1;
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    d.y_stride = STRIDE + 1;
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    d.rows = 2;
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    d.rows = 1; /* then the stride says nothing */
    ACCEPTED(&d);
    d.rows = ROWS;
    d.y_stride = STRIDE;
    for (rdk_type x_type = 0; x_type <= RDK_BF16; x_type++)
        for (rdk_type y_type = 0; y_type <= RDK_BF16; y_type++) {
            reset_memory();
            d.x_type = x_type;
            d.y_type = y_type;
            if (x_type == y_type)
                ACCEPTED(&d);
            else
                REFUSED(&d, RDK_ERR_OVERLAP, "y");
        }
    d = good();
    d.y = mem.x;
    d.x_stride = 0; /* row 0 would be written before row 1 reads it */
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    PASS();
}

enum { MATRIX_BYTES = ((ROWS - 1) * STRIDE + COLS) * 4, INPUTS = 4 };

static void inputs_of(piece in[INPUTS]) {
    in[0] = (piece){"x", (uintptr_t)mem.x, MATRIX_BYTES};
    in[1] = (piece){"bias", (uintptr_t)mem.bias, MATRIX_BYTES};
    in[2] = (piece){"row_scale", (uintptr_t)mem.row_scale, ROWS * sizeof(float)};
    in[3] = (piece){"visible", (uintptr_t)mem.visible, ROWS * sizeof(int64_t)};
}

TEST outputs_over_inputs_are_refused(void) {
    piece in[INPUTS];
    inputs_of(in);
    for (int i = 0; i < INPUTS; i++) {
        uintptr_t at[MEETINGS];
        rdk_softmax_desc d = good();
        meetings(at, &in[i], MATRIX_BYTES);
        for (int k = 0; k < MEETINGS; k++) {
            d.y = (void *)at[k];
            if (at[k] != (uintptr_t)mem.x) /* that is in place */
                REFUSED(&d, RDK_ERR_OVERLAP, "y");
        }
        for (d.mode = 0; d.mode <= RDK_SOFTMAX_LSE; d.mode++) {
            d.y = mem.y;
            meetings(at, &in[i], ROWS * sizeof(float));
            for (int k = 0; k < MEETINGS; k++) {
                d.lse = (float *)at[k];
                REFUSED(&d, RDK_ERR_OVERLAP, "lse");
            }
        }
    }
    PASS();
}

TEST outputs_over_each_other_are_refused(void) {
    const piece y = {"y", (uintptr_t)mem.y, MATRIX_BYTES};
    uintptr_t at[MEETINGS];
    rdk_softmax_desc d = good();
    meetings(at, &y, ROWS * sizeof(float));
    for (int k = 0; k < MEETINGS; k++) {
        d.lse = (float *)at[k];
        REFUSED(&d, RDK_ERR_OVERLAP, "lse");
    }
    d.y = mem.x; /* in place is no excuse */
    d.lse = mem.x;
    REFUSED(&d, RDK_ERR_OVERLAP, "lse");
    PASS();
}

TEST inputs_may_overlap_each_other(void) {
    rdk_softmax_desc d = good();
    d.bias = mem.x;
    ACCEPTED(&d);
    d.bias = mem.x + 1;
    ACCEPTED(&d);
    d.row_scale = mem.x + 2;
    ACCEPTED(&d);
    d.bias = mem.visible;
    ACCEPTED(&d);
    PASS();
}

/* lse in a gap between y's rows, and right before and after it, is nobody's. */
TEST outputs_in_gaps_are_accepted(void) {
    rdk_softmax_desc d = good();
    d.rows = 2;
    d.cols = STRIDE - 2;
    d.visible = NULL;
    for (int gap = 0; gap < 2; gap++) {
        d.lse = mem.y + (gap + 1) * STRIDE - 2;
        ACCEPTED(&d);
    }
    d = good();
    d.y = mem.y + ROWS;
    d.lse = mem.y;
    d.rows = 2;
    ACCEPTED(&d);
    PASS();
}

/* Views of one wide matrix: x in its first quarter, y, bias in others; the same as apart. */
TEST interleaved_views_are_accepted(void) {
    rdk_softmax_desc d = good();
    arena apart;
    ACCEPTED(&d);
    apart = mem;
    reset_memory();
    for (int r = 0; r < ROWS; r++) {
        memcpy(mem.wide[r], mem.x + r * STRIDE, COLS * sizeof(float));
        memcpy(mem.wide[r] + 2 * COLS, mem.bias + r * STRIDE, COLS * sizeof(float));
    }
    d.x = mem.wide;
    d.y = mem.wide[0] + COLS;
    d.bias = mem.wide[0] + 2 * COLS;
    d.x_stride = d.y_stride = d.bias_stride = 4 * STRIDE;
    arena before = mem;
    ACCEPTED(&d);
    for (int r = 0; r < ROWS; r++) {
        const size_t row = COLS * sizeof(float);
        ASSERT(memcmp(apart.y + r * STRIDE, mem.wide[r] + COLS, row) == 0);
        ASSERT(memcmp(before.wide[r], mem.wide[r], row) == 0);
        ASSERT(memcmp(before.wide[r] + 2 * COLS, mem.wide[r] + 2 * COLS, row) == 0);
    }
    d.y = mem.wide[0] + COLS - 1;
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    d.y = mem.wide[0] + COLS + 1;
    REFUSED(&d, RDK_ERR_OVERLAP, "y");
    PASS();
}

/* ---- Two faults at once ---------------------------------------------------------------------- */

FAULT(size, d->size -= 8)
FAULT(isa, d->isa = 99)
FAULT(mode, d->mode = 3)
FAULT(lse_mode, d->mode = RDK_SOFTMAX_LSE; d->lse = NULL)
FAULT(rows, d->rows = -3)
FAULT(cols, d->cols = -5)
FAULT(many_cols, d->cols = INT64_MAX)
FAULT(x, d->x = NULL)
FAULT(x_stride, d->x_stride = -STRIDE)
FAULT(x_extent, d->x_stride = INT64_MAX / 2)
FAULT(x_type, d->x_type = -1)
FAULT(y, d->y = NULL)
FAULT(y_stride, d->y_stride = COLS - 1)
FAULT(y_type, d->y_type = 3)
FAULT(y_overlap, d->y = mem.x + 1)
FAULT(bias_stride, d->bias_stride = 1)
FAULT(bias_type, d->bias_type = 1 << 16)
static const int64_t WRONG_VISIBLE[ROWS] = {0, 1, -1};
FAULT(visible, d->visible = WRONG_VISIBLE)
FAULT(lse_overlap, d->lse = mem.row_scale)

static fault *const FAULTS[] = {
    fault_isa, /* first: rdk_softmax_with() does not look at it */
    fault_size,      fault_mode,     fault_lse_mode,    fault_rows,      fault_cols,
    fault_many_cols, fault_x,        fault_x_stride,    fault_x_extent,  fault_x_type,
    fault_y,         fault_y_stride, fault_y_type,      fault_y_overlap, fault_bias_stride,
    fault_bias_type, fault_visible,  fault_lse_overlap,
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

TEST two_faults_are_refused(void) {
    rdk_softmax_desc d = good();
    ASSERT(pairs_are_refused(&OPERATION, &d, FAULTS, FAULT_COUNT));
    PASS();
}

/* ---- Status ---------------------------------------------------------------------------------- */

TEST every_status_has_a_string_of_its_own(void) {
    const char *none = rdk_status_string((rdk_status)99);
    for (int i = RDK_OK; i <= RDK_ERR_OP_UNAVAILABLE; i++) {
        const char *s = rdk_status_string((rdk_status)i);
        ASSERT(s && *s && strcmp(s, none) != 0 && !strchr(s, '\n'));
        for (int j = RDK_OK; j < i; j++)
            ASSERT(strcmp(s, rdk_status_string((rdk_status)j)) != 0);
    }
    static const int NO_STATUS[] = {-1, RDK_ERR_OP_UNAVAILABLE + 1, 1 << 16, INT32_MAX, INT32_MIN};
    ASSERT(none && *none);
    for (size_t i = 0; i < sizeof NO_STATUS / sizeof NO_STATUS[0]; i++)
        ASSERT_STR_EQ(none, rdk_status_string((rdk_status)NO_STATUS[i]));
    PASS();
}

static void before_each(void *unused) {
    (void)unused;
    reset_memory();
}

SUITE(input) {
    SET_SETUP(before_each, NULL);
    RUN_TEST(good_one_is_accepted_and_writes);
    RUN_TEST(null_is_refused);
    RUN_TEST(short_size_is_refused);
    RUN_TEST(surplus_is_refused);
    RUN_TEST(unknown_types_are_refused);
    RUN_TEST(types_of_what_is_not_there_do_not_matter);
    RUN_TEST(unknown_modes_are_refused);
    RUN_TEST(wrong_isas_are_refused_by_number_and_here);
    RUN_TEST(needed_pointers_must_not_be_null);
    RUN_TEST(other_pointers_may_be_null);
    RUN_TEST(nothing_to_do_needs_no_pointers);
    RUN_TEST(rows_of_no_columns_have_lse);
    RUN_TEST(counts_out_of_range_are_refused);
    RUN_TEST(extents_that_overflow_are_refused);
    RUN_TEST(strides_that_overlap_are_refused);
    RUN_TEST(strides_that_do_not_are_accepted);
    RUN_TEST(visible_out_of_range_is_refused);
    RUN_TEST(shifted_in_place_is_refused);
    RUN_TEST(in_place_needs_equal_type_and_stride);
    RUN_TEST(outputs_over_inputs_are_refused);
    RUN_TEST(outputs_over_each_other_are_refused);
    RUN_TEST(inputs_may_overlap_each_other);
    RUN_TEST(outputs_in_gaps_are_accepted);
    RUN_TEST(interleaved_views_are_accepted);
    RUN_TEST(two_faults_are_refused);
    RUN_TEST(every_status_has_a_string_of_its_own);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(input);
    RDK_MAIN_END();
}
