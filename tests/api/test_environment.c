/* The effect of RDK_ISA in the environment. Run once per value, and once as a setuid program. */
#define _GNU_SOURCE
#include "tests/lib/suite.h"

#include <string.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#include "dispatch/cpu.h"
#include "dispatch/dispatch.h"
#include "tests/api/variable.h"

static const char *value; /* of RDK_ISA */
static int privileged;    /* a setuid program: the value must have been ignored */

static rdk_status expected_status(rdk_isa *isa) {
    *isa = rdk_best_isa(rdk_cpu_flags());
    if (privileged || !value || !*value)
        return RDK_OK;
    rdk_isa named = RDK_ISA_DEFAULT;
    rdk_status status = rdk_isa_from_name(value, &named);
    if (status == RDK_OK)
        status = rdk_isa_available(named);
    if (status != RDK_OK)
        *isa = RDK_ISA_SCALAR;
    else if (named != RDK_ISA_DEFAULT)
        *isa = named;
    return status;
}

TEST environment_is_honoured(void) {
    rdk_isa isa;
    rdk_isa got = rdk_get_isa();
    rdk_status status = rdk_isa_status(), expected = expected_status(&isa);
    printf("\nRDK_ISA=%s%s: %s, \"%s\"\n", value ? value : "(not set)",
           privileged ? " in a setuid program" : "", rdk_kernel_name(RDK_OP_SOFTMAX),
           rdk_status_string(status));
    ASSERT_EQ(expected, status);
    ASSERT_EQ(isa, got);
    ASSERT(strstr(rdk_kernel_name(RDK_OP_SOFTMAX), rdk_isa_name(isa)) != NULL);
    PASS();
}

TEST later_changes_do_not_matter(void) {
    rdk_isa before = rdk_get_isa();
    set_variable("RDK_ISA", before == RDK_ISA_SCALAR ? "default" : "scalar");
    ASSERT_EQ(before, rdk_get_isa());
    PASS();
}

TEST set_isa_comes_after(void) {
    ASSERT_EQ(RDK_OK, rdk_set_isa(RDK_ISA_DEFAULT));
    ASSERT_EQ(rdk_best_isa(rdk_cpu_flags()), rdk_get_isa());
    ASSERT_EQ(RDK_OK, rdk_isa_status());
    PASS();
}

TEST program_is_privileged(void) {
#ifdef __linux__
    if (getauxval(AT_SECURE))
        PASS();
#endif
    privileged = 0;
    RDK_SKIP("the system does not honour the setuid bit here (nosuid?)");
}

SUITE(environment) {
    if (privileged)
        RUN_TEST(program_is_privileged);
    RUN_TEST(environment_is_honoured);
    RUN_TEST(later_changes_do_not_matter);
    RUN_TEST(set_isa_comes_after);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv) {
    GREATEST_MAIN_BEGIN();
    value = getenv("RDK_ISA");
    privileged = getenv("RDK_TEST_SETUID") != NULL;
    RUN_SUITE(environment);
    RDK_MAIN_END();
}
