/* First use, the table of every CPU, names, the choice by name and number. */
#define _POSIX_C_SOURCE 200809L /* fork */
#include "tests/lib/suite.h"

#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "tests/api/variable.h"

/* ---- First use ------------------------------------------------------------------------------- */

#ifndef RDK_RACES
#define RDK_RACES 400
#endif
enum { THREADS = 8, RACES = RDK_RACES };

static atomic_int waiting;

typedef struct runner {
    pthread_t thread;
    const char *name;
    const rdk_table *table;
    rdk_isa isa;
    rdk_status status;
} runner;

static void *first_use(void *p) {
    runner *r = p;
    atomic_fetch_sub(&waiting, 1);
    while (atomic_load(&waiting) > 0) /* awake, so that all go on within nanoseconds */
        sched_yield();
    r->table = rdk_table_for(RDK_ISA_DEFAULT, &r->status);
    r->name = rdk_kernel_name(RDK_OP_SOFTMAX);
    r->isa = rdk_get_isa();
    return NULL;
}

static bool race(void) {
    runner r[THREADS];
    bool ok = true;
    atomic_store(&waiting, THREADS);
    for (int i = 0; i < THREADS; i++)
        ok &= pthread_create(&r[i].thread, NULL, first_use, &r[i]) == 0;
    for (int i = 0; i < THREADS; i++)
        ok &= pthread_join(r[i].thread, NULL) == 0;
    for (int i = 0; i < THREADS; i++)
        ok &= r[i].status == RDK_OK && r[i].table && r[i].table->softmax && r[i].name &&
              r[i].table == r[0].table && strcmp(r[i].name, r[0].name) == 0 &&
              r[i].isa == r[0].isa && r[i].isa == rdk_best_isa(rdk_cpu_flags());
    return ok;
}

/* A process has one first use, so each race gets a process. */
#ifdef _WIN32
#include <process.h>

static const char *program;

/* Nothing forks here: the program starts itself, and main() knows why by this word. */
#define RACE "--race"

static bool race_in_process(void) {
    return _spawnl(_P_WAIT, program, "test_dispatch", RACE, NULL) == 0;
}

static void take_role(int argc, char **argv) {
    program = argv[0];
    if (argc == 2 && strcmp(argv[1], RACE) == 0)
        exit(race() ? 0 : 1);
}
#else
#include <sys/wait.h>
#include <unistd.h>

