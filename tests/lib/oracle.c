/* Draws and units of the tests of accuracy. */
#include "tests/lib/oracle.h"

#include <math.h>

static uint64_t state;

void draw_seed(uint64_t seed) {
    state = seed;
}

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

double draw_uniform(void) {
    return ((double)(draw() >> 12) + 0.5) * 0x1p-52;
}

double draw_normal(void) {
    return sqrt(-2 * log(draw_uniform())) * cos(6.283185307179586 * draw_uniform());
}

double ulp32(double v) {
    return ulp_of(v, 23, -126);
}

double log_error(double got, double exact) {
    return fabs(got - exact) / ulp32(fmax(1, fabs(exact)));
}
