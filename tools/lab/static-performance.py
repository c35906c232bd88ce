#!/usr/bin/env python3
"""llvm-mca's predictions of the inner loops, against docs/static-performance.md:

    tools/lab/static-performance.py [--write] [ISA...]

Builds the kernels of each ISA as a release has them, with both compilers, cuts the inner loops out of the
disassembly and runs them through llvm-mca's models of CPUs. Fails if the FMAs of a full tile fill less than
LEAST of the FMA pipes, or a loop is more than a WORSE part slower than in the table. Those of another version of a
compiler are not held against the table, and a line says so. --write writes the table.

The last line is `N passed, N failed, N skipped`, counted in loops and models.
"""

import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path += [os.path.join(ROOT, "tests", "api"), os.path.join(ROOT, "tools")]
import loops  # noqa: E402
import tables  # noqa: E402

PAGE = "docs/static-performance.md"
DIR = "build/lab/static-performance"
LEAST = 0.90
WORSE = 0.10

# A model's FMA pipes by the width of a vector. Where `passes` is 2 an FMA takes a pipe for two cycles. `by_rate`: what
# the model simulates is not to be trusted, but the rates of its instructions are.
Model = collections.namedtuple("Model", "name pipes passes by_rate")


def model(name, pipes, passes=1, by_rate=False):
    return Model(name, pipes, passes, by_rate)


ISAS = {
    "avx2": {
        "title": "AVX2", "lanes": 8, "triple": "x86_64", "objdump": "objdump",
        "builds": {"gcc": ["gcc-12"], "clang": ["clang-19"]},
        "full": ("tile_scores_4x3_of_1", "tile_scores_4x3_of_2", "tile_values_6x2"),
        "shown": ("tile_scores_8x1_of_2", "asm_thin_1_of_2", "asm_thin_2_of_2", "asm_thin_3_of_2",
                  "asm_thin_4_of_2", "asm_thin_4_of_1", "tile_by_query_4x2"),
        "models": {"ymm": [model("znver3", ("Zn3FP0", "Zn3FP1")),
                           model("haswell", ("HWPort0", "HWPort1"))]},
    },
    "avx512": {
        "title": "AVX-512", "lanes": 16, "triple": "x86_64", "objdump": "objdump",
        "builds": {"gcc": ["gcc-12"], "clang": ["clang-19"]},
        "full": ("tile_scores_8x3_of_1", "tile_scores_8x3_of_2", "tile_values_6x4"),
        "shown": ("tile_scores_8xhalf_of_2", "asm_thin_1_of_2", "asm_thin_2_of_2", "asm_thin_3_of_2",
                  "asm_thin_4_of_2", "asm_thin_4_of_1", "tile_by_query_4x4"),
        "models": {"zmm": [model("skylake-avx512", ("SKXPort0", "SKXPort5")),
                           model("znver4", ("Zn4FP0", "Zn4FP1"), passes=2, by_rate=True)],
                   "ymm": [model("skylake-avx512", ("SKXPort0", "SKXPort1")),
                           model("znver4", ("Zn4FP0", "Zn4FP1"), by_rate=True)]},
    },
    "neon": {
        "title": "NEON", "lanes": 4, "triple": "aarch64", "objdump": "aarch64-linux-gnu-objdump",
        "builds": {"gcc": ["aarch64-linux-gnu-gcc"], "clang": ["clang-19", "--target=aarch64-linux-gnu"]},
        "full": ("tile_4x6", "tile_6x4"), "shown": ("tile_8x2", "thin_of_1", "thin_of_2"),
        "models": {"": [model("neoverse-n1", ("N1UnitV0", "N1UnitV1")),
                        model("neoverse-n2", ("N2UnitV0", "N2UnitV1")),
                        model("neoverse-v1", tuple(f"V1UnitV{i}" for i in range(4))),
                        model("neoverse-v2", tuple(f"V2UnitV{i}" for i in range(4)))]},
    },
}

