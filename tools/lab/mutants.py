#!/usr/bin/env python3
"""Makes small mistakes in the kernels, one at a time, and demands that the tests see each.

    mutants.py --build DIR --work DIR --size full|ci [--seed N] [--only TARGET] [--list]

Mistakes come from rules (OPERATORS) applied wherever they match; a seed picks some for each target, that is
each file the compiler is given, with all its headers. What is picked hangs on the seed and on the line itself,
not on other lines, so that a change of a kernel changes few mutants. Only the one object is compiled again, and
linked before the build's own archives. Tests run quickest first, until one fails.

A mutant that compiles to the same object is none, nor is one that does not compile; another takes its place.
One that survives must be in EQUIVALENT, with the reason, and there may be MOST_SURVIVORS of them.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

MOST_SURVIVORS = 2
SEED = "0x2024"  # of what the tests draw: who sees a mutant hangs on the kernels alone
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.append(os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True  # nothing is left in the source tree
import isas  # noqa: E402

REPORT = os.path.join(ROOT, "tools", "lab", "report.py")

# ---- What is mutated ---------------------------------------------------------------------------------------

NATIVE, SIMDE = "native", "SIMDe"
CONTRACT = "kernels/contract.h"
LISTS = ("kernels/isas.h", "kernels/kernels.h")  # of ISAs and signatures: no arithmetic

OPERATIONS = ("softmax", "attention")
ISAS = [isa for isa in isas.read() if isa.emulated or isa.family in ("", "x86_64")]
PATHS = {isa.name: isa.name + " (SIMDe)" * isa.emulated for isa in ISAS[1:]}
HOST = next(isa.name for isa in ISAS[1:] if not isa.emulated)  # the vector ISA that runs as it is
# (full, ci) by operation, for the scalar path, HOST and the others
COUNTS = {"softmax": ((3, 1), (4, 1), (4, 1)), "attention": ((3, 1), (6, 2), (5, 1))}


def kernel_of(operation, isa):
    return ("emulated_" if isa.emulated else "kernels_") + isa.name, f"kernels/{operation}/{operation}_{isa.name}.c"


def targets_of(isa):
    for operation in OPERATIONS:
        kind = 0 if isa is ISAS[0] else 1 if isa.name == HOST else 2
        yield f"{operation} {isa.name}", (isa.title, SIMDE if isa.emulated else NATIVE, [kernel_of(operation, isa)],
                                          *COUNTS[operation][kind])


# name: (row of the table, executed by, objects as (part of the output's name, source), full, ci)
TARGETS = {
    **{name: target for isa in ISAS[1:] + ISAS[:1] for name, target in targets_of(isa)},
    "attention leaves": ("scalar", NATIVE, [("kernels_scalar", "kernels/attention/state.c"),
                                            ("kernels_scalar", "kernels/attention/problem.c")], 2, 1),
    # The contract in all files at once: every path stays equal to every other.
    "contract": ("contract", NATIVE, [kernel_of(operation, isa) for isa in ISAS if isa.name in (ISAS[0].name, HOST)
                                      for operation in OPERATIONS], 3, 1),
    "dispatch softmax": ("dispatch", NATIVE, [("rootdk_inside", "dispatch/softmax.c")], 1, 1),
    "dispatch attention": ("dispatch", NATIVE, [("rootdk_inside", "dispatch/attention.c")], 1, 1),
    "dispatch extent": ("dispatch", NATIVE, [("rootdk_inside", "dispatch/extent.c")], 1, 0),
    "dispatch choice": ("dispatch", NATIVE, [("rootdk_inside", "dispatch/dispatch.c")], 1, 0),
}

# Files that change no result, whatever they say: what is fetched ahead, how work is cut and what is chosen.
SPEED_FILES = {"kernels/attention/plan.h", "kernels/attention/plan.c", "kernels/attention/walk/fetch.h",
               "kernels/attention/tile/stream.h"}
# The same within a file.
SPEED_FUNCTIONS = {
    "is_worth_packing": "which of two ways to read the same values", "fill_strips": "how wide tiles are",
    "asm_tile": "which of two tiles that give the same bits",
    "asm_tile_of": "which of two tiles that give the same bits",
    "asm_thin": "which of two functions that give the same bits",
    "asm_thin_of": "which of two functions that give the same bits",
    "fetches_in_a_row": "which of two functions that give the same bits",
}
# What only tiles by hand do: where tiles are emulated, in C, it is left before it changes anything.
ASM_FUNCTIONS = {"write_with_values"}
SPEED_LINES = re.compile(
    r"__builtin_prefetch|stream_fetch|\bfetch|\bprefetch|\bf\.left|touches_pages|p->next|->later|later_bias|r\.later|short_rows|FETCH_BYTES"
    r"|SUMS_BESIDE =|fill_strips\(|< TILE_KEYS_OF\[0\]|is_far|__asm__|_Pragma"
    r"|from_memory|thin_panel|same_layout|int64_t times = s->at_once|by_chain = !is_thin"
    r"|TILE_HOLD\([45]\)"  # no tile is five rows and five vectors large
    r"|lane < end_of\(g, i\)( && !isnan|\)$)"  # more looked at: more goes to the reference, which gives the same bits
    r"|for \(int lane = s->key, first; lane < end;"  # the last keys once more
    r"|r < rows && i < vectors"  # sums outside a tile are stored nowhere: the compiler leaves them out
    r"|sizeof \w+\[|\bX\(\d|\[\d+\] = \w")  # lists: what is wrong there does not compile

# Mutants that are the right program in other words: (file, operator, part of the line, why).
TO_REFERENCE = "more rows go to the reference, which gives the same bits, slower"
LEFT_TO_OTHERS = "the loop for all types does what is left, with the same bits"
EQUIVALENT = [
    ("kernels/softmax/softmax_rows.h", "logic", "r->T > RDK_HOT || (r->T > -INFINITY && r->T < -RDK_HOT)",
     TO_REFERENCE),
    ("kernels/attention/walk/few.h", "relation", "lane + s->keys * times > end",
     "the same keys, one group after another instead of all in one call"),
    ("kernels/attention/walk/weights.h", "logic", "has_plain_weights(r) ? (float)r->closed.M : 0",
     "rows without plain weights have none of these written, whatever their M"),
    ("dispatch/attention.c", "relation", "if (d->batch <= 1 || !rows)",
     "the only batch has index 0, and 0 times any stride is 0"),
    ("kernels/softmax/softmax_rows.h", "logic", "T > -INFINITY && B > RDK_HOT", TO_REFERENCE),
    ("kernels/softmax/softmax_rows.h", "relation", "v < VECTORS; v += F32X16_IN_FLIGHT", "the last time for no vector"),
    ("kernels/softmax/softmax_rows.h", "relation", "j + 8 <= visible", LEFT_TO_OTHERS),
    ("kernels/softmax/softmax_rows.h", "constant", "j + 8 <= visible", LEFT_TO_OTHERS),
    ("kernels/softmax/softmax_rows.h", "drop", "j = log_eights(r, &c);", LEFT_TO_OTHERS),
]

# ---- Which tests see it --------------------------------------------------------------------------------------

GOLDEN = ("tests/tool/test_golden",)


def bits(operation, cases, path):
    return (f"tests/{operation}/test_bits", "--cases", str(cases)) + (("--path", path) if path else ())


def plan_of(target):
    """The tests, as (command, environment), quickest first."""
    operation, _, isa = target.partition(" ")
    path = PATHS.get(isa)
    if operation == "dispatch":
        return [(("tests/api/test_" + t,), {}) for t in ("input", "attention_input", "extent", "dispatch")] + \
            [(("tests/api/test_environment",), {"RDK_ISA": name}) for name in ("Scalar", *PATHS, "nonsense")] + \
            [(bits("softmax", 500, None), {}), (bits("attention", 500, None), {})]
    if operation == "contract":
        commands = [GOLDEN, bits("softmax", 500, HOST), bits("attention", 500, HOST),
                    ("tests/attention/test_accuracy",), ("tests/softmax/test_corners",),
                    ("tests/attention/test_corners",), ("tests/softmax/test_accuracy",),
                    bits("softmax", 20000, HOST), bits("attention", 20000, HOST)]
    elif operation == "softmax":
        commands = [GOLDEN, bits(operation, 500, path), ("tests/softmax/test_memory",),
                    ("tests/fpenv/test_environment",), ("tests/softmax/test_corners",), bits(operation, 20000, path)]
    else:
        commands = [GOLDEN, bits(operation, 500, path), ("tests/attention/test_corners",),
                    ("tests/attention/test_invariance",), bits(operation, 20000, path)]
    if path == HOST:
        commands.append(bits(operation, 200000, path))
    return [(command, {}) for command in commands]


# ---- Operators: each gives (first, end, text) for a line of code ----------------------------------------------

def relations(line):
    for m in re.finditer(r" (<=|>=|<|>|==|!=) ", line):
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}[m.group(1)]
        yield m.start(1), m.end(1), other


def constants(line):
    number = r"(?<![\w.])(0x[0-9a-f]+(?:\.[0-9a-f]+)?p[+-]\d+f?|0x[0-9a-f]+|\d+)u?(?![\w.])"
    for m in re.finditer(number, line):
        text = m.group(1)
        mantissa = re.match(r"(0x[0-9a-f]+(?:\.[0-9a-f]+)?)(p.*)", text)
        if mantissa: # one more in the last digit written
            digits = mantissa.group(1).replace(".", "")
            more = "0x%x" % (int(digits, 16) + 1)
            point = mantissa.group(1).find(".")
            more = more[:point] + "." + more[point:] if point > 0 else more
            yield m.start(1), m.end(1), more + mantissa.group(2)
        elif text.startswith("0x"):
            yield m.start(1), m.end(1), "0x%x" % (int(text, 16) + 1)
        else:
            yield m.start(1), m.end(1), str(int(text) + 1)


def signs(line):
    for m in re.finditer(r"(?<=[\w)\]]) ([+-]) (?=[\w(*-])", line):
        yield m.start(1), m.end(1), {"+": "-", "-": "+"}[m.group(1)]


def logic(line):
    for m in re.finditer(r" (&&|\|\|) ", line):
        yield m.start(1), m.end(1), {"&&": "||", "||": "&&"}[m.group(1)]


def arguments_at(line, start):
    """The arguments of the call whose ( is at start - 1, as (first, end); None if it ends on another line."""
    depth, first, found = 0, start, []
    for i in range(start, len(line)):
        c = line[i]
        if c in "([{":
            depth += 1
        elif depth and c in ")]}":
            depth -= 1
        elif c == ")":
            return found + [(first, i)]
        elif c == "," and not depth:
            found.append((first, i))
            first = i + 1
    return None


def calls(line, names):
    for m in re.finditer(r"\b(" + names + r")\(", line):
        where = arguments_at(line, m.end())
        if where:
            yield m, where, [line[a:b].strip() for a, b in where]


ORDERED = (r"\w*(?:shuffle\w*|unpack\w*|permute2f128|movehl|set_m128|andnot|sub|cmpgt|blendv|combine|zip|trn|"
           r"insertf\d*x?\d*)_?\w*|f32x16_select|f32x16_le|f32x16_sub|f64x8_sub|f32x16_narrow|f32x16_fms")


def swaps(line):
    for m, where, texts in calls(line, ORDERED):
        if len(texts) < 2 or " " in line[:m.start()].split("(")[0].strip() and line.startswith("RDK_INLINE"):
            continue
        a, b = (1, 2) if m.group(1) == "f32x16_select" else (0, 1)
        if texts[a] != texts[b]:
            yield where[a][0], where[b][1], f" {texts[b]}, {texts[a]}".lstrip() if a == 0 else f" {texts[b]}, {texts[a]}"


UNFUSED = {
    "_mm256_fmadd_ps": "_mm256_add_ps(_mm256_mul_ps({0}, {1}), {2})",
    "_mm256_fmsub_ps": "_mm256_sub_ps(_mm256_mul_ps({0}, {1}), {2})",
    "_mm512_fmadd_ps": "_mm512_add_ps(_mm512_mul_ps({0}, {1}), {2})",
    "_mm512_fmsub_ps": "_mm512_sub_ps(_mm512_mul_ps({0}, {1}), {2})",
    "vfmaq_f32": "vaddq_f32(vmulq_f32({1}, {2}), {0})",
    "f32x16_fma": "f32x16_add(f32x16_mul({0}, {1}), {2})",
    "f32x16_fms": "f32x16_sub(f32x16_mul({0}, {1}), {2})",
    "tile_fma": "tile_add(tile_mul({0}, {1}), {2})",
    "rdk_fma": "(({0}) * ({1}) + ({2}))",
}


def unfuse(line):
    for m, where, texts in calls(line, "|".join(UNFUSED)):
        if len(texts) == 3 and not re.match(r"(RDK_INLINE|static)", line):
            yield m.start(), where[-1][1] + 1, UNFUSED[m.group(1)].format(*texts)


def extremes(line):
    for m in re.finditer(r"(_mm\d*_|v)(max|min)(q?_)", line):
        yield m.start(2), m.end(2), {"max": "min", "min": "max"}[m.group(2)]


def tails(line):
    m = re.match(r"\s*if \((.*)\)( \{)?$", line)
    if m and re.fullmatch(r"\w+ < [\w>.-]+|rest|\w+ \+ \w+ <= [\w>.-]+", m.group(1)):
        yield m.start(1), m.end(1), "0"


def dropped(line):
    m = re.match(r"\s+(?!return|break|continue|goto|typedef|enum|case|default|else|for|while)(.+);$", line)
    if not m or re.match(r"(const |static )?[a-z]\w*( \*+| )(const )?\w+(\[.*\])*( = .*|, .*)?$", m.group(1)):
        return # a declaration
    if re.match(r"[\w>.\[\]*()+-]+ [-+*/]?= |\w+\(|EACH |\w+(\+\+|--)$", m.group(1)) and \
            line.count("(") == line.count(")"):
        yield m.start(1), m.end(1), ""


OPERATORS = {"relation": relations, "constant": constants, "sign": signs, "logic": logic, "swap": swaps,
             "unfuse": unfuse, "extreme": extremes, "tail": tails, "drop": dropped}

# ---- Sites -------------------------------------------------------------------------------------------------------

Site = collections.namedtuple("Site", "rank operator file line column end text function before")


def blank(text):
    """Code alone: comments and strings become spaces, directives too but for RDK_ constants."""
    keep = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', keep, text, flags=re.S)
    lines, continued = [], False
    for line in text.split("\n"):
        directive = line.lstrip().startswith("#") and not continued
        if directive and not re.match(r"#define RDK_\w+ ", line):
            line = " " * len(line)
        continued = line.endswith("\\") or (directive and continued)
        lines.append(line[:-1].rstrip() if line.endswith("\\") else line)
    return lines


def files_of(source):
    """The file and its headers of this project."""
    seen, todo = [], [source]
    while todo:
        name = todo.pop()
        if name in seen or not os.path.exists(os.path.join(ROOT, name)):
            continue
        seen.append(name)
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            todo += re.findall(r'#include "((?:kernels|dispatch)/[^"]+)"', f.read())
    return seen


def sites_in(name, salt):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        text = f.read()
    function, times = "", collections.Counter()
    for number, (line, raw) in enumerate(zip(blank(text), text.split("\n"))):
        top = re.match(r"[A-Za-z].*?\b(\w+)\(", line)
        if top:
            function = top.group(1)
        times[line] += 1
        if function in SPEED_FUNCTIONS or SPEED_LINES.search(raw) or re.match(r"\s*(static )?const \w+ \w+\[", line):
            continue
        if line and not line[0].isspace() and not line.startswith("#define"):
            continue  # signatures, types, lists of instances
        for operator, find in OPERATORS.items():
            for n, (column, end, new) in enumerate(find(line)):
                key = f"{salt}|{operator}|{name}|{line.strip()}|{times[line]}|{n}"
                rank = hashlib.sha256(key.encode()).hexdigest()
                yield Site(rank, operator, name, number + 1, column, end, new, function, raw)


def sites_of(target, seed):
    files = {CONTRACT} if target == "contract" else \
        {f for _, source in TARGETS[target][2] for f in files_of(source)} - {CONTRACT}
    if target == "attention leaves":  # the other kernels have these headers, too
        files = {f for f in files if f.endswith(".c")}
    unreached = ASM_FUNCTIONS if TARGETS[target][1] == SIMDE else ()
    return sorted(s for f in sorted(files) if f not in SPEED_FILES and f not in LISTS and not f.endswith("inline.h")
                  for s in sites_in(f, f"{seed}|{target}") if s.function not in unreached)


def mutated(site):
    with open(os.path.join(ROOT, site.file), encoding="utf-8") as f:
        lines = f.read().split("\n")
    line = lines[site.line - 1]
    lines[site.line - 1] = line[:site.column] + site.text + line[site.end:]
    return "\n".join(lines), lines[site.line - 1]


# ---- Building and running ------------------------------------------------------------------------------------------

class Build:
    def __init__(self, build, work):
        self.build, self.work = os.path.abspath(build), os.path.abspath(work)
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            self.commands = json.load(f)
        self.links = {}

    def has(self, target):
        return all(self.entry(*o) for o in TARGETS[target][2])

    def entry(self, part, source):
        for e in self.commands:
            if part in e["output"] and os.path.normpath(os.path.join(self.build, e["file"])).endswith("/" + source):
                return e
        return None

    def compile(self, entry, source, overlay, out):
        """An object from `source`, with files of `overlay` in place of the project's; None if it is no C."""
        words = entry["command"].split()
        for option in ("-MQ", "-MF", "-o", "-c"):
            at = words.index(option)
            del words[at:at + 2]
        words.remove("-MD")
        here = os.path.join(overlay, source)
        if not os.path.exists(here):
            here = os.path.join(ROOT, source)
        words[1:1] = ["-I", overlay]
        done = subprocess.run(words + ["-w", "-o", out, "-c", here], cwd=self.build, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        return out if done.returncode == 0 else None

    def objects(self, target, site):
        """The objects that differ; [] if none does, None if it does not compile."""
        overlay = os.path.join(self.work, "overlay")
        subprocess.run(["rm", "-rf", overlay], check=True)
        where = os.path.join(overlay, site.file)
        os.makedirs(os.path.dirname(where))
        with open(where, "w", encoding="utf-8") as f:
            f.write(mutated(site)[0])
        objects = []
        for i, (part, source) in enumerate(TARGETS[target][2]):
            entry = self.entry(part, source)
            o = self.compile(entry, source, overlay, os.path.join(self.work, f"mutant{i}.o"))
            if not o:
                return None
            if self.code(o) != self.code(os.path.join(self.build, entry["output"])):
                objects.append(o)
        return objects

    def code(self, o):
        with open(o, "rb") as f:
            return re.sub(rb"[\w./-]*\.c\0", b"", f.read())  # but for the name of its source

    def link(self, program, objects):
        if program not in self.links:
            ninja = os.environ.get("NINJA", "ninja")
            out = subprocess.run([ninja, "-C", self.build, "-t", "commands", program], check=True,
                                 stdout=subprocess.PIPE, universal_newlines=True).stdout
            self.links[program] = out.strip().splitlines()[-1].split()
        words = list(self.links[program])
        at = words.index("-o")
        out = os.path.join(self.work, "program")
        words[at + 1:at + 2] = [out] + objects
        subprocess.run(words, cwd=self.build, check=True)
        return out

    def run(self, command, environment, objects, seconds):
        """Whether it passed, and what it said."""
        program = self.link(command[0], objects)

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        child = subprocess.Popen([program, *command[1:]], cwd=self.build, env={**os.environ, "RDK_SEED": SEED, **environment},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 preexec_fn=limit, start_new_session=True)
        try:
            out = child.communicate(timeout=20 * seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # its own session
            out = child.communicate()[0]
        return child.returncode == 0, out.decode(errors="replace")


def name_of(command, environment):
    words = [os.path.basename(command[0])] + [f"{k}={v}" for k, v in environment.items()]
    return " ".join(words + [w for w in command[1:] if w.isdigit()])


def judge(build, target, objects, limits):
    """The test that caught it, or None."""
    for command, environment in plan_of(target):
        passed, _ = build.run(command, environment, objects, limits.get(command, 60))
        if not passed:
            return name_of(command, environment)
    return None


def sound(build, targets):
    """Every test passes without a mutant; returns how many seconds of CPU each may take with one."""
    limits = {}
    for target in targets:
        for command, environment in plan_of(target):
            if command in limits or "200000" in command:
                continue
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            passed, out = build.run(command, environment, [], 600)
            if not passed:
                print(out)
                sys.exit(f"mutants: {name_of(command, environment)} fails without a mutant")
            taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
            limits[command] = int(3 * taken) + 5
    return limits


# ---- The sample ----------------------------------------------------------------------------------------------------

def known(site):
    for file, operator, part, why in EQUIVALENT:
        if site.file == file and site.operator == operator and part in site.before:
            return why
    return None


class Picker:
    """Hands out a target's sites so that operators and files come in turn, by rank within each."""

    def __init__(self, target, seed):
        turn = lambda operator: hashlib.sha256(f"{seed}|{target}|{operator}".encode()).hexdigest()
        self.turn = {operator: turn(operator) for operator in OPERATORS}
        self.operators, self.files = collections.Counter(), collections.Counter()

    def order(self, sites):
        left = list(sites)
        while left:
            best = min(left, key=lambda s: (self.operators[s.operator], self.turn[s.operator],
                                            self.files[s.file], s.rank))
            left.remove(best)
            yield best

    def took(self, site):
        self.operators[site.operator] += 1
        self.files[site.file] += 1


def show(site):
    return f"{site.file}:{site.line} {site.operator}: {site.before.strip()}  ->  {mutated(site)[1].strip()}"


def try_target(build, target, count, seed, limits):
    """(site, who caught it or None) of `count` mutants."""
    results, picker = [], Picker(target, seed)
    for site in picker.order(sites_of(target, seed)):
        if len(results) == count:
            break
        start = time.time()
        objects = build.objects(target, site)
        if not objects:
            why = "does not compile" if objects is None else "the same object"
            print(f"[{target}] {show(site)}: no mutant, {why}", flush=True)
            continue
        picker.took(site)
        caught = judge(build, target, objects, limits)
        why = f"caught by {caught}" if caught else f"SURVIVED ({known(site) or 'not known to be equivalent'})"
        print(f"[{target}] {show(site)}: {why}, {time.time() - start:.1f} s", flush=True)
        results.append((site, caught))
    return results


def note(row, by, results, seconds, too_many):
    caught = sum(1 for _, c in results if c)
    equivalent = sum(1 for s, c in results if not c and known(s))
    strangers = len(results) - caught - equivalent
    text = f"{equivalent} equivalent" if equivalent else ""
    if too_many:
        text = (text + f" more than {MOST_SURVIVORS} survivors").strip()
    subprocess.run([sys.executable, REPORT, "note", "mutants", "--what", f"{row}: mutants caught", "--by", by,
                    "--cases", f"{len(results)} mutants", "--passed", str(caught),
                    "--failed", str(strangers + too_many), "--seconds", str(int(seconds)), "--note", text],
                   check=True, cwd=ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", required=True, help="a build of the project with its tests")
    parser.add_argument("--work", required=True, help="where mutants are made")
    parser.add_argument("--size", choices=("full", "ci"), default="full")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", help="one target")
    parser.add_argument("--count", type=int, help="so many of each target")
    parser.add_argument("--list", action="store_true", help="print all sites")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    build = Build(options.build, options.work)
    targets = [t for t in TARGETS if build.has(t) and options.only in (None, t)]
    if options.list:
        for target in targets:
            for site in sites_of(target, options.seed):
                print(f"[{target}] {show(site)}")
        return 0
    limits, rows = sound(build, targets), collections.OrderedDict()
    for target in targets:
        row, by, _, full, ci = TARGETS[target]
        start = time.time()
        count = options.count or (full if options.size == "full" else ci)
        results = try_target(build, target, count, options.seed, limits)
        entry = rows.setdefault(row, [by, [], 0])
        entry[1] += results
        entry[2] += time.time() - start
    everything = [r for _, results, _ in rows.values() for r in results]
    survivors = [s for s, caught in everything if not caught]
    too_many = len(survivors) > MOST_SURVIVORS
    operators = collections.Counter(s.operator for s, _ in everything)
    print(f"{len(everything)} mutants, {len(everything) - len(survivors)} caught, {len(survivors)} survived; "
          f"by operator: {dict(operators)}")
    if not options.only:
        for i, (row, (by, results, seconds)) in enumerate(rows.items()):
            if results:
                note(row, by, results, seconds, too_many and i == 0)
    return 1 if too_many or any(not known(s) for s in survivors) else 0


if __name__ == "__main__":
    sys.exit(main())
