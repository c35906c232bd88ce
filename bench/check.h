/* Is it right? Nothing is shown that was not compared. */
#ifndef RDK_BENCH_CHECK_H
#define RDK_BENCH_CHECK_H

#include "bench/subject.h"

/* Takes in everybody who can do the work and does it right: rootdk where it gives the scalar path's bits, in rows
 * spread over the work, other libraries where the error is one of rounding. Returns how many do not. */
int check_contenders(subject *s, rdk_isa only);

#endif
