/* Axes: what a query sees. */
#include "tests/attention/axes/walk.h"

#include "kernels/attention/plan.h"

bool walk_positions(visitor *visit, void *context) {
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
bool walk_bottom_right(visitor *visit, void *context) {
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
bool walk_specials(visitor *visit, void *context) {
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
bool walk_specials_of_some(visitor *visit, void *context) {
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
bool walk_ranges(visitor *visit, void *context) {
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
bool walk_specials_in_ranges(visitor *visit, void *context) {
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
