/* rootdk, the command: what the library runs here, whether its bits are
 * right, and how fast it is. */
#include "tools/rootdk/tool.h"

#include <stdio.h>
#include <string.h>

#include "kernels/isas.h"
#include "rootdk/rootdk.h"

#define ISA_NAME(NAME, name, ...) " " #name
#define ISA_NAMES RDK_ISAS(ISA_NAME)

static const char HELP[] =
    "usage: rootdk info [--markdown]\n"
    "       rootdk verify [--isa NAME] [--list]\n"
#ifdef RDK_TOOL_BENCH
    "       rootdk bench [--isa NAME] [--threads N] [--shapes FILE] [--seconds N]\n"
    "                    [--json FILE] [--quick]\n"
#endif
    "       rootdk --help | --version\n"
    "\n"
    "info      this CPU, the ISAs of this build, and which kernels run\n"
    "  --markdown   a table of ISAs and operations instead\n"
    "verify    run the golden cases (docs/golden.md) on every ISA this CPU has\n"
    "  --isa NAME   on this one only, of" ISA_NAMES "\n"
    "  --list       print each case with its hash (of scalar, or of --isa) and compare nothing\n"
#ifdef RDK_TOOL_BENCH
    "bench     a few works on every ISA beside what this machine can do; about ten seconds\n"
    "  --isa NAME     on this one only\n"
    "  --threads N    by so many threads, the limits, too; each does some of the heads\n"
    "  --shapes FILE  the works of this file, which is like bench/shapes.ini\n"
    "  --seconds N    measure for so long, about (8)\n"
    "  --json FILE    also write the results there, as docs/performance.md tells\n"
    "  --quick        smaller works, half a second: shows that it works, not how fast it is\n"
#endif
    "\n"
    "exit codes: 0 all is well; 1 some result differs; 2 the arguments are wrong\n";

static const struct {
    const char *name;
    int (*run)(int count, char **arguments);
} COMMANDS[] = {
    {"info", tool_info},
    {"verify", tool_verify},
#ifdef RDK_TOOL_BENCH
    {"bench", tool_bench},
#endif
};

int tool_usage_error(const char *message, const char *what) {
    fprintf(stderr, "rootdk: %s '%s'; see rootdk --help\n", message, what);
    return EXIT_USAGE;
}

static int is_help(const char *argument) {
    return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

static int print_help(FILE *to, int code) {
    fputs(HELP, to);
    return code;
}

/* An answer that nobody could read is no answer. */
static int written(int exit_code) {
    return fflush(stdout) || ferror(stdout) ? EXIT_DIFFERENT : exit_code;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return print_help(stderr, EXIT_USAGE);
    for (int i = 1; i < argc; i++)
        if (is_help(argv[i]))
            return print_help(stdout, EXIT_FINE);
    if (!strcmp(argv[1], "--version") && argc == 2) {
        printf("rootdk %s\n", rdk_version());
        return EXIT_FINE;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++)
        if (!strcmp(argv[1], COMMANDS[i].name))
            return written(COMMANDS[i].run(argc - 2, argv + 2));
    return tool_usage_error("no such command or option", argv[1]);
}