# The purpose of the functions of tiles and few queries; other loops are found by their instructions.
MEANS = {"tile_scores_4x3_of_1": "scores, one chain", "tile_scores_4x3_of_2": "scores, two chains",
         "tile_values_6x2": "values", "tile_scores_8x1_of_2": "scores, 5 to 8 queries",
         "tile_by_query_4x2": "values, 4 queries", "asm_thin_1_of_2": "scores, 1 query, two chains",
         "asm_thin_2_of_2": "2 queries", "asm_thin_3_of_2": "3 queries", "asm_thin_4_of_2": "4 queries",
         "asm_thin_4_of_1": "4 queries, one chain", "tile_by_query_4x4": "values, 4 queries",
         "tile_scores_8x3_of_1": "scores, one chain", "tile_scores_8x3_of_2": "scores, two chains",
         "tile_values_6x4": "values", "tile_scores_8xhalf_of_2": "scores, 5 to 8 queries", "tile_4x6": "scores", "tile_6x4": "values",
         "tile_8x2": "scores, 5 to 8 queries", "thin_of_1": "up to 4 queries, one chain",
         "thin_of_2": "up to 4 queries, two chains"}
ATTENTION, SOFTMAX = "weights of attention", "weights of softmax"
BLOCK, WEIGHT_FMAS = 128, 9 # columns of a block; FMAs of a weight without a bias

Loop = collections.namedtuple("Loop", "name compiler code rules")
# cycles of an iteration; which part of the FMA pipes its FMAs fill; which part is filled at all
Figures = collections.namedtuple("Figures", "cycles share busy")


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


# ---- Building ----

def version_of(command):
    return run([command[0], "-dumpfullversion" if "gcc" in command[0] else "-dumpversion"]).strip()


def library(isa, compiler, command):
    """The static library with the kernels of an ISA."""
    place = f"{DIR}/{isa}-{compiler}"
    name = f"libkernels_{isa}.a"
    if not os.path.exists(f"{place}/build.ninja"):
        os.makedirs(DIR, exist_ok=True)
        options, env = [], dict(os.environ, CC=command[0])
        if isa == "neon":
            with open(f"{place}.ini", "w", encoding="utf-8") as file:
                file.write(f"[binaries]\nc = {command!r}\n")
            options = [f"--cross-file=tools/cross/aarch64-{compiler}.ini", f"--cross-file={place}.ini"]
            del env["CC"]
        run([tool("MESON"), "setup", place, "-Dtests=disabled", "-Dtool=false"] + options, env=env)
    run([tool("NINJA"), "-C", place, name])
    return f"{place}/{name}"


def tool(name):
    """A program that tools/setup.sh found."""
    env = os.path.join(os.environ.get("RDK_DEPS_DIR", "build/deps"), "env")
    return run(["sh", "-c", f'. "$0" && echo "${name}"', os.path.abspath(env)]).strip()


# ---- Finding the loops ----

def densest(rules, code, bodies):
    """Of the loops with most FMAs, to half of these, the one with the largest part of them. Those with masks are for
    last elements."""
    bodies = [[code[i] for i in sorted(body)] for body in bodies]
    bodies = [b for b in bodies if not any(c.name.startswith("vmaskmov") for c in b)]
    most = max((loops.fmas(rules, b) for b in bodies), default=0)
    bodies = [b for b in bodies if 2 * loops.fmas(rules, b) >= most]
    return max(bodies, key=lambda b: loops.fmas(rules, b) / len(b), default=None)


def most_fmas(rules, codes):
    """The one with most FMAs and fewest other instructions."""
    return max(codes, key=lambda code: (loops.fmas(rules, code), -len(code)), default=None)


def is_straight(rules, code):
    return sum(bool(rules.jump.match(c.name)) for c in code) == 1


