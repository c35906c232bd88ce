/* Two states become one, and a state gives its log-sum-exp. */
#include "kernels/attention/state.h"

rdk_fold_factors rdk_state_fold(rdk_state *s, const rdk_state *chunk) {
    const double M = chunk->M > s->M ? chunk->M : s->M;
    const rdk_fold_factors by = {rdk_rescale(s->M, M), rdk_rescale(chunk->M, M)};
    s->l = s->l * by.sums + chunk->l * by.chunk;
    s->M = M;
    s->cold = s->cold || chunk->cold;
    return by;
}

float rdk_state_lse(const rdk_state *s) {
    if (s->l != s->l)
        return NAN;
    return s->l == 0 ? -INFINITY : (float)((s->M + rdk_log2(s->l)) * RDK_LN2);
}
