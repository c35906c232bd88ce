/* Bad descriptors of attention: each gives its status and leaves every byte as it was. Odd but good
 * ones run, and give the bits that they give when their views lie apart. */
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/api/bytes.h"
#include "tests/api/refuse.h"

/* ---- The fixture ----------------------------------------------------------------------------- */

enum { BATCH = 2, Q_HEADS = 4, KV_HEADS = 2, Q_LEN = 3, KV_LEN = 5, D_QK = 4, D_V = 3 };

/* A view whose rows, heads and batches all have gaps behind them: its strides and its elements. */
#define ROW(length) ((length) + 2)
#define HEAD(rows, length) ((rows)*ROW(length) + 1)
#define WHOLE(heads, rows, length) ((heads)*HEAD(rows, length) + 3)
#define CELLS(heads, rows, length) (BATCH * WHOLE(heads, rows, length))

/* Everything a call may touch lies in here, so one comparison sees any byte that was written. */
typedef struct arena {
    float q[CELLS(Q_HEADS, Q_LEN, D_QK)], k[CELLS(KV_HEADS, KV_LEN, D_QK)];
    float v[CELLS(KV_HEADS, KV_LEN, D_V)], out[CELLS(Q_HEADS, Q_LEN, D_V)];
    float lse[CELLS(Q_HEADS, Q_LEN, 1)], weights[CELLS(Q_HEADS, Q_LEN, KV_LEN)];
    float wide[1024];
    char scratch[]; /* scratch_bytes, then room for a view */
} arena;

static arena *mem;
static size_t scratch_bytes;

/* The views of a descriptor, for tests that go over all of them. Inputs and
 * outputs differ only in const. */
enum { Q, K, V, INPUTS, OUT = INPUTS, LSE, WEIGHTS, VIEWS };

