/* The reference's fused multiply-add, where the target has no such instruction, against libm's. */
#include "kernels/contract.h"
#include "tests/lib/suite.h"

static uint64_t state;

static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Not a constant for the compiler, which might know better. */
static float (*volatile libm_fma)(float, float, float) = fmaf;

static bool same(float a, float b, float c) {
    float got = rdk_fma(a, b, c), expected = libm_fma(a, b, c);
    bool ok = (got != got && expected != expected) || rdk_bits(got) == rdk_bits(expected);
    if (!ok)
        printf("\nfma(%a, %a, %a): expected %a, got %a\n", (double)a, (double)b, (double)c,
               (double)expected, (double)got);
    return ok;
}

TEST any_bits(void) {
    state = 1;
    for (int i = 0; i < 2000000; i++)
        ASSERT(same(rdk_float((uint32_t)next()), rdk_float((uint32_t)next()),
                    rdk_float((uint32_t)next())));
    PASS();
}

/* Mantissas at random, exponents near `middle`. */
static float near(int middle, int spread) {
    uint64_t r = next();
    int exponent = middle + (int)(r >> 40) % (2 * spread + 1) - spread;
    return rdk_float((uint32_t)(r & 0x807fffff) | (uint32_t)(exponent + 127) << 23);
}

TEST sums_that_meet(void) {
    state = 2;
    for (int i = 0; i < 2000000; i++)
        ASSERT(same(near(0, 3), near(0, 3), near(0, 30)));
    PASS();
}

TEST subnormal_results(void) {
    state = 3;
    for (int i = 0; i < 2000000; i++)
        ASSERT(same(near(-70, 8), near(-60, 8), near(-120, 6)));
    PASS();
}

/* (1 + i 2^-23)(1 - i 2^-23) is a little less than 1, too little for a double that also holds c.
 * Times half an ULP of c it puts the sum beside a midpoint of two floats, and the sum's first
 * rounding puts it onto the midpoint. */
TEST midway_and_a_little(void) {
    state = 4;
    for (int i = 0; i < 2000000; i++) {
        uint64_t r = next();
        float little = (float)(1 + r % 200) * 0x1p-23f;
        float half_ulp = r >> 40 & 1 ? 0x1p-24f : -0x1p-24f;
        float c = 1 + (float)(r >> 8 & 0xffff) * 0x1p-23f;
        float size = rdk_pow2((int)(r >> 48 & 127) - 64);
        ASSERT(same((1 + little) * half_ulp, (1 - little) * size, c * size));
        float subnormal = 0x1p-127f + (float)(r >> 8 & 0xffff) * 0x1p-149f;
        ASSERT(same((1 + little) * half_ulp * 0x1p-51f, (1 - little) * 0x1p-75f, subnormal));
    }
    PASS();
}

/* MinGW's rounds to long double first. */
static bool libm_rounds_once(void) {
    return libm_fma(0x1.5755e2p+47f, -0x1.fa16c6p-16f, -0x1.f29476p-53f) == -0x1.535f26p+32f;
}

TEST nothing_to_compare_with(void) {
    RDK_SKIP("fused multiply-add: the C library's fmaf rounds twice");
}

SUITE(multiply_add) {
    if (!libm_rounds_once()) {
        RUN_TEST(nothing_to_compare_with);
        return;
    }
    RUN_TEST(any_bits);
    RUN_TEST(sums_that_meet);
    RUN_TEST(subnormal_results);
    RUN_TEST(midway_and_a_little);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(multiply_add);
    RDK_MAIN_END();
}
