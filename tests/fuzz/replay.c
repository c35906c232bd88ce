/* The fuzzer's corpus, without the fuzzer: every line of the file is an input in hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { MAX_BYTES = 4096 };

static int digit(char c) {
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c ? strchr(DIGITS, c) : NULL;
    return at ? (int)(at - DIGITS) : -1;
}

static size_t bytes_of(const char *line, uint8_t *data) {
    size_t n = 0;
    for (; n < MAX_BYTES && digit(line[0]) >= 0 && digit(line[1]) >= 0; line += 2)
        data[n++] = (uint8_t)(digit(line[0]) * 16 + digit(line[1]));
    return n;
}

int main(int argc, char **argv) {
    static char line[2 * MAX_BYTES + 2];
    static uint8_t data[MAX_BYTES];
    int count = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: fuzz_replay CORPUS\n");
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        LLVMFuzzerTestOneInput(data, bytes_of(line, data));
        count++;
    }
    fclose(file);
    printf("%d passed, 0 failed, 0 skipped\n", count);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
