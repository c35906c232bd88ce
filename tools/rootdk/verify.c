/* rootdk verify: the golden cases on each ISA, one line for each operation. */
#include "tools/rootdk/tool.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"

static rdk_status softmax_on(void *context, const rdk_softmax_desc *desc) {
    rdk_softmax_desc d = *desc;
    d.isa = *(const rdk_isa *)context;
    return rdk_softmax(&d);
}

static rdk_status attention_on(void *context, const rdk_attention_desc *desc) {
    rdk_attention_desc d = *desc;
    d.isa = *(const rdk_isa *)context;
    return rdk_attention(&d);
}

static golden_runner runner_on(rdk_isa *isa) {
    return (golden_runner){softmax_on, attention_on, isa};
}

/* ---- The three things to do ------------------------------------------------------------------ */

static void print_difference(const golden_op *op, int i, uint64_t hash) {
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    printf("  first difference: case %d %s %s\n", i, op->case_name(i, name),
           op->parameters(i, parameters));
    printf("  hash %016" PRIx64 ", expected %016" PRIx64 "\n", hash, golden_expected(op, i));
}

static int verify_op(const golden_op *op, rdk_isa isa) {
    golden_runner run = runner_on(&isa);
    int differences = 0, first = 0;
    uint64_t total = GOLDEN_SEED, first_hash = 0;
    for (int i = 0; i < op->count(); i++) {
        uint64_t hash = op->hash(i, &run);
        total = golden_add(total, hash);
        if (hash == golden_expected(op, i) || differences++)
            continue;
        first = i;
        first_hash = hash;
    }
    bool fine = differences == 0 && total == golden_expected_total(op);
    printf("%-8s %-9s %d cases  hash %016" PRIx64 "  ", rdk_isa_name(isa), op->name, op->count(),
           total);
    if (fine)
        printf("ok\n");
    else
        printf("DIFFERENT in %d\n", differences);
    if (differences)
        print_difference(op, first, first_hash);
    return fine ? EXIT_FINE : EXIT_DIFFERENT;
}

static int verify_one(rdk_isa isa) {
    int code = EXIT_FINE;
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        if (verify_op(GOLDEN_OPS[op], isa) != EXIT_FINE)
            code = EXIT_DIFFERENT;
    return code;
}

static int verify_all(void) {
    int code = EXIT_FINE;
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (rdk_isa_available(isa) == RDK_OK && verify_one(isa) != EXIT_FINE)
            code = EXIT_DIFFERENT;
    return code;
}

static void list_op(const golden_op *op, rdk_isa isa) {
    golden_runner run = runner_on(&isa);
    char name[GOLDEN_TEXT], parameters[GOLDEN_TEXT];
    for (int i = 0; i < op->count(); i++)
        printf("%s %d %s %s %016" PRIx64 "\n", op->name, i, op->case_name(i, name),
               op->parameters(i, parameters), op->hash(i, &run));
}

static int list(rdk_isa isa) {
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        list_op(GOLDEN_OPS[op], isa);
    return EXIT_FINE;
}

/* The whole of golden/NAME.inc. */
static int generate(const golden_op *op) {
    rdk_isa isa = RDK_ISA_SCALAR;
    golden_runner run = runner_on(&isa);
    char name[GOLDEN_TEXT];
    uint64_t total = GOLDEN_SEED;
    printf(
        "/* The hash of every golden %s case (docs/golden.md), then that of all, for arithmetic\n"
        " * version %d. Written by `rootdk verify --generate %s > golden/%s.inc`, from the\n"
        " * scalar path; done again only when the arithmetic or the cases are changed. */\n",
        op->name, rdk_arithmetic_version(), op->name, op->name);
    for (int i = 0; i < op->count(); i++) {
        uint64_t hash = op->hash(i, &run);
        total = golden_add(total, hash);
        printf("0x%016" PRIx64 ", /* %d %s */\n", hash, i, op->case_name(i, name));
    }
    printf("0x%016" PRIx64 ", /* all */\n", total);
    return EXIT_FINE;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

typedef struct wishes {
    bool list;
    const golden_op *generate; /* NULL: nothing */
    rdk_isa isa;               /* RDK_ISA_DEFAULT: all of them */
} wishes;

static int parse_isa(const char *name, rdk_isa *isa) {
    if (rdk_isa_from_name(name, isa) != RDK_OK || *isa == RDK_ISA_DEFAULT)
        return tool_usage_error("no such ISA", name);
    if (rdk_isa_available(*isa) != RDK_OK)
        return tool_usage_error("not available here (see rootdk info): ISA", name);
    return EXIT_FINE;
}

static int parse_op(const char *name, const golden_op **found) {
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        if (!strcmp(name, GOLDEN_OPS[op]->name)) {
            *found = GOLDEN_OPS[op];
            return EXIT_FINE;
        }
    return tool_usage_error("no such operation", name);
}

static int parse(int count, char **arguments, wishes *w) {
    for (int i = 0; i < count; i++) {
        const char *a = arguments[i];
        bool isa = !strcmp(a, "--isa"), op = !strcmp(a, "--generate");
        if (!strcmp(a, "--list"))
            w->list = true;
        else if (!isa && !op)
            return tool_usage_error("verify has no option", a);
        else if (++i == count)
            return tool_usage_error("a name must follow", a);
        else if ((isa ? parse_isa(arguments[i], &w->isa) : parse_op(arguments[i], &w->generate)))
            return EXIT_USAGE;
    }
    return EXIT_FINE;
}

int tool_verify(int count, char **arguments) {
    wishes w = {0};
    if (parse(count, arguments, &w) != EXIT_FINE)
        return EXIT_USAGE;
    if (w.generate)
        return generate(w.generate);
    if (w.list)
        return list(w.isa ? w.isa : RDK_ISA_SCALAR);
    return w.isa ? verify_one(w.isa) : verify_all();
}
