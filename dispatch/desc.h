/* Descriptors of other versions: how their `size` is taken. */
#ifndef RDK_DESC_H
#define RDK_DESC_H

#include <stddef.h>
#include <string.h>

#include "rootdk/rootdk.h"

#define RDK_MAX_DESC 4096 /* bytes of a descriptor, ever */

/* Copies the `known` bytes of a descriptor, whose first field is its size. A caller of an older
 * version has a shorter struct, though not below `least`. One of a newer version has a longer
 * struct, whose surplus must be zero because this version cannot honour it. A size above
 * RDK_MAX_DESC was never set. */
static inline rdk_status rdk_copy_desc(void *to, size_t known, size_t least, const void *from) {
    size_t size;
    if (!from)
        return RDK_ERR_NULL;
    memcpy(&size, from, sizeof size);
    if (size < least || size > RDK_MAX_DESC)
        return RDK_ERR_STRUCT_SIZE;
    for (size_t i = known; i < size; i++)
        if (((const char *)from)[i])
            return RDK_ERR_STRUCT_SIZE;
    if (size < known) {
        memcpy(to, from, size);
        memset((char *)to + size, 0, known - size);
    } else {
        memcpy(to, from, known); /* of a length the compiler knows: much the shorter */
    }
    return RDK_OK;
}

#endif
