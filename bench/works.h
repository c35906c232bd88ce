/* A few works of usual sizes, for `rootdk bench`. All are f32. */
#ifndef RDK_BENCH_WORKS_H
#define RDK_BENCH_WORKS_H

#include "bench/shape.h"

enum { WORK_COUNT = 7 };
extern const shape WORKS[WORK_COUNT];

#endif
