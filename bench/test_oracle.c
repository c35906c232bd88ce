/* The oracle of the bench: an exact result that is put k units off must be reported as k. */
#include "tests/lib/suite.h"

#include <math.h>
#include <string.h>

#include "bench/inputs.h"
#include "bench/oracle.h"

/* ---- Softmax --------------------------------------------------------------------------------- */

/* Equal logits have weights of exactly 1/4. */
static rdk_softmax_desc quarters(float x[8], float y[8]) {
    for (int i = 0; i < 8; i++) {
        x[i] = 3;
        y[i] = 0.25f;
    }
    return (rdk_softmax_desc){
        .size = sizeof(rdk_softmax_desc),
        .rows = 2,
        .cols = 4,
        .x = x,
        .x_stride = 4,
        .y = y,
        .y_stride = 4,
    };
}

TEST softmax_off_by_k(void) {
    float x[8], y[8];
    rdk_softmax_desc d = quarters(x, y);
    ASSERT_EQ(0, oracle_softmax_ulp(&d, 2));
    for (int k = 1; k < 100; k++) {
        y[6] = 0.25f + (float)k * 0x1p-25f; /* floats are 2^-25 apart in [1/4, 1/2) */
        ASSERT_EQ(k, oracle_softmax_ulp(&d, 2));
    }
    ASSERT_EQm("only the first row", 0, oracle_softmax_ulp(&d, 1));
    y[0] = NAN;
    ASSERT(isinf(oracle_softmax_ulp(&d, 2)));
    PASS();
}

/* Less than 1e-6 is not looked at, whatever stands there. */
TEST softmax_leaves_small_weights_out(void) {
    float x[8], y[8];
    rdk_softmax_desc d = quarters(x, y);
    d.rows = 1;
    d.scale = 1;
    x[3] = 3 - 20; /* a weight of 7e-10 */
    y[0] = y[1] = y[2] = (float)(1 / (3 + exp(-20.0)));
    y[3] = 0.5f;
    ASSERT(oracle_softmax_ulp(&d, 1) <= 0.5);
    x[3] = 3 - 13; /* 7.5e-7 */
    ASSERT(oracle_softmax_ulp(&d, 1) < 100);
    x[3] = 3 - 12; /* 2e-6: now it counts */
    ASSERT(oracle_softmax_ulp(&d, 1) > 1e6);
    PASS();
}

/* By scale, bias and visible columns to the same quarters; y in bf16. */
TEST softmax_reads_every_field(void) {
    float x[5] = {6, 4, 2, 0, 100}, bias[5] = {0, 1, 2, 3, 0};
    uint16_t y[5] = {0x3e80, 0x3e80, 0x3e80, 0x3e83, 0x7fff}; /* 1/4, and 3 ULP more */
    int64_t visible = 4;
    rdk_softmax_desc d = {.size = sizeof d,
                          .rows = 1,
                          .cols = 5,
                          .x = x,
                          .x_stride = 5,
                          .y = y,
                          .y_stride = 5,
                          .y_type = RDK_BF16,
                          .scale = 0.5f,
                          .bias = bias,
                          .bias_stride = 5,
                          .visible = &visible};
    ASSERT_EQ(3, oracle_softmax_ulp(&d, 1));
    d.y_type = RDK_F16;
    y[0] = y[1] = y[3] = 0x3400; /* 1/4 */
    y[2] = 0x3400 - 2;           /* below 1/4 they are half as far apart */
    ASSERT_EQ(1, oracle_softmax_ulp(&d, 1));
    PASS();
}

TEST log_softmax_off_by_k(void) {
    float x[8], y[8];
    rdk_softmax_desc d = quarters(x, y);
    d.mode = RDK_LOG_SOFTMAX;
    for (int i = 0; i < 8; i++)
        y[i] = (float)-log(4);
    double rounding = oracle_softmax_ulp(&d, 2);
    ASSERT(rounding <= 0.5);
    y[5] = (float)-log(4) + 7 * 0x1p-23f;
    ASSERT(fabs(oracle_softmax_ulp(&d, 2) - 7) <= rounding);
    PASS();
}

/* ---- Attention ------------------------------------------------------------------------------- */

enum { HEADS = 4, KV_HEADS = 2, QUERIES = 3, KEYS = 4, D_QK = 2, D_V = 3 };

typedef struct attention {
    float q[HEADS * QUERIES * D_QK], k[KV_HEADS * KEYS * D_QK], v[KV_HEADS * KEYS * D_V];
    float out[HEADS * QUERIES * D_V];
} attention;

