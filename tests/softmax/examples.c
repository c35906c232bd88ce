/* Rows whose weights are known: examples worked by hand, equal logits, and one far above all. */
#include "tests/lib/suite.h"

#include <math.h>

#include "kernels/contract.h"
#include "tests/lib/oracle.h"
#include "tests/softmax/bounds.h"

static const struct example {
    int n;
    float scale;
    float x[5];
    double weight[5];
} EXAMPLES[] = {
    {3, 1, {50, 10, 5}, {1.000, 0.000, 0.000}},
    {3, 1, {5, 1, 0.5f}, {0.971, 0.018, 0.011}},
    {3, 1, {14, 10, 12}, {0.867, 0.016, 0.117}},
    {3, 0.125f, {14, 10, 12}, {0.419, 0.254, 0.326}},
    {5, 1, {9.2f, -3.1f, 8.8f, -5.4f, 1.2f}, {0.599, 0.000, 0.401, 0.000, 0.000}},
    {5, 0.125f, {9.2f, -3.1f, 8.8f, -5.4f, 1.2f}, {0.371, 0.080, 0.353, 0.060, 0.136}},
    {3, 1, {8.5f, -2.1f, 7.9f}, {0.646, 0.000, 0.354}},
};

TEST worked_examples_come_out_on_every_isa(void) {
    for (rdk_isa isa = RDK_ISA_DEFAULT; isa < RDK_ISA_COUNT; isa++) {
        if (rdk_isa_available(isa) != RDK_OK)
            continue;
        for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
            const struct example *e = &EXAMPLES[i];
            float y[5];
            rdk_softmax_desc d = {.size = sizeof d, .isa = isa, .rows = 1, .cols = e->n};
            d.x = e->x;
            d.y = y;
            d.scale = e->scale;
            ASSERT_EQ(RDK_OK, rdk_softmax(&d));
            for (int j = 0; j < e->n; j++)
                ASSERT(fabs(y[j] - e->weight[j]) <= 0.0005);
        }
    }
    PASS();
}

TEST equal_logits_share_evenly(void) {
    static const float VALUE[] = {0,     1,     -1,     88.7f,         45000,  -45000, 46000,
                                  1e10f, 1e30f, -1e30f, 3.4028235e38f, 1e-40f, -2e38f};
    enum { MOST = 300 };
    float x[MOST], y[MOST];
    double worst = 0;
    for (size_t v = 0; v < sizeof VALUE / sizeof VALUE[0]; v++)
        for (int n = 1; n <= MOST; n++) {
            rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = n, .x = x, .y = y};
            for (int j = 0; j < n; j++)
                x[j] = VALUE[v];
            ASSERT_EQ(RDK_OK, rdk_softmax(&d));
            for (int j = 0; j < n; j++) {
                double error = fabs(y[j] - 1.0 / n) / ulp32(1.0 / n);
                if (!(error <= worst))
                    worst = error;
            }
        }
    printf("\nequal logits, 0 to the largest float, 1 to %d columns: worst %.3f ULP of 1/n (bound "
           "4)\n",
           MOST, worst);
    ASSERT(worst <= BOUND_SOFTMAX);
    PASS();
}

/* At 1e30 the neighbour of a float is 7e22 away: one column takes all. */
TEST huge_unequal_logits_are_one_hot(void) {
    float x[40], y[40];
    for (int hot = 0; hot < 40; hot++) {
        rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = 40, .x = x, .y = y};
        for (int j = 0; j < 40; j++)
            x[j] = 1e30f;
        x[hot] = nextafterf(1e30f, INFINITY);
        ASSERT_EQ(RDK_OK, rdk_softmax(&d));
        for (int j = 0; j < 40; j++)
            ASSERT(j == hot ? fabs(y[j] - 1.0) <= BOUND_SOFTMAX * 0x1p-24 : rdk_bits(y[j]) == 0);
    }
    PASS();
}

SUITE(examples) {
    RUN_TEST(worked_examples_come_out_on_every_isa);
    RUN_TEST(equal_logits_share_evenly);
    RUN_TEST(huge_unequal_logits_are_one_hot);
}
