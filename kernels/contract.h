/* The arithmetic contract's constants and scalar vocabulary (docs/arithmetic.md).
 *
 * Everything here is exact or rounds once per operation written; nothing depends on the CPU. */
#ifndef RDK_CONTRACT_H
#define RDK_CONTRACT_H

#include "kernels/strict.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rootdk/rootdk.h"

#if FLT_EVAL_METHOD != 0
#error "rootdk needs float arithmetic in float precision (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#ifdef __FAST_MATH__
#error "rootdk promises bits: -ffast-math is not for it"
#endif

/* ---- Constants ------------------------------------------------------------------------------ */

#define RDK_LANES 16   /* virtual lanes of a sum */
#define RDK_BLOCK 128  /* elements between two foldings of the lanes into a double */
#define RDK_CHUNK 1024 /* keys between two closings of an attention state */
#define RDK_CHAIN 48   /* elements of a query and a key that one chain adds up; more take two */
#define RDK_PIECE 192  /* elements between two closings of the chains of a score */

/* The chains of a score of d elements at a time: neighbours are in different ones. */
static inline int64_t rdk_chains(int64_t d) {
    return d <= RDK_CHAIN ? 1 : 2;
}

/* The end of the piece of a score that begins with element `first`. */
static inline int64_t rdk_piece_end(int64_t first, int64_t d) {
    return d - first < RDK_PIECE ? d : first + RDK_PIECE;
}

#define RDK_LOG2E 0x1.71547652b82fep+0 /* log2(e), nearest double */
#define RDK_LN2 0x1.62e42fefa39efp-1   /* ln(2), nearest double */
#define RDK_LN2_FLOAT 0x1.62e43p-1f    /* ln(2), nearest float */
#define RDK_LOG2E_HI 0x1.715476p+0f    /* log2(e), nearest float */
#define RDK_LOG2E_LO                                                                               \
    0x1.4ae0cp-26f /* log2(e) - RDK_LOG2E_HI, nearest float; positive: +-inf stays */

#define RDK_MAGIC 0x1.8p+23f /* t + MAGIC has rint(t) in its low mantissa bits, for |t| < 2^22 */

#define RDK_HOT 0x1p+16f /* a row whose maximum lies in +-HOT takes the float path */
#define RDK_HEADROOM 8   /* an attention score may lie so far above its reference */
#define RDK_FLUSH -100   /* weights below 2^FLUSH are +0, so that none is subnormal */

/* A bias this low takes its column out: -2^16 / log2(e), rounded to a float. The lowest finite f16,
 * bf16 and f32 lie below it, -10000 does not. */
#define RDK_ABSENT -0x1.62e43p+15f

/* HOT of attention, whose scores are logits as they are: MAGIC holds M to there. */
#define RDK_ATTENTION_HOT 0x1p+21f

/* 2^f - 1 = f * (A1 + A2 f + ... + A6 f^5) on |f| <= 0.5 + 2^-8 + 2^-17. */
#define RDK_A1 0x1.62e43p-1f
#define RDK_A2 0x1.ebfbb6p-3f
#define RDK_A3 0x1.c6aeacp-5f
#define RDK_A4 0x1.3b4128p-7f
#define RDK_A5 0x1.5f7c36p-10f
#define RDK_A6 0x1.3812c2p-13f

/* ---- Bits ----------------------------------------------------------------------------------- */

