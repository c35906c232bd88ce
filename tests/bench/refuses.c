/* A library for test_compare.py: it refuses every softmax, and its attention writes nothing. */
#include <stddef.h>

#include "rootdk/rootdk.h"

const char *rdk_version(void) {
    return "0.0.0";
}

int rdk_arithmetic_version(void) {
    return 0;
}

const char *rdk_isa_name(rdk_isa isa) {
    return isa == RDK_ISA_DEFAULT ? "default" : "any";
}

rdk_status rdk_isa_from_name(const char *name, rdk_isa *isa) {
    *isa = RDK_ISA_SCALAR;
    return name ? RDK_OK : RDK_ERR_NULL;
}

rdk_status rdk_isa_available(rdk_isa isa) {
    return isa < RDK_ISA_COUNT ? RDK_OK : RDK_ERR_ISA_UNKNOWN;
}

const char *rdk_status_string(rdk_status status) {
    return status == RDK_OK ? "fine" : "never";
}

rdk_status rdk_softmax(const rdk_softmax_desc *d) {
    return d ? RDK_ERR_MODE : RDK_ERR_NULL;
}

rdk_status rdk_attention(const rdk_attention_desc *d) {
    return d ? RDK_OK : RDK_ERR_NULL;
}

rdk_status rdk_attention_scratch(const rdk_attention_desc *d, size_t *bytes) {
    *bytes = 0;
    return d ? RDK_OK : RDK_ERR_NULL;
}
