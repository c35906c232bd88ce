#include "tests/attention/axes.h"

#include <float.h>
#include <math.h>

#include "kernels/attention/plan.h"

/* The seed is the number of the case in its walk, so that no two have the same values. */
#define GO(c)                                                                                      \
    do {                                                                                           \
        (c).seed++;                                                                                \
        if (!visit(context, &(c)))                                                                 \
            return false;                                                                          \
    } while (0)

#define EACH(type, x, list) for (const type *x = (list); x < (list) + COUNT(list); x++)
#define EACH_CAUSAL(m) for (int64_t m = RDK_CAUSAL_NONE; m <= RDK_CAUSAL_FROM_POSITION; m++)

enum { MOST_FLOATS = 1 << 18 }; /* of an operand */

static void set_dims(attention_case *c, int64_t d_qk, int64_t d_v) {
    c->d_qk = d_qk;
    c->d_v = d_v;
}

/* With causal 2 the last query sees all keys but one. */
static void set_causal(attention_case *c, int64_t causal) {
    c->causal = causal;
    c->q_pos = causal == RDK_CAUSAL_FROM_POSITION ? c->key_pos0 + c->kv_len - c->q_len - 1 : 0;
}

static void set_heads(attention_case *c, int64_t kv_heads, int64_t group) {
    c->kv_heads = kv_heads;
    c->q_heads = kv_heads * group;
}

/* ---- Sizes --------------------------------------------------------------------------------- */

static bool walk_rows(visitor *visit, void *context) {
    attention_case c = attention_default();
    for (int64_t rows = 1; rows <= 80; rows++)
        EACH_CAUSAL(causal)
    for (int variant = 0; variant < 2; variant++) {
        c.q_len = rows;
        c.kv_len = variant ? 37 : 130;
        c.at_end = !variant;
        set_dims(&c, variant ? 20 : 3, variant ? 17 : 2);
        set_causal(&c, causal);
        GO(c);
    }
    return true;
}

static bool walk_keys(visitor *visit, void *context) {
    static const int64_t ROWS[] = {1, 2, 7}, POSITIONS[] = {0, 5};
    attention_case c = attention_default();
    set_dims(&c, 3, 2);
    for (int64_t keys = 1; keys <= 300; keys++)
        EACH(int64_t, rows, ROWS)
    EACH(int64_t, position, POSITIONS)
    for (int64_t causal = 0; causal < 2; causal++) {
        c.q_len = *rows;
        c.kv_len = keys;
        c.key_pos0 = *position;
        c.weights = keys % 3 == 0;
        c.at_end = keys % 2;
        set_causal(&c, causal);
        GO(c);
    }
    return true;
}

/* The edges of blocks and chunks are those of positions. */
static bool walk_key_edges(visitor *visit, void *context) {
    static const int64_t EDGES[] = {128, 256, 384, 1024, 2048, 3072};
    static const int64_t POSITIONS[] = {0, 1, 7, 15, 127, 129, 1023, 1025, 2047};
    static const int64_t ROWS[] = {1, 4, 13, 25};
    attention_case c = attention_default();
    EACH(int64_t, edge, EDGES)
    EACH(int64_t, position, POSITIONS)
    EACH(int64_t, rows, ROWS)
    for (int64_t beside = -1; beside <= 1; beside++)
        for (int whence = 0; whence < 2; whence++) { /* as many keys, or up to that position */
            if (whence && *edge <= *position + 1)
                continue;
            c.kv_len = *edge + beside - (whence ? *position : 0);
            c.key_pos0 = *position;
            c.q_len = *rows;
            c.weights = *rows == 4;
            set_dims(&c, 2, 3);
            set_causal(&c, beside + 1);
            GO(c);
        }
    return true;
}

/* Values are summed by halves of a block, counted from position 0. The keys of the call lie in one
 * half or in more, and rows that see fewer keys than others of their group, in fewer. */
