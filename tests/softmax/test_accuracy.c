/* How far the contract's results are from the exact ones, by an oracle in double: exp and log of
 * libm, compensated sums, the same floats in. The worst of each family is printed, pass or fail. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/contract.h"
#include "tests/lib/oracle.h"
#include "tests/softmax/bounds.h"

/* Set by the build: how many elements per family. */
#ifndef RDK_ELEMENTS
#define RDK_ELEMENTS (1 << 17)
#endif

#define LEAST_WEIGHT 0x1p-98

/* ---- Families -------------------------------------------------------------------------------- */

typedef enum bias_kind { NO_BIAS, UNIFORM, SLOPE, COMPENSATED } bias_kind;

typedef struct family {
    const char *name;
    double mean, deviation;
    float scale;
    bias_kind bias;
    double bias_size;
    double low; /* unless 0: half of the columns, but never the first, are low / 8 to low */
} family;

typedef struct row_memory {
    float *x, *bias, *y;
    double *z; /* the logits */
} row_memory;

static row_memory allocate(int64_t cols) {
    size_t floats = (size_t)cols * 4;
    row_memory m = {malloc(floats), malloc(floats), malloc(floats), malloc(2 * floats)};
    if (!m.x || !m.bias || !m.y || !m.z) {
        puts("out of memory");
        exit(EXIT_FAILURE);
    }
    return m;
}

static void release(row_memory m) {
    free(m.x);
    free(m.bias);
    free(m.y);
    free(m.z);
}

static void draw_row(const family *f, row_memory m, int64_t cols) {
    for (int64_t j = 0; j < cols; j++) {
        double b = 0;
        if (f->bias == UNIFORM)
            b = (2 * draw_uniform() - 1) * f->bias_size;
        else if (f->bias == SLOPE) /* as ALiBi: the last column is nearest */
            b = f->bias_size * (double)(cols - 1 - j) / (double)cols;
        else if (f->bias == COMPENSATED)
            b = f->bias_size * (0.5 + 0.5 * draw_uniform());
        m.bias[j] = (float)b;
        m.x[j] = (float)(f->mean + f->deviation * draw_normal());
        if (f->bias == COMPENSATED) /* logits of ordinary size all the same */
            m.x[j] = (float)((m.x[j] - b) / f->scale);
        if (f->low != 0 && j > 0 && draw_uniform() < 0.5)
            m.x[j] = (float)(f->low * exp2(-3 * draw_uniform()));
    }
}

/* The logits of a row. Only the sum is rounded: a product of two floats fits in a double. */
static oracle look_at(row_memory m, const float *bias, float scale, int64_t cols) {
    for (int64_t j = 0; j < cols; j++)
        m.z[j] = (double)m.x[j] * scale + (bias ? (double)bias[j] : 0);
    return oracle_of(m.z, cols);
}

static rdk_softmax_desc desc_of(const family *f, row_memory m, int64_t cols) {
    rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = cols};
    d.x = m.x;
    d.y = m.y;
    d.scale = f->scale;
    d.bias = f->bias == NO_BIAS ? NULL : m.bias;
    return d;
}

static const int64_t COLS[] = {64, 1024, 32768, 1048576};

/* A build that looks at few elements leaves out the row that alone has far more. */
static int sizes(void) {
    int n = sizeof COLS / sizeof COLS[0];
    while (COLS[n - 1] > 8 * (int64_t)RDK_ELEMENTS)
        n--;
    return n;
}

static int64_t rows_for(int64_t cols) {
    return RDK_ELEMENTS / cols > 0 ? RDK_ELEMENTS / cols : 1;
}

static void seed(const family *f, int64_t cols) {
    uint64_t n = 0x726f6f74646bu + (uint64_t)cols;
    for (const char *p = f->name; *p; p++)
        n = n * 31 + (unsigned char)*p;
    draw_seed(n);
}

static void heading(const char *what) {
    printf("\n%-34s", what);
    for (int i = 0; i < sizes(); i++)
        printf(" %9lld", (long long)COLS[i]);
    printf("  columns\n");
}

/* ---- Softmax --------------------------------------------------------------------------------- */

typedef struct tally {
    double worst;        /* ULP */
    uint64_t count;      /* weights looked at */
    uint64_t too_far;    /* over the bound */
    uint64_t not_zeroed; /* weights far below LEAST_WEIGHT that are larger than they may be */
} tally;

