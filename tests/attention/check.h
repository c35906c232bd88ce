/* Attention: one case, or an axis of them, through every path. */
#ifndef RDK_ATTENTION_CHECK_H
#define RDK_ATTENTION_CHECK_H

#include <stdbool.h>

#include "tests/attention/axes.h"
#include "tests/attention/cases.h"
#include "tests/lib/run.h"

/* With the paths of this process. */
void attention_checker_init(checker *k);

/* False if a path differs, faults or touches what it should not. */
bool check_attention(checker *k, const attention_case *c);

/* Every step-th case of an axis; prints how many. False if any failed. */
bool check_attention_axis(checker *k, const axis *a, int step);

#endif