static bool walk_halves(visitor *visit, void *context) {
    static const int64_t ENDS[] = {64, 128, 192, 256, 320};
    static const int64_t POSITIONS[] = {0,   1,   62,  63,  64,  65,  100, 127,
                                        128, 129, 191, 192, 193, 960, 1023};
    static const int64_t ROWS[] = {1, 2, 3, 4, 9, 25, 49}, D_V[] = {3, 16, 17, 64};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, end, ENDS)
    EACH(int64_t, position, POSITIONS)
    EACH(int64_t, rows, ROWS)
    for (int64_t beside = -1; beside <= 1; beside++)
        for (int whence = 0; whence < 2; whence++) { /* as many keys, or up to the next such end */
            c.kv_len = *end + beside - (whence ? *position % *end : 0);
            if (c.kv_len < 1)
                continue;
            c.key_pos0 = *position;
            c.q_len = *rows;
            c.weights = number % 5 == 0;
            c.values = number % 11 ? VALUES_NORMAL : VALUES_TINY;
            set_dims(&c, 2 + number % 2, D_V[number % 4]);
            set_causal(&c, number++ % 3);
            GO(c);
        }
    return true;
}

/* A score is one chain of FMAs, or two, or pieces of two each. */
static bool walk_chains(visitor *visit, void *context) {
    static const int64_t D_QK[] = {47,  48,  49,  50,  95,  96,  97,  98,  191, 192, 193,
                                   194, 239, 240, 241, 287, 288, 289, 383, 384, 385};
    static const int64_t ROWS[] = {1, 2, 3, 4, 5, 9, 24, 30, 49}, KEYS[] = {17, 130};
    static const int64_t SCORES[] = {SCORES_NORMAL, SCORES_WIDE, SCORES_SUBNORMAL, SCORES_HUGE};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, d_qk, D_QK)
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS) {
        c.q_len = *rows;
        c.kv_len = *rows * *d_qk > 5000 ? 40 : *keys;
        c.scores = SCORES[number % 4];
        c.weights = *rows < 5 && number % 2;
        set_dims(&c, *d_qk, number % 3 ? 2 : 16);
        set_causal(&c, number++ % 3);
        GO(c);
    }
    return true;
}

static const int64_t WIDE[] = {301, 384, 511, 512, 513, 640, 767, 1000, 1023, 1024};

static bool walk_dims(visitor *visit, void *context) {
    static const int64_t ROWS[] = {1, 3, 13};
    attention_case c = attention_default();
    for (int64_t i = 1; i <= 300 + (int64_t)COUNT(WIDE); i++)
        EACH(int64_t, rows, ROWS)
    for (int which = 0; which < 3; which++) { /* d_qk, d_v, or both */
        int64_t d = i <= 300 ? i : WIDE[i - 301];
        set_dims(&c, which == 1 ? 3 : d, which == 0 ? 3 : d);
        c.q_len = *rows;
        c.kv_len = d > 300 ? 9 : 19;
        c.weights = d % 4 == 0;
        c.at_end = i % 2;
        GO(c);
    }
    return true;
}

static bool walk_groups(visitor *visit, void *context) {
    static const int64_t KEYS[] = {17, 130}, ROWS[] = {1, 2, 3, 5, 6};
    attention_case c = attention_default();
    for (int64_t group = 1; group <= 16; group++)
        for (int64_t kv_heads = 1; kv_heads <= 3; kv_heads++)
            EACH(int64_t, keys, KEYS)
    EACH(int64_t, rows, ROWS)
    EACH_CAUSAL(causal) {
        if (*keys > 100 && (kv_heads == 2 || *rows == 2 || *rows == 5))
            continue;
        c.batch = 1 + (group + *rows) % 2;
        set_heads(&c, kv_heads, group);
        c.q_len = *rows;
        c.kv_len = *keys;
        c.arrange = group % ARRANGE_COUNT;
        set_dims(&c, 1 + group % 5, 1 + group % 4);
        set_causal(&c, causal);
        GO(c);
    }
    return true;
}