static bool race_in_process(void) {
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(race() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void take_role(int argc, char **argv) {
    (void)argc;
    (void)argv;
}
#endif

/* It comes first: once the table is chosen, children of a fork have it too. */
TEST first_use_may_be_raced(void) {
    for (int i = 0; i < RACES; i++)
        ASSERT(race_in_process());
    PASS();
}

/* ---- The table of every CPU ------------------------------------------------------------------ */

/* The ladder, from the reference upwards. */
static const struct {
    rdk_isa isa;
    unsigned flag;
    bool in_build;
} LADDER[] = {
#define STEP(NAME, ...) {RDK_ISA_##NAME, RDK_CPU_##NAME, RDK_IN_BUILD(NAME, true, false)},
    RDK_ISAS(STEP)
#undef STEP
};
enum { STEPS = sizeof LADDER / sizeof LADDER[0], ALL_FLAGS = (1 << (STEPS - 1)) - 1 };

static unsigned in_build(void) {
    unsigned flags = 0;
    for (int i = 0; i < STEPS; i++)
        flags |= LADDER[i].in_build ? LADDER[i].flag : 0;
    return flags;
}

static unsigned flag_of(rdk_isa isa) {
    for (int i = 0; i < STEPS; i++)
        if (LADDER[i].isa == isa)
            return LADDER[i].flag;
    return 0;
}

TEST flags_are_bits_of_their_own(void) {
    unsigned all = 0;
    for (int i = 0; i < STEPS; i++) {
        ASSERT_EQ(0u, all & LADDER[i].flag);
        ASSERT_EQ(LADDER[i].isa != RDK_ISA_SCALAR, LADDER[i].flag != 0);
        all |= LADDER[i].flag;
    }
    ASSERT_EQ((unsigned)ALL_FLAGS, all);
    PASS();
}

/* The last ISA of the ladder, up to `limit`, that the flags and the build have. */
static rdk_isa expected_isa(unsigned flags, rdk_isa limit) {
    rdk_isa found = RDK_ISA_SCALAR;
    for (int i = 0; i < STEPS; i++) {
        if (LADDER[i].flag & flags & in_build())
            found = LADDER[i].isa;
        if (LADDER[i].isa == limit)
            break;
    }
    return found;
}

TEST table_holds_what_the_flags_allow(void) {
    for (unsigned flags = 0; flags <= ALL_FLAGS; flags++) {
        for (rdk_isa limit = 0; limit < RDK_ISA_COUNT; limit++) {
            rdk_isa isa = expected_isa(flags, limit);
            char name[64];
            snprintf(name, sizeof name, "rdk_softmax_%s", rdk_isa_name(isa));
            rdk_table t;
            memset(&t, 0xa5, sizeof t);
            rdk_table_fill(&t, flags, limit);
            ASSERT_EQ(isa, t.isa);
            ASSERT_STR_EQ(name, t.name[RDK_OP_SOFTMAX]);
            ASSERT(t.softmax != NULL);
            ASSERT((flags & flag_of(t.isa)) == flag_of(t.isa));
        }
        ASSERT_EQ(expected_isa(flags, RDK_ISA_DEFAULT), rdk_best_isa(flags));
    }
    PASS();
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Each name is its enumerator's, in lower case. */
static const struct {
    rdk_isa isa;
    const char *upper;
} NAMES[] = {
#define NAMED(NAME, ...) {RDK_ISA_##NAME, #NAME},
    {RDK_ISA_DEFAULT, "DEFAULT"}, RDK_ISAS(NAMED)
#undef NAMED
};

/* Letter i is made small where bit i % 8 of `which` is set. */
static void lower_some(char to[32], const char *upper, unsigned which) {
    snprintf(to, 32, "%s", upper);
    for (int i = 0; to[i]; i++)
        if (which >> i % 8 & 1)
            to[i] = (char)tolower(to[i]);
}

TEST names_are_known_in_any_case(void) {
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        for (unsigned which = 0; which <= 0xff; which++) {
            rdk_isa got = 99;
            char name[32];
            lower_some(name, NAMES[i].upper, which);
            ASSERT_EQ(RDK_OK, rdk_isa_from_name(name, &got));
            ASSERT_EQ(NAMES[i].isa, got);
            if (which == 0xff)
                ASSERT_STR_EQ(name, rdk_isa_name(NAMES[i].isa));
        }
    PASS();
}

TEST other_names_are_unknown(void) {
    static const char *const WRONG[] = {"",      " ",       "avx",     "avx2 ",  " avx2",
                                        "avx51", "avx5122", "sse2",    "neon\n", "scalar,avx2",
                                        "best",  "2",       "NE\xd3N", "avx\x12"};
    rdk_isa isa = 99;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        ASSERT_EQ(RDK_ERR_ISA_UNKNOWN, rdk_isa_from_name(WRONG[i], &isa));
    ASSERT_EQ(RDK_ERR_NULL, rdk_isa_from_name(NULL, &isa));
    ASSERT_EQ(99, isa);
    ASSERT_EQ(RDK_ERR_NULL, rdk_isa_from_name("avx2", NULL));
    PASS();
}

TEST other_numbers_have_no_name(void) {
    static const int32_t WRONG[] = {-1, RDK_ISA_COUNT, 99, 1 << 16, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        ASSERT(rdk_isa_name(WRONG[i]) == NULL);
        ASSERT(rdk_kernel_name(WRONG[i]) == NULL);
        ASSERT_EQ(RDK_ERR_ISA_UNKNOWN, rdk_isa_available(WRONG[i]));
    }
    ASSERT(rdk_kernel_name(RDK_OP_COUNT) == NULL);
    PASS();
}

/* ---- The choice ------------------------------------------------------------------------------ */

static bool runs(rdk_isa isa, rdk_status status) {
    char name[64];
    rdk_status s;
    snprintf(name, sizeof name, "rdk_softmax_%s", rdk_isa_name(isa));
    return rdk_get_isa() == isa && rdk_isa_status() == status &&
           strcmp(rdk_kernel_name(RDK_OP_SOFTMAX), name) == 0 &&
           rdk_table_for(RDK_ISA_DEFAULT, &s)->isa == isa;
}

TEST best_runs_at_first(void) {
    ASSERT(runs(rdk_best_isa(rdk_cpu_flags()), RDK_OK));
    PASS();
}

TEST choice_by_number(void) {
    rdk_isa best = rdk_best_isa(rdk_cpu_flags());
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++) {
        unsigned need = flag_of(isa);
        bool here = (need & rdk_cpu_flags() & in_build()) == need;
        rdk_status status = here ? RDK_OK : RDK_ERR_ISA_UNAVAILABLE;
        ASSERT_EQ(status, rdk_isa_available(isa));
        ASSERT_EQ(status, rdk_set_isa(isa));
        ASSERT(runs(here ? isa : RDK_ISA_SCALAR, status));
        ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_DEFAULT));
        ASSERT(runs(best, RDK_OK));
    }
    PASS();
}

TEST unknown_number_leaves_scalar(void) {
    static const rdk_isa WRONG[] = {-1, RDK_ISA_COUNT, 1 << 16, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_DEFAULT));
        ASSERT_EQ(RDK_ERR_ISA_UNKNOWN, rdk_set_isa(WRONG[i]));
        ASSERT(runs(RDK_ISA_SCALAR, RDK_ERR_ISA_UNKNOWN));
    }
    ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_DEFAULT));
    PASS();
}

/* The field of a call neither follows the choice nor changes it. */
TEST table_of_a_call_is_its_own(void) {
    ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_SCALAR));
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++) {
        rdk_status status;
        const rdk_table *t = rdk_table_for(isa, &status);
        ASSERT_EQ(rdk_isa_available(isa), status);
        ASSERT(status == RDK_OK ? t && t->isa == isa : !t);
        ASSERT(runs(RDK_ISA_SCALAR, RDK_OK));
    }
    ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_DEFAULT));
    PASS();
}

TEST versions_are_the_headers(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", RDK_VERSION_MAJOR, RDK_VERSION_MINOR,
             RDK_VERSION_PATCH);
    ASSERT_STR_EQ(version, rdk_version());
    ASSERT_EQ(RDK_ARITHMETIC_VERSION, rdk_arithmetic_version());
    PASS();
}

SUITE(dispatch) {
    RUN_TEST(first_use_may_be_raced);
    RUN_TEST(best_runs_at_first);
    RUN_TEST(flags_are_bits_of_their_own);
    RUN_TEST(table_holds_what_the_flags_allow);
    RUN_TEST(names_are_known_in_any_case);
    RUN_TEST(other_names_are_unknown);
    RUN_TEST(other_numbers_have_no_name);
    RUN_TEST(choice_by_number);
    RUN_TEST(unknown_number_leaves_scalar);
    RUN_TEST(table_of_a_call_is_its_own);
    RUN_TEST(versions_are_the_headers);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    set_variable("RDK_ISA", "");
    take_role(argc, argv);
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(dispatch);
    RDK_MAIN_END();
}
