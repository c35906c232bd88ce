/* The caller's floating-point environment changes no bit of a result, and nothing changes it. */
#include <string.h>

#include "tests/attention/check.h"
#include "tests/lib/guard.h"
#include "tests/lib/suite.h"
#include "tests/softmax/check.h"

/* ---- The control and status registers of this CPU -------------------------------------------- */

typedef struct setting {
    const char *name;
    uint64_t control; /* x86: all of MXCSR, sticky flags too */
    uint64_t status;  /* elsewhere: the sticky flags */
    bool traps;
} setting;

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>

static setting get_environment(void) {
    return (setting){.control = _mm_getcsr()};
}

static void set_environment(const setting *s) {
    _mm_setcsr((unsigned)s->control);
}

static const setting SETTINGS[] = {
    {"default", 0x1f80, 0, false},
    {"sticky flags set", 0x1fbf, 0, false},
    {"some sticky flags set", 0x1f95, 0, false},
    {"FTZ", 0x9f80, 0, false},
    {"DAZ", 0x1fc0, 0, false},
    {"FTZ and DAZ, sticky flags set", 0x9ffd, 0, false},
    {"round down", 0x3f80, 0, false},
    {"round up", 0x5f80, 0, false},
    {"round towards zero", 0x7f80, 0, false},
    {"round up, FTZ and DAZ", 0xdfc0, 0, false},
    {"every exception unmasked", 0x0000, 0, true},
    {"invalid and overflow unmasked", 0x1b00, 0, true},
    {"every exception unmasked, round down", 0x2000, 0, true},
};
#elif defined(__aarch64__)
static setting get_environment(void) {
    setting s = {.name = NULL};
    __asm__ volatile("mrs %0, fpcr" : "=r"(s.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(s.status));
    return s;
}

static void set_environment(const setting *s) {
    __asm__ volatile("msr fpcr, %0" : : "r"(s->control) : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(s->status) : "memory");
}

static const setting SETTINGS[] = {
    {"default", 0, 0, false},
    {"sticky flags set", 0, 0x9f, false},
    {"some sticky flags set", 0, 0x15, false},
    {"FZ", 1 << 24, 0, false},
    {"FZ, sticky flags set", 1 << 24, 0x1d, false},
    {"DN", 1 << 25, 0, false},
    {"round up", 1 << 22, 0, false},
    {"round down", 2 << 22, 0, false},
    {"round towards zero", 3 << 22, 0, false},
    {"round up, FZ and DN", 1 << 22 | 1 << 24 | 1 << 25, 0, false},
    {"every exception unmasked", 0x9f00, 0, true},
    {"invalid and overflow unmasked", 0x0500, 0, true},
};
#else
#include <fenv.h>

/* The part that C has functions for: the rounding and the sticky flags. */
static setting get_environment(void) {
    return (setting){.control = (uint64_t)fegetround(),
                     .status = (uint64_t)fetestexcept(FE_ALL_EXCEPT)};
}

static void set_environment(const setting *s) {
    fesetround((int)s->control);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept((int)s->status);
}

static const setting SETTINGS[] = {
    {"default", FE_TONEAREST, 0, false},
    {"sticky flags set", FE_TONEAREST, FE_ALL_EXCEPT, false},
    {"some sticky flags set", FE_TONEAREST, FE_DIVBYZERO | FE_INEXACT, false},
    {"round down", FE_DOWNWARD, 0, false},
    {"round up", FE_UPWARD, 0, false},
    {"round towards zero", FE_TOWARDZERO, FE_OVERFLOW | FE_INEXACT, false},
};
#endif

#define SETTING_COUNT (sizeof SETTINGS / sizeof SETTINGS[0])

/* ---- A call in another environment ----------------------------------------------------------- */

/* An operation's next call, built anew in guarded memory for each run. */
typedef struct operation {
    checker *k;
    rdk_status (*call)(const rdk_table *table);
    void (*build)(const void *a_case);
    void (*describe)(const void *a_case, char *text, size_t size);
    int scratch; /* the buffer whose contents are no result, or -1 */
} operation;

typedef struct strange_call {
    const operation *operation;
    const rdk_table *table;
    const setting *setting;
    setting before, after;
    rdk_status status;
} strange_call;

/* Nothing but the call between the two readings: an addition of ours could set a flag. */
static void call_strangely(void *argument) {
    strange_call *c = argument;
    set_environment(c->setting);
    c->before = get_environment();
    c->status = c->operation->call(c->table);
    c->after = get_environment();
    set_environment(&SETTINGS[0]);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static checker of_softmax, of_attention;
static rdk_softmax_desc softmax_desc;
static rdk_attention_desc attention_desc;

static rdk_status call_softmax(const rdk_table *t) {
    return rdk_softmax_with(t, &softmax_desc);
}

static void build_softmax(const void *c) {
    softmax_desc = case_build(c, &of_softmax.memory);
}

static void describe_softmax(const void *c, char *text, size_t size) {
    case_describe(c, text, size);
}

static rdk_status call_attention(const rdk_table *t) {
    return rdk_attention_with(t, &attention_desc);
}

static void build_attention(const void *c) {
    attention_desc = attention_build(c, &of_attention.memory);
}

static void describe_attention(const void *c, char *text, size_t size) {
    attention_describe(c, text, size);
}

static const operation SOFTMAX = {&of_softmax, call_softmax, build_softmax, describe_softmax, -1};
static const operation ATTENTION = {&of_attention, call_attention, build_attention,
                                    describe_attention, OPERAND_SCRATCH};

/* ---- The same bits --------------------------------------------------------------------------- */

static void keep_windows(const operation *o) {
    const memory *m = &o->k->memory;
    for (int i = 0; i < m->count; i++)
        if (m->used[i] && i != o->scratch)
            memcpy(o->k->expected[i], guard_window(&m->buffer[i]),
                   guard_window_bytes(&m->buffer[i]));
}

/* The name of a buffer that is not as it was kept, or NULL. */
static const char *different(const operation *o) {
    const memory *m = &o->k->memory;
    for (int i = 0; i < m->count; i++)
        if (m->used[i] && i != o->scratch &&
            memcmp(o->k->expected[i], guard_window(&m->buffer[i]),
                   guard_window_bytes(&m->buffer[i])) != 0)
            return m->buffer[i].name;
    return NULL;
}

/* Results must equal those in the default environment, which test_bits compares with scalar. */
static const char *try_case(const operation *o, const path *p, const setting *s, const void *c) {
    static char report[300];
    strange_call call = {.operation = o, .table = &p->table, .setting = &SETTINGS[0]};
    o->build(c);
    if (!guard_call(call_strangely, &call, report, sizeof report))
        return report;
    keep_windows(o);
    o->build(c);
    call.setting = s;
    bool survived = guard_call(call_strangely, &call, report, sizeof report);
    set_environment(&SETTINGS[0]);
    if (!survived)
        return report;
    if (call.status != RDK_OK)
        return rdk_status_string(call.status);
    const char *buffer = different(o);
    if (buffer) {
        snprintf(report, sizeof report, "%s has other bits", buffer);
        return report;
    }
    if (call.before.control == call.after.control && call.before.status == call.after.status)
        return NULL;
    snprintf(report, sizeof report, "environment %#llx/%#llx came back as %#llx/%#llx",
             (unsigned long long)call.before.control, (unsigned long long)call.before.status,
             (unsigned long long)call.after.control, (unsigned long long)call.after.status);
    return report;
}

static bool is_same(const operation *o, const path *p, const setting *s, const void *c) {
    char text[2048];
    const char *wrong = try_case(o, p, s, c);
    if (!wrong)
        return true;
    o->describe(c, text, sizeof text);
    printf("\n%s, %s: %s\n    case: %s\n", p->name, s->name, wrong, text);
    return false;
}

static bool takes(const setting *s) {
    set_environment(s);
    setting got = get_environment();
    set_environment(&SETTINGS[0]);
    return got.control == s->control && got.status == s->status;
}

#define NEED(s)                                                                                    \
    do {                                                                                           \
        if (!takes(s))                                                                             \
            RDK_SKIP((s)->traps ? "this CPU has no floating-point traps to unmask"                 \
                                : "this CPU does not have the setting");                           \
    } while (0)

TEST softmax_has_the_same_bits(const path *p, const setting *s) {
    static const int64_t COLS[] = {1, 17, 70, 300};
    int tried = 0;
    NEED(s);
    for (family f = 0; f < FAMILY_COUNT; f++)
        for (size_t i = 0; i < sizeof COLS / sizeof COLS[0]; i++)
            for (int variant = 0; variant < 6; variant++, tried++) {
                softmax_case c = case_default();
                c.family = f;
                c.cols = COLS[i];
                c.x_type = (rdk_type)(tried % 3);
                c.y_type = (rdk_type)(tried / 3 % 3);
                c.bias_type = (rdk_type)(tried / 9 % 3);
                c.bias = variant < 3 ? BIAS_NONE : variant == 3 ? BIAS_NORMAL : BIAS_SPECIAL;
                c.mode = variant % 2 ? RDK_LOG_SOFTMAX : RDK_SOFTMAX;
                c.scale = variant == 2 ? 1e-38f : 0;
                c.row_scale = variant == 5 ? ROW_SCALE_SPECIAL : ROW_SCALE_NULL;
                c.lse = true;
                ASSERT(is_same(&SOFTMAX, p, s, &c));
            }
    PASS();
}

/* All values with all scores, and all rows of softmax as scores. */
TEST attention_has_the_same_bits(const path *p, const setting *s) {
    NEED(s);
    for (int64_t i = 0; i < SCORES_COUNT * VALUES_COUNT + FAMILY_COUNT; i++)
        for (int variant = 0; variant < 3; variant++) {
            attention_case c = attention_default();
            int64_t row = i - SCORES_COUNT * VALUES_COUNT;
            c.scores = row < 0 ? i % SCORES_COUNT : SCORES_ROW;
            c.values = row < 0 ? i / SCORES_COUNT : VALUES_NORMAL;
            c.row = row < 0 ? FAMILY_NORMAL : row;
            c.q_len = variant == 2 ? 13 : variant + 1;
            c.causal = variant == 1;
            c.key_pos0 = variant == 2 ? 1000 : 0;
            c.scale = variant == 1 ? 1e-38f : 0;
            c.seed = i + 1;
            ASSERT(is_same(&ATTENTION, p, s, &c));
        }
    PASS();
}

/* A bad descriptor leaves the environment alone as well. */
TEST error_restores(const operation *o, const path *p, const setting *s) {
    strange_call call = {.operation = o, .table = &p->table, .setting = s};
    char report[300];
    softmax_desc = (rdk_softmax_desc){.size = sizeof softmax_desc, .mode = 99};
    attention_desc = (rdk_attention_desc){.size = sizeof attention_desc, .causal = 99};
    NEED(s);
    ASSERTm(report, guard_call(call_strangely, &call, report, sizeof report));
    ASSERT_EQ(RDK_ERR_MODE, call.status);
    ASSERT_EQ(call.before.control, call.after.control);
    ASSERT_EQ(call.before.status, call.after.status);
    PASS();
}

SUITE(environments) {
    for (int i = 0; i < of_softmax.path_count; i++) {
        const path *p = &of_softmax.paths[i];
        if (!rdk_path_is_wanted(p))
            continue;
        for (size_t s = 0; s < SETTING_COUNT; s++) {
            RUN_TESTp(softmax_has_the_same_bits, p, &SETTINGS[s]);
            RUN_TESTp(attention_has_the_same_bits, p, &SETTINGS[s]);
        }
        RUN_TESTp(error_restores, &SOFTMAX, p, &SETTINGS[SETTING_COUNT - 3]);
        RUN_TESTp(error_restores, &ATTENTION, p, &SETTINGS[SETTING_COUNT - 3]);
    }
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&of_softmax);
    attention_checker_init(&of_attention);
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(environments);
    RDK_MAIN_END();
}