/* A bias b may cost |b| ULP more, but never more than its roundings. These are fma(bias, LH, -n) of
 * a result near 1 (2^-25 off), the addition to x's part and the fma with LL (2^-25 each, below 1).
 * They make 2^-23.4 in f, which is ln(2) * 2^-23.4 of the weight, relatively, or 1.1 ULP of a
 * weight whose ULP is 2^-24 of it. */
static double bias_allowance(float b) {
    return fmin(fabs((double)b), 1.1);
}

static void compare_row(tally *t, const family *f, row_memory m, int64_t cols) {
    const float *bias = f->bias == NO_BIAS ? NULL : m.bias;
    oracle o = look_at(m, bias, f->scale, cols);
    for (int64_t j = 0; j < cols; j++) {
        double exact = oracle_weight(&o, m.z[j]);
        double error = fabs((double)m.y[j] - exact) / ulp32(exact);
        if (exact < LEAST_WEIGHT) {
            t->not_zeroed += !(m.y[j] >= 0 && m.y[j] <= 1.01f * (float)LEAST_WEIGHT);
            continue;
        }
        t->count++;
        if (!(error <= t->worst)) /* also when it is NaN */
            t->worst = error;
        t->too_far += !(error <= BOUND_SOFTMAX + bias_allowance(bias ? bias[j] : 0));
    }
}

static bool softmax_family(const family *f) {
    bool ok = true;
    uint64_t count = 0;
    printf("  %-32s", f->name);
    for (int i = 0; i < sizes(); i++) {
        tally t = {0};
        row_memory m = allocate(COLS[i]);
        rdk_softmax_desc d = desc_of(f, m, COLS[i]);
        seed(f, COLS[i]);
        for (int64_t r = 0; r < rows_for(COLS[i]); r++) {
            draw_row(f, m, COLS[i]);
            ok &= rdk_softmax(&d) == RDK_OK;
            compare_row(&t, f, m, COLS[i]);
        }
        release(m);
        printf(" %9.3f", t.worst);
        ok &= t.too_far == 0 && t.not_zeroed == 0 && t.count > 0;
        count += t.count;
    }
    printf("  %llu weights%s\n", (unsigned long long)count, ok ? "" : "  TOO FAR OFF");
    return ok;
}

static bool softmax_families(const family *f, size_t count) {
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok &= softmax_family(&f[i]);
    return ok;
}

TEST softmax_is_within_4_ulp(void) {
    static const family F[] = {
        {"N(0,1)", 0, 1, 1, NO_BIAS, 0, 0},
        {"N(0,8)", 0, 8, 1, NO_BIAS, 0, 0},
        {"N(0,100)", 0, 100, 1, NO_BIAS, 0, 0},
        {"N(0,8), scale 1/8", 0, 8, 0.125f, NO_BIAS, 0, 0},
        {"N(0,1), scale -7.3", 0, 1, -7.3f, NO_BIAS, 0, 0},
        {"N(30000,8)", 30000, 8, 1, NO_BIAS, 0, 0},
        {"N(-30000,8)", -30000, 8, 1, NO_BIAS, 0, 0},
        {"N(1e5,8), cold", 1e5, 8, 1, NO_BIAS, 0, 0},
        {"N(-1e6,8), cold", -1e6, 8, 1, NO_BIAS, 0, 0},
        {"N(1e7,8), cold", 1e7, 8, 1, NO_BIAS, 0, 0},
        {"N(1e7,8), scale -0.71, cold", 1e7, 8, -0.71f, NO_BIAS, 0, 0},
    };
    heading("softmax: worst ULP (bound 4)");
    ASSERT(softmax_families(F, sizeof F / sizeof F[0]));
    PASS();
}

