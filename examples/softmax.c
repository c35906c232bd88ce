/* Softmax of three scores: sharp, softened by a scale, with one hidden; and the log of its sum. */
#include <stdio.h>

#include <rootdk/rootdk.h>

static void run(const char *title, const rdk_softmax_desc *d) {
    const float *y = d->y;
    rdk_status status = rdk_softmax(d);
    if (status != RDK_OK)
        printf("%s %s\n", title, rdk_status_string(status));
    else
        printf("%s %.3f %.3f %.3f\n", title, y[0], y[1], y[2]);
}

int main(void) {
    const float scores[3] = {14, 10, 12}; /* q.k for three keys, of 64 elements each */
    const int64_t two = 2;
    float weights[3], lse;

    rdk_softmax_desc d = rdk_softmax_init(1, 3, scores, weights);
    run("scale 1:   ", &d);

    d.scale = 1.0f / 8; /* 1 / sqrt(64): softer */
    run("scale 1/8: ", &d);

    d.scale = 0;      /* 0 is 1 again */
    d.visible = &two; /* as in a causal row: the last key is in the future */
    run("two of three:", &d);

    d.visible = NULL;
    d.mode = RDK_SOFTMAX_LSE; /* only log(sum(exp(x))); the weights stay as they are */
    d.lse = &lse;
    if (rdk_softmax(&d) != RDK_OK)
        return 1;
    printf("lse: %.6f\n", lse);
    return 0;
}
