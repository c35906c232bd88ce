/* Reads the file of shapes: [name] begins one, `key = value` follow, # begins a comment line. */
#include "bench/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */

static bool set_text(char *to, size_t size, const char *value) {
    if (strlen(value) >= size || strpbrk(value, "\"\\")) /* what JSON would need an escape for */
        return false;
    strcpy(to, value);
    return true;
}

static bool set_number(int64_t *to, const char *value) {
    char *end;
    long long n = strtoll(value, &end, 10);
    *to = n;
    return end != value && !*end && n > 0 && n <= 1 << 30;
}

static bool set_flag(bool *to, const char *value) {
    *to = !strcmp(value, "yes");
    return *to || !strcmp(value, "no");
}

static bool set_op(rdk_op *to, const char *value) {
    *to = !strcmp(value, "attention") ? RDK_OP_ATTENTION : RDK_OP_SOFTMAX;
    return *to == RDK_OP_ATTENTION || !strcmp(value, "softmax");
}

static bool set_type(rdk_type *to, const char *value) {
    *to = !strcmp(value, "f16") ? RDK_F16 : !strcmp(value, "bf16") ? RDK_BF16 : RDK_F32;
    return *to != RDK_F32 || !strcmp(value, "f32");
}

static bool set(shape *s, const char *key, const char *value) {
    const struct {
        const char *key;
        int64_t *number;
        bool *flag;
    } fields[] = {{"rows", &s->rows, NULL},         {"cols", &s->cols, NULL},
                  {"heads", &s->q_heads, NULL},     {"queries", &s->nq, NULL},
                  {"kv_heads", &s->kv_heads, NULL}, {"keys", &s->nk, NULL},
                  {"d_qk", &s->d_qk, NULL},         {"d_v", &s->d_v, NULL},
                  {"log", NULL, &s->log},           {"bias", NULL, &s->bias},
                  {"causal", NULL, &s->causal},     {"peers", NULL, &s->peers},
                  {"memory", NULL, &s->memory},     {"batch", &s->batch, NULL},
                  {"layers", &s->layers, NULL}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!strcmp(key, fields[i].key))
            return fields[i].flag ? set_flag(fields[i].flag, value)
                                  : set_number(fields[i].number, value);
    if (!strcmp(key, "d"))
        return set_number(&s->d_qk, value) && set_number(&s->d_v, value);
    if (!strcmp(key, "op"))
        return set_op(&s->op, value);
    if (!strcmp(key, "dtype"))
        return set_type(&s->type, value);
    if (!strcmp(key, "group"))
        return set_text(s->group, sizeof s->group, value);
    return !strcmp(key, "from") && set_text(s->from, sizeof s->from, value);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Without the blanks around it. */
static char *trim(char *text) {
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    return text;
}

static bool take_name(shape *s, char *line) {
    char *end = strrchr(line, ']');
    *s = (shape){.op = -1, .peers = true, .group = "other", .batch = 1};
    if (!end || end[1])
        return false;
    *end = 0;
    return line[1] && set_text(s->name, sizeof s->name, line + 1);
}

static bool take_value(shape *s, char *line) {
    char *equals = strchr(line, '=');
    if (!s || !equals)
        return false;
    *equals = 0;
    return set(s, trim(line), trim(equals + 1));
}

/* Whether all that the operation needs is there. Without a number of heads for the keys,
 * each query head has its own. The layers of a model share no cache. */
static bool complete(shape *s) {
    if (s->op == RDK_OP_SOFTMAX)
        return s->rows && s->cols;
    if (!s->kv_heads)
        s->kv_heads = s->q_heads;
    s->memory = s->memory || s->layers;
    return s->op == RDK_OP_ATTENTION && s->q_heads && s->q_heads % s->kv_heads == 0 && s->nq &&
           s->nk && s->d_qk && s->d_v && s->d_qk <= RDK_MAX_HEAD_DIM && s->d_v <= RDK_MAX_HEAD_DIM;
}

static int wrong(const char *path, int line, const char *what) {
    fprintf(stderr, "bench: %s:%d: %s\n", path, line, what);
    return -1;
}

static int read_lines(FILE *f, const char *path, shape *list, int most) {
    char text[512];
    int count = 0, line = 0;
    while (fgets(text, sizeof text, f)) {
        char *rest = trim(text);
        line++;
        if (!*rest || *rest == '#')
            continue;
        if (*rest == '[') {
            if (count && !complete(&list[count - 1]))
                return wrong(path, line, "the shape before is not complete");
            if (count == most)
                return wrong(path, line, "too many shapes");
            if (!take_name(&list[count++], rest))
                return wrong(path, line, "not the name of a shape");
        } else if (!take_value(count ? &list[count - 1] : NULL, rest)) {
            return wrong(path, line, "no such key, or not a value for it");
        }
    }
    if (count && !complete(&list[count - 1]))
        return wrong(path, line, "the last shape is not complete");
    return count;
}

int shapes_read(const char *path, shape *list, int most) {
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        return -1;
    }
    int count = read_lines(f, path, list, most);
    fclose(f);
    return count;
}

int shapes_choose(shape *list, int count, const char *text) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!text || strstr(list[i].name, text))
            list[kept++] = list[i];
    if (!kept)
        fprintf(stderr, "bench: no work has that name\n");
    return kept;
}