TEST softmax_with_bias_is_within_4_plus_b_ulp(void) {
    static const family F[] = {
        {"N(0,1), bias in +-10", 0, 1, 1, UNIFORM, 10, 0},
        {"N(0,8), bias in +-10", 0, 8, 1, UNIFORM, 10, 0},
        {"N(0,8), bias in +-1", 0, 8, 0.125f, UNIFORM, 1, 0},
        {"N(0,1), bias 0 to -1000", 0, 1, 1, SLOPE, -1000, 0},
        {"N(0,8), bias 0 to -1000", 0, 8, 1, SLOPE, -1000, 0},
        {"N(0,8), bias 0 to -10000", 0, 8, 1, SLOPE, -10000, 0},
        {"N(0,100), bias 0 to -10000", 0, 100, 1, SLOPE, -10000, 0},
        {"N(0,8) - b, b = -500 to -1000", 0, 8, 1, COMPENSATED, -1000, 0},
        {"N(0,8) - b, b = -5000 to -10000", 0, 8, 1, COMPENSATED, -10000, 0},
    };
    heading("softmax, bias b: worst ULP (4 + min(|b|, 1.1))");
    ASSERT(softmax_families(F, sizeof F / sizeof F[0]));
    PASS();
}

/* ---- Log-softmax and LSE --------------------------------------------------------------------- */

static bool log_family(const family *f) {
    bool ok = true;
    printf("  %-32s", f->name);
    for (int i = 0; i < sizes(); i++) {
        double worst = 0, worst_lse = 0;
        row_memory m = allocate(COLS[i]);
        rdk_softmax_desc d = desc_of(f, m, COLS[i]);
        float lse, lse_alone;
        d.lse = &lse;
        seed(f, COLS[i]);
        for (int64_t r = 0; r < rows_for(COLS[i]); r++) {
            draw_row(f, m, COLS[i]);
            d.mode = RDK_LOG_SOFTMAX;
            d.lse = &lse;
            ok &= rdk_softmax(&d) == RDK_OK;
            d.mode = RDK_SOFTMAX_LSE;
            d.lse = &lse_alone;
            ok &= rdk_softmax(&d) == RDK_OK && rdk_bits(lse) == rdk_bits(lse_alone);
            oracle o = look_at(m, d.bias, f->scale, COLS[i]);
            worst_lse = fmax(worst_lse, log_error(lse, o.lse));
            ok &= log_error(lse, o.lse) <= BOUND_LOG;
            for (int64_t j = 0; j < COLS[i]; j++) {
                double exact = (m.z[j] - o.max) - log(o.sum);
                double error = log_error(m.y[j], exact);
                ok &= error <= BOUND_LOG;
                if (!(error <= worst))
                    worst = error;
            }
        }
        release(m);
        printf(" %4.2f/%4.2f", worst, worst_lse);
    }
    printf("%s\n", ok ? "" : "  TOO FAR OFF");
    return ok;
}

TEST log_softmax_and_lse_are_within_2_ulp(void) {
    static const family F[] = {
        {"N(0,1)", 0, 1, 1, NO_BIAS, 0, 0},
        {"N(0,8)", 0, 8, 1, NO_BIAS, 0, 0},
        {"N(0,100)", 0, 100, 1, NO_BIAS, 0, 0},
        {"N(0,1), scale -7.3", 0, 1, -7.3f, NO_BIAS, 0, 0},
        {"N(30000,8)", 30000, 8, 1, NO_BIAS, 0, 0},
        {"N(1e5,8), cold", 1e5, 8, 1, NO_BIAS, 0, 0},
        {"N(-1e7,8), cold", -1e7, 8, 1, NO_BIAS, 0, 0},
        {"N(0,8), bias in +-10", 0, 8, 1, UNIFORM, 10, 0},
        {"N(0,8), bias 0 to -10000", 0, 8, 1, SLOPE, -10000, 0},
        {"N(0,8) - b, b = -500 to -1000", 0, 8, 1, COMPENSATED, -1000, 0},
        {"N(0,8) - b, b = -5000 to -10000", 0, 8, 1, COMPENSATED, -10000, 0},
        {"N(-40000,3), scale 0.7", -40000, 3, 0.7f, NO_BIAS, 0, 0},
        {"N(0,8), half -1e7 to -1e8", 0, 8, 1, NO_BIAS, 0, -1e8},
        {"N(30000,8), half -1e8 to -1e9", 30000, 8, 1, NO_BIAS, 0, -1e9},
        {"bias in +-10, half -1e7 to -1e8", 0, 8, 1, UNIFORM, 10, -1e8},
        {"bias in +-10, half -5e6 to -4e7", 0, 8, 1, UNIFORM, 10, -4e7},
        {"bias to -10000, half to -1e8", 0, 8, 1, SLOPE, -10000, -1e8},
        {"N(30000,8), bias, half to -4e8", 30000, 8, 1, UNIFORM, 1000, -4e8},
        {"bias in +-10, half to -1e38", 0, 8, 1, UNIFORM, 10, -1e38},
    };
    bool ok = true;
    heading("log-softmax / LSE: worst (bound 2)");
    for (size_t i = 0; i < sizeof F / sizeof F[0]; i++)
        ok &= log_family(&F[i]);
    ASSERT(ok);
    PASS();
}

