/* Where keys and values lie. */
#ifndef RDK_ATTENTION_KV_H
#define RDK_ATTENTION_KV_H

#include "rootdk/rootdk.h"

/* The keys and values of a call. */
typedef struct rdk_kv {
    rdk_const_view k, v;
} rdk_kv;

/* `count` keys, each one step after the one before, and their values. */
typedef struct rdk_run {
    const char *k, *v;
    int64_t k_step, v_step; /* bytes */
    int64_t count;
} rdk_run;

/* The row (b, h, i) of a view. */
static inline char *rdk_view_row(const rdk_view *v, int64_t b, int64_t h, int64_t i) {
    return (char *)v->data + (b * v->batch_stride + h * v->head_stride + i * v->row_stride) * 4;
}

static inline const char *rdk_const_view_row(const rdk_const_view *v, int64_t b, int64_t h,
                                             int64_t i) {
    return (const char *)v->data +
           (b * v->batch_stride + h * v->head_stride + i * v->row_stride) * 4;
}

/* The run of keys from `key` on, up to `end` at most. In a view a run has all of them. */
static inline rdk_run rdk_run_at(const rdk_kv *kv, int64_t b, int64_t kv_head, int64_t key,
                                 int64_t end) {
    return (rdk_run){.k = rdk_const_view_row(&kv->k, b, kv_head, key),
                     .v = rdk_const_view_row(&kv->v, b, kv_head, key),
                     .k_step = kv->k.row_stride * 4,
                     .v_step = kv->v.row_stride * 4,
                     .count = end - key};
}

#endif