/* More rows than are worked on at once: some hundred, fewer where they are wide. */
static bool walk_query_blocks(visitor *visit, void *context) {
    static const int64_t ROWS[] = {95, 96, 97, 191, 193, 288, 289, 383, 384, 385, 500, 768, 770};
    static const int64_t KEYS[] = {5, 40};
    attention_case c = attention_default();
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    for (int64_t d = 1; d <= 4; d++)
        EACH_CAUSAL(causal) {
            c.q_len = *rows;
            c.kv_len = *keys;
            c.weights = d == 3;
            set_dims(&c, d, 5 - d);
            set_heads(&c, 1, 1);
            set_causal(&c, causal);
            GO(c);
            if (*rows % 5 == 0) { /* the same as the rows of a group */
                set_heads(&c, 1, 5);
                c.q_len = *rows / 5;
                set_causal(&c, causal);
                GO(c);
            }
        }
    return true;
}

static bool walk_wide_blocks(visitor *visit, void *context) {
    static const int64_t SHAPES[][2] = {{64, 385},  {100, 337}, {128, 337}, {160, 265}, {200, 217},
                                        {256, 169}, {300, 145}, {512, 97},  {768, 73},  {1024, 49}};
    attention_case c = attention_default();
    for (size_t i = 0; i < COUNT(SHAPES); i++)
        for (int64_t less = 0; less < 2; less++) {
            set_dims(&c, SHAPES[i][0], SHAPES[i][0] - less);
            c.q_len = SHAPES[i][1] - less * 24;
            c.kv_len = 7;
            set_causal(&c, less);
            GO(c);
        }
    return true;
}

/* So many rows that values are copied into strips: by a tile, where the strips are whole and a
 * group sees all keys of a block, or apart; and all values at once where they lie far apart. */
static bool walk_packed_values(visitor *visit, void *context) {
    static const int64_t ROWS[] = {72, 73, 80, 97, 121, 250}, KEYS[] = {4, 13, 131, 258};
    static const int64_t COLUMNS[] = {16, 17, 32, 48, 144}, POSITIONS[] = {0, 5, 121};
    attention_case c = attention_default();
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, columns, COLUMNS)
    EACH(int64_t, position, POSITIONS)
    EACH_CAUSAL(causal) {
        c.q_len = *rows;
        c.kv_len = *keys;
        c.key_pos0 = *position;
        c.at_end = *columns % 3 != 0;
        c.pad[OPERAND_V] = *position == 5 ? 512 : *position == 121 ? 3 : 0;
        set_dims(&c, 2, *columns);
        set_causal(&c, causal);
        GO(c);
    }
    return true;
}

static bool walk_empty(visitor *visit, void *context) {
    for (int which = 1; which < 32; which++)
        for (int outputs = 0; outputs < 4; outputs++)
            EACH_CAUSAL(causal) {
                attention_case c = attention_default();
                c.batch = which & 1 ? 0 : 2;
                c.q_len = which & 2 ? 0 : 9;
                c.kv_len = which & 4 ? 0 : 20;
                c.q_heads = which & 8 ? 0 : 4;
                c.kv_heads = which & 16 ? 0 : 2;
                if (!c.kv_heads && c.q_heads)
                    continue;
                c.lse = outputs & 1;
                c.weights = outputs & 2;
                c.arrange = which % ARRANGE_COUNT;
                set_causal(&c, causal);
                GO(c);
            }
    return true;
}

/* ---- What a query sees --------------------------------------------------------------------- */

static bool walk_positions(visitor *visit, void *context) {
    static const int64_t KEYS[] = {1, 16, 17, 33, 129}, ROWS[] = {1, 5, 24, 31}, AT[] = {0, 1000};
    attention_case c = attention_default();
    c.causal = RDK_CAUSAL_FROM_POSITION;
    set_dims(&c, 2, 3);
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, at, AT)
    for (int64_t from = -*rows - 1; from <= *keys + 1; from++) {
        c.q_len = *rows;
        c.kv_len = *keys;
        c.key_pos0 = *at;
        c.q_pos = *at + from;
        c.weights = from % 3 == 0;
        c.special = from % 4 == 1 ? SPECIAL_ANY : SPECIAL_NONE;
        c.special_in = SPECIAL_IN_K | SPECIAL_IN_V;
        c.special_from = *keys / 2;
        GO(c);
    }
    return true;
}

