/* The oracle of bench/exact.h, with the draws and the units of the tests of accuracy. */
#ifndef RDK_ORACLE_H
#define RDK_ORACLE_H

#include <stdint.h>

#include "bench/exact.h"

/* ---- Draws ----------------------------------------------------------------------------------- */

void draw_seed(uint64_t seed);
double draw_uniform(void); /* (0, 1) */
double draw_normal(void);  /* N(0,1) */

/* ---- Units ----------------------------------------------------------------------------------- */

double ulp32(double v);

/* In ULP of max(1, |exact|), as a logarithm is measured. */
double log_error(double got, double exact);

#endif
