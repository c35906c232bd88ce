/* Axes: where operands lie, and with which strides. */
#include "tests/attention/axes/walk.h"

#include "kernels/attention/plan.h"

static attention_case several(void) {
    attention_case c = attention_default();
    c.batch = 2;
    set_heads(&c, 2, 2);
    c.q_len = 5;
    c.kv_len = 19;
    return c;
}

static void clear_strides(attention_case *c) {
    for (int i = 0; i < OPERAND_COUNT; i++)
        c->batch_stride[i] = c->head_stride[i] = c->row_stride[i] = STRIDE_USUAL;
}

bool walk_zero_strides(visitor *visit, void *context) {
    attention_case c = several();
    for (c.arrange = ARRANGE_BHSD; c.arrange <= ARRANGE_BSHD; c.arrange++)
        for (int64_t zero = 0; zero < 512; zero++) {
            c.at_end = zero % 3 != 0;
            c.weights = zero % 2;
            clear_strides(&c);
            attention_zero_strides(&c, zero);
            GO(c);
        }
    return true;
}

enum { EVERY_SHAPE = 81 }; /* rows and d_qk, each with each */

/* Shapes that between them reach every kind of tile. This is the number-th, in an order in which
 * neighbours differ in all sizes. */
static void set_shape(attention_case *c, int64_t number) {
    static const int64_t ROWS[] = {1, 2, 3, 4, 9, 24, 30, 49, 100};
    static const int64_t D_QK[] = {3, 16, 48, 49, 64, 96, 97, 128, 200};
    static const int64_t KEYS[] = {17, 130, 300}, D_V[] = {16, 17, 64, 0};
    const int64_t rows = COUNT(ROWS), round = number / EVERY_SHAPE;
    const int64_t d_qk = D_QK[(number / rows + number) % (int64_t)COUNT(D_QK)];
    const int64_t d_v = D_V[(number + round) % (int64_t)COUNT(D_V)];
    c->q_len = ROWS[number % rows];
    c->kv_len = KEYS[(number / rows + round) % (int64_t)COUNT(KEYS)];
    if (c->q_len * d_qk > 3000 && c->kv_len > 130) /* these take longest */
        c->kv_len = c->q_len * d_qk > 12000 ? 40 : 130;
    set_dims(c, d_qk, d_v ? d_v : d_qk); /* as wide: keys and values may be alike */
    c->at_end = number % 2;
    c->arrange = number % 5 == 4;
    set_causal(c, number % 3);
}

/* So many of both that each dimension counts, and no more rows than before. */
static void set_outer(attention_case *c, int dim) {
    c->batch = dim == 0 ? 2 : 1;
    set_heads(c, dim == 1 ? 2 : 1, dim == 1 ? 1 + c->q_len % 3 : 1);
    c->q_len = (c->q_len + c->q_heads - 1) / c->q_heads;
    set_causal(c, c->causal);
}

/* Whether a distance is one that tiles also have between rows or steps that are not keys. A tile
 * that tells keys from others by their distance gives wrong bits with it. */
static bool is_distance_of_tiles(int64_t kind) {
    return kind == STRIDE_1 || kind == STRIDE_BLOCK;
}

/* How many shapes a kind is tried in. Rows of keys get the most: tiles read them in place. */
static int shapes_for(int view, int dim, int64_t kind) {
    if (dim != 2 || view >= OPERAND_OUT)
        return 8;
    return (view == OPERAND_K ? EVERY_SHAPE : 15) * (is_distance_of_tiles(kind) ? 3 : 1);
}

/* One view, one dimension, one kind. Each goes on with the shape after the last one's. */
bool walk_strides(visitor *visit, void *context) {
    attention_case c = attention_default();
    int64_t number = 0;
    for (int view = OPERAND_Q; view < OPERAND_SCRATCH; view++)
        for (int dim = 0; dim < LAYOUT_DIMS; dim++)
            for (int64_t kind = STRIDE_0; kind < STRIDE_COUNT; kind++) {
                if (view >= OPERAND_OUT && kind < STRIDE_WIDTH_MORE)
                    continue; /* as usual */
                for (int i = shapes_for(view, dim, kind); i > 0; i--) {
                    set_shape(&c, number++);
                    set_outer(&c, dim);
                    c.weights = view == OPERAND_WEIGHTS || number % 7 == 0;
                    clear_strides(&c);
                    *attention_stride(&c, view, dim) = kind;
                    if (kind >= STRIDE_FAR && c.kv_len > 130)
                        c.kv_len = 130;
                    attention_limit_strides(&c, MOST_FLOATS);
                    GO(c);
                }
            }
    return true;
}

