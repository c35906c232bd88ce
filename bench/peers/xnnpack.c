/* XNNPACK: its softmax operator. Attention it has none in this version. */
#include <stdlib.h>
#include <xnnpack.h>

#include "bench/inputs.h"
#include "bench/peers/list.h"

_Static_assert(XNN_EXTRA_BYTES <= SLACK, "it reads further past x than there is memory");

typedef struct softmax_call {
    peer_call call;
    xnn_operator_t op;
} softmax_call;

static void run(peer_call *call) {
    xnn_run_operator(((softmax_call *)call)->op, NULL);
}

static void discard(peer_call *call) {
    xnn_delete_operator(((softmax_call *)call)->op);
    free(call);
}

/* No scale, no bias, no log-softmax. */
static peer_call *prepare(const rdk_softmax_desc *d) {
    xnn_operator_t op = NULL;
    bool plain = softmax_is_dense(d) && d->mode == RDK_SOFTMAX && d->x_type == RDK_F32 &&
                 !d->bias && (d->scale == 0 || d->scale == 1);
    if (!plain || xnn_initialize(NULL) != xnn_status_success ||
        xnn_create_softmax_nc_f32((size_t)d->cols, (size_t)d->x_stride, (size_t)d->y_stride, 0,
                                  &op) != xnn_status_success)
        return NULL;
    if (xnn_setup_softmax_nc_f32(op, (size_t)d->rows, d->x, d->y, NULL) != xnn_status_success) {
        xnn_delete_operator(op);
        return NULL;
    }
    softmax_call *c = allocate(sizeof *c);
    *c = (softmax_call){{"softmax", run, NULL, discard}, op};
    return &c->call;
}

static peer_call *prepare_none(const rdk_attention_desc *d) {
    (void)d;
    return NULL;
}

/* It has no version numbers; the package has the day of its source. */
static const char *version(void) {
    return XNNPACK_VERSION;
}

const peer peer_xnnpack = {"XNNPACK", version, prepare, prepare_none};