static const struct {
    const char *name;
    size_t at, data_at; /* in the descriptor, in the arena */
    int64_t heads, rows, length;
} VIEW[VIEWS] = {
#define VIEW_OF(name, heads, rows, length)                                                         \
    { #name, offsetof(rdk_attention_desc, name), offsetof(arena, name), heads, rows, length }
    VIEW_OF(q, Q_HEADS, Q_LEN, D_QK),  VIEW_OF(k, KV_HEADS, KV_LEN, D_QK),
    VIEW_OF(v, KV_HEADS, KV_LEN, D_V), VIEW_OF(out, Q_HEADS, Q_LEN, D_V),
    VIEW_OF(lse, Q_HEADS, Q_LEN, 1),   VIEW_OF(weights, Q_HEADS, Q_LEN, KV_LEN),
};

_Static_assert(sizeof(rdk_const_view) == sizeof(rdk_view), "views have one shape");
_Static_assert(offsetof(rdk_const_view, row_stride) == offsetof(rdk_view, row_stride), "one shape");
_Static_assert(offsetof(rdk_const_view, type) == offsetof(rdk_view, type), "one shape");

static rdk_view get_view(const rdk_attention_desc *d, int view) {
    rdk_view v;
    memcpy(&v, (const char *)d + VIEW[view].at, sizeof v);
    return v;
}

static void set_view(rdk_attention_desc *d, int view, rdk_view v) {
    memcpy((char *)d + VIEW[view].at, &v, sizeof v);
}

enum { BATCH_STRIDE, HEAD_STRIDE, ROW_STRIDE, STRIDES };

static int64_t *stride_of(rdk_view *v, int which) {
    return which == BATCH_STRIDE  ? &v->batch_stride
           : which == HEAD_STRIDE ? &v->head_stride
                                  : &v->row_stride;
}

static const char *const STRIDE_NAME[STRIDES] = {"batch_stride", "head_stride", "row_stride"};

/* The name of a view's field, until the next call. */
static const char *field_of(int view, const char *field) {
    static char name[64];
    snprintf(name, sizeof name, "%s.%s", VIEW[view].name, field);
    return name;
}

/* A descriptor with nothing wrong and every field in use. */
static rdk_attention_desc good(void) {
    rdk_attention_desc d = {.size = sizeof d,
                            .causal = RDK_CAUSAL_FROM_POSITION,
                            .batch = BATCH,
                            .q_heads = Q_HEADS,
                            .kv_heads = KV_HEADS,
                            .q_len = Q_LEN,
                            .kv_len = KV_LEN,
                            .d_qk = D_QK,
                            .d_v = D_V,
                            .q_pos = 120,
                            .key_pos0 = 118,
                            .scale = 0.75f,
                            .scratch = mem->scratch,
                            .scratch_size = scratch_bytes};
    for (int i = 0; i < VIEWS; i++) {
        int64_t rows = VIEW[i].rows, length = VIEW[i].length;
        rdk_view v = {(char *)mem + VIEW[i].data_at, WHOLE(VIEW[i].heads, rows, length),
                      HEAD(rows, length), ROW(length), RDK_F32};
        set_view(&d, i, v);
    }
    return d;
}

static rdk_attention_desc with_stride(int view, int which, int64_t value) {
    rdk_attention_desc d = good();
    rdk_view v = get_view(&d, view);
    *stride_of(&v, which) = value;
    set_view(&d, view, v);
    return d;
}

static rdk_attention_desc with_data(int view, uintptr_t data) {
    rdk_attention_desc d = good();
    rdk_view v = get_view(&d, view);
    v.data = (void *)data;
    set_view(&d, view, v);
    return d;
}

static rdk_status call(const void *desc) {
    return rdk_attention(desc);
}

static rdk_status call_with(const rdk_table *table, const void *desc) {
    return rdk_attention_with(table, desc);
}

static rdk_status check(const void *desc, const char **field) {
    return rdk_attention_check(desc, field);
}

#define DESC rdk_attention_desc
static operation OPERATION = {
    "rdk_attention", call, call_with, check, sizeof(rdk_attention_desc), NULL, 0};

static void reset_memory(void) {
    memset(mem, 0xa5, OPERATION.memory_size);
    for (size_t i = 0; i < sizeof mem->q / 4; i++)
        mem->q[i] = (float)(i * 5 % 17) * 0.25f - 2;
    for (size_t i = 0; i < sizeof mem->k / 4; i++)
        mem->k[i] = (float)(i * 3 % 13) * 0.25f - 1.5f;
    for (size_t i = 0; i < sizeof mem->v / 4; i++)
        mem->v[i] = (float)(i * 7 % 23) * 0.5f - 5;
    for (size_t i = 0; i < sizeof mem->wide / 4; i++)
        mem->wide[i] = (float)(i * 11 % 29) * 0.125f - 1.75f;
}

static void make_memory(void) {
    rdk_attention_desc d = {.size = sizeof d, .d_qk = D_QK, .d_v = D_V};
    if (rdk_attention_scratch(&d, &scratch_bytes) != RDK_OK)
        exit(EXIT_FAILURE);
    OPERATION.memory_size = sizeof *mem + scratch_bytes + sizeof mem->out;
    OPERATION.memory = mem = malloc(OPERATION.memory_size);
    if (!mem)
        exit(EXIT_FAILURE);
}

/* ---- Views ----------------------------------------------------------------------------------- */

enum { MAX_ELEMENTS = 512 };

static int64_t heads_of(const rdk_attention_desc *d, int view) {
    return view == K || view == V ? d->kv_heads : d->q_heads;
}

static int64_t rows_of(const rdk_attention_desc *d, int view) {
    return view == K || view == V ? d->kv_len : d->q_len;
}

static int64_t length_of(const rdk_attention_desc *d, int view) {
    return view == Q || view == K ? d->d_qk
           : view == LSE          ? 1
           : view == WEIGHTS      ? d->kv_len
                                  : d->d_v;
}

/* The bytes of row `n` of all rows of a view, in the order [batch][head][row]. */
static char *row_at(const rdk_attention_desc *d, int view, int64_t n) {
    rdk_view v = get_view(d, view);
    int64_t rows = rows_of(d, view), heads = heads_of(d, view);
    return (char *)v.data + 4 * (n / rows / heads * v.batch_stride +
                                 n / rows % heads * v.head_stride + n % rows * v.row_stride);
}

static int64_t all_rows(const rdk_attention_desc *d, int view) {
    return d->batch * heads_of(d, view) * rows_of(d, view);
}

static void gather(float *to, const rdk_attention_desc *d, int view) {
    int64_t length = length_of(d, view);
    for (int64_t n = 0; n < all_rows(d, view); n++)
        memcpy(to + n * length, row_at(d, view, n), (size_t)length * 4);
}

/* The same call with every view in a place of its own, without gaps: [batch][head][row]. */
typedef struct apart {
    float view[VIEWS][MAX_ELEMENTS];
} apart;

static rdk_status run_apart(apart *a, const rdk_attention_desc *d) {
    rdk_attention_desc c = *d;
    for (int i = 0; i < VIEWS; i++) {
        int64_t rows = rows_of(d, i), length = length_of(d, i);
        rdk_view v = {a->view[i], heads_of(d, i) * rows * length, rows * length, length, RDK_F32};
        if (i < INPUTS)
            gather(a->view[i], d, i);
        set_view(&c, i, v);
    }
    return rdk_attention(&c);
}

/* Whether memory is `before` with the outputs of `a` written into their views and nothing else. */
static bool holds(const rdk_attention_desc *d, const apart *a, const arena *before) {
    bool ok = true;
    void *now = malloc(sizeof *mem);
    if (!now)
        return false;
    memcpy(now, mem, sizeof *mem);
    memcpy(mem, before, sizeof *mem);
    for (int i = OUT; i < VIEWS; i++)
        for (int64_t n = 0; n < all_rows(d, i); n++)
            memcpy(row_at(d, i, n), a->view[i] + n * length_of(d, i), (size_t)length_of(d, i) * 4);
    ok = memcmp(now, mem, sizeof *mem) == 0;
    memcpy(mem, now, sizeof *mem);
    free(now);
    return ok;
}

/* Whether a descriptor is accepted and gives the bits that it gives with its views apart,
 * by the public function and by the last of the paths. Memory beside the views and the
 * scratch must stay as it was. */
static bool is_as_apart(const rdk_attention_desc *d) {
    static apart a;
    arena before = *mem;
    bool ok = run_apart(&a, d) == RDK_OK && rdk_attention(d) == RDK_OK && holds(d, &a, &before);
    memcpy(mem, &before, sizeof before);
    ok = ok && is_accepted(&OPERATION, d) && holds(d, &a, &before);
    memcpy(mem, &before, sizeof before);
    return ok;
}

#define AS_APART(d) ASSERT(is_as_apart(d))

/* ---- The descriptor as a whole --------------------------------------------------------------- */

TEST good_one_is_accepted_and_writes(void) {
    rdk_attention_desc d = good();
    AS_APART(&d);
    apart before, after;
    for (int i = OUT; i < VIEWS; i++)
        gather(before.view[i], &d, i);
    ACCEPTED(&d);
    for (int i = OUT; i < VIEWS; i++) {
        gather(after.view[i], &d, i);
        for (int64_t n = 0; n < all_rows(&d, i) * length_of(&d, i); n++)
            ASSERT(memcmp(&before.view[i][n], &after.view[i][n], 4) != 0);
    }
    PASS();
}

TEST null_is_refused(void) {
    REFUSED(NULL, RDK_ERR_NULL, "desc");
    PASS();
}

TEST short_size_is_refused(void) {
    rdk_attention_desc d = good();
    ASSERT(wrong_sizes_are_refused(&OPERATION, &d));
    PASS();
}

TEST surplus_is_refused(void) {
    rdk_attention_desc d = good();
    ASSERT(surplus_must_be_zero(&OPERATION, &d, 12));
    PASS();
}

/* ---- Numbers that name nothing --------------------------------------------------------------- */

TEST wrong_isas_are_refused_by_number_and_here(void) {
    rdk_attention_desc d = good();
    ASSERT(wrong_isas_are_refused(&OPERATION, &d, offsetof(rdk_attention_desc, isa)));
    PASS();
}

TEST unknown_causals_are_refused(void) {
    for (int i = 0; i < NO_ENUMS; i++)
        REFUSED_WITH(causal, NO_ENUM[i], RDK_ERR_MODE);
    for (rdk_causal causal = RDK_CAUSAL_NONE; causal <= RDK_CAUSAL_FROM_POSITION; causal++)
        ACCEPTED_WITH(causal, causal);
    PASS();
}

static rdk_attention_desc with_type(int view, rdk_type type) {
    rdk_attention_desc d = good();
    rdk_view v = get_view(&d, view);
    v.type = type;
    set_view(&d, view, v);
    return d;
}

/* f16 and bf16 exist, but not for attention. */
TEST other_types_are_refused(void) {
    for (int view = 0; view < VIEWS; view++) {
        for (int i = 0; i < NO_ENUMS; i++) {
            rdk_attention_desc d = with_type(view, NO_ENUM[i]);
            REFUSED(&d, RDK_ERR_TYPE, field_of(view, "type"));
        }
        for (rdk_type type = RDK_F16; type <= RDK_BF16; type++) {
            rdk_attention_desc d = with_type(view, type);
            REFUSED(&d, RDK_ERR_TYPE, field_of(view, "type"));
        }
    }
    PASS();
}

/* ---- Counts and positions -------------------------------------------------------------------- */

#define MAX_COUNT ((int64_t)1 << 31)
#define MAX_POSITION ((int64_t)1 << 61)

static const struct {
    const char *name;
    size_t at;
} COUNT[] = {
#define COUNT_OF(name)                                                                             \
    { #name, offsetof(rdk_attention_desc, name) }
    COUNT_OF(batch),  COUNT_OF(q_heads), COUNT_OF(kv_heads), COUNT_OF(q_len),
    COUNT_OF(kv_len), COUNT_OF(d_qk),    COUNT_OF(d_v),
};
enum { COUNTS = sizeof COUNT / sizeof COUNT[0], DIMS_FROM = 5 };

static void set_count(rdk_attention_desc *d, int which, int64_t value) {
    memcpy((char *)d + COUNT[which].at, &value, sizeof value);
}

/* Also where nothing is to be done. */
static bool count_is_refused(int which, int64_t value) {
    rdk_attention_desc d = good(), bare = {.size = sizeof bare, .d_qk = D_QK, .d_v = D_V};
    set_count(&d, which, value);
    set_count(&bare, which, value);
    return is_refused(&OPERATION, &d, RDK_ERR_SIZE, COUNT[which].name) &&
           is_refused(&OPERATION, &bare, RDK_ERR_SIZE, COUNT[which].name);
}

TEST counts_out_of_range_are_refused(void) {
    static const int64_t LARGE[] = {MAX_COUNT + 1, (int64_t)1 << 32, ((int64_t)1 << 32) + 2,
                                    INT64_MAX};
    for (int which = 0; which < COUNTS; which++) {
        for (int i = 0; i < NEGATIVES; i++)
            ASSERT(count_is_refused(which, NEGATIVE[i]));
        for (size_t i = 0; i < sizeof LARGE / sizeof LARGE[0]; i++)
            ASSERT(count_is_refused(which, LARGE[i]));
    }
    ASSERT(count_is_refused(DIMS_FROM, 0)); /* d_qk */
    for (int which = DIMS_FROM; which < COUNTS; which++)
        ASSERT(count_is_refused(which, RDK_MAX_HEAD_DIM + 1));
    PASS();
}

TEST counts_may_be_large_where_nothing_is_done(void) {
    for (int which = 0; which < DIMS_FROM; which++) {
        rdk_attention_desc bare = {.size = sizeof bare, .d_qk = D_QK, .d_v = D_V};
        bare.kv_heads = 1;
        set_count(&bare, which, MAX_COUNT);
        ACCEPTED(&bare);
    }
    PASS();
}

TEST heads_must_divide(void) {
    for (int64_t q_heads = 0; q_heads <= Q_HEADS; q_heads++)
        for (int64_t kv_heads = 1; kv_heads <= 9; kv_heads++) {
            rdk_attention_desc d = good();
            d.q_heads = q_heads;
            d.kv_heads = kv_heads;
            if (q_heads % kv_heads)
                REFUSED(&d, RDK_ERR_HEADS, "kv_heads");
            else if (kv_heads <= KV_HEADS) /* as many as there are */
                ACCEPTED(&d);
        }
    PASS();
}

/* Whether `d` and `same` write the same bits everywhere. */
static bool writes_the_same(const rdk_attention_desc *d, const rdk_attention_desc *same) {
    reset_memory();
    bool ok = is_accepted(&OPERATION, same);
    arena expected = *mem;
    reset_memory();
    ok = ok && is_accepted(&OPERATION, d) && memcmp(&expected, mem, sizeof expected) == 0;
    reset_memory();
    return ok;
}

TEST no_kv_heads_are_q_heads(void) {
    for (int64_t heads = 0; heads <= KV_HEADS; heads++) {
        rdk_attention_desc d = good();
        d.q_heads = d.kv_heads = heads;
        rdk_attention_desc with_default = d;
        with_default.kv_heads = 0;
        ASSERT(writes_the_same(&with_default, &d));
    }
    for (int i = 0; i < NEGATIVES; i++) { /* a wrong q_heads is wrong for itself */
        rdk_attention_desc d = good();
        d.kv_heads = 0;
        d.q_heads = NEGATIVE[i];
        REFUSED(&d, RDK_ERR_SIZE, "q_heads");
    }
    PASS();
}

TEST no_d_v_is_d_qk(void) {
    for (int64_t dim = 1; dim <= D_V; dim++) {
        rdk_attention_desc d = good();
        d.d_qk = d.d_v = dim;
        rdk_attention_desc with_default = d;
        with_default.d_v = 0;
        ASSERT(writes_the_same(&with_default, &d));
    }
    static const int64_t WRONG[] = {0, -1, RDK_MAX_HEAD_DIM + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        rdk_attention_desc d = good();
        d.d_v = 0;
        d.d_qk = WRONG[i];
        REFUSED(&d, RDK_ERR_SIZE, "d_qk");
    }
    PASS();
}

TEST positions_out_of_range_are_refused(void) {
    static const int64_t WRONG[] = {MAX_POSITION + 1, MAX_POSITION * 2, INT64_MAX};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        REFUSED_WITH(q_pos, WRONG[i], RDK_ERR_SIZE);
        REFUSED_WITH(q_pos, -WRONG[i], RDK_ERR_SIZE);
        REFUSED_WITH(key_pos0, WRONG[i], RDK_ERR_SIZE);
    }
    REFUSED_WITH(q_pos, INT64_MIN, RDK_ERR_SIZE);
    for (int i = 0; i < NEGATIVES; i++)
        REFUSED_WITH(key_pos0, NEGATIVE[i], RDK_ERR_SIZE);
    PASS();
}

/* A query before all keys sees none, one behind them sees all, as far off as it may be. */
TEST positions_at_their_limits_are_right(void) {
    rdk_attention_desc d = good();
    apart all, got;
    d.causal = RDK_CAUSAL_NONE;
    ASSERT_EQ(RDK_OK, run_apart(&all, &d));
    d.causal = RDK_CAUSAL_FROM_POSITION;
    d.q_pos = MAX_POSITION;
    ASSERT_EQ(RDK_OK, run_apart(&got, &d));
    for (int i = OUT; i < VIEWS; i++)
        ASSERT_EQ(
            0, memcmp(all.view[i], got.view[i], (size_t)(all_rows(&d, i) * length_of(&d, i)) * 4));
    d.q_pos = -MAX_POSITION;
    d.key_pos0 = MAX_POSITION;
    ASSERT_EQ(RDK_OK, run_apart(&got, &d));
    for (int64_t n = 0; n < all_rows(&d, OUT) * D_V; n++)
        ASSERT(got.view[OUT][n] == 0 && !signbit(got.view[OUT][n]));
    for (int64_t n = 0; n < all_rows(&d, LSE); n++)
        ASSERT(got.view[LSE][n] == (float)-INFINITY);
    PASS();
}

/* ---- Pointers -------------------------------------------------------------------------------- */

TEST needed_pointers_must_not_be_null(void) {
    for (int view = 0; view <= OUT; view++) {
        rdk_attention_desc d = with_data(view, 0);
        REFUSED(&d, RDK_ERR_NULL, field_of(view, "data"));
    }
    REFUSED_WITH(scratch, NULL, RDK_ERR_NULL);
    rdk_attention_desc d = good();
    d.kv_len = 0; /* still has outputs to write */
    d.out.data = NULL;
    REFUSED(&d, RDK_ERR_NULL, "out.data");
    PASS();
}

/* Then nothing else of the view is looked at but its type. */
TEST other_outputs_may_be_null(void) {
    for (int view = LSE; view < VIEWS; view++)
        for (int which = 0; which < STRIDES; which++) {
            static const int64_t ANY[] = {0, 1, -1, INT64_MAX, INT64_MIN};
            for (size_t i = 0; i < sizeof ANY / sizeof ANY[0]; i++) {
                rdk_attention_desc d = with_stride(view, which, ANY[i]);
                rdk_view v = get_view(&d, view);
                v.data = NULL;
                set_view(&d, view, v);
                ACCEPTED(&d);
            }
        }
    PASS();
}

TEST nothing_to_do_needs_no_pointers(void) {
    arena before = *mem;
    for (int which = 0; which < 4; which++) {
        rdk_attention_desc d = {.size = sizeof d,
                                .batch = BATCH,
                                .q_heads = Q_HEADS,
                                .kv_heads = KV_HEADS,
                                .q_len = Q_LEN,
                                .kv_len = KV_LEN,
                                .d_qk = D_QK,
                                .d_v = D_V};
        set_count(&d, which, 0);
        if (which == 2) /* no key/value heads: no query heads either */
            d.q_heads = 0;
        ACCEPTED(&d);
        d.kv_len = 0;
        ACCEPTED(&d);
        d = good(); /* nor does it touch those it has */
        set_count(&d, which, 0);
        if (which == 2)
            d.q_heads = 0;
        d.scratch_size = 0;
        ACCEPTED(&d);
    }
    ASSERT(memcmp(&before, mem, sizeof before) == 0);
    PASS();
}

TEST no_keys_give_zeros(void) {
    rdk_attention_desc d = good();
    d.kv_len = 0;
    d.k.data = d.v.data = NULL;
    for (d.causal = 0; d.causal <= RDK_CAUSAL_FROM_POSITION; d.causal++) {
        apart zeros;
        memset(&zeros, 0, sizeof zeros);
        for (int64_t n = 0; n < all_rows(&d, LSE); n++)
            zeros.view[LSE][n] = (float)-INFINITY;
        reset_memory();
        arena before = *mem;
        ACCEPTED(&d);
        ASSERT(holds(&d, &zeros, &before));
    }
    PASS();
}

/* ---- Strides --------------------------------------------------------------------------------- */

/* Beside the strides of good(), and beside strides of 0. */
TEST negative_strides_are_refused(void) {
    for (int view = 0; view < VIEWS; view++)
        for (int which = 0; which < STRIDES; which++)
            for (int i = 0; i < NEGATIVES; i++) {
                rdk_attention_desc d = with_stride(view, which, NEGATIVE[i]);
                REFUSED(&d, RDK_ERR_STRIDE, field_of(view, STRIDE_NAME[which]));
                rdk_view v = {get_view(&d, view).data, 0, 0, 0, RDK_F32};
                *stride_of(&v, which) = NEGATIVE[i];
                set_view(&d, view, v);
                REFUSED(&d, RDK_ERR_STRIDE, field_of(view, STRIDE_NAME[which]));
            }
    PASS();
}

/* How often a stride is taken. */
static int64_t steps_of(const rdk_attention_desc *d, int view, int which) {
    return (which == BATCH_STRIDE  ? d->batch
            : which == HEAD_STRIDE ? heads_of(d, view)
                                   : rows_of(d, view)) -
           1;
}

/* The stride with which the view leaves all addresses if `which` is the largest that fits alone, or
 * more: that one, or the next. Row by row comes first, then head by head. */
static int stride_beyond(const rdk_attention_desc *g, int view, int which, int64_t stride) {
    const rdk_view v = get_view(g, view);
    int64_t span = length_of(g, view);
    if (which < ROW_STRIDE)
        span += steps_of(g, view, ROW_STRIDE) * v.row_stride;
    if (which < HEAD_STRIDE)
        span += steps_of(g, view, HEAD_STRIDE) * v.head_stride;
    return stride > (PTRDIFF_MAX - 4 * span) / 4 / steps_of(g, view, which) ? which : which - 1;
}

TEST extents_that_overflow_are_refused(void) {
    rdk_attention_desc g = good();
    for (int view = 0; view < VIEWS; view++)
        for (int which = 0; which < STRIDES; which++) {
            int64_t steps = steps_of(&g, view, which);
            const int64_t strides[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX / 4,
                                       INT64_MAX / 4 / steps};
            for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
                rdk_attention_desc d = with_stride(view, which, strides[i]);
                const int beyond = stride_beyond(&g, view, which, strides[i]);
                REFUSED(&d, RDK_ERR_SIZE, field_of(view, STRIDE_NAME[beyond]));
            }
        }
    PASS();
}

