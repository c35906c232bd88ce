/* How far the contract's results are from the exact ones, by an oracle in double: exp and log of
 * libm, compensated sums, the same floats in. The worst of each family is printed, pass or fail. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "dispatch/cpu.h"
#include "kernels/contract.h"
#include "tests/lib/oracle.h"
#include "tests/softmax/sweep.h"

/* Set by the build: how much of the domain of 2^f is run, and how many elements per family. */
#ifndef RDK_SWEEP_STEP
#define RDK_SWEEP_STEP 997
#endif
#ifndef RDK_ELEMENTS
#define RDK_ELEMENTS (1 << 17)
#endif

#define BOUND_EXP2 1.03
#define BOUND_SOFTMAX 4.0
#define BOUND_LOG 2.0
#define LEAST_WEIGHT 0x1p-98

/* ---- 2^f ------------------------------------------------------------------------------------- */

TEST sweep_oracle_is_libms(void) {
    double worst = 0;
    for (int i = 0; i <= 1000000; i++) {
        double f = ((double)i / 1000000 * 2 - 1) * (0.5 + 0x1p-8 + 0x1p-17);
        double difference = fabs(1 + sweep_oracle(f) - exp2(f)) * 0x1p24;
        worst = difference > worst ? difference : worst;
    }
    printf("\n2^f: the sweep's oracle is within %.1e ULP of libm's exp2 at 1000001 points\n",
           worst);
    ASSERT(worst < 1e-6);
    PASS();
}

typedef sweep_result sweep_function(uint32_t, uint32_t, uint32_t, double);

static bool sweep_sign(sweep_function *sweep, uint32_t sign, uint32_t step, uint64_t *count) {
    uint32_t last = rdk_bits(0.5f + 0x1p-8f + 0x1p-17f);
    sweep_result r = sweep(sign, sign | last, step, BOUND_EXP2);
    printf("2^f, f %s 0: %10llu floats (every %u%s): worst %.4f ULP, near f = %a; over the bound: "
           "%llu\n",
           sign ? "<" : ">", (unsigned long long)r.count, step,
           step % 10 == 1 && step > 1 ? "st"
           : step == 1                ? ""
                                      : "th",
           r.worst, (double)rdk_float(r.worst_at), (unsigned long long)r.over);
    *count += r.count;
    return r.over == 0 && r.worst <= BOUND_EXP2;
}

TEST exp2_over_its_domain(void) {
    sweep_function *sweep = sweep_exp2;
    uint32_t step = RDK_SWEEP_STEP;
    uint64_t count = 0;
#ifdef RDK_HAVE_SWEEP_FMA
    if (rdk_cpu_flags() & RDK_CPU_AVX2) {
        sweep = sweep_exp2_fma;
    } else if (step < 97) {
        step = 97;
        puts("2^f: this CPU has no FMA: only every 97th float is run");
    }
#endif
    bool above = sweep_sign(sweep, 0, step, &count);
    bool below = sweep_sign(sweep, 0x80000000, step, &count);
    ASSERT(above && below);
    ASSERT(step > 1 || count == 2 * ((uint64_t)rdk_bits(0.5f + 0x1p-8f + 0x1p-17f) + 1));
    PASS();
}

#ifdef RDK_HAVE_SWEEP_FMA
/* The two objects differ in how rdk_fma is done, never in what it gives. */
TEST sweep_is_the_same_without_fma(void) {
    if (!(rdk_cpu_flags() & RDK_CPU_AVX2))
        RDK_SKIP("sweep with FMA: this CPU does not have it");
    for (uint32_t sign = 0; sign < 2; sign++) {
        uint32_t first = sign << 31, last = first | rdk_bits(0.5f + 0x1p-8f + 0x1p-17f);
        sweep_result a = sweep_exp2(first, last, 9973, BOUND_EXP2);
        sweep_result b = sweep_exp2_fma(first, last, 9973, BOUND_EXP2);
        ASSERT(a.count == b.count && a.over == b.over && fabs(a.worst - b.worst) < 1e-6);
    }
    PASS();
}
#endif

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

/* ---- Examples worked by hand ----------------------------------------------------------------- */

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

SUITE(accuracy) {
    RUN_TEST(sweep_oracle_is_libms);
    RUN_TEST(exp2_over_its_domain);
#ifdef RDK_HAVE_SWEEP_FMA
    RUN_TEST(sweep_is_the_same_without_fma);
#endif
    RUN_TEST(softmax_is_within_4_ulp);
    RUN_TEST(softmax_with_bias_is_within_4_plus_b_ulp);
    RUN_TEST(log_softmax_and_lse_are_within_2_ulp);
    RUN_TEST(narrow_types_are_within_1_ulp);
    RUN_TEST(worked_examples_come_out_on_every_isa);
    RUN_TEST(equal_logits_share_evenly);
    RUN_TEST(huge_unequal_logits_are_one_hot);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(accuracy);
    RDK_MAIN_END();
}
