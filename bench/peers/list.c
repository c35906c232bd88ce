/* The peers that were found when the bench was built. */
#include "bench/peers/list.h"

#include <stddef.h>

static const peer *const PEERS[] = {
#ifdef HAVE_ONEDNN
    &peer_onednn,
#endif
#ifdef HAVE_XNNPACK
    &peer_xnnpack,
#endif
#ifdef HAVE_OPENBLAS
    &peer_openblas,
#endif
    &peer_plain,
};

#define NOT_FOUND "was not found when the bench was built"

/* Ends in NULL, since there may be none. */
static const peer_absence ABSENT[] = {
#ifndef HAVE_ONEDNN
    {"oneDNN", NOT_FOUND " (2.6 or 2.7)"},
#endif
#ifndef HAVE_XNNPACK
    {"XNNPACK", NOT_FOUND},
#endif
#ifndef HAVE_OPENBLAS
    {"OpenBLAS", NOT_FOUND},
#endif
    {NULL, NULL},
};

const peer *const *peers(int *count) {
    *count = sizeof PEERS / sizeof PEERS[0];
    return PEERS;
}

const peer_absence *peers_absent(int *count) {
    *count = sizeof ABSENT / sizeof ABSENT[0] - 1;
    return ABSENT;
}

bool softmax_is_dense(const rdk_softmax_desc *d) {
    return d->mode != RDK_SOFTMAX_LSE && d->rows > 0 && d->cols > 0 && d->x_type == d->y_type &&
           !d->row_scale && !d->visible && !d->lse;
}