/* Products that wrap to something small in 64 bits, in each dimension. */
TEST products_that_wrap_are_refused(void) {
    static const char *const COUNTED[STRIDES] = {"batch", "q_heads", "q_len"};
    for (int view = 0; view <= OUT; view++)
        for (int which = 0; which < STRIDES; which++)
            for (int shift = 30; shift <= 60; shift++) {
                rdk_attention_desc d = with_stride(view, which, (int64_t)1 << shift);
                int64_t count = ((int64_t)1 << (61 - shift)) + 1;
                d.lse.data = d.weights.data = NULL;
                if (which == BATCH_STRIDE)
                    d.batch = count;
                else if (which == HEAD_STRIDE)
                    d.q_heads = d.kv_heads = count;
                else
                    d.q_len = d.kv_len = count;
                const bool counts = count > MAX_COUNT;
                REFUSED(&d, RDK_ERR_SIZE,
                        counts ? COUNTED[which] : field_of(view, STRIDE_NAME[which]));
            }
    PASS();
}

TEST ends_beyond_all_addresses_are_refused(void) {
    for (int view = 0; view < VIEWS; view++) {
        rdk_attention_desc d = with_data(view, UINTPTR_MAX - 3);
        REFUSED(&d, RDK_ERR_SIZE, field_of(view, "data"));
    }
    REFUSED_WITH(scratch, (void *)(UINTPTR_MAX - scratch_bytes + 1), RDK_ERR_SIZE);
    PASS();
}

