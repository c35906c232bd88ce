/* The command-line tool's parts. */
#ifndef RDK_TOOL_H
#define RDK_TOOL_H

enum { EXIT_FINE = 0, EXIT_DIFFERENT = 1, EXIT_USAGE = 2 };

/* Each gets the arguments after its own name and returns the exit code. */
int tool_info(int count, char **arguments);
int tool_verify(int count, char **arguments);
int tool_bench(int count, char **arguments);

/* "rootdk: MESSAGE 'WHAT'" and a pointer to --help, on standard error; returns EXIT_USAGE. */
int tool_usage_error(const char *message, const char *what);

#endif
