/* Prefill: causal attention over a few tokens in [token][head][d], two
 * query heads to a key head. */
#include <stdio.h>
#include <stdlib.h>

#include <rootdk/rootdk.h>

enum { TOKENS = 4, Q_HEADS = 4, KV_HEADS = 2, D = 8 };

static float q[TOKENS][Q_HEADS][D], k[TOKENS][KV_HEADS][D], v[TOKENS][KV_HEADS][D];
static float out[TOKENS][Q_HEADS][D], lse[Q_HEADS][TOKENS];

/* A token's key is large in one element; query head h looks for the token h before its own. The
 * value of a token is its position, so that the output says where a head looked. */
static void fill(void) {
    for (int t = 0; t < TOKENS; t++) {
        for (int h = 0; h < Q_HEADS; h++)
            q[t][h][(t + TOKENS - h) % TOKENS] = 6;
        for (int h = 0; h < KV_HEADS; h++) {
            k[t][h][t] = 3;
            v[t][h][0] = (float)t;
        }
    }
}

int main(void) {
    rdk_attention_desc d = rdk_attention_init(1, Q_HEADS, KV_HEADS, TOKENS, TOKENS, D);
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    d.q = rdk_const_view_bshd(q, TOKENS, Q_HEADS, D);
    d.k = rdk_const_view_bshd(k, TOKENS, KV_HEADS, D); /* query heads 0 and 1 share one */
    d.v = rdk_const_view_bshd(v, TOKENS, KV_HEADS, D);
    d.out = rdk_view_bshd(out, TOKENS, Q_HEADS, D);
    d.lse = rdk_view_bhsd(lse, Q_HEADS, TOKENS, 1);

    rdk_status status = rdk_attention_scratch(&d, &d.scratch_size); /* once for each thread */
    if (status == RDK_OK && !(d.scratch = malloc(d.scratch_size)))
        return 1;
    fill();
    if (status == RDK_OK)
        status = rdk_attention(&d);
    free(d.scratch);
    if (status != RDK_OK) {
        fprintf(stderr, "%s\n", rdk_status_string(status));
        return 1;
    }
    for (int t = 0; t < TOKENS; t++) {
        printf("token %d looked at", t);
        for (int h = 0; h < Q_HEADS; h++)
            printf(" %.3f", out[t][h][0]);
        printf("; lse of head 0: %.4f\n", lse[0][t]);
    }
    return 0;
}
