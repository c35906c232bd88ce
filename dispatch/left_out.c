/* The functions of operations that the build leaves out (-DRDK_WITHOUT_...): each only says so. */
#include "rootdk/rootdk.h"

#define LEFT_OUT(op)                                                                               \
    rdk_status rdk_##op(const rdk_##op##_desc *desc) {                                             \
        (void)desc;                                                                                \
        return RDK_ERR_OP_UNAVAILABLE;                                                             \
    }                                                                                              \
                                                                                                   \
    rdk_status rdk_##op##_check(const rdk_##op##_desc *desc, const char **field) {                 \
        (void)desc;                                                                                \
        if (field)                                                                                 \
            *field = "";                                                                           \
        return RDK_ERR_OP_UNAVAILABLE;                                                             \
    }

#ifdef RDK_WITHOUT_SOFTMAX
LEFT_OUT(softmax)
#endif

#ifdef RDK_WITHOUT_ATTENTION
LEFT_OUT(attention)

rdk_status rdk_attention_scratch(const rdk_attention_desc *desc, size_t *bytes) {
    (void)desc;
    (void)bytes;
    return RDK_ERR_OP_UNAVAILABLE;
}
#endif
