/* The CPU's name and features: by CPUID on x86; elsewhere the name by /proc/cpuinfo, and the
 * features that the architecture always has. */
#include "tools/rootdk/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- The name -------------------------------------------------------------------------------- */

/* The value of the first line "KEY : VALUE" of /proc/cpuinfo. */
static bool from_cpuinfo(const char *key, char text[MACHINE_TEXT]) {
    char line[MACHINE_TEXT];
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f)
        return false;
    while (!found && fgets(line, sizeof line, f)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) || !strchr("\t :", line[length]))
            continue;
        const char *value = line + length;
        value += strspn(value, "\t :");
        snprintf(text, MACHINE_TEXT, "%.*s", (int)strcspn(value, "\n"), value);
        found = *text != 0;
    }
    fclose(f);
    return found;
}

static const char *name_from_cpuinfo(char text[MACHINE_TEXT]) {
    static const char *const KEYS[] = {"model name", "Model", "cpu model",
                                       "uarch",      "cpu",   "Hardware"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (from_cpuinfo(KEYS[i], text))
            return text;
    char part[MACHINE_TEXT];
    if (from_cpuinfo("CPU implementer", text) && from_cpuinfo("CPU part", part)) {
        char both[2 * MACHINE_TEXT];
        snprintf(both, sizeof both, "implementer %.60s, part %.60s", text, part);
        memcpy(text, both, MACHINE_TEXT - 1);
        text[MACHINE_TEXT - 1] = 0;
        return text;
    }
    snprintf(text, MACHINE_TEXT, "unknown");
    return text;
}

/* ---- x86 ------------------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

const char *machine_architecture(void) {
    return sizeof(void *) == 8 ? "x86-64" : "x86";
}

const char *machine_name(char text[MACHINE_TEXT]) {
    uint32_t brand[13] = {0};
    if ((uint32_t)__get_cpuid_max(0x80000000, 0) < 0x80000004)
        return name_from_cpuinfo(text);
    for (uint32_t i = 0; i < 3; i++)
        __cpuid(0x80000002 + i, brand[4 * i], brand[4 * i + 1], brand[4 * i + 2], brand[4 * i + 3]);
    char padded[sizeof brand];
    memcpy(padded, brand, sizeof brand);
    const char *name = padded + strspn(padded, " ");
    size_t length = strlen(name);
    while (length && name[length - 1] == ' ')
        length--;
    snprintf(text, MACHINE_TEXT, "%.*s", (int)length, name);
    return *text ? text : name_from_cpuinfo(text);
}

static uint32_t enabled_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

const machine_feature *machine_features(size_t *count) {
    static const struct {
        rdk_isa isa;
        const char *name;
        enum { LEAF1_ECX, LEAF7_EBX, XCR0 } where;
        uint32_t mask;
    } NEEDS[] = {
        {RDK_ISA_AVX2, "avx", LEAF1_ECX, 1u << 28},
        {RDK_ISA_AVX2, "avx2", LEAF7_EBX, 1u << 5},
        {RDK_ISA_AVX2, "fma", LEAF1_ECX, 1u << 12},
        {RDK_ISA_AVX2, "f16c", LEAF1_ECX, 1u << 29},
        {RDK_ISA_AVX2, "ymm state", XCR0, 0x6},
        {RDK_ISA_AVX512, "avx512f", LEAF7_EBX, 1u << 16},
        {RDK_ISA_AVX512, "avx512bw", LEAF7_EBX, 1u << 30},
        {RDK_ISA_AVX512, "avx512dq", LEAF7_EBX, 1u << 17},
        {RDK_ISA_AVX512, "avx512vl", LEAF7_EBX, 1u << 31},
        {RDK_ISA_AVX512, "zmm state", XCR0, 0xe6},
    };
    enum { COUNT = sizeof NEEDS / sizeof NEEDS[0] };
    static machine_feature features[COUNT];
    uint32_t word[3] = {0}, a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
        word[LEAF1_ECX] = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        word[LEAF7_EBX] = b;
    if (word[LEAF1_ECX] & 1u << 27) /* OSXSAVE */
        word[XCR0] = enabled_state();
    for (size_t i = 0; i < COUNT; i++)
        features[i] = (machine_feature){NEEDS[i].isa, NEEDS[i].name, NEEDS[i].where == XCR0,
                                        (word[NEEDS[i].where] & NEEDS[i].mask) == NEEDS[i].mask};
    *count = COUNT;
    return features;
}

/* ---- Others ---------------------------------------------------------------------------------- */

#elif defined(__aarch64__)
const char *machine_architecture(void) {
    return "AArch64";
}

const char *machine_name(char text[MACHINE_TEXT]) {
    return name_from_cpuinfo(text);
}

const machine_feature *machine_features(size_t *count) {
    static const machine_feature FEATURES[] = {{RDK_ISA_NEON, "asimd", false, true}};
    *count = 1; /* the architecture's base */
    return FEATURES;
}

#else
const char *machine_architecture(void) {
    return "another architecture";
}

const char *machine_name(char text[MACHINE_TEXT]) {
    return name_from_cpuinfo(text);
}

const machine_feature *machine_features(size_t *count) {
    *count = 0;
    return NULL;
}
#endif
