/* What the golden cases of all operations are made of: draws, values as bits, the hash. */
#ifndef RDK_GOLDEN_PARTS_H
#define RDK_GOLDEN_PARTS_H

#include "golden/golden.h"

typedef struct golden_type {
    int bits, digits; /* width of the type, and of its significand */
    uint32_t infinity, largest, nan;
} golden_type;

extern const golden_type GOLDEN_TYPES[3]; /* by rdk_type */

/* The next number of splitmix64. */
uint64_t golden_draw(uint64_t *state);

uint32_t golden_sign_bit(rdk_type type);

/* The exponent field's lowest bit: also 1 in units of the exponent. */
uint32_t golden_exponent_bit(rdk_type type);

/* The value with its sign bit set. */
uint32_t golden_minus(rdk_type type, uint32_t value);

/* The bits of k * 2^e in `type`, which holds it exactly and as a normal number. */
uint32_t golden_encode(rdk_type type, int32_t k, int e);

/* docs/golden.md, "Values". */
uint32_t golden_scaled(rdk_type type, uint64_t w, int reach);
uint32_t golden_raw(rdk_type type, uint64_t w);
uint32_t golden_tiny(rdk_type type, uint64_t w);
uint32_t golden_huge(rdk_type type, uint64_t w);
uint32_t golden_odd(rdk_type type, uint64_t p);

/* Element i of the array at p, of any alignment. */
void golden_put(void *p, rdk_type type, int64_t i, uint32_t value);

/* The hash with the bytes of element i of the array at p added, the lowest first. */
uint64_t golden_hash_element(uint64_t hash, const void *p, rdk_type type, int64_t i);

#endif
