/* Is it right? Nothing is shown that was not compared. */
#ifndef RDK_BENCH_CHECK_H
#define RDK_BENCH_CHECK_H

#include "bench/subject.h"

/* Takes in all who can do the work and do it right; of rootdk on these ISAs only. rootdk must give
 * the scalar path's bits, in rows spread over the work; another library's error must be one of
 * rounding. Returns how many do not. */
int check_contenders(subject *s, const bool isas[RDK_ISA_COUNT]);

#endif
