/* What the tests of bad descriptors share. A descriptor is refused with a status, by the public
 * function and on every path, and the check names the field; every byte of the test's memory stays
 * as it was. */
#ifndef RDK_REFUSE_H
#define RDK_REFUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch/dispatch.h"

/* A public function, and the memory in which lies everything that a call of it may touch. */
typedef struct operation {
    const char *name;
    rdk_status (*call)(const void *desc);
    rdk_status (*call_with)(const rdk_table *table, const void *desc); /* looks at no `isa` */
    rdk_status (*check)(const void *desc, const char **field);
    size_t desc_size;
    void *memory;
    size_t memory_size;
} operation;

bool is_refused(const operation *op, const void *desc, rdk_status expected, const char *field);

bool is_accepted(const operation *op, const void *desc);

/* ---- Tests of any descriptor; `good` is one with nothing wrong ------------------------------- */

bool wrong_sizes_are_refused(const operation *op, const void *good);

/* Up to `surplus` bytes (at most 64) behind the descriptor. */
bool surplus_must_be_zero(const operation *op, const void *good, size_t surplus);

/* Every ISA that does not exist (RDK_ERR_ISA_UNKNOWN) or that this CPU lacks is refused; `isa_at`
 * is the offset of the field. */
bool wrong_isas_are_refused(const operation *op, const void *good, size_t isa_at);

/* Spoils one thing in a descriptor. */
typedef void fault(void *desc);

/* Every two of `faults`, of which the first spoils `isa`, in either order. */
bool pairs_are_refused(const operation *op, const void *good, fault *const faults[], int count);

/* ---- Wrong values ---------------------------------------------------------------------------- */

enum { NO_ENUMS = 8, NEGATIVES = 4 };
extern const int32_t NO_ENUM[NO_ENUMS]; /* no mode, no type has these numbers */
extern const int64_t NEGATIVE[NEGATIVES];

/* The bytes from the first to the last of a view. */
typedef struct piece {
    const char *name;
    uintptr_t first;
    size_t bytes;
} piece;

enum { MEETINGS = 3 };

/* The places where a view of `bytes` certainly shares a byte with p: both begin there, the view's
 * last byte is p's first, or its first is p's last. */
void meetings(uintptr_t at[MEETINGS], const piece *p, size_t bytes);

/* ---- In a test's own words: its DESC (the type), good() (nothing is wrong) and OPERATION ----- */

#define REFUSED(d, status, field) ASSERT(is_refused(&OPERATION, d, status, field))
#define ACCEPTED(d) ASSERT(is_accepted(&OPERATION, d))

/* One field set to one value that must be refused, for that field. */
#define REFUSED_WITH(field, value, status)                                                         \
    do {                                                                                           \
        DESC d_ = good();                                                                          \
        d_.field = (value);                                                                        \
        REFUSED(&d_, status, #field);                                                              \
    } while (0)

#define ACCEPTED_WITH(field, value)                                                                \
    do {                                                                                           \
        DESC d_ = good();                                                                          \
        d_.field = (value);                                                                        \
        ACCEPTED(&d_);                                                                             \
    } while (0)

#define FAULT(name, ...)                                                                           \
    static void fault_##name(void *desc) {                                                         \
        DESC *d = desc;                                                                            \
        __VA_ARGS__;                                                                               \
    }

#endif
