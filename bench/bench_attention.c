/* How fast rdk_attention is, beside what the machine can do: checked, then timed, then a table. */
#define _DEFAULT_SOURCE /* for the cache's size in sysconf() */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/inputs.h"
#include "bench/limits/limits.h"
#include "bench/plan.h"
#include "bench/report_attention.h"
#include "rootdk/rootdk.h"

/* ---- The works ------------------------------------------------------------------------------- */

typedef enum kind { FULL, CAUSAL, FEW, DECODE, GROWTH } kind;

enum {
    NO_READ = 0,
    READ = 1,        /* held against a plain read of K and V, too */
    FROM_MEMORY = 2, /* K and V change from call to call, so that no cache has them */
    SCALAR = 4,      /* small enough for the scalar path */
};

/* f32, each of q, k, v, out as [head][position][d]. */
typedef struct work {
    kind kind;
    int64_t q_heads, kv_heads, nq, nk, d;
    unsigned flags;
} work;

static const work WORKS[] = {
    {FULL, 8, 8, 128, 128, 128, 0},
    {FULL, 8, 8, 512, 512, 128, 0},
    {FULL, 8, 8, 2048, 2048, 128, 0},
    {FULL, 8, 8, 128, 128, 64, 0},
    {FULL, 8, 8, 512, 512, 64, 0},
    {FULL, 8, 8, 2048, 2048, 64, 0},
    {CAUSAL, 8, 8, 128, 128, 128, 0},
    {CAUSAL, 8, 8, 512, 512, 128, 0},
    {CAUSAL, 8, 8, 2048, 2048, 128, 0},
    {CAUSAL, 8, 8, 128, 128, 64, SCALAR},
    {CAUSAL, 8, 8, 512, 512, 64, 0},
    {CAUSAL, 8, 8, 2048, 2048, 64, 0},
    {FEW, 8, 8, 2, 2048, 128, READ},
    {FEW, 8, 8, 8, 2048, 128, 0},
    {FEW, 8, 8, 32, 2048, 128, 0},
    {FEW, 8, 8, 63, 2048, 128, 0},
    {DECODE, 32, 8, 1, 1024, 128, READ},
    {DECODE, 32, 8, 1, 8192, 128, READ | FROM_MEMORY},
    {DECODE, 32, 8, 1, 32768, 128, READ | FROM_MEMORY},
    {GROWTH, 1, 1, 2048, 2048, 64, 0},
    {GROWTH, 1, 1, 32768, 32768, 64, 0},
};

enum {
    WORK_COUNT = sizeof WORKS / sizeof WORKS[0],
    MAX_RESULTS = WORK_COUNT * RDK_ISA_COUNT,
    MAX_READS = RDK_ISA_COUNT * READ_LOOPS,
    MAX_COPIES = 8,
    MAX_BUFFERS = 256,
    QUICK_DIVISOR = 16, /* of the lengths, for --quick */
};

/* The name says what is run, so it is made from the sizes. */
static void name_work(char *name, size_t size, const work *w) {
    static const char *const KINDS[] = {"full", "causal", "few", "decode", "growth"};
    int at = snprintf(name, size, "%s d=%lld ", KINDS[w->kind], (long long)w->d);
    if (w->kind == FEW)
        snprintf(name + at, size - (size_t)at, "nq=%lld nk=%lld", (long long)w->nq,
                 (long long)w->nk);
    else
        snprintf(name + at, size - (size_t)at, "%s=%lld", w->kind == DECODE ? "nk" : "n",
                 (long long)w->nk);
}

static work shrink(work w) {
    if (w.nq == w.nk)
        w.nq /= QUICK_DIVISOR;
    w.nk /= QUICK_DIVISOR;
    return w;
}

static double flop_of(const work *w) {
    double all = 4.0 * (double)w->nq * (double)w->nk * (double)w->d * (double)w->q_heads;
    return w->kind == CAUSAL ? all / 2 : all;
}

static size_t q_bytes(const work *w) {
    return (size_t)(w->q_heads * w->nq * w->d) * sizeof(float);
}