/* Bottom right, with more queries than keys and fewer. */
static bool walk_bottom_right(visitor *visit, void *context) {
    attention_case c = attention_default();
    c.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    for (int64_t rows = 1; rows <= 60; rows += rows < 10 ? 1 : 7)
        for (int64_t keys = 1; keys <= 70; keys++) {
            c.q_len = rows;
            c.kv_len = keys;
            c.key_pos0 = keys % 5 ? 0 : 1024 - keys / 2;
            c.weights = keys % 3 == 0;
            GO(c);
        }
    return true;
}

/* NaN and infinities from a key on. Some queries see them, some do not; some tiles have both. */
static bool walk_specials(visitor *visit, void *context) {
    static const int64_t KEYS[] = {1, 15, 40, 150}, ROWS[] = {1, 6, 30};
    attention_case c = attention_default();
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, rows, ROWS)
    EACH_CAUSAL(causal)
    for (c.special = 1; c.special < SPECIAL_COUNT; c.special++)
        for (c.special_in = 1; c.special_in <= 7; c.special_in++)
            for (int place = 0; place < 4; place++) {
                const int64_t from[] = {-1, *keys / 2, *keys - 1, *keys};
                c.q_len = *rows;
                c.kv_len = *keys;
                c.special_from = from[place];
                c.weights = place == 1;
                set_dims(&c, 2, 3);
                set_causal(&c, causal);
                GO(c);
            }
    return true;
}

/* NaN and infinities that some rows of a group see and others do not, in the first chunk,
 * in the middle or in the last; or that all rows see early, with finite values after them.
 * In all columns or in one. */
static bool walk_specials_of_some(visitor *visit, void *context) {
    static const int64_t ROWS[] = {4, 25, 49, 100}, KEYS[] = {60, 300, 1130};
    static const int64_t IN[] = {SPECIAL_IN_K, SPECIAL_IN_V, SPECIAL_IN_K | SPECIAL_IN_V};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, in, IN)
    for (c.special = 1; c.special < SPECIAL_COUNT; c.special++)
        for (int place = 0; place < 9; place++) {
            const int64_t from[] = {3, *keys / 2, *keys - 4}, at = from[place % 3];
            c.q_len = *rows;
            c.kv_len = *keys;
            c.key_pos0 = number % 2 ? RDK_CHUNK - 50 : 0;
            c.special_in = *in;
            c.special_from = at;
            c.special_to = place / 3 == 2 ? at + 1 + number % 5 : INT64_MAX;
            c.special_column = place / 3 == 1 || number % 4 == 3 ? number : -1;
            c.weights = number % 6 == 0;
            set_dims(&c, 2, number % 3 ? 3 : number % 2 ? 17 : 32);
            if (*keys * *rows > 50000)
                set_dims(&c, 1, 1 + number % 3);
            c.causal = number % 7 ? RDK_CAUSAL_FROM_POSITION : RDK_CAUSAL_NONE;
            c.q_pos = c.causal ? c.key_pos0 + at - *rows / 2 : 0; /* half of them see it */
            c.row_stride[OPERAND_V] = number % 4 == 1 ? STRIDE_FAR : STRIDE_USUAL;
            attention_limit_strides(&c, MOST_FLOATS);
            number++;
            GO(c);
        }
    return true;
}

/* Queries that see ranges of keys, in any order, or nothing: both sides of groups and of
 * blocks are left out. */
