/* rootdk verify: the golden cases on each ISA, one line for each. */
#include "tools/rootdk/tool.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/rootdk/golden.h"

static rdk_status run_on(void *context, const rdk_softmax_desc *desc) {
    rdk_softmax_desc d = *desc;
    d.isa = *(const rdk_isa *)context;
    return rdk_softmax(&d);
}

static uint64_t total_on(rdk_isa isa) {
    uint64_t total = GOLDEN_SEED;
    for (int i = 0; i < golden_count(); i++)
        total = golden_add(total, golden_hash(i, run_on, &isa));
    return total;
}

/* ---- The three things to do ------------------------------------------------------------------ */

static void print_difference(int i, uint64_t hash) {
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    printf("  first difference: case %d %s %s\n", i, golden_name(i, name),
           golden_parameters(i, parameters));
    printf("  hash %016" PRIx64 ", expected %016" PRIx64 "\n", hash, golden_expected(i));
}

static int verify_one(rdk_isa isa) {
    int differences = 0, first = 0;
    uint64_t total = GOLDEN_SEED, first_hash = 0;
    for (int i = 0; i < golden_count(); i++) {
        uint64_t hash = golden_hash(i, run_on, &isa);
        total = golden_add(total, hash);
        if (hash == golden_expected(i) || differences++)
            continue;
        first = i;
        first_hash = hash;
    }
    bool fine = differences == 0 && total == golden_expected_total();
    printf("%-8s %d cases  hash %016" PRIx64 "  ", rdk_isa_name(isa), golden_count(), total);
    if (fine)
        printf("ok\n");
    else
        printf("DIFFERENT in %d\n", differences);
    if (differences)
        print_difference(first, first_hash);
    return fine ? EXIT_FINE : EXIT_DIFFERENT;
}

static int verify_all(void) {
    int code = EXIT_FINE;
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (rdk_isa_available(isa) == RDK_OK && verify_one(isa) != EXIT_FINE)
            code = EXIT_DIFFERENT;
    return code;
}

static int list(rdk_isa isa) {
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    for (int i = 0; i < golden_count(); i++)
        printf("%d %s %s %016" PRIx64 "\n", i, golden_name(i, name),
               golden_parameters(i, parameters), golden_hash(i, run_on, &isa));
    return EXIT_FINE;
}

/* The whole of golden_softmax.inc. */
static int generate(rdk_isa isa) {
    char name[GOLDEN_TEXT];
    printf("/* The hash of every golden softmax case (docs/golden.md), then that of all, for "
           "arithmetic\n"
           " * version %d. Written by `rootdk verify --generate > "
           "tools/rootdk/golden_softmax.inc`, from\n"
           " * the scalar path; done again only when the arithmetic or the cases are changed. */\n",
           rdk_arithmetic_version());
    for (int i = 0; i < golden_count(); i++)
        printf("0x%016" PRIx64 ", /* %d %s */\n", golden_hash(i, run_on, &isa), i,
               golden_name(i, name));
    printf("0x%016" PRIx64 ", /* all */\n", total_on(isa));
    return EXIT_FINE;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static int parse_isa(const char *name, rdk_isa *isa) {
    if (rdk_isa_from_name(name, isa) != RDK_OK || *isa == RDK_ISA_DEFAULT)
        return tool_usage_error("no such ISA", name);
    if (rdk_isa_available(*isa) != RDK_OK)
        return tool_usage_error("not available here (see rootdk info): ISA", name);
    return EXIT_FINE;
}

int tool_verify(int count, char **arguments) {
    bool want_list = false, want_generate = false;
    rdk_isa isa = RDK_ISA_DEFAULT; /* all of them */
    for (int i = 0; i < count; i++) {
        const char *a = arguments[i];
        if (!strcmp(a, "--list")) {
            want_list = true;
        } else if (!strcmp(a, "--generate")) {
            want_generate = true;
        } else if (!strcmp(a, "--isa")) {
            if (++i == count)
                return tool_usage_error("a name must follow", a);
            if (parse_isa(arguments[i], &isa) != EXIT_FINE)
                return EXIT_USAGE;
        } else {
            return tool_usage_error("verify has no option", a);
        }
    }
    if (want_generate)
        return generate(RDK_ISA_SCALAR);
    if (want_list)
        return list(isa ? isa : RDK_ISA_SCALAR);
    return isa ? verify_one(isa) : verify_all();
}