/* Queries of zeros see all keys alike: the output is the mean of the values. The values are powers
 * of two, and so is their number if all are seen. */
static rdk_attention_desc means(attention *a) {
    memset(a, 0, sizeof *a);
    fill(a->k, RDK_F32, KV_HEADS * KEYS * D_QK, 1);
    for (int i = 0; i < KV_HEADS * KEYS * D_V; i++)
        a->v[i] = i < KEYS * D_V ? 2 : -4; /* by K/V head */
    for (int i = 0; i < HEADS * QUERIES * D_V; i++)
        a->out[i] = i < HEADS / 2 * QUERIES * D_V ? 2 : -4;
    return (rdk_attention_desc){.size = sizeof(rdk_attention_desc),
                                .batch = 1,
                                .q_heads = HEADS,
                                .kv_heads = KV_HEADS,
                                .q_len = QUERIES,
                                .kv_len = KEYS,
                                .d_qk = D_QK,
                                .d_v = D_V,
                                .q = {a->q, 0, QUERIES * D_QK, D_QK, RDK_F32},
                                .k = {a->k, 0, KEYS * D_QK, D_QK, RDK_F32},
                                .v = {a->v, 0, KEYS * D_V, D_V, RDK_F32},
                                .out = {a->out, 0, QUERIES * D_V, D_V, RDK_F32}};
}

TEST attention_off_by_k(void) {
    attention a;
    rdk_attention_desc d = means(&a);
    const int64_t all = HEADS * QUERIES;
    ASSERT_EQ(0, oracle_attention_error(&d, all));
    for (int k = 1; k < 100; k++) {
        a.out[5] = 2 + (float)k * 0x1p-22f; /* max|v| is 2 */
        ASSERT_EQ(k, oracle_attention_error(&d, all));
        a.out[5] = 2;
        a.out[HEADS * QUERIES * D_V - 1] = -4 + (float)k * 0x1p-21f; /* here it is 4 */
        ASSERT_EQ(k, oracle_attention_error(&d, all));
        ASSERT_EQm("the last query is among the samples", k, oracle_attention_error(&d, 2));
        ASSERT_EQm("one sample is the first", 0, oracle_attention_error(&d, 1));
        a.out[HEADS * QUERIES * D_V - 1] = -4;
    }
    a.out[0] = NAN;
    ASSERT(isinf(oracle_attention_error(&d, all)));
    PASS();
}

/* A value that only the last query sees. */
TEST attention_is_causal(void) {
    attention a;
    rdk_attention_desc d = means(&a);
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    for (int c = 0; c < D_V; c++) {
        a.v[(KEYS - 1) * D_V + c] = 10;
        a.out[(QUERIES - 1) * D_V + c] = a.out[(2 * QUERIES - 1) * D_V + c] =
            4; /* (3 * 2 + 10) / 4 */
    }
    ASSERT(oracle_attention_error(&d, HEADS * QUERIES) < 1e-6); /* thirds round in double */
    d.causal = RDK_CAUSAL_FROM_POSITION;
    d.key_pos0 = 100;
    d.q_pos = 101;
    ASSERT(oracle_attention_error(&d, HEADS * QUERIES) < 1e-6);
    d.q_pos = 102;
    ASSERT(oracle_attention_error(&d, HEADS * QUERIES) > 1e6);
    PASS();
}

/* ---- Against the library --------------------------------------------------------------------- */

/* What docs/arithmetic.md says of N(0, 1): below 4 ULP. */
TEST library_is_accurate(void) {
    enum { ROWS = 16, COLS = 1024 };
    static float x[ROWS * COLS], y[ROWS * COLS];
    rdk_softmax_desc d = {.size = sizeof d,
                          .rows = ROWS,
                          .cols = COLS,
                          .x = x,
                          .x_stride = COLS,
                          .y = y,
                          .y_stride = COLS};
    fill(x, RDK_F32, ROWS * COLS, 1);
    ASSERT_EQ(RDK_OK, rdk_softmax(&d));
    double error = oracle_softmax_ulp(&d, ROWS);
    printf("\nsoftmax %d x %d: %.3f ULP\n", ROWS, COLS, error);
    ASSERT(error > 0.5 && error < 4);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_TEST(softmax_off_by_k);
    RUN_TEST(softmax_leaves_small_weights_out);
    RUN_TEST(softmax_reads_every_field);
    RUN_TEST(log_softmax_off_by_k);
    RUN_TEST(attention_off_by_k);
    RUN_TEST(attention_is_causal);
    RUN_TEST(library_is_accurate);
    RDK_MAIN_END();
}
