/* shim.h without Google Benchmark, for the tool. */
#include <stdint.h>
#include <stdlib.h>

#include "bench/clock.h"
#include "bench/inputs.h"
#include "bench/shim.h"

/* ---- The order ------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* Knuth's LCG; the upper bits are good */
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

static void shuffle(size_t *order, size_t count) {
    static uint64_t state = 1;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)(next_random(&state) % i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Each entry as often as it wants samples, in random order. */
static size_t *order_of(bench *const *list, size_t count, size_t *all) {
    *all = 0;
    for (size_t i = 0; i < count; i++)
        *all += (size_t)list[i]->repeats;
    size_t *order = allocate(*all * sizeof *order), done = 0;
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < list[i]->repeats; j++)
            order[done++] = i;
    shuffle(order, *all);
    return order;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static double time_calls(const bench *b, long calls) {
    double start = now();
    for (long i = 0; i < calls; i++)
        b->run(b->context);
    return now() - start;
}

/* As many calls as before, and more until they fill the time. */
static void take(bench *b, double seconds, long *calls) {
    double taken;
    if (!b->cold)
        b->run(b->context);
    while ((taken = time_calls(b, *calls)) < seconds)
        *calls =
            taken > seconds / 8 ? (long)((double)*calls * 1.1 * seconds / taken) + 1 : *calls * 8;
    if (b->count < b->room)
        b->samples[b->count++] = taken / (double)*calls;
}

int shim_run(bench *const *list, size_t count, double seconds, void (*tick)(void)) {
    size_t all, *order = order_of(list, count, &all);
    long *calls = allocate(count * sizeof *calls);
    for (size_t i = 0; i < count; i++)
        calls[i] = 1;
    for (size_t i = 0; i < all; i++) {
        tick();
        take(list[order[i]], seconds, &calls[order[i]]);
    }
    free(calls);
    free(order);
    return 0;
}
