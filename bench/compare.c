/* bench_compare: two builds of the library, given as shared libraries, in one process. Calls of the
 * two alternate, so that whatever slows the machine down slows both, and even small differences
 * show. The time is that of the thread: on a machine that also does something else, the clock on
 * the wall tells who was interrupted. */
#define _POSIX_C_SOURCE 200809L /* for the thread's clock */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/clock.h"
#include "bench/inputs.h"
#include "bench/operands.h"
#include "bench/samples.h"

enum {
    MAX_SHAPES = 128,
    MAX_PAIRS = 100000,
    MIN_PAIRS = 9,     /* of calls */
    MOST_OVERTIME = 4, /* times the seconds of a work, to reach MIN_PAIRS */
};
#define SECONDS 3.0      /* for each work on each ISA */
#define NOTICEABLE 0.005 /* a smaller difference is none */

/* ---- A build of the library ------------------------------------------------------------------ */

typedef struct library {
    const char *role, *path;
    const char *(*version)(void);
    int (*arithmetic)(void);
    const char *(*isa_name)(rdk_isa);
    rdk_status (*isa_from_name)(const char *, rdk_isa *);
    rdk_status (*isa_available)(rdk_isa);
    const char *(*reason)(rdk_status);
    rdk_status (*softmax)(const rdk_softmax_desc *);
    rdk_status (*attention)(const rdk_attention_desc *);
    rdk_status (*scratch)(const rdk_attention_desc *, size_t *);
} library;

/* POSIX lets an object pointer from dlsym() be taken for a function's; ISO C has no cast for it. */
static bool find(void *from, const char *name, void *function) {
    void *found = dlsym(from, name);
    memcpy(function, &found, sizeof found);
    if (!found)
        fprintf(stderr, "bench_compare: it has no %s\n", name);
    return found != NULL;
}

static bool open_library(library *l, const char *role, const char *path) {
    void *from = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *l = (library){.role = role, .path = path};
    if (!from)
        fprintf(stderr, "bench_compare: %s\n", dlerror());
    return from && find(from, "rdk_version", &l->version) &&
           find(from, "rdk_arithmetic_version", &l->arithmetic) &&
           find(from, "rdk_isa_name", &l->isa_name) &&
           find(from, "rdk_isa_from_name", &l->isa_from_name) &&
           find(from, "rdk_isa_available", &l->isa_available) &&
           find(from, "rdk_status_string", &l->reason) && find(from, "rdk_softmax", &l->softmax) &&
           find(from, "rdk_attention", &l->attention) &&
           find(from, "rdk_attention_scratch", &l->scratch);
}

/* What is told of an ISA. */
typedef struct table {
    const library *both;
    rdk_isa isa;
    ring *ring;
    double seconds;
    int rows, faster, slower, other_bits, refused[2], left_out;
    double log_sum; /* of the ratios */
    double slowest;
    char slowest_name[SHAPE_NAME];
} table;

/* ---- A work, with its operands --------------------------------------------------------------- */

typedef struct work {
    operands operands;
    rdk_softmax_desc softmax;
    rdk_attention_desc attention;
} work;

/* The larger of what both want: a library that refuses the work says nothing. */
static size_t scratch_of(const library both[2], const rdk_attention_desc *d) {
    size_t most = 0;
    for (int i = 0; i < 2; i++) {
        size_t bytes = 0;
        if (both[i].scratch(d, &bytes) == RDK_OK && bytes > most)
            most = bytes;
    }
    return most;
}

static void work_make(work *w, const shape *s, const table *t) {
    rdk_attention_desc d = shape_attention(s);
    size_t scratch = s->op == RDK_OP_ATTENTION ? scratch_of(t->both, &d) : 0;
    operands_make(&w->operands, s, t->ring, scratch);
    if (s->op == RDK_OP_SOFTMAX)
        w->softmax = operands_softmax(&w->operands, t->isa);
    else
        w->attention = operands_attention(&w->operands, t->isa);
}

static rdk_status run(const library *l, work *w) {
    if (w->operands.shape.op == RDK_OP_SOFTMAX)
        return l->softmax(&w->softmax);
    kv next = operands_next(&w->operands);
    w->attention.k.data = next.k;
    w->attention.v.data = next.v;
    return l->attention(&w->attention);
}

/* ---- Pairs of calls -------------------------------------------------------------------------- */

typedef struct pairs {
    double best[2]; /* seconds: base, new */
    double ratio[MAX_PAIRS];
    int count;
} pairs;

