/* The comparator: bits against bits, and words for the first that differs. */
#ifndef RDK_COMPARE_H
#define RDK_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rootdk/rootdk.h"
#include "tests/lib/guard.h"

enum { LAYOUT_DIMS = 3 };

/* How the elements lie in a buffer: rows of `cols`, found by up to three indices, the outermost
 * first. What belongs to no row is a gap. With cols = 0 nothing in the buffer is an element. */
typedef struct layout {
    rdk_type type;
    int dims; /* how many of the indices there are */
    int64_t count[LAYOUT_DIMS], stride[LAYOUT_DIMS];
    int64_t cols;
} layout;

/* The first element of row `index`, which runs up to layout_rows(). */
int64_t layout_rows(const layout *l);
int64_t layout_row(const layout *l, int64_t index);

/* The element that differed first. */
typedef struct element {
    int64_t row, col; /* row as in layout_row(); -1 if what differed is no element */
} element;

/* Whether the buffer with its canaries is, byte for byte, what `expected` (an image of its window)
 * says. If not, `report` says where first and how. Gaps and canaries count like elements. With `l`
 * without elements the buffer is an input, which nobody may change. */
bool compare_bits(const guarded *got, const char *expected, const layout *l, element *first,
                  char *report, size_t report_size);

/* "0x3f800000 (1)" */
void show_element(char *text, size_t size, const char *p, rdk_type type);

/* Units in the last place between two values of a type; -1 if one is NaN and they differ. */
int64_t ulp_distance(uint32_t a, uint32_t b, rdk_type type);

#endif
