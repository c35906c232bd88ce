/* The weights of docs/arithmetic.md section 4, over f32x16. Included after an ISA's vocabulary. */
#ifndef RDK_WEIGHTS_H
#define RDK_WEIGHTS_H

#include "kernels/contract.h"

/* For n vectors in step, n a constant. A weight is a chain of a dozen operations, each waiting for
 * the last, and a core looks ahead too little to mix chains that follow one another. */
#define EACH                                                                                       \
    RDK_UNROLL                                                                                     \
    for (int v = 0; v < n; v++)

/* u = MAGIC + k and f of n vectors of x: the logit in base 2 is M + k + f. magic = MAGIC - M. */
RDK_INLINE void rdk_split(f32x16 ch, f32x16 magic, const f32x16 *x, f32x16 *u, f32x16 *f, int n) {
    EACH u[v] = f32x16_fma(x[v], ch, magic);
    EACH f[v] = f32x16_sub(magic, u[v]);
    EACH f[v] = f32x16_fma(x[v], ch, f[v]);
}

/* The same for x that is a logit in base 2 already: additions, which run on other
 * pipes than multiplications. */
RDK_INLINE void rdk_split_log2(f32x16 magic, const f32x16 *x, f32x16 *u, f32x16 *f, int n) {
    EACH u[v] = f32x16_add(x[v], magic);
    EACH f[v] = f32x16_sub(magic, u[v]);
    EACH f[v] = f32x16_add(x[v], f[v]);
}

/* e = 2^f * 2^k. No logit is NaN or +inf. One that is -inf has u = -inf,
 * and its e is cleared last. */
RDK_INLINE void rdk_weights(const f32x16 *u, const f32x16 *f, f32x16 *e, int n) {
    f32x16 p[F32X16_IN_FLIGHT];
    f32x16 a = f32x16_step_constant(RDK_A6), c = f32x16_step_constant(RDK_A5);
    EACH p[v] = f32x16_fma(a, f[v], c);
    c = f32x16_step_constant(RDK_A4);
    EACH p[v] = f32x16_fma(p[v], f[v], c);
    c = f32x16_step_constant(RDK_A3);
    EACH p[v] = f32x16_fma(p[v], f[v], c);
    c = f32x16_step_constant(RDK_A2);
    EACH p[v] = f32x16_fma(p[v], f[v], c);
    c = f32x16_step_constant(RDK_A1);
    EACH p[v] = f32x16_fma(p[v], f[v], c);
    c = f32x16_step_constant(1);
    EACH p[v] = f32x16_fma(p[v], f[v], c);
    c = f32x16_step_constant(RDK_MAGIC + RDK_FLUSH - 1);
    EACH p[v] = f32x16_times_pow2(p[v], u[v]);
    EACH e[v] = f32x16_keep_above(p[v], u[v], c);
}

/* The sum of a block's lanes. */
RDK_INLINE double rdk_fold_lanes(f32x16 lanes) {
    return f64x8_fold(f64x8_add(f64x8_low(lanes), f64x8_high(lanes)));
}

#endif