/* Seconds that the thread has run; a library starts no other. */
static double ran(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_call(const library *l, work *w) {
    double start = ran();
    run(l, w);
    return ran() - start;
}

static void take_pair(const library both[2], work *w, pairs *p) {
    double seconds[2];
    int first = p->count % 2;
    seconds[first] = time_call(&both[first], w);
    seconds[!first] = time_call(&both[!first], w);
    for (int i = 0; i < 2; i++)
        samples_keep_best(&p->best[i], seconds[i]);
    p->ratio[p->count++] = seconds[1] / seconds[0];
}

static void take_pairs(const library both[2], work *w, double seconds, pairs *p) {
    double start = now(), end = start + seconds, latest = start + MOST_OVERTIME * seconds;
    p->count = 0;
    p->best[0] = p->best[1] = 0;
    do
        take_pair(both, w, p);
    while (p->count < MAX_PAIRS && now() < (p->count < MIN_PAIRS ? latest : end));
    samples_sort(p->ratio, p->count);
}

/* ---- The table of an ISA --------------------------------------------------------------------- */

static double quarter(const pairs *p, int quarters) {
    return samples_quarter(p->ratio, p->count, quarters);
}

static double middle(const pairs *p) {
    return quarter(p, 2);
}

/* The middle of all ratios tells, if three quarters of them are on its side of 1. */
static const char *verdict(const pairs *p, table *t) {
    if (p->count < MIN_PAIRS)
        return "too few pairs to tell";
    if (middle(p) < 1 - NOTICEABLE && quarter(p, 3) < 1) {
        t->faster++;
        return "faster";
    }
    if (middle(p) > 1 + NOTICEABLE && quarter(p, 1) > 1) {
        t->slower++;
        return "slower";
    }
    return "the same";
}

static void print_header(const char *isa) {
    printf("\n%s\n%-32s %9s %10s   %6s   %s\n", isa, "best call in ms, and new / base", "base",
           "new", "best", "middle of all pairs (quarters)");
}

static void print_row(table *t, const work *w, const pairs *p, bool same_bits) {
    const char *said = verdict(p, t);
    printf("%-32s %9.3f %10.3f   %6.3f   %6.3f (%.3f to %.3f)  %s%s\n", w->operands.shape.name,
           p->best[0] * 1e3, p->best[1] * 1e3, p->best[1] / p->best[0], middle(p), quarter(p, 1),
           quarter(p, 3), said, same_bits ? "" : "; other bits");
    t->other_bits += !same_bits;
    t->rows++;
    t->log_sum += log(middle(p));
    if (middle(p) > t->slowest) {
        t->slowest = middle(p);
        memcpy(t->slowest_name, w->operands.shape.name, sizeof t->slowest_name);
    }
}

static void print_no_row(const work *w, const char *who, const char *why) {
    printf("%-32s %9s %10s   %6s   %6s %s%s\n", w->operands.shape.name, "-", "-", "-", "-", who,
           why);
}

/* What each build writes, and how long that took. The first call is not measured; it tells
 * whether there will be others. */
typedef struct trial {
    rdk_status status[2];
    double seconds;
    bool same_bits;
} trial;

/* Once, on the K and V that come first, into memory that has nothing of it. */
static rdk_status run_first(const library *l, work *w) {
    memset(w->operands.out, 0xff, operands_out_bytes(&w->operands));
    ring_restart(w->operands.ring);
    return run(l, w);
}

static trial try_both(const library both[2], work *w) {
    size_t bytes = operands_out_bytes(&w->operands);
    void *base = allocate(bytes);
    trial t;
    double start = ran();
    t.status[0] = run_first(&both[0], w);
    memcpy(base, w->operands.out, bytes);
    t.status[1] = run_first(&both[1], w);
    t.seconds = ran() - start;
    t.same_bits = !memcmp(base, w->operands.out, bytes);
    free(base);
    return t;
}

static bool is_refused(table *t, const work *w, const trial *first) {
    bool refused = false;
    for (int i = 0; i < 2; i++)
        if (first->status[i] != RDK_OK) {
            char who[32];
            snprintf(who, sizeof who, "%s refuses: ", t->both[i].role);
            print_no_row(w, who, t->both[i].reason(first->status[i]));
            t->refused[i]++;
            refused = true;
        }
    return refused;
}

static void compare(table *t, const shape *s) {
    static pairs p;
    work w;
    work_make(&w, s, t);
    trial first = try_both(t->both, &w);
    if (is_refused(t, &w, &first)) {
        ;
    } else if (first.seconds > t->seconds) {
        print_no_row(&w, "left out: ", "a pair of calls takes longer than --seconds");
        t->left_out++;
    } else {
        take_pairs(t->both, &w, t->seconds, &p);
        print_row(t, &w, &p, first.same_bits);
    }
    fflush(stdout);
    operands_free(&w.operands);
}

static void print_count(int count, const char *what) {
    if (count)
        printf(", %d %s", count, what);
}

static void print_summary(const table *t, const char *isa) {
    printf("%s: ", isa);
    if (t->rows)
        printf("geometric mean %.3f of %d; slowest %.3f, %s", exp(t->log_sum / t->rows), t->rows,
               t->slowest, t->slowest_name);
    else
        printf("nothing compared");
    print_count(t->faster, "faster");
    print_count(t->slower, "slower");
    print_count(t->other_bits, "with other bits");
    print_count(t->refused[0], "refused by base");
    print_count(t->refused[1], "refused by new");
    print_count(t->left_out, "left out");
    printf("\n");
}

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct options {
    const char *files[3]; /* BASE, NEW, SHAPES */
    const char *only, *isa;
    double seconds;
} options;

static int usage(void) {
    fprintf(stderr,
            "usage: bench_compare BASE NEW SHAPES [--only TEXT] [--isa NAME] [--seconds N]\n"
            "  BASE, NEW       two builds of the library\n"
            "  SHAPES          what to measure, a file like bench/shapes.ini\n"
            "  --only TEXT     only the works whose name has TEXT in it\n"
            "  --isa NAME      that ISA; else every vector ISA that both have here\n"
            "  --seconds N     for each work on each ISA (%.0f); where a pair of calls takes "
            "longer, the\n"
            "                  work is left out\n",
            SECONDS);
    return 2;
}

static bool parse(options *o, int argc, char **argv) {
    int files = 0;
    bool fine = true;
    *o = (options){.seconds = SECONDS};
    for (int i = 1; fine && i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (argv[i][0] != '-') {
            fine = files < 3;
            o->files[fine ? files++ : 0] = argv[i];
            continue;
        }
        fine = value && (!strcmp(argv[i], "--only")      ? (o->only = value, true)
                         : !strcmp(argv[i], "--isa")     ? (o->isa = value, true)
                         : !strcmp(argv[i], "--seconds") ? is_seconds(value, &o->seconds)
                                                         : false);
        i++;
    }
    return fine && files == 3 && o->seconds > 0;
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool both_have(const library both[2], rdk_isa isa) {
    return both[0].isa_available(isa) == RDK_OK && both[1].isa_available(isa) == RDK_OK;
}

/* Those to measure, in order; returns how many. */
static int choose_isas(const library both[2], const char *name, rdk_isa *list) {
    int count = 0;
    if (name) {
        if (both[1].isa_from_name(name, &list[0]) == RDK_OK && both_have(both, list[0]))
            return 1;
        fprintf(stderr, "bench_compare: not both have an ISA \"%s\" here\n", name);
        return 0;
    }
    for (rdk_isa isa = RDK_ISA_SCALAR + 1; isa < RDK_ISA_COUNT; isa++)
        if (both_have(both, isa))
            list[count++] = isa;
    if (!count)
        fprintf(stderr, "bench_compare: there is no vector ISA that both have here\n");
    return count;
}

static int compare_all(const options *o, const library both[2], const shape *list, int count) {
    rdk_isa isas[RDK_ISA_COUNT];
    table tables[RDK_ISA_COUNT];
    int isa_count = choose_isas(both, o->isa, isas), lost = 0;
    ring from_memory = ring_make(list, count, false);
    for (int i = 0; i < isa_count; i++) {
        tables[i] =
            (table){.both = both, .isa = isas[i], .ring = &from_memory, .seconds = o->seconds};
        print_header(both[1].isa_name(isas[i]));
        for (int j = 0; j < count; j++)
            compare(&tables[i], &list[j]);
        lost += tables[i].refused[1];
    }
    printf("\n");
    for (int i = 0; i < isa_count; i++)
        print_summary(&tables[i], both[1].isa_name(isas[i]));
    ring_free(&from_memory);
    return !isa_count ? 2 : lost > 0;
}

int main(int argc, char **argv) {
    static shape shapes[MAX_SHAPES];
    library both[2];
    options o;
    if (!parse(&o, argc, argv))
        return usage();
    int count = shapes_read(o.files[2], shapes, MAX_SHAPES);
    if (count < 0 || !(count = shapes_choose(shapes, count, o.only)))
        return 2;
    if (!open_library(&both[0], "base", o.files[0]) || !open_library(&both[1], "new", o.files[1]))
        return 2;
    for (int i = 0; i < 2; i++)
        printf("%-5s %s, arithmetic %d: %s\n", both[i].role, both[i].version(),
               both[i].arithmetic(), both[i].path);
    return compare_all(&o, both, shapes, count);
}
