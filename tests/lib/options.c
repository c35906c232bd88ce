#include "tests/lib/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/paths.h"
#include "tests/lib/seed.h"

enum { THOROUGH = 200000 };

int take_options(options *o, int argc, char **argv) {
    int left = 1;
    const char *environment = getenv("RDK_CASES");
    *o = (options){.cases = 20000, .seed = seed_of_tests(), .path = rdk_only_path()};
    if (environment && *environment)
        o->cases = strtoull(environment, NULL, 0);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--whole")) {
            o->whole = true;
            continue;
        }
        if (value && !strcmp(argv[i], "--cases"))
            o->cases = environment && *environment ? o->cases : strtoull(value, NULL, 0);
        else if (value && !strcmp(argv[i], "--seed"))
            o->seed = strtoull(value, NULL, 0);
        else if (value && !strcmp(argv[i], "--path"))
            o->path = value;
        else if (value && !strcmp(argv[i], "--case")) {
            o->single = strtoull(value, NULL, 0);
            o->has_single = true;
        } else {
            argv[left++] = argv[i];
            continue;
        }
        i++;
    }
    o->whole |= o->cases >= THOROUGH;
    return left;
}

uint64_t draws_left(const options *o, uint64_t walked) {
    uint64_t least = o->cases / 2 + 1;
    return o->cases > walked + least ? o->cases - walked : least;
}
