/* rootdk info: the ISAs of this CPU and of this build, and the kernels that run because of them. */
#include "tools/rootdk/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/isas.h"
#include "rootdk/rootdk.h"
#include "tools/rootdk/machine.h"

static const char *const OPERATIONS[RDK_OP_COUNT] = {"softmax", "attention"};

/* The ladder: the needs of each ISA. */
static const struct {
    rdk_isa isa;
    const char *architecture, *needs;
} ISAS[] = {
#define ISA(NAME, name, title, architecture, needs, ...) {RDK_ISA_##NAME, architecture, needs},
    RDK_ISAS(ISA)
#undef ISA
};
enum { ISAS_COUNT = sizeof ISAS / sizeof ISAS[0] };

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* ---- Why an ISA runs or does not ------------------------------------------------------------- */

static void append(char text[MACHINE_TEXT], const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, MACHINE_TEXT - used, format, arguments);
    va_end(arguments);
}

/* Whether ISAS[rung] needs a feature: its own, or one of an ISA below it
 * of the same architecture. */
static bool needs_feature(int rung, const machine_feature *f) {
    for (int i = 0; i <= rung; i++)
        if (ISAS[i].isa == f->isa)
            return true;
    return false;
}

/* Names the missing features of the CPU, or of the operating system; returns how many. */
static int name_missing(int rung, bool of_os, char text[MACHINE_TEXT]) {
    size_t count;
    int missing = 0;
    const machine_feature *features = machine_features(&count);
    for (size_t i = 0; i < count; i++)
        if (needs_feature(rung, &features[i]) && features[i].of_os == of_os && !features[i].found)
            append(text, "%s%s", missing++ ? ", " : "", features[i].name);
    return missing;
}

static const char *why_not(int rung, char text[MACHINE_TEXT]) {
    char missing[MACHINE_TEXT] = "";
    *text = 0;
    if (*ISAS[rung].architecture && strcmp(ISAS[rung].architecture, machine_architecture()))
        append(text, "not in this build, which is for %s", machine_architecture());
    else if (name_missing(rung, false, missing))
        append(text, "this CPU lacks %s", missing);
    else if (name_missing(rung, true, missing))
        append(text, "the operating system does not enable %s", missing);
    else
        append(text, "not in this build");
    return text;
}

static const char *standing(int rung, rdk_isa chosen, char text[MACHINE_TEXT]) {
    if (rdk_isa_available(ISAS[rung].isa) != RDK_OK)
        return why_not(rung, text);
    return ISAS[rung].isa == chosen ? "available, chosen" : "available";
}

/* ---- The report ------------------------------------------------------------------------------ */

static void print_features(void) {
    size_t count;
    const machine_feature *features = machine_features(&count);
    printf("found       %s", machine_architecture());
    for (size_t i = 0; i < count; i++)
        if (features[i].found)
            printf(", %s", features[i].name);
    printf("\n");
}

static void print_choice(void) {
    const char *wish = getenv("RDK_ISA");
    rdk_status status = rdk_isa_status();
    if (!wish || !*wish)
        printf("RDK_ISA     not set: the best ISA is chosen\n");
    else if (status == RDK_OK)
        printf("RDK_ISA     %s: honoured\n", wish);
    else
        printf("RDK_ISA     %s: %s; scalar is chosen\n", wish, rdk_status_string(status));
}

static int print_report(void) {
    char text[MACHINE_TEXT];
    printf("rootdk      %s, arithmetic version %d\n", rdk_version(), rdk_arithmetic_version());
    printf("compiler    %s\n", COMPILER);
    printf("CPU         %s\n", machine_name(text));
    print_features();
    print_choice();
    printf("\nISAs\n");
    for (int i = 0; i < ISAS_COUNT; i++)
        printf("  %-8s  %s\n", rdk_isa_name(ISAS[i].isa), standing(i, rdk_get_isa(), text));
    printf("\nkernels that run\n");
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        printf("  %-9s  %s\n", OPERATIONS[op], rdk_kernel_name(op));
    return EXIT_FINE;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void print_table_row(int rung) {
    char text[MACHINE_TEXT];
    rdk_isa isa = ISAS[rung].isa;
    bool runs = rdk_set_isa(isa) == RDK_OK;
    printf("| %s | %s | %s |", rdk_isa_name(isa), ISAS[rung].needs,
           runs ? "yes" : why_not(rung, text));
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        if (runs)
            printf(" `%s` |", rdk_kernel_name(op));
        else
            printf(" |");
    printf("\n");
}

static int print_table(void) {
    printf("| ISA | needs | runs here |");
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        printf(" %s |", OPERATIONS[op]);
    printf("\n|---|---|---|");
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        printf("---|");
    printf("\n");
    for (int i = 0; i < ISAS_COUNT; i++)
        print_table_row(i);
    return EXIT_FINE;
}

int tool_info(int count, char **arguments) {
    if (count == 0)
        return print_report();
    if (count == 1 && !strcmp(arguments[0], "--markdown"))
        return print_table();
    bool first_is_known = !strcmp(arguments[0], "--markdown");
    return tool_usage_error("info has no option", arguments[first_is_known ? 1 : 0]);
}
