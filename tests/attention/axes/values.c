/* Axes: scales, scores and values. */
#include "tests/attention/axes/walk.h"

#include <float.h>
#include <math.h>

#include "kernels/attention/plan.h"

static const float SCALES[] = {0,      1,      0.125f,  -1,    1e-38f,    0x1p-149f,
                               -1e6f,  1e30f,  FLT_MAX, NAN,   INFINITY,  -INFINITY,
                               -0.25f, -1e-3f, 100,     -0.0f, 0x1p+127f, 0x1.62e43p-1f};

bool walk_scales(visitor *visit, void *context) {
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
bool walk_families(visitor *visit, void *context) {
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

bool walk_values(visitor *visit, void *context) {
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
bool walk_hot_edge(visitor *visit, void *context) {
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
bool walk_cold(visitor *visit, void *context) {
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
bool walk_references(visitor *visit, void *context) {
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
bool walk_signs_of_zero(visitor *visit, void *context) {
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