/* The least stride with which an output of this view does not overlap itself; the
 * others are those of good(). */
static int64_t least_stride(int view, int which) {
    int64_t rows = VIEW[view].rows, length = VIEW[view].length;
    int64_t row_span = (rows - 1) * ROW(length) + length;
    return which == ROW_STRIDE    ? length
           : which == HEAD_STRIDE ? row_span
                                  : (VIEW[view].heads - 1) * HEAD(rows, length) + row_span;
}

TEST outputs_over_themselves_are_refused(void) {
    for (int view = OUT; view < VIEWS; view++)
        for (int which = 0; which < STRIDES; which++) {
            int64_t least = least_stride(view, which);
            rdk_attention_desc d = with_stride(view, which, 0);
            REFUSED(&d, RDK_ERR_STRIDE, field_of(view, STRIDE_NAME[which]));
            d = with_stride(view, which, least - 1);
            REFUSED(&d, RDK_ERR_STRIDE, field_of(view, STRIDE_NAME[which]));
            d = with_stride(view, which, least);
            AS_APART(&d);
        }
    PASS();
}

/* The stride that is too small is named, though one that is not taken is as small. */
TEST unused_strides_are_not_named(void) {
    rdk_attention_desc d = good();
    d.q_len = d.kv_len = 1;
    d.out.row_stride = d.out.head_stride = D_V - 1;
    REFUSED(&d, RDK_ERR_STRIDE, "out.head_stride");
    d.q_heads = d.kv_heads = 1;
    d.out.batch_stride = D_V - 1;
    REFUSED(&d, RDK_ERR_STRIDE, "out.batch_stride");
    PASS();
}

