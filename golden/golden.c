/* What the golden cases share, in integer operations alone, so that it is the same everywhere. */
#include "golden/parts.h"

#include <string.h>

/* ---- Values: docs/golden.md, "The draws" and "Values" ---------------------------------------- */

const golden_type GOLDEN_TYPES[3] = {
    {32, 24, 0x7f800000, 0x7f7fffff, 0xffc00001},
    {16, 11, 0x7c00, 0x7bff, 0xfe01},
    {16, 8, 0x7f80, 0x7f7f, 0xffc1},
};

uint64_t golden_draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t golden_sign_bit(rdk_type type) {
    return (uint32_t)1 << (GOLDEN_TYPES[type].bits - 1);
}

uint32_t golden_exponent_bit(rdk_type type) {
    return (uint32_t)1 << (GOLDEN_TYPES[type].digits - 1);
}

uint32_t golden_minus(rdk_type type, uint32_t value) {
    return golden_sign_bit(type) | value;
}

uint32_t golden_encode(rdk_type type, int32_t k, int e) {
    uint32_t sign = k < 0 ? golden_sign_bit(type) : 0, m = k < 0 ? 0 - (uint32_t)k : (uint32_t)k;
    int top = GOLDEN_TYPES[type].digits - 1;
    if (!m)
        return 0;
    for (; m < golden_exponent_bit(type); e--)
        m <<= 1;
    int exponent = e + top + (type == RDK_F16 ? 15 : 127);
    return sign | (uint32_t)exponent << top | (m - golden_exponent_bit(type));
}

/* The top bits of w as a signed integer, scaled to lie in -2^reach .. 2^reach. */
uint32_t golden_scaled(rdk_type type, uint64_t w, int reach) {
    int digits = GOLDEN_TYPES[type].digits;
    int32_t k = (int32_t)(w >> (64 - digits)), half = (int32_t)golden_exponent_bit(type);
    return golden_encode(type, k < half ? k : k - 2 * half, reach - (digits - 1));
}

uint32_t golden_raw(rdk_type type, uint64_t w) {
    return (uint32_t)(w >> (64 - GOLDEN_TYPES[type].bits));
}

uint32_t golden_tiny(rdk_type type, uint64_t w) {
    return golden_raw(type, w) & (golden_sign_bit(type) | (2 * golden_exponent_bit(type) - 1));
}

uint32_t golden_huge(rdk_type type, uint64_t w) {
    uint32_t top_exponent_bit = golden_sign_bit(type) >> 1;
    return (golden_raw(type, w) | top_exponent_bit) & ~golden_exponent_bit(type);
}

uint32_t golden_odd(rdk_type type, uint64_t p) {
    const golden_type *t = &GOLDEN_TYPES[type];
    const uint32_t values[4] = {t->nan, t->infinity, golden_minus(type, t->infinity), t->largest};
    return values[p >> 32 & 3];
}

void golden_put(void *p, rdk_type type, int64_t i, uint32_t value) {
    uint16_t half = (uint16_t)value;
    if (type == RDK_F32)
        memcpy((unsigned char *)p + 4 * i, &value, 4);
    else
        memcpy((unsigned char *)p + 2 * i, &half, 2);
}

/* ---- The hash: docs/golden.md, "The hash" ---------------------------------------------------- */

static uint32_t get(const void *p, rdk_type type, int64_t i) {
    uint32_t value;
    uint16_t half;
    if (type == RDK_F32) {
        memcpy(&value, (const unsigned char *)p + 4 * i, 4);
        return value;
    }
    memcpy(&half, (const unsigned char *)p + 2 * i, 2);
    return half;
}

/* FNV-1a over the `count` low bytes of value, the lowest first. */
static uint64_t hash_bytes(uint64_t hash, uint64_t value, int count) {
    for (int i = 0; i < count; i++)
        hash = (hash ^ (value >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t golden_hash_element(uint64_t hash, const void *p, rdk_type type, int64_t i) {
    return hash_bytes(hash, get(p, type, i), GOLDEN_TYPES[type].bits / 8);
}

uint64_t golden_add(uint64_t total, uint64_t hash) {
    return hash_bytes(total, hash, 8);
}

/* ---- The operations, and what is expected ---------------------------------------------------- */

const golden_op *const GOLDEN_OPS[RDK_OP_COUNT] = {
    [RDK_OP_SOFTMAX] = &golden_softmax,
    [RDK_OP_ATTENTION] = &golden_attention,
};

static uint64_t expected_at(const golden_op *op, size_t i) {
    return i < op->expected_count ? op->expected[i] : 0;
}

uint64_t golden_expected(const golden_op *op, int i) {
#ifdef GOLDEN_SPOILED /* the number of a case: shows that verification can fail */
    if (i == GOLDEN_SPOILED)
        return ~expected_at(op, (size_t)i);
#endif
    return expected_at(op, (size_t)i);
}

uint64_t golden_expected_total(const golden_op *op) {
    return expected_at(op, (size_t)op->count());
}