static inline uint32_t rdk_bits(float v) {
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static inline float rdk_float(uint32_t u) {
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static inline uint64_t rdk_bits64(double v) {
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static inline double rdk_double(uint64_t u) {
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* ---- One rounding ---------------------------------------------------------------------------- */

/* RDK_FMA_INSTRUCTION is defined by the vocabulary of an ISA that has one (kernels/vec/). What the
 * compiler says of its flags would not do: with the same flags for all files, the reference is to
 * stay as it is. Every AArch64 has the instruction. */
#if defined(RDK_FMA_INSTRUCTION) || defined(__aarch64__)
static inline float rdk_fma(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
#else
/* The product is exact in double. Rounding the sum to double first, and then to float, goes wrong
 * only if the first rounding ends midway between two floats, or the float is subnormal. There the
 * sum is rounded to odd, so that rounding it again rounds as if it were the only time. */
static inline float rdk_fma(float a, float b, float c) {
    double p = (double)a * b;
    double s = p + c;
    uint64_t u = rdk_bits64(s);
    bool midway = (u & 0x1fffffff) == 0x10000000;
    if (!midway && fabs(s) >= 0x1p-126)
        return (float)s;
    double c_seen = s - p;
    double lost = (p - (s - c_seen)) + (c - c_seen);
    bool inexact = lost > 0 || lost < 0; /* false also where s is not finite and lost is NaN */
    bool towards_zero = (lost > 0) != (s > 0);
    if (inexact && !(u & 1))
        u += towards_zero ? (uint64_t)-1 : 1;
    return (float)rdk_double(u);
}
#endif

/* ---- Element types --------------------------------------------------------------------------- */

static inline int rdk_type_size(rdk_type type) {
    return type == RDK_F32 ? 4 : 2;
}

static inline float rdk_f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) /* inf, NaN */
        return rdk_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest < 0x400) /* zero, subnormal: an exact product */
        return rdk_float(sign | rdk_bits((float)rest * 0x1p-24f));
    return rdk_float(sign | ((rest << 13) + (112u << 23)));
}

static inline uint16_t rdk_f32_to_f16(float v) {
    uint32_t u = rdk_bits(v), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    if (rest > 0x7f800000)
        return 0x7e00;
    if (rest >= 0x477ff000) /* 65520 and more round to inf */
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* below 2^-14: let an addition round to multiples of 2^-24 */
        return (uint16_t)(sign | (rdk_bits(rdk_float(rest) + 0.5f) - rdk_bits(0.5f)));
    return (uint16_t)(sign | ((rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13));
}

static inline float rdk_bf16_to_f32(uint16_t h) {
    return rdk_float((uint32_t)h << 16);
}

static inline uint16_t rdk_f32_to_bf16(float v) {
    uint32_t u = rdk_bits(v);
    if ((u & 0x7fffffff) > 0x7f800000)
        return 0x7fc0;
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Element i of an array of `type` at p, which needs no alignment. */
static inline float rdk_load(const void *p, rdk_type type, int64_t i) {
    float v;
    uint16_t h;
    if (type == RDK_F32) {
        memcpy(&v, (const char *)p + i * 4, 4);
        return v;
    }
    memcpy(&h, (const char *)p + i * 2, 2);
    return type == RDK_F16 ? rdk_f16_to_f32(h) : rdk_bf16_to_f32(h);
}

/* Rounds to nearest even; every NaN becomes the canonical one. */
static inline void rdk_store(void *p, rdk_type type, int64_t i, float v) {
    if (type == RDK_F32) {
        if (v != v)
            v = rdk_float(0x7fc00000);
        memcpy((char *)p + i * 4, &v, 4);
        return;
    }
    uint16_t h = type == RDK_F16 ? rdk_f32_to_f16(v) : rdk_f32_to_bf16(v);
    memcpy((char *)p + i * 2, &h, 2);
}

/* ---- Scale, bias, weight --------------------------------------------------------------------- */

typedef struct rdk_scale {
    double c2;    /* scale * log2(e) */
    float ch, cl; /* c2 = ch + cl, nearly */
} rdk_scale;

static inline rdk_scale rdk_split_scale(float c) {
    rdk_scale s;
    s.c2 = (double)c * RDK_LOG2E;
    s.ch = (float)s.c2;
    s.cl = (float)(s.c2 - s.ch);
    return s;
}

/* A bias in base 2. */
static inline float rdk_bias2(float bias) {
    return rdk_fma(bias, RDK_LOG2E_HI, bias * RDK_LOG2E_LO);
}

/* 1 / l in two floats. */
typedef struct rdk_inverse {
    float inv, lo;
} rdk_inverse;

static inline rdk_inverse rdk_inverse_of(double l) {
    double exact = 1 / l;
    float inv = (float)exact;
    return (rdk_inverse){inv, (float)(exact - inv)};
}

/* o / l. An infinite o times lo, which may be 0 or of the other sign, would make a NaN of it. */
static inline float rdk_times_inverse(float o, rdk_inverse i) {
    return rdk_fma(o, i.inv, isinf(o) ? 0 : rdk_fma(o, i.lo, 0));
}

/* 2^k for k in -126 .. 127. */
static inline float rdk_pow2(int k) {
    return rdk_float((uint32_t)(k + 127) << 23);
}

/* 2^f * 2^k, for |f| a little over 0.5 at most and k in FLUSH .. HEADROOM.
 * The last product is exact. */
static inline float rdk_exp2(float f, int k) {
    float i = RDK_A6;
    i = rdk_fma(i, f, RDK_A5);
    i = rdk_fma(i, f, RDK_A4);
    i = rdk_fma(i, f, RDK_A3);
    i = rdk_fma(i, f, RDK_A2);
    i = rdk_fma(i, f, RDK_A1);
    return rdk_fma(i, f, 1) * rdk_pow2(k);
}

/* The weight of logit x relative to the integer M, without a bias. NaN stays NaN. */
static inline float rdk_hot_weight(float x, rdk_scale s, float M) {
    float magic = RDK_MAGIC - M; /* exact */
    float u = rdk_fma(x, s.ch, magic);
    float n = u - magic;
    float k = u - RDK_MAGIC; /* n - M */
    if (k != k)
        return k;
    float f = rdk_fma(x, s.cl, rdk_fma(x, s.ch, -n));
    return k < RDK_FLUSH ? 0 : rdk_exp2(f, (int)k);
}

/* The same for absurd logits: t is x * c2 in double. */
static inline float rdk_cold_weight(double t, double M) {
    double n = rint(t - M);
    if (n != n)
        return (float)n;
    return n < RDK_FLUSH ? 0 : rdk_exp2((float)((t - M) - n), (int)n);
}

/* 2^(M - larger), or +0: a sum relative to M times this is relative to `larger`. */
static inline float rdk_rescale(double M, double larger) {
    if (M == larger)
        return 1;
    return M - larger < -126 ? 0 : rdk_pow2((int)(M - larger));
}

/* The 16 lanes of a block, in double: i and i + 8, i and i + 4, i and i + 2, 0 and 1. */
static inline double rdk_fold(const float lane[RDK_LANES]) {
    double s[RDK_LANES];
    for (int i = 0; i < RDK_LANES; i++)
        s[i] = lane[i];
    for (int half = RDK_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            s[i] += s[i + half];
    return s[0];
}

/* log2 of a positive normal double, by atanh: log2(m) = 2/ln(2) * (z + z^3/3 + ...),
 * where z is (m-1)/(m+1) and m is in [2^-0.5, 2^0.5]. Additions, products and one
 * quotient: the same bits everywhere. */
static inline double rdk_log2(double l) {
    static const double C[11] = {
        /* 2 / ((2i + 1) ln 2), nearest doubles */
        0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2,
        0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2, 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3,
        0x1.5b9ac9b743f0dp-3, 0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3,
    };
    uint64_t u = rdk_bits64(l);
    int k = (int)(u >> 52) - 1023;
    double m = rdk_double((u & 0xfffffffffffff) | (uint64_t)1023 << 52);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m = m * 0.5;
        k = k + 1;
    }
    double z = (m - 1) / (m + 1);
    double w = z * z;
    double p = C[10];
    for (int i = 9; i >= 0; i--)
        p = p * w + C[i];
    return k + z * p;
}

#endif