/* A stride along which there is no second step may be anything but negative. */
TEST unused_strides_do_not_matter(void) {
    static const int64_t ANY[] = {0, 1, 1000, (int64_t)1 << 40, INT64_MAX};
    for (size_t i = 0; i < sizeof ANY / sizeof ANY[0]; i++)
        for (int which = 0; which < STRIDES; which++) {
            rdk_attention_desc d = good();
            if (which == BATCH_STRIDE)
                d.batch = 1;
            else if (which == HEAD_STRIDE)
                d.q_heads = d.kv_heads = 1;
            else
                d.q_len = d.kv_len = 1;
            rdk_attention_desc plain = d;
            for (int view = 0; view < VIEWS; view++) {
                rdk_view v = get_view(&d, view);
                *stride_of(&v, which) = ANY[i];
                set_view(&d, view, v);
            }
            arena before = *mem;
            apart a;
            ASSERT_EQ(RDK_OK, run_apart(&a, &plain));
            ACCEPTED(&d);
            ASSERT(holds(&plain, &a, &before));
            memcpy(mem, &before, sizeof before);
        }
    PASS();
}

/* ---- Overlap --------------------------------------------------------------------------------- */

static piece piece_of(const rdk_attention_desc *d, int view) {
    rdk_view v = get_view(d, view);
    int64_t elements = length_of(d, view);
    for (int which = 0; which < STRIDES; which++)
        elements += steps_of(d, view, which) * *stride_of(&v, which);
    return (piece){VIEW[view].name, (uintptr_t)v.data, (size_t)elements * 4};
}

