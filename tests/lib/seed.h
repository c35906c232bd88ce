/* The seed of what the tests draw: the first 16 hexadecimal digits of the commit that is
 * built, so that every commit sees other cases; 0x2024 where git does not tell it. RDK_SEED in
 * the environment is taken instead.
 *
 * Not for golden cases, axes, kernels that must fail and the figures of accuracy: they are the
 * same always. */
#ifndef RDK_SEED_H
#define RDK_SEED_H

#include <stdint.h>

/* Ends the process if RDK_SEED is no number. */
uint64_t seed_of_tests(void);

/* Says it, so that whoever reads of a failure can have it again. */
void seed_print(uint64_t seed);

#endif
