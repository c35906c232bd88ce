/* rdk_softmax: checks the descriptor, then runs a kernel in the contract's environment. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch/desc.h"
#include "dispatch/extent.h"
#include "dispatch/fpenv.h"
#include "dispatch/operation.h"

#define MAX_COLS ((int64_t)1 << 31)
#define MAX_ROWS (PTRDIFF_MAX / (int64_t)sizeof(int64_t)) /* `visible` of more has no address */

static int64_t size_of(rdk_type type) {
    return type == RDK_F32 ? 4 : 2;
}

static bool known_type(rdk_type type) {
    return type == RDK_F32 || type == RDK_F16 || type == RDK_BF16;
}

static rdk_status softmax_copy(rdk_softmax_desc *to, const rdk_softmax_desc *from) {
    const size_t least = offsetof(rdk_softmax_desc, lse) + sizeof from->lse;
    return rdk_copy_desc(to, sizeof *to, least, from);
}

static bool stride_is_wrong(int64_t stride, const rdk_softmax_desc *d) {
    return stride < 0 || (d->rows > 1 && stride < d->cols);
}

static bool input_stride_is_wrong(int64_t stride, const rdk_softmax_desc *d) {
    return stride != 0 && stride_is_wrong(stride, d);
}

static bool has_y(const rdk_softmax_desc *d) {
    return d->mode != RDK_SOFTMAX_LSE;
}

static rdk_fault check_counts(const rdk_softmax_desc *d) {
    if (d->mode != RDK_SOFTMAX && d->mode != RDK_LOG_SOFTMAX && d->mode != RDK_SOFTMAX_LSE)
        return rdk_fault_of(RDK_ERR_MODE, "mode");
    if (d->rows < 0 || d->rows > MAX_ROWS)
        return rdk_fault_of(RDK_ERR_SIZE, "rows");
    if (d->cols < 0 || d->cols > MAX_COLS)
        return rdk_fault_of(RDK_ERR_SIZE, "cols");
    return RDK_NO_FAULT;
}

static rdk_fault check_types(const rdk_softmax_desc *d) {
    if (!known_type(d->x_type))
        return rdk_fault_of(RDK_ERR_TYPE, "x_type");
    if (has_y(d) && !known_type(d->y_type))
        return rdk_fault_of(RDK_ERR_TYPE, "y_type");
    if (d->bias && !known_type(d->bias_type))
        return rdk_fault_of(RDK_ERR_TYPE, "bias_type");
    return RDK_NO_FAULT;
}

static rdk_fault check_pointers(const rdk_softmax_desc *d) {
    bool has_data = d->rows > 0 && d->cols > 0;
    if (has_data && !d->x)
        return rdk_fault_of(RDK_ERR_NULL, "x");
    if (has_data && has_y(d) && !d->y)
        return rdk_fault_of(RDK_ERR_NULL, "y");
    if (!has_y(d) && d->rows > 0 && !d->lse)
        return rdk_fault_of(RDK_ERR_NULL, "lse");
    return RDK_NO_FAULT;
}

static rdk_fault check_strides(const rdk_softmax_desc *d) {
    if (input_stride_is_wrong(d->x_stride, d))
        return rdk_fault_of(RDK_ERR_STRIDE, "x_stride");
    if (has_y(d) && stride_is_wrong(d->y_stride, d))
        return rdk_fault_of(RDK_ERR_STRIDE, "y_stride");
    if (d->bias && input_stride_is_wrong(d->bias_stride, d))
        return rdk_fault_of(RDK_ERR_STRIDE, "bias_stride");
    return RDK_NO_FAULT;
}

/* rows x cols elements, and the names of their fields. */
typedef struct matrix {
    const void *data;
    int64_t size, stride;
    const char *name, *stride_name;
} matrix;

static rdk_fault extent_of(rdk_extent *e, const rdk_softmax_desc *d, const matrix *m) {
    rdk_status s = rdk_extent_begin(e, m->data, m->size, d->cols);
    if (s != RDK_OK)
        return rdk_fault_of(s, m->name);
    return rdk_fault_of(rdk_extent_repeat(e, m->size, d->rows, m->stride), m->stride_name);
}