/* Output `view`, or the scratch if it is VIEWS, moved onto another. */
static rdk_attention_desc moved(int view, uintptr_t to) {
    rdk_attention_desc d = good();
    if (view == VIEWS)
        d.scratch = (void *)to;
    else
        d = with_data(view, to);
    return d;
}

static piece row_or_scratch(const rdk_attention_desc *d, int view, int64_t n) {
    if (view == VIEWS)
        return (piece){"scratch", (uintptr_t)d->scratch, scratch_bytes};
    return (piece){VIEW[view].name, (uintptr_t)row_at(d, view, n), (size_t)length_of(d, view) * 4};
}

static piece piece_or_scratch(const rdk_attention_desc *d, int view) {
    return view == VIEWS ? (piece){"scratch", (uintptr_t)d->scratch, scratch_bytes}
                         : piece_of(d, view);
}

/* Whether a row of one shares a byte with a row of the other. */
static bool views_share(const rdk_attention_desc *d, int a, int b) {
    for (int64_t i = 0; i < (a == VIEWS ? 1 : all_rows(d, a)); i++)
        for (int64_t j = 0; j < (b == VIEWS ? 1 : all_rows(d, b)); j++) {
            const piece x = row_or_scratch(d, a, i), y = row_or_scratch(d, b, j);
            if (x.first < y.first + y.bytes && y.first < x.first + x.bytes)
                return true;
        }
    return false;
}

/* The first output that overlaps something before it in the descriptor. */
static const char *overlapping_of(const rdk_attention_desc *d) {
    for (int output = OUT; output <= VIEWS; output++)
        for (int other = 0; other < output; other++)
            if (views_share(d, output, other))
                return output == VIEWS ? "scratch" : field_of(output, "data");
    return "none";
}

TEST outputs_over_anything_are_refused(void) {
    rdk_attention_desc g = good();
    int refused = 0;
    for (int output = OUT; output <= VIEWS; output++)
        for (int other = 0; other <= VIEWS; other++) {
            piece mine = piece_or_scratch(&g, output), theirs = piece_or_scratch(&g, other);
            uintptr_t at[MEETINGS];
            if (other == output)
                continue;
            meetings(at, &theirs, mine.bytes);
            for (int i = 0; i < MEETINGS; i++, refused++) {
                rdk_attention_desc d = moved(output, at[i]);
                REFUSED(&d, RDK_ERR_OVERLAP, overlapping_of(&d));
            }
        }
    ASSERT_EQ(4 * VIEWS * MEETINGS, refused);
    PASS();
}

/* As many queries as keys and heads, so that the rows of out fit between those of k, with a gap. */
static rdk_attention_desc between_keys(void) {
    enum { STEP = D_QK + D_V + 3, KEYS = KV_HEADS * KV_LEN };
    rdk_attention_desc d = good();
    d.q_heads = KV_HEADS;
    d.q_len = KV_LEN;
    d.q.row_stride = 2; /* rows of q overlap: that is theirs */
    d.k = (rdk_const_view){mem->wide, KEYS * STEP, KV_LEN * STEP, STEP, RDK_F32};
    d.out = (rdk_view){mem->wide + D_QK, KEYS * STEP, KV_LEN * STEP, STEP, RDK_F32};
    d.lse = (rdk_view){mem->lse, KEYS, KV_LEN, 1, RDK_F32};
    d.weights = (rdk_view){mem->weights, KEYS * KV_LEN, KV_LEN * KV_LEN, KV_LEN, RDK_F32};
    return d;
}

static strided strided_of(const rdk_attention_desc *d, int view) {
    rdk_view v = get_view(d, view);
    strided s = {.first = (char *)v.data - (char *)mem->wide, .length = 4 * length_of(d, view)};
    for (int i = 0; i < STRIDES; i++) {
        s.count[i] = steps_of(d, view, i) + 1;
        s.stride[i] = 4 * *stride_of(&v, i);
    }
    return s;
}

/* out moves byte by byte from before k, through it, to behind it:
 * refused where they share a byte. */
TEST out_slides_over_keys(void) {
    static unsigned of_k[BYTES_MAX], of_out[BYTES_MAX];
    rdk_attention_desc d = between_keys();
    char *first = (char *)mem->wide, *k = first + piece_of(&d, OUT).bytes;
    char *last = k + piece_of(&d, K).bytes;
    d.k.data = k;
    strided s = strided_of(&d, K);
    count_bytes(of_k, &s);
    int accepted = 0;
    for (char *p = first; p <= last; p++) {
        d.out.data = p;
        s = strided_of(&d, OUT);
        count_bytes(of_out, &s);
        if (covers_share(of_k, of_out)) {
            REFUSED(&d, RDK_ERR_OVERLAP, "out.data");
        } else {
            AS_APART(&d);
            accepted++;
        }
    }
    ASSERT(accepted > 2 * BATCH * KV_HEADS * KV_LEN * 8); /* in every gap, too */
    PASS();
}

/* ---- Odd but right --------------------------------------------------------------------------- */

