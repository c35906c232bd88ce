/* Refusals: the status, and memory as it was. */
#include "tests/api/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/paths.h"
#include "tests/lib/undefined.h"

const int32_t NO_ENUM[NO_ENUMS] = {-1, 3, 4, 99, 1 << 16, 1 << 30, INT32_MAX, INT32_MIN};
const int64_t NEGATIVE[NEGATIVES] = {-1, -5, -((int64_t)1 << 32), INT64_MIN};

static path paths[RDK_MAX_PATHS];
static int path_count;

static int prepare_paths(void) {
    if (!path_count)
        path_count = rdk_paths(paths);
    return path_count;
}

static void *copy_of(const void *p, size_t size) {
    void *copy = malloc(size);
    if (!copy) {
        puts("out of memory");
        exit(EXIT_FAILURE);
    }
    return memcpy(copy, p, size);
}

/* ---- One descriptor -------------------------------------------------------------------------- */

static bool one_refusal(const operation *op, const char *by, const void *before, rdk_status got,
                        rdk_status expected) {
    bool untouched = memcmp(before, op->memory, op->memory_size) == 0;
    if (got == expected && untouched)
        return true;
    printf("\n%s: got status %d, expected %d%s\n", by, (int)got, (int)expected,
           untouched ? "" : "; memory was changed");
    return false;
}

/* Whether the check says `expected` and `field`, also to one who does not ask for the field. */
static bool is_named(const operation *op, const void *desc, rdk_status expected,
                     const char *field) {
    const char *got = NULL;
    const rdk_status status = op->check(desc, &got), alone = op->check(desc, NULL);
    if (status == expected && alone == expected && got && strcmp(got, field) == 0)
        return true;
    printf("\n%s's check: got status %d and \"%s\", status %d alone; expected %d and \"%s\"\n",
           op->name, (int)status, got ? got : "(null)", (int)alone, (int)expected, field);
    return false;
}

/* By the public functions alone: a path is not chosen by the descriptor. */
static bool is_refused_here(const operation *op, const void *desc, rdk_status expected,
                            const char *field, const void *before) {
    bool ok = is_named(op, desc, expected, field);
    return one_refusal(op, op->name, before, op->call(desc), expected) && ok;
}

static bool isa_is_refused(const operation *op, const void *desc, rdk_status expected) {
    void *before = copy_of(op->memory, op->memory_size);
    bool ok = is_refused_here(op, desc, expected, "isa", before);
    free(before);
    return ok;
}

bool is_refused(const operation *op, const void *desc, rdk_status expected, const char *field) {
    void *before = copy_of(op->memory, op->memory_size);
    bool ok = is_refused_here(op, desc, expected, field, before);
    for (int i = 0; i < prepare_paths(); i++)
        ok &=
            one_refusal(op, paths[i].name, before, op->call_with(&paths[i].table, desc), expected);
    free(before);
    return ok;
}

/* A call before may have left undefined bytes in the scratch; that they stay is looked at here. */
static bool passes_check(const operation *op, const void *desc) {
    make_defined(op->memory, op->memory_size);
    void *before = copy_of(op->memory, op->memory_size);
    bool ok = is_named(op, desc, RDK_OK, "");
    ok &= one_refusal(op, "the check", before, RDK_OK, RDK_OK);
    free(before);
    return ok;
}

bool is_accepted(const operation *op, const void *desc) {
    const bool checked = passes_check(op, desc);
    rdk_status status = op->call(desc);
    for (int i = 0; i < prepare_paths() && status == RDK_OK; i++)
        status = op->call_with(&paths[i].table, desc);
    if (status != RDK_OK)
        printf("\n%s: got status %d\n", op->name, (int)status);
    return checked && status == RDK_OK;
}

/* ---- The size field -------------------------------------------------------------------------- */

/* A descriptor of any operation, with room behind it. */
typedef union longer {
    size_t size; /* the first field of every descriptor */
    rdk_softmax_desc softmax;
    rdk_attention_desc attention;
    unsigned char bytes[1024];
} longer;

static longer longer_of(const operation *op, const void *desc) {
    longer l;
    memset(&l, 0, sizeof l);
    memcpy(&l, desc, op->desc_size);
    return l;
}

