/* Which limits there are, and the plain C ones. */
#include "bench/limits/limits.h"

#include <stdint.h>
#include <string.h>

static void read_scalar(void *context) {
    span *s = context;
    uint64_t sum[4] = {0}, in[4];
    size_t i = 0;
    for (; i + sizeof in <= s->bytes; i += sizeof in) {
        memcpy(in, s->from + i, sizeof in);
        for (int j = 0; j < 4; j++)
            sum[j] ^= in[j];
    }
    memcpy(s->sink, sum, sizeof sum);
    read_rest(s, i);
}

static const read_loop READ_SCALAR = {"straight", read_scalar};
const limit limit_scalar = {.isa = RDK_ISA_SCALAR, .read_count = 1, .read = &READ_SCALAR};

static const limit *const LIMITS[RDK_ISA_COUNT] = {
#define LIMIT_OF(NAME, name, ...) [RDK_ISA_##NAME] = RDK_IN_BUILD(NAME, &limit_##name, NULL),
    RDK_ISAS(LIMIT_OF)
#undef LIMIT_OF
};

const limit *limit_of(rdk_isa isa) {
    return isa >= 0 && isa < RDK_ISA_COUNT ? LIMITS[isa] : NULL;
}
