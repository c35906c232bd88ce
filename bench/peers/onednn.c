/* oneDNN 2: its softmax, and attention as a user of its primitives writes it
 * (matmul, softmax, matmul). */
#define _GNU_SOURCE /* for RTLD_DEFAULT */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnnl.h>

#include "bench/inputs.h"
#include "bench/peers/blocks.h"
#include "bench/peers/list.h"

enum {
    MAX_ARGS = 3,
    BLOCK = 256,            /* rows at a time, so that their scores stay in a cache; */
    CAUSAL_BLOCK = 64,      /* of causal works: more queries would compute more hidden scores */
    BLOCK_SCORES = 1 << 16, /* heads at a time while they have no more */
};

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* OpenMP's, if oneDNN was built with OpenMP; its header does not say. */
static void use_one_thread(void) {
    void (*set_threads)(int);
    void *found = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    memcpy(&set_threads, &found, sizeof found); /* ISO C has no cast for it */
    if (found)
        set_threads(1);
}

static bool start(void) {
    use_one_thread();
    return stream ||
           (dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
            dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

typedef struct tensor {
    dnnl_memory_desc_t desc;
    void *data;
} tensor;

/* A primitive and its operands. */
typedef struct step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[MAX_ARGS];
    int arg_count;
} step;

static void execute(const step *s) {
    dnnl_primitive_execute(s->primitive, stream, s->arg_count, s->args);
}

static void discard_step(step *s) {
    for (int i = 0; i < s->arg_count; i++)
        dnnl_memory_destroy(s->args[i].memory);
    dnnl_primitive_destroy(s->primitive);
}

static bool add_arg(step *s, int arg, const tensor *t) {
    dnnl_exec_arg_t *a = &s->args[s->arg_count];
    a->arg = arg;
    if (dnnl_memory_create(&a->memory, &t->desc, engine, t->data) != dnnl_success)
        return false;
    s->arg_count++;
    return true;
}

static bool make_primitive(step *s, const_dnnl_op_desc_t op, const_dnnl_primitive_attr_t attr) {
    dnnl_primitive_desc_t desc;
    if (dnnl_primitive_desc_create(&desc, op, attr, engine, NULL) != dnnl_success)
        return false;
    bool made = dnnl_primitive_create(&s->primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    return made;
}

static bool make_softmax(step *s, dnnl_alg_kind_t kind, const tensor *x, const tensor *y) {
    dnnl_softmax_v2_desc_t op;
    return dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_inference, kind, &x->desc, &y->desc,
                                             x->desc.ndims - 1) == dnnl_success &&
           make_primitive(s, &op, NULL) && add_arg(s, DNNL_ARG_SRC, x) &&
           add_arg(s, DNNL_ARG_DST, y);
}

/* y = x + bias */
static bool make_sum(step *s, const tensor *x, const tensor *bias, const tensor *y) {
    dnnl_binary_desc_t op;
    return dnnl_binary_desc_init(&op, dnnl_binary_add, &x->desc, &bias->desc, &y->desc) ==
               dnnl_success &&
           make_primitive(s, &op, NULL) && add_arg(s, DNNL_ARG_SRC_0, x) &&
           add_arg(s, DNNL_ARG_SRC_1, bias) && add_arg(s, DNNL_ARG_DST, y);
}

/* c = scale * a b */
static bool make_product(step *s, float scale, const tensor *a, const tensor *b, const tensor *c) {
    dnnl_matmul_desc_t op;
    dnnl_primitive_attr_t attr;
    if (dnnl_primitive_attr_create(&attr) != dnnl_success)
        return false;
    bool made = dnnl_primitive_attr_set_output_scales(attr, 1, 0, &scale) == dnnl_success &&
                dnnl_matmul_desc_init(&op, &a->desc, &b->desc, NULL, &c->desc) == dnnl_success &&
                make_primitive(s, &op, attr) && add_arg(s, DNNL_ARG_SRC, a) &&
                add_arg(s, DNNL_ARG_WEIGHTS, b) && add_arg(s, DNNL_ARG_DST, c);
    dnnl_primitive_attr_destroy(attr);
    return made;
}

/* ---- Softmax --------------------------------------------------------------------------------- */

typedef struct softmax_call {
    peer_call call;
    step sum, softmax; /* sum: only if there is a bias */
} softmax_call;

static void run_softmax(peer_call *call) {
    const softmax_call *c = (softmax_call *)call;
    if (c->sum.primitive)
        execute(&c->sum);
    execute(&c->softmax);
}

static void discard_softmax(peer_call *call) {
    softmax_call *c = (softmax_call *)call;
    discard_step(&c->sum);
    discard_step(&c->softmax);
    free(c);
}

static tensor rows_of(const rdk_softmax_desc *d, const void *data, int64_t stride, rdk_type type) {
    static const dnnl_data_type_t TYPES[] = {dnnl_f32, dnnl_f16, dnnl_bf16};
    tensor t;
    memcpy(&t.data, &data, sizeof data); /* its interface has no const */
    dnnl_memory_desc_init_by_strides(&t.desc, 2, (dnnl_dims_t){d->rows, d->cols}, TYPES[type],
                                     (dnnl_dims_t){stride, 1});
    return t;
}

static bool make_softmax_steps(softmax_call *c, const rdk_softmax_desc *d) {
    dnnl_alg_kind_t kind = d->mode == RDK_SOFTMAX ? dnnl_softmax_accurate : dnnl_softmax_log;
    tensor x = rows_of(d, d->x, d->x_stride, d->x_type);
    tensor y = rows_of(d, d->y, d->y_stride, d->y_type);
    if (!d->bias)
        return make_softmax(&c->softmax, kind, &x, &y);
    tensor bias = rows_of(d, d->bias, d->bias_stride, d->bias_type);
    return make_sum(&c->sum, &x, &bias, &y) && make_softmax(&c->softmax, kind, &y, &y);
}

/* Its CPU decides about f16 and bf16. No scale, which softmax does not have here. */
static peer_call *prepare_softmax(const rdk_softmax_desc *d) {
    if (!softmax_is_dense(d) || (d->scale != 0 && d->scale != 1) || !start())
        return NULL;
    softmax_call *c = allocate(sizeof *c);
    c->call =
        (peer_call){d->bias ? "binary + softmax" : "softmax", run_softmax, NULL, discard_softmax};
    if (make_softmax_steps(c, d))
        return &c->call;
    discard_softmax(&c->call);
    return NULL;
}

/* ---- Attention ------------------------------------------------------------------------------- */

/* Some rows of some stacks, and the keys that any of them sees. */
typedef struct block {
    int64_t first_stack, stacks, first_row, rows, keys;
    step scores, weights, output;
} block;

typedef struct attention_call {
    peer_call call;
    rdk_attention_desc desc;
    stacks stacks;
    int64_t block_rows; /* at most */
    float *scores;      /* of a block */
    block *blocks;
    int64_t count;
} attention_call;

/* Keys that a row does not see. A mask to add would have to be read, and mostly adds 0. (A block of
 * several stacks has all of their rows, so r may run on from one to the next.) */
static void hide(const attention_call *c, const block *b) {
    for (int64_t r = 0; r < b->stacks * b->rows; r++) {
        float *row = c->scores + r * b->keys;
        for (int64_t j = visible_keys(&c->desc, b->first_row + r); j < b->keys; j++)
            row[j] = -INFINITY;
    }
}

static void run_attention(peer_call *call) {
    const attention_call *c = (attention_call *)call;
    for (const block *b = c->blocks; b < c->blocks + c->count; b++) {
        execute(&b->scores);
        if (c->desc.causal)
            hide(c, b);
        execute(&b->weights);
        execute(&b->output);
    }
}

static const float *kv_of(const attention_call *c, const block *b, const float *data,
                          int64_t head_stride) {
    return data + stack_kv_offset(&c->desc, &c->stacks, b->first_stack, head_stride);
}

/* The second argument of a product; its interface has no const. */
static void set_weights(step *product, const float *data) {
    void *handle;
    memcpy(&handle, &data, sizeof data);
    dnnl_memory_set_data_handle(product->args[1].memory, handle);
}

static void set_kv(peer_call *call, const float *k, const float *v) {
    attention_call *c = (attention_call *)call;
    for (block *b = c->blocks; b < c->blocks + c->count; b++) {
        set_weights(&b->scores, kv_of(c, b, k, c->desc.k.head_stride));
        set_weights(&b->output, kv_of(c, b, v, c->desc.v.head_stride));
    }
}

static void discard_attention(peer_call *call) {
    attention_call *c = (attention_call *)call;
    for (block *b = c->blocks; b < c->blocks + c->count; b++) {
        discard_step(&b->scores);
        discard_step(&b->weights);
        discard_step(&b->output);
    }
    free(c->blocks);
    free(c->scores);
    free(c);
}

/* A matrix for each of `count` stacks. */
static tensor matrices(const float *data, int64_t count, int64_t stride, int64_t rows,
                       int64_t row_stride, int64_t cols, int64_t col_stride) {
    tensor t;
    memcpy(&t.data, &data, sizeof data);
    dnnl_memory_desc_init_by_strides(&t.desc, 3, (dnnl_dims_t){count, rows, cols}, dnnl_f32,
                                     (dnnl_dims_t){stride, row_stride, col_stride});
    return t;
}

static bool make_block(attention_call *c, block *b) {
    const rdk_attention_desc *d = &c->desc;
    const stacks *s = &c->stacks;
    int64_t n = b->stacks, rows = b->rows, keys = b->keys;
    const float *q = (const float *)d->q.data + stack_offset(s, b->first_stack, d->q.head_stride) +
                     b->first_row * d->q.row_stride;
    const float *out = (const float *)d->out.data +
                       stack_offset(s, b->first_stack, d->out.head_stride) +
                       b->first_row * d->out.row_stride;
    tensor queries = matrices(q, n, s->heads * d->q.head_stride, rows, d->q.row_stride, d->d_qk, 1);
    tensor keys_t = matrices(kv_of(c, b, d->k.data, d->k.head_stride), n, d->k.head_stride, d->d_qk,
                             1, keys, d->k.row_stride);
    tensor scores = matrices(c->scores, n, rows * keys, rows, keys, keys, 1);
    tensor values = matrices(kv_of(c, b, d->v.data, d->v.head_stride), n, d->v.head_stride, keys,
                             d->v.row_stride, d->d_v, 1);
    tensor result =
        matrices(out, n, s->heads * d->out.head_stride, rows, d->out.row_stride, d->d_v, 1);
    return make_product(&b->scores, scale_of(d), &queries, &keys_t, &scores) &&
           make_softmax(&b->weights, dnnl_softmax_accurate, &scores, &scores) &&
           make_product(&b->output, 1, &scores, &values, &result);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Stacks of one product have K and V that are evenly apart, so none of them shares its own. */
static int64_t stacks_at_once(const attention_call *c) {
    const stacks *s = &c->stacks;
    int64_t fit = BLOCK_SCORES / (s->rows * c->desc.kv_len);
    bool alone = s->count != c->desc.kv_heads || s->rows > c->block_rows || fit < 1;
    return alone ? 1 : least(fit, s->count);
}

static bool make_blocks(attention_call *c) {
    const rdk_attention_desc *d = &c->desc;
    const stacks *s = &c->stacks;
    int64_t at_once = stacks_at_once(c), most = c->block_rows;
    for (int64_t stack = 0; stack < s->count; stack += at_once)
        for (int64_t row = 0; row < s->rows; row += most) {
            block *b = &c->blocks[c->count++];
            int64_t rows = least(most, s->rows - row);
            *b = (block){
                .first_stack = stack,
                .stacks = least(at_once, s->count - stack),
                .first_row = row,
                .rows = rows,
                .keys = visible_to_any(d, row, rows),
            };
            if (!make_block(c, b))
                return false;
        }
    return true;
}

static void make_room(attention_call *c) {
    const stacks *s = &c->stacks;
    int64_t at_once = stacks_at_once(c), most = c->block_rows;
    int64_t blocks = (s->count + at_once - 1) / at_once * ((s->rows + most - 1) / most);
    c->scores =
        allocate((size_t)(at_once * least(most, s->rows) * c->desc.kv_len) * sizeof *c->scores);
    c->blocks = allocate((size_t)blocks * sizeof *c->blocks);
}

static peer_call *prepare_attention(const rdk_attention_desc *d) {
    int64_t block_rows = d->causal ? CAUSAL_BLOCK : BLOCK;
    stacks s = stacks_of(d, block_rows);
    if (!stacks_fit(d, &s) || !start())
        return NULL;
    attention_call *c = allocate(sizeof *c);
    *c = (attention_call){
        .call = {"matmul + softmax + matmul", run_attention, set_kv, discard_attention},
        .desc = *d,
        .stacks = s,
        .block_rows = block_rows,
    };
    make_room(c);
    if (make_blocks(c))
        return &c->call;
    discard_attention(&c->call);
    return NULL;
}

static const char *version(void) {
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

const peer peer_onednn = {"oneDNN", version, prepare_softmax, prepare_attention};