static bool walk_ranges(visitor *visit, void *context) {
    static const int64_t ROWS[] = {1, 2, 3, 4, 5, 9, 24, 25, 49, 100, 200};
    static const int64_t KEYS[] = {1, 17, 130, 300, 1100, 2500};
    static const int64_t POSITIONS[] = {0, 100, RDK_CHUNK - 20};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, position, POSITIONS)
    for (c.ranges = 1; c.ranges < RANGES_COUNT; c.ranges++)
        for (int variant = 0; variant < 4; variant++) {
            if (*keys * *rows > 60000)
                continue;
            c.q_len = *rows;
            c.kv_len = *keys;
            c.key_pos0 = *position;
            c.weights = number % 4 == 0;
            c.special = variant == 3 ? 1 + number % (SPECIAL_COUNT - 1) : SPECIAL_NONE;
            c.special_in = number % 2 ? SPECIAL_IN_V : SPECIAL_IN_K | SPECIAL_IN_V;
            c.special_from = number % 3 ? number * 37 % *keys : -1;
            c.special_to = number % 4 ? c.special_from + 1 + number % 9 : INT64_MAX;
            c.special_column = number % 3 ? number : -1;
            c.scores = variant == 2 ? SCORES_MIXED : variant ? SCORES_RISING : SCORES_NORMAL;
            c.row_stride[OPERAND_V] = number % 7 ? STRIDE_USUAL : STRIDE_FAR;
            c.row_stride[OPERAND_K] = number % 5 ? STRIDE_USUAL : STRIDE_FAR;
            set_heads(&c, 1, *rows > 5 && number % 6 == 0 ? 2 : 1);
            set_dims(&c, 2 + number % 3, number % 3 ? 3 : number % 2 ? 17 : 32);
            attention_limit_strides(&c, MOST_FLOATS);
            set_causal(&c, number++ % 5 ? RDK_CAUSAL_NONE : RDK_CAUSAL_BOTTOM_RIGHT);
            GO(c);
        }
    return true;
}

/* A few values that are not finite, in one column, wander through ranges that some rows of a group
 * see, and groups before it and behind it. */
static bool walk_specials_in_ranges(visitor *visit, void *context) {
    static const int64_t ROWS[] = {4, 49, 100}, KEYS[] = {150, 300, 1100};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    for (c.ranges = 1; c.ranges < RANGES_COUNT; c.ranges++)
        for (int64_t from = 0; from < *keys; from += *keys / 37) {
            c.q_len = *rows;
            c.kv_len = *keys;
            c.weights = 0;
            c.special = 1 + number % (SPECIAL_COUNT - 1);
            c.special_in = SPECIAL_IN_V;
            c.special_from = from;
            c.special_to = from + 1 + number % 3;
            c.special_column = 0;
            set_dims(&c, 2, number % 5 ? 3 : 17);
            number++;
            GO(c);
        }
    return true;
}

/* ---- Memory -------------------------------------------------------------------------------- */

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

