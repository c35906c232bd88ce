/* No peers: for the tool, which is linked with nothing but the library. */
#include <stddef.h>

#include "bench/peers/peer.h"

const peer *const *peers(int *count) {
    *count = 0;
    return NULL;
}

const peer_absence *peers_absent(int *count) {
    *count = 0;
    return NULL;
}