/* ---- Narrow types ---------------------------------------------------------------------------- */

typedef struct narrow {
    const char *name;
    rdk_type type;
    int bits, least;
} narrow;

static const narrow NARROW[] = {{"f16", RDK_F16, 10, -14}, {"bf16", RDK_BF16, 7, -126}};

static bool narrow_case(const narrow *n, rdk_softmax_mode mode, double deviation) {
    enum { N = 1024 };
    family f = {"narrow", 0, deviation, 1, NO_BIAS, 0, 0};
    uint16_t x16[N], y16[N];
    row_memory m = allocate(N);
    rdk_softmax_desc d = {.size = sizeof d, .mode = mode, .rows = 1, .cols = N, .x = x16, .y = y16};
    d.x_type = d.y_type = n->type;
    uint64_t count = 0, differ = 0;
    double worst = 0;
    bool ok = true;
    seed(&f, n->type * 4 + mode);
    for (int64_t r = 0; r < rows_for(N); r++) {
        draw_row(&f, m, N);
        for (int j = 0; j < N; j++) {
            rdk_store(x16, n->type, j, m.x[j]);
            m.x[j] = rdk_load(x16, n->type, j);
        }
        ok &= rdk_softmax(&d) == RDK_OK;
        oracle o = look_at(m, NULL, 1, N);
        for (int j = 0; j < N; j++) {
            double z = m.x[j] - o.max;
            double exact = mode == RDK_SOFTMAX ? exp(z) / o.sum : z - log(o.sum);
            if (mode == RDK_SOFTMAX && exact < LEAST_WEIGHT)
                continue;
            double size = mode == RDK_SOFTMAX ? exact : fmax(1, fabs(exact));
            double ulp = ulp_of(size, n->bits, n->least);
            double own_ulp = ulp_of(exact, n->bits, n->least);
            double rounded = rint(exact / own_ulp) * own_ulp;
            double error = fabs(rdk_load(y16, n->type, j) - rounded) / ulp;
            count++;
            differ += error != 0;
            if (!(error <= worst))
                worst = error;
        }
    }
    release(m);
    ok &= worst <= 1;
    printf("  %-5s %-12s N(0,%.0f): worst %.3g ULP, %llu of %llu are not the nearest%s\n", n->name,
           mode == RDK_SOFTMAX ? "softmax" : "log-softmax", deviation, worst,
           (unsigned long long)differ, (unsigned long long)count, ok ? "" : "  TOO FAR OFF");
    return ok;
}

TEST narrow_types_are_within_1_ulp(void) {
    static const double DEVIATION[] = {1, 8, 100};
    bool ok = true;
    printf("\nf16 and bf16, in and out, against the oracle rounded once (bound 1; log: of max(1, "
           "|value|))\n");
    for (int n = 0; n < 2; n++)
        for (rdk_softmax_mode mode = RDK_SOFTMAX; mode <= RDK_LOG_SOFTMAX; mode++)
            for (int i = 0; i < 3; i++)
                ok &= narrow_case(&NARROW[n], mode, DEVIATION[i]);
    ASSERT(ok);
    PASS();
}

SUITE(accuracy) {
    RUN_TEST(softmax_is_within_4_ulp);
    RUN_TEST(softmax_with_bias_is_within_4_plus_b_ulp);
    RUN_TEST(log_softmax_and_lse_are_within_2_ulp);
    RUN_TEST(narrow_types_are_within_1_ulp);
}

SUITE_EXTERN(powers);
SUITE_EXTERN(examples);

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(powers);
    RUN_SUITE(accuracy);
    RUN_SUITE(examples);
    RDK_MAIN_END();
}