static bool size_is_refused(const operation *op, const void *good, size_t size) {
    longer l = longer_of(op, good);
    l.size = size;
    return is_refused(op, &l, RDK_ERR_STRUCT_SIZE, "size");
}

bool wrong_sizes_are_refused(const operation *op, const void *good) {
    bool ok = true;
    for (size_t size = 0; size < op->desc_size; size++)
        ok &= size_is_refused(op, good, size);
    ok &= size_is_refused(op, good, 4097); /* and one that was never set */
    ok &= size_is_refused(op, good, SIZE_MAX / 2);
    return ok && size_is_refused(op, good, SIZE_MAX);
}

bool surplus_must_be_zero(const operation *op, const void *good, size_t surplus) {
    longer l = longer_of(op, good);
    unsigned char *behind = l.bytes + op->desc_size;
    bool ok = true;
    for (size_t more = 1; more <= surplus; more++) {
        l.size = op->desc_size + more;
        ok &= is_accepted(op, &l);
        for (size_t i = 0; i < surplus; i++)
            for (int bit = 0; bit < 8; bit += 7) {
                behind[i] = (unsigned char)(1 << bit);
                if (i < more)
                    ok &= is_refused(op, &l, RDK_ERR_STRUCT_SIZE, "size");
                else
                    ok &= is_accepted(op, &l); /* beyond `size` is not the callee's */
                behind[i] = 0;
            }
    }
    return ok;
}

/* ---- The isa field --------------------------------------------------------------------------- */

static longer with_isa(const operation *op, const void *good, size_t isa_at, rdk_isa isa) {
    longer l = longer_of(op, good);
    memcpy(l.bytes + isa_at, &isa, sizeof isa);
    return l;
}

bool wrong_isas_are_refused(const operation *op, const void *good, size_t isa_at) {
    static const rdk_isa UNKNOWN[] = {-1, RDK_ISA_COUNT, 99, 1 << 16, INT32_MAX, INT32_MIN};
    bool ok = true;
    int unavailable = 0;
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof UNKNOWN[0]; i++) {
        longer l = with_isa(op, good, isa_at, UNKNOWN[i]);
        ok &= isa_is_refused(op, &l, RDK_ERR_ISA_UNKNOWN);
    }
    for (rdk_isa isa = 0; isa < RDK_ISA_COUNT; isa++) {
        longer l = with_isa(op, good, isa_at, isa);
        if (rdk_isa_available(isa) == RDK_OK) {
            ok &= is_accepted(op, &l);
        } else {
            ok &= isa_is_refused(op, &l, RDK_ERR_ISA_UNAVAILABLE);
            unavailable++;
        }
    }
    return ok && unavailable > 0; /* no CPU has both AVX2 and NEON */
}

/* ---- Two faults at once ---------------------------------------------------------------------- */

static bool is_refused_somehow(const operation *op, const void *desc, bool only_isa,
                               const void *before) {
    const rdk_status status = op->call(desc);
    const char *field = "";
    bool ok = status != RDK_OK && op->check(desc, &field) == status && *field;
    for (int i = 0; i < prepare_paths() && !only_isa; i++)
        ok &= op->call_with(&paths[i].table, desc) != RDK_OK;
    return ok && memcmp(before, op->memory, op->memory_size) == 0;
}

bool pairs_are_refused(const operation *op, const void *good, fault *const faults[], int count) {
    void *before = copy_of(op->memory, op->memory_size);
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        for (int j = 0; j < count && ok; j++) {
            longer l = longer_of(op, good);
            faults[i](&l);
            faults[j](&l);
            ok = is_refused_somehow(op, &l, i + j == 0, before);
            if (!ok)
                printf("\n%s: faults %d and %d are not refused\n", op->name, i, j);
        }
    printf("\n%d pairs of faults\n", count * count);
    free(before);
    return ok;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

void meetings(uintptr_t at[MEETINGS], const piece *p, size_t bytes) {
    at[0] = p->first;
    at[1] = p->first - bytes + 1;
    at[2] = p->first + p->bytes - 1;
}
