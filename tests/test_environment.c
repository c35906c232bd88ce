/* The caller's floating-point environment: it changes no bit of a result, and nothing changes it. */
#include <string.h>

#include "tests/check.h"
#include "tests/guard.h"
#include "tests/suite.h"

/* ---- The control and status registers of this CPU --------------------------------------------------- */

typedef struct setting {
    const char *name;
    uint64_t control; /* x86: all of MXCSR, sticky flags too */
    uint64_t status;  /* AArch64: FPSR */
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
static setting get_environment(void) {
    return (setting){.name = NULL};
}

static void set_environment(const setting *s) {
    (void)s;
}

static const setting SETTINGS[] = {{"default", 0, 0, false}};
#endif

#define SETTING_COUNT (sizeof SETTINGS / sizeof SETTINGS[0])

/* ---- A call in another environment --------------------------------------------------------------------- */

typedef struct strange_call {
    const rdk_table *table;
    const rdk_softmax_desc *desc;
    const setting *setting;
    setting before, after;
    rdk_status status;
} strange_call;

/* Nothing but the call between the two readings: an addition of ours could set a flag. */
static void call_strangely(void *argument) {
    strange_call *c = argument;
    set_environment(c->setting);
    c->before = get_environment();
    c->status = rdk_softmax_with(c->table, c->desc);
    c->after = get_environment();
    set_environment(&SETTINGS[0]);
}

static checker all;
static char *window_of_y, *window_of_lse;

static size_t keep(char *to, const guarded *g) {
    memcpy(to, guard_window(g), guard_window_bytes(g));
    return guard_window_bytes(g);
}

/* The result in the default environment is what counts; test_bits compares that one with scalar. */
static const char *try_case(const path *p, const setting *s, const softmax_case *c) {
    static char report[300];
    const guarded *y = &all.memory.buffer[BUFFER_Y], *lse = &all.memory.buffer[BUFFER_LSE];
    strange_call call = {.table = &p->table, .setting = &SETTINGS[0]};
    rdk_softmax_desc d = case_build(c, &all.memory);
    call.desc = &d;
    if (!guard_call(call_strangely, &call, report, sizeof report))
        return report;
    size_t bytes_of_y = keep(window_of_y, y), bytes_of_lse = keep(window_of_lse, lse);
    d = case_build(c, &all.memory);
    call.setting = s;
    bool survived = guard_call(call_strangely, &call, report, sizeof report);
    set_environment(&SETTINGS[0]);
    if (!survived)
        return report;
    if (call.status != RDK_OK)
        return rdk_status_string(call.status);
    if (memcmp(window_of_y, guard_window(y), bytes_of_y))
        return "y has other bits";
    if (memcmp(window_of_lse, guard_window(lse), bytes_of_lse))
        return "lse has other bits";
    if (call.before.control == call.after.control && call.before.status == call.after.status)
        return NULL;
    snprintf(report, sizeof report, "environment %#llx/%#llx came back as %#llx/%#llx",
             (unsigned long long)call.before.control, (unsigned long long)call.before.status,
             (unsigned long long)call.after.control, (unsigned long long)call.after.status);
    return report;
}

static bool takes(const setting *s) {
    set_environment(s);
    setting got = get_environment();
    set_environment(&SETTINGS[0]);
    return got.control == s->control && got.status == s->status;
}

TEST same_bits(const path *p, const setting *s) {
    static const int64_t COLS[] = {1, 17, 70, 300};
    int tried = 0;
    if (!takes(s))
        RDK_SKIP(s->traps ? "this CPU has no floating-point traps to unmask"
                          : "this CPU does not have the setting");
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
                const char *wrong = try_case(p, s, &c);
                if (wrong) {
                    char text[768];
                    case_describe(&c, text, sizeof text);
                    printf("\n%s, %s: %s\n    case: %s\n", p->name, s->name, wrong, text);
                    FAILm(wrong);
                }
            }
    PASS();
}

/* A bad descriptor leaves the environment alone as well. */
TEST error_restores(const path *p, const setting *s) {
    rdk_softmax_desc bad = {.size = sizeof bad, .mode = 99};
    strange_call call = {.table = &p->table, .desc = &bad, .setting = s};
    char report[300];
    if (!takes(s))
        RDK_SKIP("this CPU does not have the setting");
    ASSERTm(report, guard_call(call_strangely, &call, report, sizeof report));
    ASSERT_EQ(RDK_ERR_MODE, call.status);
    ASSERT_EQ(call.before.control, call.after.control);
    ASSERT_EQ(call.before.status, call.after.status);
    PASS();
}

SUITE(environments) {
    for (int i = 0; i < all.path_count; i++) {
        for (size_t s = 0; s < SETTING_COUNT; s++)
            RUN_TESTp(same_bits, &all.paths[i], &SETTINGS[s]);
        RUN_TESTp(error_restores, &all.paths[i], &SETTINGS[SETTING_COUNT - 3]);
    }
}

static char *room_for(const guarded *g) {
    char *p = malloc((size_t)(g->end - g->start));
    if (!p)
        exit(EXIT_FAILURE);
    return p;
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    checker_init(&all);
    window_of_y = room_for(&all.memory.buffer[BUFFER_Y]);
    window_of_lse = room_for(&all.memory.buffer[BUFFER_LSE]);
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(environments);
    RDK_MAIN_END();
}
