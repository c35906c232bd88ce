/* The longest row there may be, 2^31 columns: the result is known, and its memory costs nothing. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/contract.h"
#include "tests/lib/paths.h"
#include "tests/lib/suite.h"

#define COLS ((int64_t)1 << 31)
#define BYTES ((size_t)COLS * 2) /* in bf16 */
#define PIECE ((size_t)1 << 21)

/* All zeros, so that every page is the kernel's one page of zeros. */
static void *zeros(void) {
    void *p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* The same piece of memory again and again. */
static char *wrapped(void) {
    int file = memfd_create("long", 0);
    char *p = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool ok = file >= 0 && p != MAP_FAILED && ftruncate(file, (off_t)PIECE) == 0;
    for (size_t at = 0; ok && at < BYTES; at += PIECE)
        ok = mmap(p + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
             MAP_FAILED;
    if (file >= 0)
        close(file);
    return ok ? p : NULL;
}

static rdk_softmax_desc desc_of(const void *x, char *y, float *lse) {
    return (rdk_softmax_desc){.size = sizeof(rdk_softmax_desc),
                              .rows = 1,
                              .cols = COLS,
                              .x = x,
                              .x_type = RDK_BF16,
                              .y = y,
                              .y_type = RDK_BF16,
                              .lse = lse};
}

static bool is_all(const char *y, uint16_t expected) {
    for (size_t i = 0; i < PIECE; i += 2)
        if (memcmp(y + i, &expected, 2))
            return false;
    return true;
}

/* 2^31 weights of 1, in blocks of 128: l is exact, and so are its logarithm and its inverse. */
TEST weights_are_exact(const path *p, const void *x, char *y) {
    float lse = 0, expected = (float)(31 * RDK_LN2);
    rdk_softmax_desc d = desc_of(x, y, &lse);
    memset(y, 0xa5, PIECE);
    ASSERT_EQ_FMT(RDK_OK, rdk_softmax_with(&p->table, &d), "%d");
    ASSERT_EQ_FMT(rdk_bits(expected), rdk_bits(lse), "%08x");
    ASSERT(is_all(y, rdk_f32_to_bf16(0x1p-31f)));
    PASS();
}

/* All columns but the first are hidden, and the last piece of y hides the first. */
TEST hidden_columns_are_zero(const path *p, const void *x, char *y) {
    int64_t visible = 1;
    rdk_softmax_desc d = desc_of(x, y, NULL);
    d.visible = &visible;
    memset(y, 0xa5, PIECE);
    ASSERT_EQ_FMT(RDK_OK, rdk_softmax_with(&p->table, &d), "%d");
    ASSERT(is_all(y, 0));
    PASS();
}

static void run(const path *p, const void *x, char *y) {
    printf("\n%s: a row of %lld columns\n", p->name, (long long)COLS);
    RUN_TESTp(weights_are_exact, p, x, y);
    RUN_TESTp(hidden_columns_are_zero, p, x, y);
}

TEST no_room(void) {
    RDK_SKIP("no room for 8 GB of address space");
}

SUITE(longest_row) {
    path paths[RDK_MAX_PATHS];
    int count = rdk_paths(paths);
    void *x = zeros();
    char *y = wrapped();
    if (!x || !y) {
        RUN_TEST(no_room);
        return;
    }
    for (int i = 0; i < count; i++) /* the reference and emulated kernels would take minutes */
        if (paths[i].table.isa != RDK_ISA_SCALAR && paths[i].executed_by[0] == 'n')
            run(&paths[i], x, y);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(longest_row);
    RDK_MAIN_END();
}
