/* One fuzzed call, whoever drives it: libFuzzer, or the replay of the corpus. */
#ifndef RDK_FUZZ_H
#define RDK_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Builds a call from the bytes and makes it on every path. A difference, a fault, or a byte written
 * by a call that was refused is printed and ends the program by abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