def weight_loops(rules, found, lanes):
    """Of attention the loop without a branch; of softmax the run of a whole block without biases, which branches surround."""
    attention, softmax = [], []
    for member, _, name, code in found:
        if member.startswith("attention_") and not name.startswith(("tile_", "thin_", "asm_thin_")):
            bodies = ([code[i] for i in sorted(body)] for body in loops.loops(rules, code))
            attention += [body for body in bodies if is_straight(rules, body)]
        elif member.startswith("softmax_") and name.startswith("sums_kept"):
            softmax += [[code[i] for i in stretch] for stretch in loops.straight_runs(rules, code)]
    softmax = [code for code in softmax if loops.fmas(rules, code) == BLOCK // lanes * WEIGHT_FMAS]
    return {ATTENTION: most_fmas(rules, attention), SOFTMAX: most_fmas(rules, softmax)}


def loops_of(isa, compiler, command):
    setting = ISAS[isa]
    found = loops.functions(loops.disassembly(setting["objdump"], library(isa, compiler, command)))
    rules = found[0][1]
    code = {name: densest(rules, body, loops.loops(rules, body)) for member, _, name, body in found
            if member.startswith("attention_") and name in setting["full"] + setting["shown"]}
    code.update(weight_loops(rules, found, setting["lanes"]))
    names = setting["full"] + setting["shown"] + (ATTENTION, SOFTMAX)
    return [Loop(name, compiler, code.get(name), rules) for name in names]


# ---- llvm-mca ----

def assembly(code):
    """The loop as an assembler reads it: places become one label, since a model follows no jump."""
    lines = [f"{c.name} " + re.sub(r"\b[0-9a-f]+ <[^>]*>", "again", c.operands) for c in code
             if not re.match(r"nop|data16|cs$|xchg", c.name)]
    return "\n".join(["again:"] + lines) + "\n"


def simulate(text, triple, cpu, iterations):
    command = ["llvm-mca-19", f"-mtriple={triple}", f"-mcpu={cpu}", "-json", f"-iterations={iterations}", "-"]
    result = json.loads(run(command, input=text))
    region = result["CodeRegions"][0]
    last = len(region["Instructions"])  # the index of the sums over all instructions
    pressure = {result["TargetInfo"]["Resources"][use["ResourceIndex"]]: use["ResourceUsage"]
                for use in region["ResourcePressureView"]["ResourcePressureInfo"]
                if use["InstructionIndex"] == last}
    return region["SummaryView"], pressure


def width(code, rules):
    """The registers that the loop's FMAs use: zmm, ymm, or nothing on AArch64."""
    fma = next(c for c in code if rules.fma.match(c.name))
    return (re.findall(r"[yz]mm", fma.operands) or [""])[0]


def figures(loop, triple, cpu):
    text, fmas = assembly(loop.code), loops.fmas(loop.rules, loop.code)
    few = max(10, 4000 // len(loop.code))
    begun, _ = simulate(text, triple, cpu.name, few)
    summary, pressure = simulate(text, triple, cpu.name, 2 * few)
    if cpu.by_rate:
        cycles, busy = summary["BlockRThroughput"], None
    else:
        cycles = (summary["TotalCycles"] - begun["TotalCycles"]) / few
        busy = sum(pressure.get(pipe, 0) for pipe in cpu.pipes) / (len(cpu.pipes) * cycles)
    return Figures(cycles, fmas * cpu.passes / (len(cpu.pipes) * cycles), busy and min(busy, 1))


# ---- The table ----

def head_of(isa):
    models = next(iter(ISAS[isa]["models"].values()))
    return ["loop", "compiler", "FMAs", "instructions"] + [m.name for m in models]


def cell(f):
    text = f"{f.cycles:.2f} ({f.share:.0%}" + (f", {f.busy:.0%})" if f.busy else ")")
    return text.replace("%", " %")


def rows_of(isa, measured):
    rows = []
    for loop, results in measured:
        means = f", {MEANS[loop.name]}" if loop.name in MEANS else ""
        name = loop.name + means if loop.name in (ATTENTION, SOFTMAX) else f"`{loop.name}`{means}"
        rows.append([name, loop.compiler, loops.fmas(loop.rules, loop.code), len(loop.code)] +
                    [cell(f) for f in results.values()])
    return rows


def table_of(isa, measured, versions):
    return tables.table(head_of(isa), rows_of(isa, measured)) + ["", versions]


def versions_of(isa):
    builds = ISAS[isa]["builds"]
    mca = re.search(r"LLVM version (\S+)", run(["llvm-mca-19", "--version"]))[1]
    return ", ".join(f"{c} {version_of(builds[c])}" for c in builds) + f", llvm-mca {mca}."


def committed(isa):
    """{(loop, compiler, model): cycles per FMA} of the page, and the versions it was made with."""
    with open(PAGE, encoding="utf-8") as file:
        part = re.search(rf"<!-- table: static-{isa} -->\n(.*?)<!-- end -->", file.read(), re.S)[1]
    found, models = {}, None
    for line in part.splitlines():
        cells = [text.strip() for text in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and models is None:
            models = cells[4:]
        elif cells and not cells[0].startswith("---"):
            for name, text in zip(models, cells[4:]):
                loop = re.match(r"[`]?([^`,]*)", cells[0])[1]
                found[loop, cells[1], name] = float(text.split()[0]) / int(cells[2])
    return found, part.strip().splitlines()[-1] if part.strip() else ""


# ---- Judging ----

class Judge:
    def __init__(self, isa, versions):
        self.before, self.versions_before = committed(isa)
        self.same_version = versions == self.versions_before
        self.isa, self.passed, self.failed, self.skipped = isa, 0, 0, 0
        if not self.same_version:
            before = self.versions_before or "no compiler yet."
            print(f"{isa}: the table is of {before} Here it is {versions} So nothing is held against it.")

    def fail(self, text):
        self.failed += 1
        print(f"FAIL {self.isa}: {text}")

    def skip(self, text):
        self.skipped += 1
        print(f"SKIP {self.isa}: {text}")

    def look(self, loop, cpu, f):
        key = (loop.name, loop.compiler, cpu.name)
        what = f"{loop.name}, {loop.compiler}, {cpu.name}: {f.cycles:.2f} cycles"
        now, before = f.cycles / loops.fmas(loop.rules, loop.code), self.before.get(key)
        if loop.name in ISAS[self.isa]["full"] and f.share < LEAST:
            self.fail(f"{what}: FMAs fill {f.share:.1%} of the pipes, less than {LEAST:.0%}")
        elif self.same_version and before is None:
            self.fail(f"{what}: not in the table")
        elif self.same_version and now > before * (1 + WORSE):
            self.fail(f"{what}: {now / before - 1:.0%} slower than in the table")
        else:
            self.passed += 1


def examine(isa, judge):
    measured = []
    for compiler, command in ISAS[isa]["builds"].items():
        for loop in loops_of(isa, compiler, command):
            if not loop.code and loop.name in ISAS[isa]["shown"]:
                judge.skip(f"{loop.name}, {compiler}: no loop was found that begins at its head")
                continue
            if not loop.code:
                judge.fail(f"{loop.name}, {compiler}: no such loop was found")
                continue
            models = ISAS[isa]["models"][width(loop.code, loop.rules)]
            results = {cpu: figures(loop, ISAS[isa]["triple"], cpu) for cpu in models}
            measured.append((loop, results))
            for cpu, f in results.items():
                judge.look(loop, cpu, f)
    order = {name: i for i, name in enumerate(ISAS[isa]["full"] + ISAS[isa]["shown"] + (ATTENTION, SOFTMAX))}
    return sorted(measured, key=lambda m: order[m[0].name])


def write(isa, lines):
    with open(PAGE, encoding="utf-8") as file:
        text = tables.replace(file.read(), f"static-{isa}", lines)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    names = [a for a in sys.argv[1:] if a != "--write"]
    if any(name not in ISAS for name in names):
        sys.exit(__doc__)
    os.chdir(ROOT)
    run(["tools/setup.sh", "static-performance"])
    passed = failed = skipped = 0
    for isa in names or ISAS:
        versions = versions_of(isa)
        judge = Judge(isa, versions)
        lines = table_of(isa, examine(isa, judge), versions)
        print("\n".join(lines))
        if "--write" in sys.argv:
            write(isa, lines)
        passed += judge.passed
        failed += judge.failed
        skipped += judge.skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
