/* Which kernels run: the rungs, the choice, and the functions that ask for it or set it. */
#define _GNU_SOURCE /* secure_getenv */
#include "dispatch/dispatch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/cpu.h"

/* The list of ISAs has each enumerator of rootdk.h once. */
#define AND_ONE(...) +1
#define OR_BIT(NAME, ...) | 1 << RDK_ISA_##NAME
_Static_assert(1 RDK_ISAS(AND_ONE) == RDK_ISA_COUNT, "RDK_ISA_COUNT is not what RDK_ISAS has");
_Static_assert((1 << RDK_ISA_DEFAULT RDK_ISAS(OR_BIT)) == (1 << RDK_ISA_COUNT) - 1,
               "RDK_ISAS has an enumerator twice, or another's number");
#undef AND_ONE
#undef OR_BIT

/* ---- The rungs ------------------------------------------------------------------------------ */

typedef struct rung {
    rdk_isa isa;
    unsigned flag;          /* what the CPU must have; 0 for every CPU */
    rdk_table_filler *fill; /* NULL where the ISA is not in this build */
} rung;

/* From the reference upwards: a later rung overwrites, and the last that fits is the best. */
static const rung RUNGS[] = {
#define RUNG(NAME, name, ...)                                                                      \
    {RDK_ISA_##NAME, RDK_CPU_##NAME, RDK_IN_BUILD(NAME, rdk_table_##name, NULL)},
    RDK_ISAS(RUNG)
#undef RUNG
};
#define RUNG_COUNT (sizeof RUNGS / sizeof RUNGS[0])

static int fits(const rung *r, unsigned flags) {
    return r->fill && (flags & r->flag) == r->flag;
}

void rdk_table_fill(rdk_table *t, unsigned flags, rdk_isa isa) {
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < RUNG_COUNT; i++) {
        if (fits(&RUNGS[i], flags))
            RUNGS[i].fill(t);
        if (RUNGS[i].isa == isa)
            break;
    }
}

