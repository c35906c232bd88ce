/* Decode: a cache of keys and values grows by a token a step. The bits of each step are those
 * of the last row in a prefill of all tokens so far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rootdk/rootdk.h>

enum { CAPACITY = 300, Q_HEADS = 6, KV_HEADS = 2, D = 16 };

static float q[Q_HEADS][CAPACITY][D], out[Q_HEADS][CAPACITY][D], step[Q_HEADS][D];
static float k_cache[KV_HEADS][CAPACITY][D], v_cache[KV_HEADS][CAPACITY][D];

/* Stands for a model: some numbers in -1 .. 1 for token t. */
static void append(int t) {
    for (int i = 0; i < D; i++) {
        for (int h = 0; h < Q_HEADS; h++)
            q[h][t][i] = (float)((t * 31 + h * 17 + i * 7) % 41) / 20 - 1;
        for (int h = 0; h < KV_HEADS; h++) {
            k_cache[h][t][i] = (float)((t * 13 + h * 29 + i * 11) % 37) / 18 - 1;
            v_cache[h][t][i] = (float)((t * 23 + h * 19 + i * 5) % 43) / 21 - 1;
        }
    }
}

/* All but the queries: the first `tokens` of the cache. */
static rdk_attention_desc over_cache(int queries, int tokens) {
    rdk_attention_desc d = rdk_attention_init(1, Q_HEADS, KV_HEADS, queries, tokens, D);
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    d.k = rdk_const_view_bhsd(k_cache, KV_HEADS, CAPACITY, D);
    d.v = rdk_const_view_bhsd(v_cache, KV_HEADS, CAPACITY, D);
    return d;
}

static rdk_status decode(int tokens, void *scratch, size_t scratch_size) {
    rdk_attention_desc d = over_cache(1, tokens); /* the last token's query: it sees all keys */
    d.q = rdk_const_view_bhsd(q[0][tokens - 1], Q_HEADS, CAPACITY, D);
    d.out = rdk_view_bhsd(step, Q_HEADS, 1, D);
    d.scratch = scratch, d.scratch_size = scratch_size;
    return rdk_attention(&d);
}

static rdk_status prefill(int tokens, void *scratch, size_t scratch_size) {
    rdk_attention_desc d = over_cache(tokens, tokens);
    d.q = rdk_const_view_bhsd(q, Q_HEADS, CAPACITY, D);
    d.out = rdk_view_bhsd(out, Q_HEADS, CAPACITY, D);
    d.scratch = scratch, d.scratch_size = scratch_size;
    return rdk_attention(&d);
}

int main(void) {
    int rows = 0, same = 0;
    size_t scratch_size;
    rdk_attention_desc d = over_cache(0, 0);
    if (rdk_attention_scratch(&d, &scratch_size) != RDK_OK)
        return 1;
    void *scratch = malloc(scratch_size); /* as large for every step */
    for (int t = 0; scratch && t < CAPACITY; t++) {
        append(t);
        if (decode(t + 1, scratch, scratch_size) != RDK_OK)
            return 1;
        if ((t + 1) % 100 != 0)
            continue; /* a prefill now and then is enough */
        if (prefill(t + 1, scratch, scratch_size) != RDK_OK)
            return 1;
        for (int h = 0; h < Q_HEADS; h++, rows++)
            same += memcmp(step[h], out[h][t], sizeof step[h]) == 0;
        printf("%d tokens: %.6f %.6f\n", t + 1, step[0][0], step[Q_HEADS - 1][D - 1]);
    }
    free(scratch);
    printf("%d of %d rows have the bits of the prefill\n", same, rows);
    return 0;
}