/* Two views, of any kind each, along any dimension. */
bool walk_pairs_of_strides(visitor *visit, void *context) {
    attention_case c = attention_default();
    int64_t number = 0;
    for (int one = OPERAND_Q; one < OPERAND_SCRATCH; one++)
        for (int other = one + 1; other < OPERAND_SCRATCH; other++)
            for (int i = 0; i < (other <= OPERAND_V ? 120 : 20); i++) {
                rng r = {(uint64_t)number};
                int dim = rng_below(&r, 2) ? 2 : (int)rng_below(&r, 2);
                set_shape(&c, number++);
                set_outer(&c, dim);
                c.weights = other == OPERAND_WEIGHTS;
                clear_strides(&c);
                *attention_stride(&c, one, dim) = 1 + rng_below(&r, STRIDE_COUNT - 1);
                *attention_stride(&c, other, i % 3 ? dim : 2) = 1 + rng_below(&r, STRIDE_COUNT - 1);
                if (i % 4 == 0) /* alike */
                    *attention_stride(&c, other, dim) = *attention_stride(&c, one, dim);
                attention_limit_strides(&c, MOST_FLOATS);
                GO(c);
            }
    return true;
}

/* One head of keys, expanded for all queries. */
bool walk_expanded(visitor *visit, void *context) {
    attention_case c = attention_default();
    c.head_stride[OPERAND_K] = c.head_stride[OPERAND_V] = STRIDE_0;
    for (int64_t heads = 1; heads <= 16; heads++)
        for (int64_t rows = 1; rows <= 7; rows++) {
            c.q_heads = c.kv_heads = heads;
            c.q_len = rows;
            c.arrange = rows % 2;
            GO(c);
        }
    return true;
}

bool walk_value_in_key(visitor *visit, void *context) {
    attention_case c = several();
    c.v_in_k = true;
    for (int64_t d_qk = 1; d_qk <= 40; d_qk++)
        for (int64_t d_v = 1; d_v <= d_qk; d_v += d_v < 20 ? 1 : 5) {
            set_dims(&c, d_qk, d_v);
            c.arrange = d_v % 2;
            c.at_end = d_qk % 2;
            c.causal = d_v % 3 == 2;
            GO(c);
        }
    return true;
}

/* Gaps of every length up to more than a vector, in each operand by itself and in all. */
bool walk_gaps(visitor *visit, void *context) {
    attention_case c = several();
    for (c.arrange = 0; c.arrange < ARRANGE_COUNT; c.arrange++)
        for (int64_t pad = 0; pad <= 20; pad++)
            for (int which = OPERAND_Q; which <= OPERAND_SCRATCH; which++) {
                for (int i = OPERAND_Q; i < OPERAND_SCRATCH; i++)
                    c.pad[i] = which == i || which == OPERAND_SCRATCH ? pad : 0;
                c.gap = pad % 3;
                c.at_end = pad % 2;
                set_dims(&c, 1 + pad, 21 - pad);
                GO(c);
            }
    return true;
}

bool walk_misaligned(visitor *visit, void *context) {
    attention_case c = several();
    set_dims(&c, 18, 17);
    for (int64_t away = 0; away < GUARD_SLACK; away++)
        for (int which = OPERAND_Q; which <= OPERAND_COUNT; which++)
            for (c.at_end = 0; c.at_end < 2; c.at_end++) {
                for (int i = OPERAND_Q; i < OPERAND_COUNT; i++)
                    c.away[i] = which == i || which == OPERAND_COUNT ? away : 0;
                GO(c);
            }
    return true;
}

/* As many rows as the scratch has room for. The scratch lies so that aligning it leaves
 * no byte unused behind them. */
bool walk_full_scratch(visitor *visit, void *context) {
    attention_case c = attention_default();
    c.kv_len = 3;
    c.weights = 0;
    for (int64_t blocks = 1; blocks <= 2; blocks++)
        for (c.at_end = 0; c.at_end < 2; c.at_end++) {
            c.q_len = blocks * rdk_scratch_of(c.d_qk, c.d_v).rows;
            c.away[OPERAND_SCRATCH] = c.at_end ? RDK_SCRATCH_ALIGN - 1 : 1;
            GO(c);
        }
    return true;
}

bool walk_outputs(visitor *visit, void *context) {
    attention_case c = attention_default();
    for (c.kv_len = 1; c.kv_len <= 70; c.kv_len++)
        for (int outputs = 0; outputs < 4; outputs++)
            for (int64_t rows = 1; rows <= 7; rows += 3)
                EACH_CAUSAL(causal) {
                    c.lse = outputs & 1;
                    c.weights = outputs & 2;
                    c.q_len = rows;
                    c.at_end = c.kv_len % 2;
                    set_causal(&c, causal);
                    GO(c);
                }
    return true;
}