/* Of K, or of V. */
static size_t kv_bytes(const work *w) {
    return (size_t)(w->kv_heads * w->nk * w->d) * sizeof(float);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Works of one size use the same ones. */
typedef struct buffers {
    struct {
        void *data;
        size_t bytes;
        int id;
    } list[MAX_BUFFERS];
    int count;
} buffers;

enum { BUFFER_Q = 1, BUFFER_K, BUFFER_V, BUFFER_OUT, BUFFER_SCRATCH, BUFFER_IDS };

static void *find_buffer(const buffers *b, size_t bytes, int id) {
    for (int i = 0; i < b->count; i++)
        if (b->list[i].bytes == bytes && b->list[i].id == id)
            return b->list[i].data;
    return NULL;
}

static void *new_buffer(buffers *b, size_t bytes, int id) {
    if (b->count == MAX_BUFFERS) {
        fprintf(stderr, "bench: more than %d buffers\n", MAX_BUFFERS);
        exit(1);
    }
    b->list[b->count].bytes = bytes;
    b->list[b->count].id = id;
    return b->list[b->count++].data = allocate(bytes);
}

/* A buffer of any contents. */
static void *get_buffer(buffers *b, size_t bytes, int id) {
    void *found = find_buffer(b, bytes, id);
    return found ? found : new_buffer(b, bytes, id);
}

/* The input `id`; every copy holds the same numbers. */
static const void *get_input(buffers *b, size_t bytes, int id, int copy) {
    void *found = find_buffer(b, bytes, id + copy * BUFFER_IDS);
    if (found)
        return found;
    void *made = new_buffer(b, bytes, id + copy * BUFFER_IDS);
    if (copy)
        memcpy(made, get_input(b, bytes, id, 0), bytes);
    else
        fill(made, RDK_F32, (int64_t)(bytes / sizeof(float)), (uint64_t)id);
    return made;
}

static void free_buffers(buffers *b) {
    for (int i = 0; i < b->count; i++)
        free(b->list[i].data);
}

/* Bytes; a guess where the system does not say, or says so little that it is not to be believed. */
static size_t last_level_cache(void) {
    long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes > 64l << 20 ? (size_t)bytes : (size_t)64 << 20;
}

/* So many that what a cache keeps of one is gone when its turn comes again; 512 MB at most. */
static int copies_of(const work *w) {
    size_t bytes = 2 * kv_bytes(w), want = 4 * last_level_cache(), most = (size_t)512 << 20;
    if (!(w->flags & FROM_MEMORY))
        return 1;
    size_t copies = ((want < most ? want : most) + bytes - 1) / bytes;
    return copies > MAX_COPIES ? MAX_COPIES : (int)copies;
}

/* ---- A work being measured ------------------------------------------------------------------- */

typedef struct subject subject;

typedef struct kernel {
    const subject *subject;
    rdk_isa isa;
    rdk_attention_desc desc;
    int turn; /* of the copies of K and V */
    bench *timing;
} kernel;

typedef struct reader {
    const subject *subject;
    rdk_isa isa;
    const read_loop *loop;
    int turn;
    span span;
    bench *timing;
} reader;

struct subject {
    work work;
    char name[40];
    const float *q, *k[MAX_COPIES], *v[MAX_COPIES];
    int copies;
    float *out;
    void *scratch;
    size_t scratch_size;
    int64_t rows_checked;
    kernel kernels[RDK_ISA_COUNT];
    int kernel_count;
    reader readers[MAX_READS];
    int reader_count;
};

typedef struct run {
    plan plan;
    buffers buffers;
    subject subjects[WORK_COUNT];
    int subject_count;
} run;

static rdk_attention_desc describe(const subject *s, rdk_isa isa) {
    const work *w = &s->work;
    rdk_const_view kv = {.head_stride = w->nk * w->d, .row_stride = w->d};
    rdk_attention_desc d = {
        .size = sizeof d,
        .isa = isa,
        .causal = w->kind == CAUSAL ? RDK_CAUSAL_BOTTOM_RIGHT : RDK_CAUSAL_NONE,
        .batch = 1,
        .q_heads = w->q_heads,
        .kv_heads = w->kv_heads,
        .q_len = w->nq,
        .kv_len = w->nk,
        .d_qk = w->d,
        .d_v = w->d,
        .q = {.data = s->q, .head_stride = w->nq * w->d, .row_stride = w->d},
        .k = kv,
        .v = kv,
        .out = {.data = s->out, .head_stride = w->nq * w->d, .row_stride = w->d},
        .scratch = s->scratch,
        .scratch_size = s->scratch_size,
    };
    d.k.data = s->k[0];
    d.v.data = s->v[0];
    return d;
}

static void prepare(buffers *b, subject *s) {
    const work *w = &s->work;
    s->q = get_input(b, q_bytes(w), BUFFER_Q, 0);
    s->out = get_buffer(b, q_bytes(w), BUFFER_OUT);
    s->copies = copies_of(w);
    for (int i = 0; i < s->copies; i++) {
        s->k[i] = get_input(b, kv_bytes(w), BUFFER_K, i);
        s->v[i] = get_input(b, kv_bytes(w), BUFFER_V, i);
    }
    rdk_attention_desc d = describe(s, RDK_ISA_DEFAULT);
    if (rdk_attention_scratch(&d, &s->scratch_size) == RDK_OK)
        s->scratch = get_buffer(b, s->scratch_size, BUFFER_SCRATCH);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Two queries of each head: going down the heads, the one from the first to the last, the other
 * from the last to the middle. */
static int64_t row_to_check(const work *w, int64_t i) {
    int64_t head = i % w->q_heads, last = w->nq - 1;
    int64_t down = w->q_heads > 1 ? head * last / (w->q_heads - 1) : 0;
    return head * w->nq + (i < w->q_heads ? down : last - down / 2);
}

/* Row r of q alone, on the scalar path, as a decode step at its position. */
static bool scalar_row(const subject *s, int64_t r, float *out) {
    const work *w = &s->work;
    rdk_attention_desc d = describe(s, RDK_ISA_SCALAR);
    int64_t kv_head = r / w->nq / (w->q_heads / w->kv_heads);
    d.q_heads = d.kv_heads = d.q_len = 1;
    d.q.data = s->q + r * w->d;
    d.k.data = s->k[0] + kv_head * d.k.head_stride;
    d.v.data = s->v[0] + kv_head * d.v.head_stride;
    d.out.data = out;
    if (w->kind == CAUSAL) {
        d.causal = RDK_CAUSAL_FROM_POSITION;
        d.q_pos = r % w->nq + w->nk - w->nq;
    }
    return rdk_attention(&d) == RDK_OK;
}

static bool expect(const subject *s, float *expected) {
    for (int64_t i = 0; i < s->rows_checked; i++)
        if (!scalar_row(s, row_to_check(&s->work, i), expected + i * s->work.d))
            return false;
    return true;
}

static bool is_right(const subject *s, rdk_isa isa, const float *expected) {
    const int64_t d = s->work.d;
    rdk_attention_desc desc = describe(s, isa);
    memset(s->out, 0xff, q_bytes(&s->work));
    if (rdk_attention(&desc) != RDK_OK)
        return false;
    for (int64_t i = 0; i < s->rows_checked; i++)
        if (memcmp(s->out + row_to_check(&s->work, i) * d, expected + i * d,
                   (size_t)d * sizeof(float)))
            return false;
    return true;
}

/* Keeps the kernels that give the scalar path's bits; returns how many do not. */
static int check(subject *s) {
    int kept = 0;
    s->rows_checked = s->work.q_heads * (s->work.nq > 1 ? 2 : 1);
    float *expected = allocate((size_t)(s->rows_checked * s->work.d) * sizeof(float));
    bool known = expect(s, expected);
    for (int i = 0; i < s->kernel_count; i++) {
        rdk_isa isa = s->kernels[i].isa;
        if (known && is_right(s, isa, expected))
            s->kernels[kept++] = (kernel){s, isa, describe(s, isa), 0, NULL};
        else
            fprintf(stderr, "bench: %s on %s: not the scalar path's bits\n", s->name,
                    rdk_isa_name(isa));
    }
    int wrong = s->kernel_count - kept;
    s->kernel_count = kept;
    free(expected);
    return wrong;
}

/* ---- What is timed --------------------------------------------------------------------------- */

/* Which copy of K and V comes now. */
static int next_copy(const subject *s, int *turn) {
    *turn = (*turn + 1) % s->copies;
    return *turn;
}

static void run_kernel(void *context) {
    kernel *k = context;
    int copy = next_copy(k->subject, &k->turn);
    k->desc.k.data = k->subject->k[copy];
    k->desc.v.data = k->subject->v[copy];
    rdk_attention(&k->desc);
}

static void run_reader(void *context) {
    reader *r = context;
    int copy = next_copy(r->subject, &r->turn);
    r->span.bytes = kv_bytes(&r->subject->work);
    r->span.from = (const unsigned char *)r->subject->k[copy];
    r->loop->run(&r->span);
    r->span.from = (const unsigned char *)r->subject->v[copy];
    r->loop->run(&r->span);
}

/* Long calls are sampled less often. */
static int repeats_of(const plan *p, const subject *s, rdk_isa isa) {
    double flop = flop_of(&s->work);
    if (p->quick || isa == RDK_ISA_SCALAR || flop > 1e11)
        return 3;
    if (flop > 4e9)
        return p->repeats / 5;
    return kv_bytes(&s->work) > 64 << 20 ? p->repeats / 2 : p->repeats;
}

/* Whether a call before the timed ones would make no difference. */
static bool is_cold(const subject *s) {
    return s->work.flags & FROM_MEMORY || flop_of(&s->work) > 1e10;
}

static void add_readers(plan *p, subject *s, rdk_isa isa) {
    for (int i = 0; i < limit_of(isa)->read_count; i++) {
        reader *r = &s->readers[s->reader_count++];
        char what[PLAN_MAX_NAME];
        *r = (reader){.subject = s, .isa = isa, .loop = &limit_of(isa)->read[i]};
        snprintf(what, sizeof what, "%s/read %d", s->name, i);
        r->timing =
            plan_add(p, what, rdk_isa_name(isa), repeats_of(p, s, RDK_ISA_DEFAULT), run_reader, r);
        r->timing->cold = is_cold(s);
    }
}

static void add_subject(plan *p, subject *s) {
    for (rdk_isa isa = RDK_ISA_COUNT - 1; s->work.flags & READ && isa >= RDK_ISA_SCALAR; isa--)
        if (limit_of(isa) && rdk_isa_available(isa) == RDK_OK &&
            (isa != RDK_ISA_SCALAR || !s->reader_count)) /* where there is nothing better */
            add_readers(p, s, isa);
    for (int i = 0; i < s->kernel_count; i++) {
        kernel *k = &s->kernels[i];
        k->timing =
            plan_add(p, s->name, rdk_isa_name(k->isa), repeats_of(p, s, k->isa), run_kernel, k);
        k->timing->cold = is_cold(s);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static const reader *best_reader(const subject *s) {
    const reader *best = NULL;
    for (int i = 0; i < s->reader_count; i++)
        if (!best || s->readers[i].timing->best < best->timing->best)
            best = &s->readers[i];
    return best;
}

static result result_of(const plan *p, const subject *s, const kernel *k) {
    const reader *read = best_reader(s);
    return (result){
        .work = s->name,
        .isa = rdk_isa_name(k->isa),
        .flop = flop_of(&s->work),
        .bytes = 2 * (double)kv_bytes(&s->work),
        .seconds = k->timing->best,
        .median = k->timing->median,
        .read = read ? read->timing->best : 0,
        .peak = plan_peak(p, k->isa),
        .repeats = k->timing->collected,
        .rows_checked = s->rows_checked,
    };
}

static int results(const run *r, result list[MAX_RESULTS]) {
    int count = 0;
    for (int i = 0; i < r->subject_count; i++)
        for (int j = 0; j < r->subjects[i].kernel_count; j++)
            list[count++] = result_of(&r->plan, &r->subjects[i], &r->subjects[i].kernels[j]);
    return count;
}

/* A kernel faster than the machine is a measurement gone wrong; returns how many there are. */
static int count_broken(const result *list, int count) {
    int broken = 0;
    for (int i = 0; i < count; i++) {
        double peak = result_of_peak(&list[i]), read = result_of_read(&list[i]);
        if (list[i].seconds > 0 && peak <= 1 && read <= 1)
            continue;
        fprintf(stderr, "bench: %s on %s: %.0f %% of the %s limit, a broken measurement\n",
                list[i].work, list[i].isa, 100 * (peak > read ? peak : read),
                peak > read ? "FMA" : "read");
        broken++;
    }
    return broken;
}

static void report_reads(const run *r) {
    const char *label = "read";
    for (int i = 0; i < r->subject_count; i++) {
        const subject *s = &r->subjects[i];
        const reader *best = best_reader(s);
        double bytes = 2 * (double)kv_bytes(&s->work);
        if (!best)
            continue;
        printf("%-9s K and V of %s: %.1f MB at %.1f GB/s (%s, %s)\n", label, s->name, bytes / 1e6,
               bytes / best->timing->best / 1e9, rdk_isa_name(best->isa), best->loop->name);
        label = "";
    }
}

/* The time of a FLOP at the greatest length, over that at the least. */
static void report_growth(const run *r) {
    const subject *s[2] = {NULL, NULL};
    for (int i = 0; i < r->subject_count; i++)
        if (r->subjects[i].work.kind == GROWTH)
            s[s[0] ? 1 : 0] = &r->subjects[i];
    for (int i = 0; s[1] && i < s[0]->kernel_count; i++)
        for (int j = 0; j < s[1]->kernel_count; j++) {
            const kernel *a = &s[0]->kernels[i], *b = &s[1]->kernels[j];
            if (a->isa == b->isa)
                printf("\ngrowth on %s: a FLOP at n=%lld takes %.2f times as long as at n=%lld",
                       rdk_isa_name(a->isa), (long long)s[1]->work.nk,
                       b->timing->best / flop_of(&s[1]->work) * flop_of(&s[0]->work) /
                           a->timing->best,
                       (long long)s[0]->work.nk);
        }
    if (s[1])
        printf("\n");
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Names of kernels end in their ISA; where an ISA has none, one of a lower rung runs instead. */
static bool has_kernel(rdk_isa isa) {
    const char *isa_name = rdk_isa_name(isa), *name = NULL;
    if (rdk_set_isa(isa) == RDK_OK)
        name = rdk_kernel_name(RDK_OP_ATTENTION);
    rdk_set_isa(RDK_ISA_DEFAULT);
    return name && strlen(name) > strlen(isa_name) &&
           !strcmp(name + strlen(name) - strlen(isa_name), isa_name);
}

static void choose_kernels(const plan *p, subject *s) {
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (plan_runs(p, isa) && (isa != RDK_ISA_SCALAR || s->work.flags & SCALAR) &&
            has_kernel(isa))
            s->kernels[s->kernel_count++].isa = isa;
}

static int set_up(run *r) {
    int wrong = 0;
    plan *p = &r->plan;
    p->repeats = p->quick ? 8 : 80;
    p->sample_seconds = p->quick ? 0.001 : 0.002;
    for (int i = 0; i < WORK_COUNT; i++) {
        subject *s = &r->subjects[r->subject_count];
        *s = (subject){.work = p->quick ? shrink(WORKS[i]) : WORKS[i]};
        name_work(s->name, sizeof s->name, &s->work);
        choose_kernels(p, s);
        if (!s->kernel_count || !plan_wants(p, s->name))
            continue;
        prepare(&r->buffers, s);
        wrong += check(s);
        r->subject_count++;
    }
    for (int i = 0; i < r->subject_count; i++)
        add_subject(p, &r->subjects[i]);
    plan_add_peaks(p);
    return wrong;
}

static void say_what_is_left_out(const plan *p) {
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        if (plan_runs(p, isa) && !has_kernel(isa))
            printf("left out  %s: it has no attention kernel of its own\n", rdk_isa_name(isa));
}

static int measure(run *r) {
    result list[MAX_RESULTS];
    int wrong = set_up(r);
    if (!r->subject_count) {
        fprintf(stderr, "bench: no work has that name, or none has a kernel\n");
        return 2;
    }
    if (plan_sample(&r->plan))
        return 1;
    int count = results(r, list);
    report_host();
    plan_report(&r->plan);
    say_what_is_left_out(&r->plan);
    report_reads(r);
    report_table(list, count);
    report_growth(r);
    fflush(stdout);
    int broken = count_broken(list, count);
    if (r->plan.json && report_json(r->plan.json, list, count, result_json))
        return 1;
    return wrong || broken;
}

int main(int argc, char **argv) {
    static run r;
    int code = plan_parse(&r.plan, "bench_attention", argc, argv);
    if (code >= 0)
        return code;
    code = measure(&r);
    free_buffers(&r.buffers);
    return code;
}
