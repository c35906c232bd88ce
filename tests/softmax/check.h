/* Softmax: one case, or an axis of them, through every path. */
#ifndef RDK_SOFTMAX_CHECK_H
#define RDK_SOFTMAX_CHECK_H

#include <stdbool.h>

#include "tests/lib/run.h"
#include "tests/softmax/axes.h"
#include "tests/softmax/cases.h"

/* With the paths of this process. */
void checker_init(checker *k);

/* False if a path differs, faults or touches what it should not. */
bool check_case(checker *k, const softmax_case *c);

/* Every case of an axis; prints how many. False if any failed. */
bool check_axis(checker *k, const axis *a);

#endif
