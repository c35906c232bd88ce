/* rdk_softmax: checks the descriptor, then runs a kernel in the contract's environment. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch/desc.h"
#include "dispatch/extent.h"
#include "dispatch/fpenv.h"
#include "dispatch/operation.h"

#define MAX_COLS ((int64_t)1 << 31)
#define MAX_ROWS (PTRDIFF_MAX / (int64_t)sizeof(int64_t)) /* `visible` of more has no address */

static rdk_status extent_of(rdk_extent *e, const void *p, int64_t size, int64_t rows, int64_t cols,
                            int64_t stride) {
    rdk_status s = rdk_extent_begin(e, p, size, cols);
    return s == RDK_OK ? rdk_extent_repeat(e, size, rows, stride) : s;
}

static int64_t size_of(rdk_type type) {
    return type == RDK_F32 ? 4 : 2;
}

static bool known_type(rdk_type type) {
    return type == RDK_F32 || type == RDK_F16 || type == RDK_BF16;
}

static rdk_status copy_desc(rdk_softmax_desc *to, const rdk_softmax_desc *from) {
    const size_t least = offsetof(rdk_softmax_desc, lse) + sizeof from->lse;
    return rdk_copy_desc(to, sizeof *to, least, from);
}

static bool stride_is_wrong(int64_t stride, const rdk_softmax_desc *d) {
    return stride < 0 || (d->rows > 1 && stride < d->cols);
}

static bool input_stride_is_wrong(int64_t stride, const rdk_softmax_desc *d) {
    return stride != 0 && stride_is_wrong(stride, d);
}

/* The order is that of the header: what a field means is known before it is used. */
static rdk_status check_fields(const rdk_softmax_desc *d) {
    bool has_y = d->mode != RDK_SOFTMAX_LSE, has_data = d->rows > 0 && d->cols > 0;
    if (d->mode != RDK_SOFTMAX && d->mode != RDK_LOG_SOFTMAX && d->mode != RDK_SOFTMAX_LSE)
        return RDK_ERR_MODE;
    if (d->rows < 0 || d->rows > MAX_ROWS || d->cols < 0 || d->cols > MAX_COLS)
        return RDK_ERR_SIZE;
    if (!known_type(d->x_type) || (has_y && !known_type(d->y_type)) ||
        (d->bias && !known_type(d->bias_type)))
        return RDK_ERR_TYPE;
    if ((has_data && (!d->x || (has_y && !d->y))) || (!has_y && d->rows > 0 && !d->lse))
        return RDK_ERR_NULL;
    if (input_stride_is_wrong(d->x_stride, d) || (has_y && stride_is_wrong(d->y_stride, d)) ||
        (d->bias && input_stride_is_wrong(d->bias_stride, d)))
        return RDK_ERR_STRIDE;
    return RDK_OK;
}

static rdk_status check_memory(const rdk_softmax_desc *d) {
    enum { X, BIAS, ROW_SCALE, VISIBLE, INPUTS };
    rdk_extent in[INPUTS] = {{.length = 0}}, y = {.length = 0}, lse = {.length = 0};
    rdk_status s = extent_of(&in[X], d->x, size_of(d->x_type), d->rows, d->cols, d->x_stride);
    if (s == RDK_OK && d->mode != RDK_SOFTMAX_LSE)
        s = extent_of(&y, d->y, size_of(d->y_type), d->rows, d->cols, d->y_stride);
    if (s == RDK_OK && d->bias)
        s = extent_of(&in[BIAS], d->bias, size_of(d->bias_type), d->rows, d->cols, d->bias_stride);
    if (s == RDK_OK && d->row_scale)
        s = extent_of(&in[ROW_SCALE], d->row_scale, sizeof *d->row_scale, 1, d->rows, 0);
    if (s == RDK_OK && d->visible)
        s = extent_of(&in[VISIBLE], d->visible, sizeof *d->visible, 1, d->rows, 0);
    if (s == RDK_OK && d->lse)
        s = extent_of(&lse, d->lse, sizeof *d->lse, 1, d->rows, 0);
    if (s != RDK_OK)
        return s;

    bool in_place =
        d->y == d->x && d->y_type == d->x_type && (d->y_stride == d->x_stride || d->rows <= 1);
    for (int i = 0; i < INPUTS; i++)
        if (rdk_extents_overlap(&lse, &in[i]) ||
            (!(i == X && in_place) && rdk_extents_overlap(&y, &in[i])))
            return RDK_ERR_OVERLAP;
    return rdk_extents_overlap(&lse, &y) ? RDK_ERR_OVERLAP : RDK_OK;
}

static rdk_status check_visible(const rdk_softmax_desc *d) {
    for (int64_t r = 0; d->visible && r < d->rows; r++)
        if (d->visible[r] < 0 || d->visible[r] > d->cols)
            return RDK_ERR_VISIBLE;
    return RDK_OK;
}

static rdk_status check(const rdk_softmax_desc *d) {
    rdk_status s = check_fields(d);
    if (s == RDK_OK)
        s = check_memory(d);
    return s == RDK_OK ? check_visible(d) : s;
}

/* Strides that no address depends on become 0: the kernels multiply before they look. */
static void clear_unused(rdk_softmax_desc *d) {
    bool one_row = d->rows <= 1 || !d->cols;
    if (one_row)
        d->x_stride = 0;
    if (one_row || d->mode == RDK_SOFTMAX_LSE)
        d->y_stride = 0;
    if (one_row || !d->bias)
        d->bias_stride = 0;
}

static rdk_status run(const rdk_table *t, rdk_softmax_desc *d) {
    char none;
    if (!d->cols && !d->lse)
        return RDK_OK;
    if (!d->cols) { /* nothing is read or written there, but C forbids even NULL + 0 */
        d->x = d->y = &none;
        d->bias = NULL;
    }
    clear_unused(d);
    rdk_fpenv caller = rdk_fpenv_enter();
    t->softmax(d);
    rdk_fpenv_leave(caller);
    return RDK_OK;
}

RDK_OPERATION(softmax)