TEST inputs_may_have_strides_of_zero(void) {
    for (int view = 0; view < INPUTS; view++)
        for (int which = 0; which < STRIDES; which++) {
            rdk_attention_desc d = with_stride(view, which, 0);
            AS_APART(&d);
        }
    rdk_attention_desc d = good();
    d.q.batch_stride = d.q.head_stride = d.q.row_stride = 0;
    d.k.batch_stride = d.k.head_stride = d.k.row_stride = 0;
    d.v.batch_stride = d.v.head_stride = d.v.row_stride = 0;
    AS_APART(&d);
    PASS();
}

/* Equal, one inside another, and one element apart; rows of an input may overlap, too. */
TEST inputs_may_overlap_each_other(void) {
    rdk_attention_desc d = good();
    for (int64_t shift = 0; shift < 5; shift++) {
        d.v = d.k;
        d.v.data = mem->k + shift;
        AS_APART(&d);
        d.q.data = (char *)mem->k + shift; /* between the elements */
        AS_APART(&d);
    }
    for (int view = 0; view < INPUTS; view++)
        for (int which = 0; which < STRIDES; which++) {
            d = with_stride(view, which, 1);
            AS_APART(&d);
        }
    PASS();
}

/* [batch][token][q | k | v | out], each [head][d]: one buffer for all, every element of it used. */
static rdk_attention_desc one_buffer(void) {
    enum { QS = Q_HEADS * D_QK, KS = KV_HEADS * D_QK, VS = KV_HEADS * D_V, OUTS = Q_HEADS * D_V };
    const int64_t token = QS + KS + VS + OUTS, batch = KV_LEN * token;
    rdk_attention_desc d = good();
    d.causal = RDK_CAUSAL_BOTTOM_RIGHT;
    d.q_len = d.kv_len = KV_LEN;
    d.q = (rdk_const_view){mem->wide, batch, D_QK, token, RDK_F32};
    d.k = (rdk_const_view){mem->wide + QS, batch, D_QK, token, RDK_F32};
    d.v = (rdk_const_view){mem->wide + QS + KS, batch, D_V, token, RDK_F32};
    d.out = (rdk_view){mem->wide + QS + KS + VS, batch, D_V, token, RDK_F32};
    d.lse = (rdk_view){mem->out, Q_HEADS * KV_LEN, KV_LEN, 1, RDK_F32};
    d.weights =
        (rdk_view){mem->wide + 512, Q_HEADS * KV_LEN * KV_LEN, KV_LEN * KV_LEN, KV_LEN, RDK_F32};
    return d;
}

TEST out_may_lie_between_inputs(void) {
    rdk_attention_desc d = one_buffer();
    AS_APART(&d);
    for (int shift = -1; shift <= 1; shift += 2) {
        rdk_attention_desc wrong = d;
        wrong.out.data = (char *)d.out.data + shift; /* a byte of v, or of the next token's q */
        REFUSED(&wrong, RDK_ERR_OVERLAP, "out.data");
    }
    PASS();
}

/* Rows of out, then of lse, between those of k. */
TEST outputs_may_lie_between_keys(void) {
    rdk_attention_desc d = between_keys();
    d.lse = d.out;
    d.lse.data = mem->wide + D_QK + D_V;
    AS_APART(&d);
    d.out.data = mem->wide + D_QK - 1; /* a key's last element */
    REFUSED(&d, RDK_ERR_OVERLAP, "out.data");
    d.out.data = mem->wide + D_QK + 1; /* lse */
    REFUSED(&d, RDK_ERR_OVERLAP, "lse.data");
    PASS();
}

/* ---- Scratch --------------------------------------------------------------------------------- */

TEST too_little_scratch_is_refused(void) {
    REFUSED_WITH(scratch_size, 0, RDK_ERR_SCRATCH);
    REFUSED_WITH(scratch_size, 1, RDK_ERR_SCRATCH);
    REFUSED_WITH(scratch_size, scratch_bytes - 1, RDK_ERR_SCRATCH);
    ACCEPTED_WITH(scratch_size, scratch_bytes);
    ACCEPTED_WITH(scratch_size, SIZE_MAX); /* no more than is needed is touched */
    PASS();
}

TEST outputs_may_stand_beside_scratch(void) {
    rdk_attention_desc d = good();
    d.out.data = mem->scratch + scratch_bytes;
    ACCEPTED(&d);
    d.out.data = mem->scratch + scratch_bytes - 1;
    REFUSED(&d, RDK_ERR_OVERLAP, "scratch");
    PASS();
}

