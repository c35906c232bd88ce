#include "tests/lib/compare.h"

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

/* Orders all numbers so that neighbours differ by one; the two zeros are the same point. */
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

void show_element(char *text, size_t size, const char *p, rdk_type type) {
    int digits = type == RDK_F32 ? 8 : 4;
    snprintf(text, size, "0x%0*x (%.9g)", digits, (unsigned)bits_at(p, type),
             (double)rdk_load(p, type, 0));
}

/* ---- Layouts --------------------------------------------------------------------------------- */

int64_t layout_rows(const layout *l) {
    int64_t rows = l->cols > 0;
    for (int i = 0; i < l->dims; i++)
        rows *= l->count[i];
    return rows;
}

static void indices_of(const layout *l, int64_t row, int64_t index[LAYOUT_DIMS]) {
    for (int i = l->dims - 1; i >= 0; i--) {
        index[i] = row % l->count[i];
        row /= l->count[i];
    }
}

int64_t layout_row(const layout *l, int64_t row) {
    int64_t index[LAYOUT_DIMS], at = 0;
    indices_of(l, row, index);
    for (int i = 0; i < l->dims; i++)
        at += index[i] * l->stride[i];
    return at;
}

/* The row that has element `at`, or -1; then *nearest is the last row before it, or -1. */
static int64_t row_of(const layout *l, int64_t at, int64_t *nearest) {
    *nearest = -1;
    for (int64_t r = 0, rows = layout_rows(l); r < rows; r++) {
        int64_t begin = layout_row(l, r);
        if (begin > at)
            continue;
        if (at < begin + l->cols)
            return r;
        if (*nearest < 0 || begin > layout_row(l, *nearest))
            *nearest = r;
    }
    return -1;
}

static int64_t count_different(const char *got, const char *expected, const layout *l) {
    int64_t different = 0;
    int size = rdk_type_size(l->type);
    for (int64_t r = 0, rows = layout_rows(l); r < rows; r++)
        for (int64_t c = 0; c < l->cols; c++) {
            int64_t at = (layout_row(l, r) + c) * size;
            different += memcmp(got + at, expected + at, (size_t)size) != 0;
        }
    return different;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* "out[0][1][5]" */
static void name_row(char *text, size_t size, const char *name, const layout *l, int64_t row) {
    int64_t index[LAYOUT_DIMS];
    int used = snprintf(text, size, "%s", name);
    indices_of(l, row, index);
    for (int i = 0; i < l->dims; i++)
        used += snprintf(text + used, size - (size_t)used, "[%lld]", (long long)index[i]);
}

/* Both pointers are at the buffers' beginnings. */
static void report_element(const char *name, const char *got, const char *expected, const layout *l,
                           const element *e, char *report, size_t size) {
    int64_t at = (layout_row(l, e->row) + e->col) * rdk_type_size(l->type);
    char want[64], have[64], distance[40], row[128];
    name_row(row, sizeof row, name, l, e->row);
    show_element(want, sizeof want, expected + at, l->type);
    show_element(have, sizeof have, got + at, l->type);
    int64_t ulp =
        ulp_distance(bits_at(got + at, l->type), bits_at(expected + at, l->type), l->type);
    if (ulp < 0)
        snprintf(distance, sizeof distance, "NaN");
    else
        snprintf(distance, sizeof distance, "%lld ULP", (long long)ulp);
    snprintf(report, size, "%s[%lld]: expected %s, got %s: %s; %lld elements differ", row,
             (long long)e->col, want, have, distance, (long long)count_different(got, expected, l));
}

static void report_inside(const guarded *g, const char *expected, const layout *l, int64_t at,
                          element *first, char *report, size_t size) {
    char text[128];
    int64_t nearest;
    first->row = row_of(l, at, &nearest);
    if (first->row >= 0) {
        first->col = at - layout_row(l, first->row);
        report_element(g->name, g->data, expected, l, first, report, size);
        return;
    }
    name_row(text, sizeof text, g->name, l, nearest < 0 ? 0 : nearest);
    if (nearest < 0)
        snprintf(report, size, "write to the gap before %s", text);
    else
        snprintf(report, size, "write to the gap after %s, %lld behind it", text,
                 (long long)(at - layout_row(l, nearest) - l->cols));
}

bool compare_bits(const guarded *got, const char *expected, const layout *l, element *first,
                  char *report, size_t report_size) {
    const char *window = guard_window(got);
    size_t bytes = guard_window_bytes(got), differs = 0;
    first->row = -1;
    if (!memcmp(window, expected, bytes))
        return true;
    while (window[differs] == expected[differs])
        differs++;
    ptrdiff_t before = got->data - window, at = (ptrdiff_t)differs - before;
    if (at < 0)
        snprintf(report, report_size, "write before the start of %s by %td bytes (canary)",
                 got->name, -at);
    else if (at >= (ptrdiff_t)got->bytes)
        snprintf(report, report_size, "write past the end of %s by %td bytes (canary)", got->name,
                 at - (ptrdiff_t)got->bytes + 1);
    else if (layout_rows(l) == 0)
        snprintf(report, report_size, "write to %s, an input, at byte %td", got->name, at);
    else
        report_inside(got, expected + before, l, at / rdk_type_size(l->type), first, report,
                      report_size);
    return false;
}
