/* Calls from fuzzed bytes. */
#ifndef RDK_FUZZ_DECODE_H
#define RDK_FUZZ_DECODE_H

#include "tests/attention/cases.h"
#include "tests/fuzz/bytes.h"
#include "tests/softmax/cases.h"

/* Cases that are right, and small. */
softmax_case decode_softmax(bytes *b);
attention_case decode_attention(bytes *b);

/* Puts something else, mostly wrong, into one field of a descriptor whose operands lie in m. */
void spoil_softmax(bytes *b, rdk_softmax_desc *d, const memory *m);
void spoil_attention(bytes *b, rdk_attention_desc *d, const memory *m);

#endif
