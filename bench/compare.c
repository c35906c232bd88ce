/* bench_compare BASE NEW [SECONDS]: two builds of the library, given as shared libraries, in one process. Each call
 * of the one is beside a call of the other, in alternating order, so that whatever slows the machine down slows both,
 * and even small differences show. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/inputs.h"
#include "bench/works.h"

enum {
    MAX_PAIRS = 100000,
    MIN_PAIRS = 9,
    DEFAULT_SECONDS = 3, /* for each work */
};
#define NOTICEABLE 0.005 /* a smaller difference is none */

/* ---- A build of the library ------------------------------------------------------------------ */

typedef struct library {
    rdk_status (*softmax)(const rdk_softmax_desc *);
    rdk_status (*attention)(const rdk_attention_desc *);
    rdk_status (*scratch)(const rdk_attention_desc *, size_t *);
} library;

/* POSIX lets an object pointer from dlsym() be taken for a function's; ISO C has no cast for it. */
static bool find(void *from, const char *name, void *function) {
    void *found = dlsym(from, name);
    memcpy(function, &found, sizeof found);
    if (!found)
        fprintf(stderr, "compare: it has no %s\n", name);
    return found != NULL;
}

static bool open_library(library *l, const char *path) {
    void *from = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!from)
        fprintf(stderr, "compare: %s\n", dlerror());
    return from && find(from, "rdk_softmax", &l->softmax) &&
           find(from, "rdk_attention", &l->attention) &&
           find(from, "rdk_attention_scratch", &l->scratch);
}

static size_t scratch_of(const library *l, const shape *w) {
    rdk_attention_desc d = shape_attention(w);
    size_t bytes = 0;
    if (w->op == RDK_OP_ATTENTION)
        l->scratch(&d, &bytes);
    return bytes;
}

static bool run(const library *l, const operands *o) {
    rdk_softmax_desc x = operands_softmax(o, RDK_ISA_DEFAULT);
    rdk_attention_desc a = operands_attention(o, RDK_ISA_DEFAULT);
    return (o->shape->op == RDK_OP_SOFTMAX ? l->softmax(&x) : l->attention(&a)) == RDK_OK;
}

/* ---- Pairs of calls -------------------------------------------------------------------------- */

typedef struct pairs {
    double best[2]; /* seconds: base, new */
    double ratio[MAX_PAIRS];
    int count;
} pairs;

static double time_call(const library *l, const operands *o) {
    double start = now();
    run(l, o);
    return now() - start;
}

static void take_pair(const library both[2], const operands *o, pairs *p) {
    double seconds[2];
    int first = p->count % 2;
    seconds[first] = time_call(&both[first], o);
    seconds[!first] = time_call(&both[!first], o);
    for (int i = 0; i < 2; i++)
        if (!p->count || seconds[i] < p->best[i])
            p->best[i] = seconds[i];
    p->ratio[p->count++] = seconds[1] / seconds[0];
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_pairs(const library both[2], const operands *o, double seconds, pairs *p) {
    double end = now() + seconds;
    p->count = 0;
    while (p->count < MAX_PAIRS && (p->count < MIN_PAIRS || now() < end))
        take_pair(both, o, p);
    qsort(p->ratio, (size_t)p->count, sizeof p->ratio[0], by_size);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* The middle of all ratios tells, if three quarters of them are on its side of 1. */
static const char *verdict(const pairs *p) {
    double middle = p->ratio[p->count / 2];
    if (middle < 1 - NOTICEABLE && p->ratio[p->count * 3 / 4] < 1)
        return "faster";
    if (middle > 1 + NOTICEABLE && p->ratio[p->count / 4] > 1)
        return "slower";
    return "the same";
}

/* Whether both write the same bits. */
static bool agree(const library both[2], const operands *o) {
    size_t bytes = (size_t)shape_out(o->shape) * sizeof(float);
    float *base = allocate(bytes);
    bool fine = run(&both[0], o);
    memcpy(base, o->out, bytes);
    memset(o->out, 0xff, bytes);
    fine = run(&both[1], o) && fine && !memcmp(base, o->out, bytes);
    free(base);
    return fine;
}

static void compare(const library both[2], const shape *w, double seconds) {
    static pairs p;
    operands o;
    size_t base = scratch_of(&both[0], w), new = scratch_of(&both[1], w);
    operands_make(&o, w, base > new ? base : new);
    bool same_bits = agree(both, &o);
    take_pairs(both, &o, seconds, &p);
    printf("%-34s %10.3f %10.3f   %6.3f   %6.3f (%.3f to %.3f)  %s%s\n", w->name, p.best[0] * 1e3,
           p.best[1] * 1e3, p.best[1] / p.best[0], p.ratio[p.count / 2], p.ratio[p.count / 4],
           p.ratio[p.count * 3 / 4], verdict(&p), same_bits ? "" : "; other bits");
    fflush(stdout);
    operands_free(&o);
}

int main(int argc, char **argv) {
    library both[2];
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: bench_compare BASE NEW [SECONDS]\n");
        return 2;
    }
    double seconds = argc > 3 ? strtod(argv[3], NULL) : DEFAULT_SECONDS;
    if (!open_library(&both[0], argv[1]) || !open_library(&both[1], argv[2]))
        return 1;
    printf("%-34s %10s %10s   %6s   %s\n", "best call in ms, and new / base", "base", "new", "best",
           "middle of all pairs (quarters)");
    for (int i = 0; i < WORK_COUNT; i++)
        compare(both, &WORKS[i], seconds);
    return 0;
}