static bool walk_zero_strides(visitor *visit, void *context) {
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
static bool walk_strides(visitor *visit, void *context) {
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
static bool walk_pairs_of_strides(visitor *visit, void *context) {
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
static bool walk_expanded(visitor *visit, void *context) {
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

static bool walk_value_in_key(visitor *visit, void *context) {
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
static bool walk_gaps(visitor *visit, void *context) {
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

static bool walk_misaligned(visitor *visit, void *context) {
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
static bool walk_full_scratch(visitor *visit, void *context) {
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

static bool walk_outputs(visitor *visit, void *context) {
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

/* ---- Values -------------------------------------------------------------------------------- */

static const float SCALES[] = {0,      1,      0.125f,  -1,    1e-38f,    0x1p-149f,
                               -1e6f,  1e30f,  FLT_MAX, NAN,   INFINITY,  -INFINITY,
                               -0.25f, -1e-3f, 100,     -0.0f, 0x1p+127f, 0x1.62e43p-1f};

static bool walk_scales(visitor *visit, void *context) {
    attention_case c = attention_default();
    EACH(float, scale, SCALES)
    for (c.scores = 0; c.scores < SCORES_COUNT; c.scores++)
        for (int64_t rows = 1; rows <= 13; rows += 6)
            EACH_CAUSAL(causal) {
                c.scale = *scale;
                c.q_len = rows;
                c.weights = rows != 7;
                set_causal(&c, causal);
                GO(c);
            }
    return true;
}

/* Scores as the rows of softmax's tests, within a chunk and over the edge of one. */
static bool walk_families(visitor *visit, void *context) {
    static const int64_t KEYS[] = {1, 17, 70, 300};
    attention_case c = attention_default();
    c.scores = SCORES_ROW;
    for (c.row = 0; c.row < FAMILY_COUNT; c.row++)
        EACH(int64_t, keys, KEYS)
    for (int64_t values = 0; values < 3; values++)
        for (int64_t rows = 1; rows <= 13; rows += 6)
            for (int over = 0; over < 2; over++) {
                c.kv_len = *keys;
                c.q_len = rows;
                c.key_pos0 = over ? RDK_CHUNK - *keys / 2 : 0;
                c.values = values ? VALUES_NORMAL : VALUES_INFINITIES;
                c.scale = values == 2 ? 1 : 0;
                c.weights = rows == 7;
                set_causal(&c, (rows + over) % 3);
                GO(c);
            }
    return true;
}

static bool walk_values(visitor *visit, void *context) {
    attention_case c = attention_default();
    for (c.values = 0; c.values < VALUES_COUNT; c.values++)
        for (c.scores = 0; c.scores < SCORES_COUNT; c.scores++)
            for (int64_t rows = 1; rows <= 25; rows += 6)
                for (int variant = 0; variant < 4; variant++) {
                    c.q_len = rows;
                    c.kv_len = variant & 1 ? 37 : 140;
                    c.causal = variant >> 1;
                    GO(c);
                }
    return true;
}

/* Scores on either side of the edge from which a chunk is cold, and between the edges of
 * softmax and of attention. */
static bool walk_hot_edge(visitor *visit, void *context) {
    static const int64_t ROWS[] = {1, 3, 9, 25, 49}, KEYS[] = {1, 17, 130, 300},
                         D_QK[] = {1, 16, 97};
    static const float OF[] = {0, 1, (float)RDK_LN2, -0.125f};
    attention_case c = attention_default();
    int64_t number = 0;
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, keys, KEYS)
    EACH(int64_t, d_qk, D_QK)
    EACH(float, scale, OF)
    for (int kind = 0; kind < 4; kind++) {
        c.scores = kind ? SCORES_ROW : SCORES_COLD;
        c.row = FAMILY_COLD_EDGE;
        c.scale = *scale;
        c.q_len = *rows;
        c.kv_len = *keys;
        c.key_pos0 = number % 3 ? 0 : RDK_CHUNK - *keys / 2;
        c.weights = number % 5 == 0;
        set_dims(&c, *d_qk, 1 + number % 4);
        set_causal(&c, number++ / 2 % 3);
        GO(c);
    }
    return true;
}

/* Hot and cold chunks beside each other, in every order the seeds give. */
static bool walk_cold(visitor *visit, void *context) {
    attention_case c = attention_default();
    c.scores = SCORES_MIXED;
    set_dims(&c, 2, 3);
    for (int i = 0; i < 60; i++)
        for (int64_t rows = 1; rows <= 13; rows += 4)
            for (int large = 0; large < 2; large++) {
                c.kv_len = large ? 1500 + 29 * i : 20 + i;
                c.key_pos0 = large ? 37 * i : RDK_CHUNK * (1 + i) - 1 - i / 2;
                c.q_len = large && rows > 5 ? 2 : rows;
                c.weights = i % 3 == 0;
                set_causal(&c, i % 3);
                GO(c);
            }
    return true;
}

/* References that stay, or move: by less than HEADROOM never, by more at once. */
static bool walk_references(visitor *visit, void *context) {
    static const int64_t ROWS[] = {1, 2, 4, 7, 24, 40};
    static const int64_t POSITIONS[] = {0, 3, 1000, 1024},
                         SECOND_HALF[] = {64, 65, 100, 127, 984, 1088};
    static const int64_t VALUES[] = {VALUES_NORMAL, VALUES_HUGE, VALUES_TINY, VALUES_SUBNORMAL};
    attention_case c = attention_default();
    c.scores = SCORES_RISING;
    c.scale = (float)RDK_LN2;
    EACH(int64_t, rows, ROWS)
    EACH(int64_t, position, POSITIONS)
    EACH_CAUSAL(causal)
    for (int64_t keys = 130; keys <= 1200; keys += 107) {
        c.q_len = *rows;
        c.kv_len = keys;
        c.key_pos0 = *position;
        c.values = keys % 2 ? VALUES_HUGE : VALUES_NORMAL;
        set_dims(&c, 1 + keys % 3, 3);
        set_causal(&c, causal);
        GO(c);
    }
    EACH(int64_t, rows,
         ROWS) /* the first block has keys in its second half alone, and so may the last */
    EACH(int64_t, position, SECOND_HALF)
    EACH_CAUSAL(causal)
    for (int64_t keys = 20; keys <= 400; keys += 31) {
        c.q_len = *rows;
        c.kv_len = keys;
        c.key_pos0 = *position;
        c.values = VALUES[keys / 31 % 4];
        set_dims(&c, 1 + keys % 3, 3);
        set_causal(&c, causal);
        GO(c);
    }
    return true;
}

/* Sums that underflow to -0 in several chunks: +0 is written, whatever a tile added of +0. */
static bool walk_signs_of_zero(visitor *visit, void *context) {
    attention_case c = attention_default();
    c.values = VALUES_TINY;
    c.scores = SCORES_WIDE;
    for (int i = 0; i < 60; i++)
        for (int64_t rows = 1; rows <= 13; rows += 4) {
            c.kv_len = 4 + i;
            c.key_pos0 = RDK_CHUNK - 1 - i % 5;
            c.q_len = rows;
            set_dims(&c, 1 + i % 3, 20);
            set_causal(&c, i % 3);
            GO(c);
        }
    return true;
}

const axis ATTENTION_AXES[] = {
    {"rows", walk_rows},
    {"keys", walk_keys},
    {"edges of blocks and chunks", walk_key_edges},
    {"halves of blocks", walk_halves},
    {"chains of scores", walk_chains},
    {"d_qk and d_v", walk_dims},
    {"groups of heads", walk_groups},
    {"query blocks", walk_query_blocks},
    {"wide query blocks", walk_wide_blocks},
    {"packed values", walk_packed_values},
    {"empty", walk_empty},
    {"positions", walk_positions},
    {"bottom right", walk_bottom_right},
    {"NaN and Inf", walk_specials},
    {"NaN and Inf of some rows", walk_specials_of_some},
    {"ranges of keys", walk_ranges},
    {"NaN and Inf in ranges", walk_specials_in_ranges},
    {"zero strides", walk_zero_strides},
    {"strides", walk_strides},
    {"pairs of strides", walk_pairs_of_strides},
    {"expanded heads", walk_expanded},
    {"V inside K", walk_value_in_key},
    {"gaps", walk_gaps},
    {"misaligned", walk_misaligned},
    {"full scratch", walk_full_scratch},
    {"outputs", walk_outputs},
    {"scales", walk_scales},
    {"families of scores", walk_families},
    {"values", walk_values},
    {"edge of hot", walk_hot_edge},
    {"hot and cold chunks", walk_cold},
    {"references", walk_references},
    {"signs of zero", walk_signs_of_zero},
    {0},
};

bool attention_walk_draws(uint64_t seed, uint64_t first, uint64_t count, visitor *visit,
                          void *context) {
    for (uint64_t i = first; i < first + count; i++) {
        attention_case c = attention_draw(seed, i);
        if (!visit(context, &c))
            return false;
    }
    return true;
}
