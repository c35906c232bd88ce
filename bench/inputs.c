/* Memory for the benches, and numbers to put there. */
#include "bench/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *type_name(rdk_type type) {
    return type == RDK_F32 ? "f32" : type == RDK_F16 ? "f16" : "bf16";
}

size_t type_size(rdk_type type) {
    return type == RDK_F32 ? 4 : 2;
}

/* splitmix64: the same numbers everywhere. */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Nearly N(0, 1): twelve uniform numbers of 16 bits, less their mean. Exact. */
static float normal(uint64_t *state) {
    int32_t sum = 0;
    for (int i = 0; i < 3; i++)
        for (uint64_t u = next(state), j = 0; j < 4; j++, u >>= 16)
            sum += (int32_t)(u & 0xffff);
    return (float)(sum - 12 * 0x8000 + 6) / 0x10000;
}

/* Cut, not rounded; what f16 has no normal number for is 0. */
static uint16_t narrow(float v, rdk_type type) {
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    if (type == RDK_BF16)
        return (uint16_t)(u >> 16);
    uint32_t sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    return (uint16_t)(rest < 0x38800000 ? sign : sign | (rest - 0x38000000) >> 13);
}

void fill(void *to, rdk_type type, int64_t count, uint64_t seed) {
    for (int64_t i = 0; i < count; i++) {
        float v = normal(&seed);
        uint16_t h = type == RDK_F32 ? 0 : narrow(v, type);
        memcpy((char *)to + (size_t)i * type_size(type), type == RDK_F32 ? (void *)&v : (void *)&h,
               type_size(type));
    }
}

void *allocate(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + SLACK + 63) / 64 * 64);
    if (!p) {
        fprintf(stderr, "bench: no memory\n");
        exit(1);
    }
    memset(p, 0, bytes + SLACK); /* so that no page is new when it is timed */
    return p;
}

void *new_input(int64_t count, rdk_type type, uint64_t seed) {
    void *made = allocate((size_t)count * type_size(type));
    fill(made, type, count, seed);
    return made;
}