TEST scratch_is_asked_for_right(void) {
    size_t bytes = 77;
    rdk_attention_desc d = good();
    ASSERT_EQ(RDK_ERR_NULL, rdk_attention_scratch(NULL, &bytes));
    ASSERT_EQ(RDK_ERR_NULL, rdk_attention_scratch(&d, NULL));
    d.size--;
    ASSERT_EQ(RDK_ERR_STRUCT_SIZE, rdk_attention_scratch(&d, &bytes));
    d = good();
    d.d_qk = 0;
    ASSERT_EQ(RDK_ERR_SIZE, rdk_attention_scratch(&d, &bytes));
    static const int64_t WRONG[] = {-1, RDK_MAX_HEAD_DIM + 1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        for (int which = DIMS_FROM; which < COUNTS; which++) {
            d = good();
            set_count(&d, which, WRONG[i]);
            ASSERT_EQ(RDK_ERR_SIZE, rdk_attention_scratch(&d, &bytes));
        }
    ASSERT_EQ(77, bytes);
    PASS();
}

/* A descriptor of garbage but for size, d_qk and d_v asks for as much. */
TEST scratch_depends_on_widths_alone(void) {
    for (int64_t d_qk = 1; d_qk <= RDK_MAX_HEAD_DIM; d_qk += 93)
        for (int64_t d_v = 1; d_v <= RDK_MAX_HEAD_DIM; d_v += 93) {
            size_t bytes = 0, same = 1;
            rdk_attention_desc plain = {.size = sizeof plain, .d_qk = d_qk, .d_v = d_v}, odd;
            memset(&odd, 0xc3, sizeof odd);
            odd.size = sizeof odd;
            odd.d_qk = d_qk;
            odd.d_v = d_v;
            ASSERT_EQ(RDK_OK, rdk_attention_scratch(&plain, &bytes));
            ASSERT_EQ(RDK_OK, rdk_attention_scratch(&odd, &same));
            ASSERT_EQ(bytes, same);
            odd.d_v = d_v == d_qk ? 0 : d_v;
            ASSERT_EQ(RDK_OK, rdk_attention_scratch(&odd, &same));
            ASSERT_EQ(bytes, same);
        }
    PASS();
}

/* ---- Two faults at once ---------------------------------------------------------------------- */

FAULT(isa, d->isa = 99)
FAULT(size, d->size -= 8)
FAULT(causal, d->causal = 3)
FAULT(batch, d->batch = -1)
FAULT(q_heads, d->q_heads = 3)
FAULT(kv_heads, d->kv_heads = 5)
FAULT(q_len, d->q_len = -2)
FAULT(kv_len, d->kv_len = MAX_COUNT + 1)
FAULT(d_qk, d->d_qk = 0)
FAULT(d_v, d->d_v = RDK_MAX_HEAD_DIM + 1)
FAULT(q_pos, d->q_pos = INT64_MIN)
FAULT(key_pos0, d->key_pos0 = -1)
FAULT(q, d->q.data = NULL)
FAULT(q_stride, d->q.row_stride = -1)
FAULT(q_extent, d->q.head_stride = INT64_MAX)
FAULT(q_type, d->q.type = RDK_BF16)
FAULT(k, d->k.data = NULL)
FAULT(k_stride, d->k.batch_stride = -7)
FAULT(k_extent, d->k.row_stride = INT64_MAX / 4)
FAULT(v, d->v.data = NULL)
FAULT(v_type, d->v.type = -1)
FAULT(out, d->out.data = NULL)
FAULT(out_itself, d->out.row_stride = D_V - 1)
FAULT(out_overlap, d->out.data = mem->k + 1)
FAULT(lse_stride, d->lse.head_stride = 0)
FAULT(lse_overlap, d->lse.data = mem->out)
FAULT(weights_type, d->weights.type = 3)
FAULT(weights_overlap, d->weights.data = mem->scratch + scratch_bytes - 1)
FAULT(scratch, d->scratch = NULL)
FAULT(scratch_overlap, d->scratch = mem->v)
FAULT(scratch_size, d->scratch_size = scratch_bytes - 1)

static fault *const FAULTS[] = {
    fault_isa, /* first: rdk_attention_with() does not look at it */
    fault_size,
    fault_causal,
    fault_batch,
    fault_q_heads,
    fault_kv_heads,
    fault_q_len,
    fault_kv_len,
    fault_d_qk,
    fault_d_v,
    fault_q_pos,
    fault_key_pos0,
    fault_q,
    fault_q_stride,
    fault_q_extent,
    fault_q_type,
    fault_k,
    fault_k_stride,
    fault_k_extent,
    fault_v,
    fault_v_type,
    fault_out,
    fault_out_itself,
    fault_out_overlap,
    fault_lse_stride,
    fault_lse_overlap,
    fault_weights_type,
    fault_weights_overlap,
    fault_scratch,
    fault_scratch_overlap,
    fault_scratch_size,
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

TEST two_faults_are_refused(void) {
    rdk_attention_desc d = good();
    ASSERT(pairs_are_refused(&OPERATION, &d, FAULTS, FAULT_COUNT));
    PASS();
}

static void before_each(void *unused) {
    (void)unused;
    reset_memory();
}

SUITE(attention_input) {
    SET_SETUP(before_each, NULL);
    RUN_TEST(good_one_is_accepted_and_writes);
    RUN_TEST(null_is_refused);
    RUN_TEST(short_size_is_refused);
    RUN_TEST(surplus_is_refused);
    RUN_TEST(wrong_isas_are_refused_by_number_and_here);
    RUN_TEST(unknown_causals_are_refused);
    RUN_TEST(other_types_are_refused);
    RUN_TEST(counts_out_of_range_are_refused);
    RUN_TEST(counts_may_be_large_where_nothing_is_done);
    RUN_TEST(heads_must_divide);
    RUN_TEST(no_kv_heads_are_q_heads);
    RUN_TEST(no_d_v_is_d_qk);
    RUN_TEST(positions_out_of_range_are_refused);
    RUN_TEST(positions_at_their_limits_are_right);
    RUN_TEST(needed_pointers_must_not_be_null);
    RUN_TEST(other_outputs_may_be_null);
    RUN_TEST(nothing_to_do_needs_no_pointers);
    RUN_TEST(no_keys_give_zeros);
    RUN_TEST(negative_strides_are_refused);
    RUN_TEST(extents_that_overflow_are_refused);
    RUN_TEST(products_that_wrap_are_refused);
    RUN_TEST(ends_beyond_all_addresses_are_refused);
    RUN_TEST(outputs_over_themselves_are_refused);
    RUN_TEST(unused_strides_are_not_named);
    RUN_TEST(unused_strides_do_not_matter);
    RUN_TEST(outputs_over_anything_are_refused);
    RUN_TEST(out_slides_over_keys);
    RUN_TEST(inputs_may_have_strides_of_zero);
    RUN_TEST(inputs_may_overlap_each_other);
    RUN_TEST(out_may_lie_between_inputs);
    RUN_TEST(outputs_may_lie_between_keys);
    RUN_TEST(too_little_scratch_is_refused);
    RUN_TEST(outputs_may_stand_beside_scratch);
    RUN_TEST(scratch_is_asked_for_right);
    RUN_TEST(scratch_depends_on_widths_alone);
    RUN_TEST(two_faults_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    make_memory();
    RUN_SUITE(attention_input);
    free(mem);
    RDK_MAIN_END();
}
