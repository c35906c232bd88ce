/* A library with only some ISAs and operations: left_out ISA,... OPERATION,...
 *
 * What is in it gives the golden hashes on every ISA of this CPU. What is not says so, and
 * writes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h" /* beside the golden cases, which the test is told */

static int checks, failed;

static void check(int fine, const char *what, const char *name) {
    printf("%s: %s: %s\n", name, what, fine ? "ok" : "WRONG");
    checks++;
    failed += !fine;
}

/* Whether `name` is one of the words of `list`, which have commas between them. */
static int has(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
            return 1;
    }
    return 0;
}

static rdk_status softmax_on(void *isa, const rdk_softmax_desc *desc) {
    rdk_softmax_desc d = *desc;
    d.isa = *(const rdk_isa *)isa;
    return rdk_softmax(&d);
}

static rdk_status attention_on(void *isa, const rdk_attention_desc *desc) {
    rdk_attention_desc d = *desc;
    d.isa = *(const rdk_isa *)isa;
    return rdk_attention(&d);
}

static int gives_golden_hashes(const golden_op *op, rdk_isa isa) {
    const golden_runner run = {softmax_on, attention_on, &isa};
    uint64_t total = GOLDEN_SEED;
    for (int i = 0; i < op->count(); i++)
        total = golden_add(total, op->hash(i, &run));
    return total == golden_expected_total(op);
}

static void check_isa(rdk_isa isa, const char *isas, const char *operations) {
    const char *name = rdk_isa_name(isa);
    const int available = rdk_isa_available(isa) == RDK_OK;
    if (!has(isas, name)) {
        check(rdk_isa_available(isa) == RDK_ERR_ISA_UNAVAILABLE, "left out", name);
        check(rdk_set_isa(isa) == RDK_ERR_ISA_UNAVAILABLE, "cannot be chosen", name);
        check(rdk_get_isa() == RDK_ISA_SCALAR, "scalar is chosen instead", name);
        rdk_set_isa(RDK_ISA_DEFAULT);
    } else if (!available) {
        printf("SKIP: this CPU does not have %s\n", name);
    }
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        if (available && has(operations, GOLDEN_OPS[op]->name))
            check(gives_golden_hashes(GOLDEN_OPS[op], isa), name, GOLDEN_OPS[op]->name);
}

/* A good call, were the operation there. */
static rdk_status call_softmax(float *out) {
    static const float x[2] = {1, 2};
    const rdk_softmax_desc d = {.size = sizeof d, .rows = 1, .cols = 2, .x = x, .y = out};
    return rdk_softmax(&d);
}

static rdk_status call_attention(float *out) {
    static const float x[1] = {1};
    static char scratch[1 << 20];
    const rdk_const_view in = {.data = x};
    const rdk_attention_desc d = {.size = sizeof d,
                                  .batch = 1,
                                  .q_heads = 1,
                                  .kv_heads = 1,
                                  .q_len = 1,
                                  .kv_len = 1,
                                  .d_qk = 1,
                                  .d_v = 1,
                                  .q = in,
                                  .k = in,
                                  .v = in,
                                  .out = {.data = out},
                                  .scratch = scratch,
                                  .scratch_size = sizeof scratch};
    return rdk_attention(&d);
}

static void check_operation(rdk_op op, const char *operations) {
    const char *name = GOLDEN_OPS[op]->name;
    const int there = has(operations, name);
    float out[2] = {5, 5};
    const rdk_status status = op == RDK_OP_SOFTMAX ? call_softmax(out) : call_attention(out);
    check(!rdk_kernel_name(op) == !there, there ? "has a kernel" : "has no kernel", name);
    check(status == (there ? RDK_OK : RDK_ERR_OP_UNAVAILABLE), "status of a good call", name);
    check((out[0] != 5) == there, there ? "writes" : "writes nothing", name);
}

static void check_functions_without_operation(const char *operations) {
    size_t bytes = 77;
    if (!has(operations, "softmax"))
        check(rdk_softmax(NULL) == RDK_ERR_OP_UNAVAILABLE, "NULL", "softmax");
    if (has(operations, "attention"))
        return;
    const char *field = "?";
    check(rdk_attention_check(NULL, &field) == RDK_ERR_OP_UNAVAILABLE && !*field, "check",
          "attention");
    check(rdk_attention(NULL) == RDK_ERR_OP_UNAVAILABLE, "NULL", "attention");
    check(rdk_attention_scratch(NULL, &bytes) == RDK_ERR_OP_UNAVAILABLE, "scratch", "attention");
    check(bytes == 77, "scratch writes nothing", "attention");
}

int main(int argc, char **argv) {
    if (argc != 3)
        return EXIT_FAILURE;
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        check_isa(isa, argv[1], argv[2]);
    for (rdk_op op = 0; op < RDK_OP_COUNT; op++)
        check_operation(op, argv[2]);
    check_functions_without_operation(argv[2]);
    printf("%d checks, %d of them failed\n", checks, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
