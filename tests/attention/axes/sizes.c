/* Axes: how many rows, keys, columns and heads. */
#include "tests/attention/axes/walk.h"

bool walk_rows(visitor *visit, void *context) {
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

bool walk_keys(visitor *visit, void *context) {
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
bool walk_key_edges(visitor *visit, void *context) {
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
bool walk_halves(visitor *visit, void *context) {
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
bool walk_chains(visitor *visit, void *context) {
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

bool walk_dims(visitor *visit, void *context) {
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

bool walk_groups(visitor *visit, void *context) {
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
bool walk_query_blocks(visitor *visit, void *context) {
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

bool walk_wide_blocks(visitor *visit, void *context) {
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
bool walk_packed_values(visitor *visit, void *context) {
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

bool walk_empty(visitor *visit, void *context) {
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