enum { X, BIAS, ROW_SCALE, VISIBLE, Y, LSE, OPERANDS };
static const char *const NAME[OPERANDS] = {"x", "bias", "row_scale", "visible", "y", "lse"};

static rdk_fault check_matrices(const rdk_softmax_desc *d, rdk_extent e[OPERANDS]) {
    const matrix x = {d->x, size_of(d->x_type), d->x_stride, NAME[X], "x_stride"};
    const matrix y = {d->y, size_of(d->y_type), d->y_stride, NAME[Y], "y_stride"};
    const matrix bias = {d->bias, size_of(d->bias_type), d->bias_stride, NAME[BIAS], "bias_stride"};
    rdk_fault f = extent_of(&e[X], d, &x);
    if (f.status == RDK_OK && has_y(d))
        f = extent_of(&e[Y], d, &y);
    if (f.status == RDK_OK && d->bias)
        f = extent_of(&e[BIAS], d, &bias);
    return f;
}

/* One element for each row. */
static rdk_fault check_vectors(const rdk_softmax_desc *d, rdk_extent e[OPERANDS]) {
    rdk_status s = RDK_OK;
    if (d->row_scale)
        s = rdk_extent_begin(&e[ROW_SCALE], d->row_scale, sizeof *d->row_scale, d->rows);
    if (s != RDK_OK)
        return rdk_fault_of(s, NAME[ROW_SCALE]);
    if (d->visible)
        s = rdk_extent_begin(&e[VISIBLE], d->visible, sizeof *d->visible, d->rows);
    if (s != RDK_OK)
        return rdk_fault_of(s, NAME[VISIBLE]);
    if (d->lse)
        s = rdk_extent_begin(&e[LSE], d->lse, sizeof *d->lse, d->rows);
    return rdk_fault_of(s, NAME[LSE]);
}

static rdk_fault check_overlap(const rdk_softmax_desc *d, const rdk_extent e[OPERANDS]) {
    const bool in_place =
        d->y == d->x && d->y_type == d->x_type && (d->y_stride == d->x_stride || d->rows <= 1);
    for (int out = Y; out < OPERANDS; out++) {
        const int first = in_place && out == Y ? X + 1 : X;
        for (int other = first; e[out].length && other < out; other++)
            if (rdk_extents_overlap(&e[out], &e[other]))
                return rdk_fault_of(RDK_ERR_OVERLAP, NAME[out]);
    }
    return RDK_NO_FAULT;
}

static rdk_fault check_memory(const rdk_softmax_desc *d) {
    rdk_extent e[OPERANDS];
    for (int i = 0; i < OPERANDS; i++)
        e[i].length = 0; /* what is not there overlaps nothing */
    rdk_fault f = check_matrices(d, e);
    if (f.status == RDK_OK)
        f = check_vectors(d, e);
    return f.status == RDK_OK ? check_overlap(d, e) : f;
}

static rdk_fault check_visible(const rdk_softmax_desc *d) {
    for (int64_t r = 0; d->visible && r < d->rows; r++)
        if (d->visible[r] < 0 || d->visible[r] > d->cols)
            return rdk_fault_of(RDK_ERR_VISIBLE, "visible");
    return RDK_NO_FAULT;
}

/* The order is that of the header: what a field means is known before it is used. */
static rdk_fault softmax_fault(const rdk_softmax_desc *d) {
    rdk_fault f = check_counts(d);
    if (f.status == RDK_OK)
        f = check_types(d);
    if (f.status == RDK_OK)
        f = check_pointers(d);
    if (f.status == RDK_OK)
        f = check_strides(d);
    if (f.status == RDK_OK)
        f = check_memory(d);
    return f.status == RDK_OK ? check_visible(d) : f;
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

static rdk_status softmax_run(const rdk_table *t, rdk_softmax_desc *d) {
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