rdk_isa rdk_best_isa(unsigned flags) {
    rdk_isa best = RDK_ISA_SCALAR;
    for (size_t i = 0; i < RUNG_COUNT; i++)
        if (fits(&RUNGS[i], flags))
            best = RUNGS[i].isa;
    return best;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *const NAMES[RDK_ISA_COUNT] = {
#define NAME_OF(NAME, name, ...) [RDK_ISA_##NAME] = #name,
    [RDK_ISA_DEFAULT] = "default", RDK_ISAS(NAME_OF)
#undef NAME_OF
};

const char *rdk_isa_name(rdk_isa isa) {
    return isa >= 0 && isa < RDK_ISA_COUNT ? NAMES[isa] : NULL;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int same_name(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

rdk_status rdk_isa_from_name(const char *name, rdk_isa *isa) {
    if (!name || !isa)
        return RDK_ERR_NULL;
    for (rdk_isa i = 0; i < RDK_ISA_COUNT; i++)
        if (same_name(name, NAMES[i])) {
            *isa = i;
            return RDK_OK;
        }
    return RDK_ERR_ISA_UNKNOWN;
}

/* ---- The choice ------------------------------------------------------------------------------ */

/* One table per ISA of this CPU, filled once. */
static rdk_table tables[RDK_ISA_COUNT];
static rdk_isa best;

/* The choice, and whether it is the ISA that was asked for: one pointer, so that both change
 * together. */
typedef struct choice {
    const rdk_table *table;
    rdk_status status;
} choice;

static const choice HONOURED[RDK_ISA_COUNT] = {
#define HONOURED_AS(NAME, ...) [RDK_ISA_##NAME] = {&tables[RDK_ISA_##NAME], RDK_OK},
    RDK_ISAS(HONOURED_AS)
#undef HONOURED_AS
};
static const choice UNKNOWN = {&tables[RDK_ISA_SCALAR], RDK_ERR_ISA_UNKNOWN};
static const choice UNAVAILABLE = {&tables[RDK_ISA_SCALAR], RDK_ERR_ISA_UNAVAILABLE};

static _Atomic(const choice *) chosen;
static atomic_int setup_state;

enum { SETUP_NONE, SETUP_RUNNING, SETUP_DONE };

static rdk_status available(rdk_isa isa, unsigned flags) {
    if (isa < 0 || isa >= RDK_ISA_COUNT)
        return RDK_ERR_ISA_UNKNOWN;
    if (isa == RDK_ISA_DEFAULT)
        return RDK_OK;
    for (size_t i = 0; i < RUNG_COUNT; i++)
        if (RUNGS[i].isa == isa && fits(&RUNGS[i], flags))
            return RDK_OK;
    return RDK_ERR_ISA_UNAVAILABLE;
}

#if defined(__GLIBC__)
static const char *environment(void) {
    return secure_getenv("RDK_ISA");
}
#elif defined(_WIN32)
static const char *environment(void) {
    return getenv("RDK_ISA");
}
#else
#include <unistd.h>

static const char *environment(void) {
    return getuid() == geteuid() && getgid() == getegid() ? getenv("RDK_ISA") : NULL;
}
#endif

static void choose(rdk_isa isa, rdk_status status) {
    const choice *c = status == RDK_ERR_ISA_UNKNOWN ? &UNKNOWN : &UNAVAILABLE;
    if (status == RDK_OK)
        c = &HONOURED[isa == RDK_ISA_DEFAULT ? best : isa];
    atomic_store_explicit(&chosen, c, memory_order_release);
}

static void set_up(void) {
    unsigned flags = rdk_cpu_flags();
    const rdk_machine machine = {.l2 = rdk_cpu_l2()};
    best = rdk_best_isa(flags);
    for (rdk_isa i = RDK_ISA_SCALAR; i < RDK_ISA_COUNT; i++)
        if (available(i, flags) == RDK_OK) {
            rdk_table_fill(&tables[i], flags, i);
            tables[i].machine = machine;
        }
    const char *name = environment();
    rdk_isa isa = RDK_ISA_DEFAULT;
    rdk_status status = RDK_OK;
    if (name && *name) {
        status = rdk_isa_from_name(name, &isa);
        if (status == RDK_OK)
            status = available(isa, flags);
    }
    choose(isa, status);
}

/* The first caller sets up; others that come meanwhile wait the microsecond it takes. */
static const choice *current(void) {
    const choice *c = atomic_load_explicit(&chosen, memory_order_acquire);
    if (c)
        return c;
    int none = SETUP_NONE;
    if (atomic_compare_exchange_strong(&setup_state, &none, SETUP_RUNNING)) {
        set_up();
        atomic_store_explicit(&setup_state, SETUP_DONE, memory_order_release);
    }
    while (atomic_load_explicit(&setup_state, memory_order_acquire) != SETUP_DONE)
        ;
    return atomic_load_explicit(&chosen, memory_order_acquire);
}

const rdk_table *rdk_table_for(rdk_isa isa, rdk_status *status) {
    const rdk_table *t = current()->table;
    *status = RDK_OK;
    if (isa == RDK_ISA_DEFAULT)
        return t;
    if (isa < 0 || isa >= RDK_ISA_COUNT)
        *status = RDK_ERR_ISA_UNKNOWN;
    else if (tables[isa].isa != isa)
        *status = RDK_ERR_ISA_UNAVAILABLE;
    return *status == RDK_OK ? &tables[isa] : NULL;
}

rdk_status rdk_isa_available(rdk_isa isa) {
    rdk_status status;
    rdk_table_for(isa, &status);
    return status;
}

rdk_isa rdk_get_isa(void) {
    return current()->table->isa;
}

rdk_status rdk_isa_status(void) {
    return current()->status;
}

rdk_status rdk_set_isa(rdk_isa isa) {
    rdk_status status = rdk_isa_available(isa);
    choose(isa, status);
    return status;
}

const char *rdk_kernel_name(rdk_op op) {
    return op >= 0 && op < RDK_OP_COUNT ? current()->table->name[op] : NULL;
}

/* ---- Version and status ---------------------------------------------------------------------- */

const char *rdk_version(void) {
    return RDK_STRING(RDK_VERSION_MAJOR) "." RDK_STRING(RDK_VERSION_MINOR) "." RDK_STRING(
        RDK_VERSION_PATCH);
}

int rdk_arithmetic_version(void) {
    return RDK_ARITHMETIC_VERSION;
}

const char *rdk_status_string(rdk_status status) {
    switch (status) {
    case RDK_OK:
        return "ok";
    case RDK_ERR_NULL:
        return "a pointer that is needed is NULL";
    case RDK_ERR_STRUCT_SIZE:
        return "the descriptor's size is too small, or bytes this version does not know are set";
    case RDK_ERR_SIZE:
        return "a count is negative or too large, or an extent overflows";
    case RDK_ERR_STRIDE:
        return "a stride is negative, or rows would overlap";
    case RDK_ERR_TYPE:
        return "no such element type";
    case RDK_ERR_MODE:
        return "no such mode";
    case RDK_ERR_VISIBLE:
        return "a visible count is negative or above cols";
    case RDK_ERR_OVERLAP:
        return "an output overlaps an input or another output";
    case RDK_ERR_ISA_UNKNOWN:
        return "no such instruction set";
    case RDK_ERR_ISA_UNAVAILABLE:
        return "this CPU or this build does not have that instruction set";
    case RDK_ERR_HEADS:
        return "q_heads is not a multiple of kv_heads";
    case RDK_ERR_SCRATCH:
        return "the scratch is smaller than the call needs";
    case RDK_ERR_OP_UNAVAILABLE:
        return "this build does not have that operation";
    }
    return "no such status";
}
