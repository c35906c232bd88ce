/* The functions of operations that the build leaves out (-DRDK_WITHOUT_...): each only says so. */
#include "rootdk/rootdk.h"

#ifdef RDK_WITHOUT_SOFTMAX
rdk_status rdk_softmax(const rdk_softmax_desc *desc) {
    (void)desc;
    return RDK_ERR_OP_UNAVAILABLE;
}
#endif

#ifdef RDK_WITHOUT_ATTENTION
rdk_status rdk_attention(const rdk_attention_desc *desc) {
    (void)desc;
    return RDK_ERR_OP_UNAVAILABLE;
}

rdk_status rdk_attention_scratch(const rdk_attention_desc *desc, size_t *bytes) {
    (void)desc;
    (void)bytes;
    return RDK_ERR_OP_UNAVAILABLE;
}
#endif
