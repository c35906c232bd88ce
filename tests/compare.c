#include "tests/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contract.h"

static uint32_t bits_at(const char *p, rdk_type type) {
    uint32_t word;
    uint16_t half;
    if (type == RDK_F32) {
        memcpy(&word, p, 4);
        return word;
    }
    memcpy(&half, p, 2);
    return half;
}

/* Negative numbers below zero, so that neighbours differ by one; the two zeros are the same point. */
static int64_t rank(uint32_t bits, rdk_type type) {
    uint32_t sign = type == RDK_F32 ? 0x80000000 : 0x8000;
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool is_nan(uint32_t bits, rdk_type type) {
    uint32_t infinity = type == RDK_F32 ? 0x7f800000 : type == RDK_F16 ? 0x7c00 : 0x7f80;
    return llabs(rank(bits, type)) > infinity;
}

int64_t ulp_distance(uint32_t a, uint32_t b, rdk_type type) {
    if (a == b)
        return 0;
    if (is_nan(a, type) || is_nan(b, type))
        return -1;
    return llabs(rank(a, type) - rank(b, type));
}

/* "0x3f800000 (1)" */
static void show(char *text, size_t size, const char *p, rdk_type type) {
    int digits = type == RDK_F32 ? 8 : 4;
    snprintf(text, size, "0x%0*x (%.9g)", digits, (unsigned)bits_at(p, type),
             (double)rdk_load(p, type, 0));
}

static int64_t count_different(const char *got, const char *expected, const layout *l) {
    int64_t different = 0;
    int size = rdk_type_size(l->type);
    for (int64_t r = 0; r < l->rows; r++)
        for (int64_t c = 0; c < l->cols; c++) {
            int64_t at = (r * l->stride + c) * size;
            different += memcmp(got + at, expected + at, (size_t)size) != 0;
        }
    return different;
}

/* Element (row, col) differs; both pointers are at the buffers' beginnings. */
static void report_element(const char *name, const char *got, const char *expected, const layout *l,
                           int64_t row, int64_t col, const inputs *in, char *report, size_t size) {
    const rdk_softmax_desc *d = in->desc;
    int64_t at = (row * l->stride + col) * rdk_type_size(l->type);
    bool is_lse = l->rows == 1 && name[0] == 'l';
    char want[64], have[64], x[64] = "", bias[64] = "", distance[40], place[64];
    show(want, sizeof want, expected + at, l->type);
    show(have, sizeof have, got + at, l->type);
    int64_t ulp =
        ulp_distance(bits_at(got + at, l->type), bits_at(expected + at, l->type), l->type);
    if (ulp < 0)
        snprintf(distance, sizeof distance, "NaN");
    else
        snprintf(distance, sizeof distance, "%lld ULP", (long long)ulp);
    if (is_lse)
        snprintf(place, sizeof place, "lse[%lld]", (long long)col);
    else
        snprintf(place, sizeof place, "%s[%lld][%lld]", name, (long long)row, (long long)col);
    int64_t visible = d->visible && !is_lse ? d->visible[row] : d->cols;
    if (!is_lse && col < visible) {
        show(x, sizeof x, in->x + (row * d->x_stride + col) * rdk_type_size(d->x_type), d->x_type);
        if (d->bias)
            show(bias, sizeof bias,
                 (const char *)d->bias + (row * d->bias_stride + col) * rdk_type_size(d->bias_type),
                 d->bias_type);
    }
    snprintf(report, size, "%s: expected %s, got %s: %s%s%s%s%s; %lld elements differ", place, want,
             have, distance, *x ? "; x is " : "", x, *bias ? ", bias is " : "", bias,
             (long long)count_different(got, expected, l));
}

bool compare_bits(const guarded *got, const char *expected, const layout *l, const inputs *in,
                  char *report, size_t report_size) {
    const char *window = guard_window(got);
    size_t bytes = guard_window_bytes(got), first = 0;
    if (!memcmp(window, expected, bytes))
        return true;
    while (window[first] == expected[first])
        first++;
    ptrdiff_t before = got->data - window, at = (ptrdiff_t)first - before;
    if (at < 0) {
        snprintf(report, report_size, "write before the start of %s by %td bytes (canary)",
                 got->name, -at);
    } else if (at >= (ptrdiff_t)got->bytes) {
        snprintf(report, report_size, "write past the end of %s by %td bytes (canary)", got->name,
                 at - (ptrdiff_t)got->bytes + 1);
    } else if (!l) {
        snprintf(report, report_size, "write to %s, an input, at byte %td", got->name, at);
    } else {
        int64_t element = at / rdk_type_size(l->type);
        int64_t row = l->stride ? element / l->stride : 0, col = element - row * l->stride;
        if (col >= l->cols)
            snprintf(report, report_size, "write to the gap of %s after row %lld, %lld behind it",
                     got->name, (long long)row, (long long)(col - l->cols));
        else
            report_element(got->name, got->data, expected + before, l, row, col, in, report,
                           report_size);
    }
    return false;
}
