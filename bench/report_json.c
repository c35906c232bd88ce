/* The figures for programs. No text here needs an escape: names are checked where they are read. */
#include "bench/report.h"

#include <stdio.h>
#include <time.h>

#include "bench/host.h"
#include "bench/inputs.h"
#include "bench/team.h"
#include "tools/rootdk/machine.h"

/* Without what JSON would need an escape for. */
static const char *plain(char *text) {
    for (char *c = text; *c; c++)
        *c = *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? ' ' : *c;
    return text;
}

static void write_host(FILE *f) {
    const char *comma = "";
    char name[MACHINE_TEXT];
    machine_name(name);
    fprintf(f, "\"cpu\": \"%s\", \"os\": \"%s\", \"caches\": {", plain(name), host_system());
    for (int level = 1; level <= HOST_CACHES; level++)
        if (host_cache(level)) {
            fprintf(f, "%s\"L%d\": %zu", comma, level, host_cache(level));
            comma = ", ";
        }
    fprintf(f, "},\n\"compiler\": \"%s\",\n", RDK_BENCH_COMPILER);
}

static void write_head(FILE *f, const report *r) {
    char date[16];
    time_t seconds = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&seconds));
    fprintf(f, "{\n\"library\": \"rootdk %s\", \"arithmetic\": %d,\n", rdk_version(),
            rdk_arithmetic_version());
    write_host(f);
    fprintf(f, "\"date\": \"%s\", \"command\": \"%s\",\n", date, r->command);
}

static void write_absent(FILE *f) {
    int count;
    const peer_absence *absent = peers_absent(&count);
    fprintf(f, "\"absent\": [");
    for (int i = 0; i < count; i++)
        fprintf(f, "%s{\"peer\": \"%s\", \"reason\": \"%s\"}", i ? ", " : "", absent[i].name,
                absent[i].reason);
    fprintf(f, "],\n");
}

/* ---- The limits ------------------------------------------------------------------------------ */

static void write_limit(FILE *f, const char **comma, limit_kind kind, const char *key,
                        const char *value, double best) {
    if (!(best > 0))
        return;
    fprintf(f,
            "%s\n{\"process\": \"bench\", \"limit\": \"%s\", \"%s\": \"%s\", \"threads\": %d, "
            "\"best\": %.6e, \"unit\": \"%s\"}",
            *comma, LIMIT_NAMES[kind], key, value, team_size(), best,
            kind == LIMIT_FMA ? "FLOP/s" : "B/s");
    *comma = ",";
}

static void write_limits(FILE *f, const report *r) {
    const char *comma = "";
    fprintf(f, "\"limits\": [");
    for (rdk_isa isa = RDK_ISA_SCALAR; isa < RDK_ISA_COUNT; isa++)
        write_limit(f, &comma, LIMIT_FMA, "isa", rdk_isa_name(isa),
                    plan_peak(r->plan, isa, PLAN_ALL));
    for (limit_kind kind = LIMIT_READ; kind < LIMIT_COUNT; kind++) {
        write_limit(f, &comma, kind, "where", "memory", bandwidth_of(r, kind, true));
        write_limit(f, &comma, kind, "where", "cache", bandwidth_of(r, kind, false));
    }
    fprintf(f, "],\n");
}

/* ---- The records ----------------------------------------------------------------------------- */

static void write_shape(FILE *f, const shape *s) {
    fprintf(f, "\"work\": \"%s\", \"group\": \"%s\", \"from\": \"%s\", ", s->name, s->group,
            s->from);
    if (s->op == RDK_OP_SOFTMAX)
        fprintf(f,
                "\"op\": \"softmax\", \"rows\": %lld, \"cols\": %lld, \"log\": %s, \"bias\": %s, ",
                (long long)s->rows, (long long)s->cols, s->log ? "true" : "false",
                s->bias ? "true" : "false");
    else
        fprintf(f,
                "\"op\": \"attention\", \"batch\": %lld, \"layers\": %lld, \"q_heads\": %lld, "
                "\"kv_heads\": %lld, \"nq\": %lld, "
                "\"nk\": %lld, \"d_qk\": %lld, \"d_v\": %lld, \"causal\": %s, ",
                (long long)s->batch, (long long)s->layers, (long long)s->q_heads,
                (long long)s->kv_heads, (long long)s->nq, (long long)s->nk, (long long)s->d_qk,
                (long long)s->d_v, s->causal ? "true" : "false");
    fprintf(f, "\"flop\": %.0f, \"bytes\": %.0f, ", shape_flop(s), shape_bytes(s));
}

static void write_fractions(FILE *f, const result *r) {
    const char *comma = "";
    fprintf(f, "\"limit\": \"%s\", \"fraction_of_limit\": %.4f, \"fractions\": {",
            LIMIT_NAMES[r->limit], result_fraction(r));
    for (limit_kind i = 0; i < LIMIT_COUNT; i++)
        if (r->fractions[i] > 0) {
            fprintf(f, "%s\"%s\": %.4f", comma, LIMIT_NAMES[i], r->fractions[i]);
            comma = ", ";
        }
    fprintf(f, "}, ");
}

static void write_record(FILE *f, const result *r) {
    const contender *c = r->contender;
    fprintf(f, "{\"process\": \"bench\", ");
    write_shape(f, &c->subject->operands.shape);
    fprintf(f, "\"by\": \"%s\", \"version\": \"%s\", \"how\": \"%s\", ", c->by, c->version, c->how);
    fprintf(f, "\"dtype\": \"%s\", \"threads\": %d, ", type_name(c->subject->operands.shape.type),
            team_size());
    fprintf(f, "\"best\": %.6e, \"median\": %.6e, \"repeats\": %d, ", r->best, r->median,
            c->timing->bench.count);
    write_fractions(f, r);
    fprintf(f, "\"noisy\": %s, \"disturbed\": %s, \"checked\": true, \"error_ulp\": %.3f}",
            r->noisy ? "true" : "false", r->disturbed ? "true" : "false", c->error);
}

int report_write(const report *r, const char *path) {
    FILE *f = fopen(path, "w");
    if (f) {
        write_head(f, r);
        write_absent(f);
        write_limits(f, r);
        fprintf(f, "\"records\": [");
        for (int i = 0; i < r->result_count; i++) {
            fprintf(f, i ? ",\n" : "\n");
            write_record(f, &r->results[i]);
        }
        fprintf(f, "]\n}\n");
    }
    int failed = !f || ferror(f);
    if (f && !fclose(f) && !failed)
        return 0;
    fprintf(stderr, "bench: cannot write %s\n", path);
    return -1;
}
