#include "tests/lib/seed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commit.h" /* of the build */

uint64_t seed_of_tests(void) {
    const char *said = getenv("RDK_SEED");
    char digits[17], *end;
    if (!said || !*said) {
        snprintf(digits, sizeof digits, "%.16s", RDK_COMMIT);
        return strtoull(digits, NULL, 16);
    }
    uint64_t seed = strtoull(said, &end, 0);
    if (*end) {
        fprintf(stderr, "RDK_SEED: \"%s\" is no number\n", said);
        exit(EXIT_FAILURE);
    }
    return seed;
}

void seed_print(uint64_t seed) {
    printf("seed %#" PRIx64 " (RDK_SEED=%#" PRIx64 " draws the same again)\n", seed, seed);
}
