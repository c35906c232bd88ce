#!/usr/bin/env python3
"""Fills the tables of the docs from the last runs of `make test`, `make ways`, `make bench`, `make bench-error` and
`make lab`:
tools/tables.py

A table stands between the lines `<!-- table: NAME -->` and `<!-- end -->`. One whose figures are
missing, or come from a test that failed, is left as it is, and a line says why.
"""

import collections
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "page"))
import data  # noqa: E402
import wrap  # noqa: E402
from isas import titles  # noqa: E402

MAIN = "gcc-O2"  # the variant that looks at most elements
BENCH = "build/bench/report.json"


class Missing(Exception):
    """Why a table cannot be filled."""


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head)] + rows
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
            for line in lines]


# ---- Output of the tests ----

def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        raise Missing(f"there is no {path}") from None
    except ValueError:
        raise Missing(f"{path} is not JSON") from None


def json_lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except OSError:
        raise Missing(f"there is no {path}") from None
    except ValueError:
        raise Missing(f"{path} is not JSON lines") from None


def output_of(variant, name):
    """The output of a test, which must have passed."""
    path = f"build/test/{variant}/meson-logs/testlog.json"
    for test in json_lines(path):
        if re.split(" / |:", test["name"])[-1] == name:
            if test["result"] != "OK":
                raise Missing(f"{path}: {name} is {test['result']}")
            return test.get("stdout") or ""
    raise Missing(f"{path}: {name} did not run")


# ---- docs/results.md: isas ----

ISAS = titles()
BITS = {"softmax": "bits", "attention": "attention_bits"}  # operation: the test that counts its cases
MEANS = {"native": "native", "qemu-aarch64": "under qemu-aarch64", "SIMDe": "through SIMDe"}
COUNT = re.compile(r"^(\w+)(?: \(\w+\))? \((\w+)\): (\d+) cases, (\d+) failures$", re.M)


def builds(variants):
    """gcc-O0, gcc-O2, clang-asan, as words."""
    by_compiler, rest = collections.defaultdict(list), []
    for variant in sorted(variants):
        compiler, setting = variant.replace("aarch64-", "").partition("-")[::2]
        if setting == "asan":
            rest.append("ASan + UBSan")
        else:
            by_compiler[compiler] += ["-" + setting] if setting else []
    words = [" ".join([c] + by_compiler[c]) for c in sorted(by_compiler, reverse=True)]
    return ", ".join(words + rest)


def matrix():
    """The variants of `make test`; the lab has more."""
    run = subprocess.run(["tools/test.sh", "--list"], capture_output=True, text=True, check=True)
    return sorted(run.stdout.split())


def isa_counts(test):
    """{isa: {means: {variant: cases}}} of a test, over every variant of the matrix."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for variant in matrix():
        for isa, means, cases, failures in COUNT.findall(output_of(variant, test)):
            if int(failures):
                raise Missing(f"{variant}: {isa} has failures")
            if variant.startswith("aarch64-") and os.uname().machine != "aarch64":
                means = "qemu-aarch64"
            found[isa][means][variant] = int(cases)
    return found


def isas():
    found, rows = {op: isa_counts(test) for op, test in BITS.items()}, []
    for isa in ISAS:
        kernels, cases = [], []
        for op, counts in found.items():
            if not counts[isa]:
                raise Missing(f"{BITS[op]} did not run {isa}")
            means = [m for m in MEANS if m in counts[isa]]
            kernels.append(f"[{op}_{isa}.c](../kernels/{op}/{op}_{isa}.c)")
            cases.append(", ".join(f"{m}: {sum(counts[isa][m].values())}" for m in means))
        # The last operation's: every variant runs the tests of all.
        how = "; ".join(f"{MEANS[m]} ({builds(counts[isa][m])})" for m in means)
        if isa == "scalar":
            how, cases = "every build", ["the reference"] * len(BITS)
        rows.append([ISAS[isa], ", ".join(kernels), how] + cases)
    head = ["ISA", "kernels", "executed by the tests"]
    return table(head + [f"{op}: cases compared bit for bit" for op in BITS], rows)


# ---- docs/results.md: accuracy; docs/arithmetic.md: accuracy-all ----

def accuracy_lines():
    """What softmax/test_accuracy says about errors, without the dots of passed tests."""
    lines = [line.lstrip(".") for line in output_of(MAIN, "accuracy").splitlines()]
    firsts = ("2^f", "softmax", "log-softmax", "f16 and", "equal logits", "  ")
    kept = [line.rstrip() for line in lines if line.startswith(firsts)]
    if not kept:
        raise Missing("softmax/test_accuracy printed no figures")
    return kept


def sections(lines):
    """{heading: (columns, {family: figures})} of the tables."""
    found, families = {}, None
    for line in lines:
        if line.endswith("  columns"):
            columns, families = re.findall(r"\s(\d+)(?=[\s\d]*columns$)", line), {}
            found[re.match(r"[^:/]*", line)[0].strip()] = (columns, families)
        elif line.startswith("  ") and families is not None:
            name, *figures = re.split(r"\s{2,}|\s(?=\d\.\d\d/)", line.strip())
            families[name] = figures[:len(columns)]
        else:
            families = None
    return found


def accuracy():
    lines = accuracy_lines()
    found = sections(lines)
    try:
        columns, plain = found["softmax"]
        bias, logs = found["softmax, bias b"][1], found["log-softmax"][1]
        rows = [["softmax, " + f] + plain[f] for f in ("N(0,1)", "N(0,8)", "N(0,100)")]
        worst = max(bias, key=lambda f: max(map(float, bias[f])))
        rows.append([f"softmax, worst with a bias: {worst}"] + bias[worst])
        for i, name in enumerate(("log-softmax", "LSE")):
            rows.append([name + ", N(0,8)"] + [v.split("/")[i] for v in logs["N(0,8)"]])
        sweeps = [re.search(r"(\d+) floats \(every (\d+)\w*\): worst ([\d.]+)", line).groups()
                  for line in lines if line.startswith("2^f, ")]
        exp2 = max(s[2] for s in sweeps)
        count = sum(int(s[0]) for s in sweeps)
    except (KeyError, AttributeError, ValueError) as error:
        raise Missing(f"softmax/test_accuracy's output is not as expected ({error!r})") from None
    whole = "every float" if all(s[1] == "1" for s in sweeps) else "a part"
    return table(["columns"] + columns, rows) + [
        "", f"2^f: {exp2} ULP over {whole} of its domain ({count} floats). Log-softmax and LSE are in ULP of "
        "max(1, |value|). More families, f16 and bf16: [arithmetic.md](arithmetic.md#9-accuracy)."]


def accuracy_all():
    text, lines = [], accuracy_lines()
    for line in lines:
        if text and not line.startswith(("  ", "2^f")):
            text.append("")
        text.append(line)
    return ["```"] + text + ["```"]


# ---- README.md: accuracy-attention; docs/arithmetic.md: accuracy-attention-all ----

def attention_lines():
    """The figures in the output of attention/test_accuracy."""
    lines = [line.lstrip(".") for line in output_of(MAIN, "attention accuracy").splitlines()]
    kept = [line.rstrip() for line in lines if line.startswith(("attention, ", "  "))]
    if not kept:
        raise Missing("attention/test_accuracy printed no figures")
    return kept


def attention():
    """One column per number of keys from a block on; of the first table, that without causality."""
    found, tables = {}, 0
    for line in attention_lines():
        tables += line.startswith("attention, ")
        figures = line.split()
        if tables == 1 and figures[0].isdigit() and int(figures[1]) >= 128:
            found[figures[0], figures[1]] = figures
    keys, dims = (list(dict.fromkeys(k[i] for k in found)) for i in (1, 0))
    try:
        rows = [["bound of the max error"] + [found[dims[0], n][4] for n in keys]]
        for d in dims:
            rows.append([f"max error, d = {d}"] + [found[d, n][3] for n in keys])
        for d in dims:
            rows.append([f"RMS error / that of plain float loops, d = {d}"] +
                        [found[d, n][7] for n in keys])
        rows.append(["LSE, worst ULP"] + [max((found[d, n][8] for d in dims), key=float)
                                          for n in keys])
    except (KeyError, IndexError) as error:
        raise Missing(f"attention/test_accuracy's output is not as expected ({error!r})") from None
    return table(["keys"] + keys, rows)


def attention_all():
    text = []
    for line in attention_lines():
        if text and line.startswith("attention, "):
            text.append("")
        text.append(line)
    return ["```"] + text + ["```"]


# ---- docs/results.md: results; docs/performance.md: speed-all, speed-attention, peers, peers-python ----

def bench():
    """The whole report, if it is of a real run."""
    report = read_json(BENCH)
    if report["command"] != "make bench":
        raise Missing(f"{BENCH} is of {report['command']}")
    return report


def records(report, **wanted):
    return [r for r in report["records"] if all(r[key] == value for key, value in wanted.items())]


def where_it_ran(report, command="make bench"):
    return "{cpu}, {compiler}, {library}, arithmetic {arithmetic}, {date}, `{0}`.".format(command, **report)


def share(fraction):
    return f"{100 * fraction:.1f} %" if fraction else "-"


def vector_paths(report, op):
    """rootdk's own figures, in works that are not of a model."""
    found = [r for r in records(report, process="bench", op=op, by="rootdk")
             if r["how"] != "scalar" and r["group"] != "model"]
    if not found:
        raise Missing(f"{BENCH} has no vector path")
    return found


def peak_of(report, isa):
    return next(x["best"] for x in report["limits"]
                if x["process"] == "bench" and x["limit"] == "fma" and x["isa"] == isa)


def speed_all():
    report, rows = bench(), []
    scalar = {r["work"]: r["best"] for r in records(report, process="bench", how="scalar")}
    for r in vector_paths(report, "softmax"):
        seconds = r["best"] / r["rows"] / r["cols"]
        rows.append([r["work"], ISAS[r["how"]], f"{seconds * 1e9:.3f}", f"{1 / r['fractions']['memcpy']:.2f}",
                     f"{scalar[r['work']] / r['best']:.1f}", f"{seconds * peak_of(report, r['how']):.1f}",
                     f"{r['error_ulp']:.2f}"])
    head = ["rows x columns", "ISA", "ns/element", "x memcpy", "x scalar", "peak FLOPs/element", "worst ULP"]
    return table(head, rows) + ["", where_it_ran(report)]


def attention_shares(r):
    """Of the FMA peak, and of a plain read where there is one."""
    return [share(r["fractions"].get(limit)) for limit in ("fma", "read")]


def speed_attention():
    report, rows = bench(), []
    results = vector_paths(report, "attention")
    for r in results:
        rows.append([r["work"], ISAS[r["how"]], f"{r['best'] * 1e3:.3f}",
                     f"{r['flop'] / r['best'] * 1e-9:.1f}"] + attention_shares(r))
    head = ["work", "ISA", "ms", "GFLOP/s", "of FMA peak", "of read"]
    return table(head, rows) + ["", where_it_ran(report) + growth(results)]


def growth(results):
    """How the time of a FLOP grows with the length, as a sentence."""
    found, words = collections.defaultdict(list), []
    for r in results:
        if r["group"] == "growth":
            found[r["how"]].append((r["nk"], r["best"] / r["flop"]))
    for isa, times in found.items():
        (short, first), (long, last) = min(times), max(times)
        if short < long:
            words.append(f"{last / first:.2f} times that at n={short} on {ISAS[isa]}")
    return f" Time of a FLOP at n={long}: {', '.join(words)}." if words else ""


def rate(r):
    if r["op"] == "softmax":
        return f"{r['best'] / r['rows'] / r['cols'] * 1e9:.3f} ns/element"
    if r["nq"] == 1 and r["limit"] == "read":
        return f"{r['bytes'] / r['best'] * 1e-9:.1f} GB/s"
    return f"{r['flop'] / r['best'] * 1e-9:.1f} GFLOP/s"


LIMITS = {"fma": "the FMA peak", "read": "a plain read", "memcpy": "memcpy"}


def our_fastest(report):
    """{work: rootdk's record on its fastest ISA}."""
    ours = {}
    for r in records(report, process="bench", by="rootdk", threads=1):
        if r["group"] != "growth":
            ours[r["work"]] = min(r, ours.get(r["work"], r), key=lambda x: x["best"])
    return ours


def of_the_limit(r):
    return f"{share(r['fraction_of_limit'])} of {LIMITS[r['limit']]}"


def commands(report):
    return "make bench bench-peers" if records(report, process="peers") else "make bench"


def results():
    """A line per work: rootdk on its fastest ISA, and who comes closest."""
    report, rows = bench(), []
    closest = data.closest_peers(report["records"])
    for work, r in our_fastest(report).items():
        times, _, peer = closest.get(work, (None, None, None))
        rows.append([work, ISAS[r["how"]], rate(r), of_the_limit(r), f"{r['error_ulp']:.2f}",
                     f"{times:.2f} x, {peer['by']}" if times else "-"])
    versions = {r["by"]: r["version"] for r in report["records"] if r["by"] != "rootdk"}
    listed = ", ".join(" ".join(pair) for pair in versions.items())
    head = ["work", "ISA", "speed", "of the limit", "worst ULP", "closest peer's time"]
    return table(head, rows) + ["", f"{where_it_ran(report, commands(report))} Peers: {listed}."]


# ---- README.md: figures ----

# The rows that a visitor sees first. Each has a choice of works: the first one that was measured is taken.
FIGURES = (
    (("Prefill: 8 heads of 128, 2048 tokens", "full d=128 n=2048"),),
    (("Causal prefill: Llama 3 8B, 2048 tokens", "Llama-3-8B prefill n=2048"),),
    (("Few queries: 8 over 2048 keys, 8 heads of 128", "few d=128 nq=8 nk=2048"),),
    (("Decode, layer after layer: Llama 3 8B, 1024 tokens", "Llama-3-8B decode n=1024"),
     ("Decode, K and V from memory: Llama 3 8B, 8192 tokens", "decode d=128 nk=8192")),
    (("Softmax: 1024 rows of 1024", "1024 x 1024 f32"),),
)


def figures():
    report, rows = bench(), []
    ours, closest = our_fastest(report), data.closest_peers(report["records"])
    for choices in FIGURES:
        label, work = next((c for c in choices if c[1] in ours), choices[-1])
        if work not in ours or work not in closest:
            raise Missing(f"{BENCH} has no {work} beside a peer")
        times, _, peer = closest[work]
        rows.append([label, rate(ours[work]), of_the_limit(ours[work]), f"{times:.2f} x, {peer['by']}"])
    measured = error_report()
    worst = max(r["ratio"] for r in counted_errors(measured))
    rows.append(["Error of attention, RMS", f"{measured['mean']:.2f} x the best other's", "-",
                 f"{1 / worst:.2f} x the error"])
    head = ["", "rootdk", "of the limit", "closest other library's time"]
    where = where_it_ran(report, commands(report))
    return table(head, rows) + ["", f"{where} The error: {measured['date']}, `make bench-error`."]


def beside(process, command):
    """How many times rootdk's time each peer takes; both of one process."""
    report = bench()
    found = data.rootdk_and_peers(records(report, process=process, threads=1))
    if not found:
        raise Missing(f"{BENCH} has no peers of `{command}`")
    names = list(dict.fromkeys(name for _, others in found.values() for name in others))
    versions = {r["by"]: r["version"] for r in records(report, process=process)}
    rows = []
    for work, (ours, others) in found.items():
        times = [f"{others[name]['best'] / ours['best']:.2f}" if name in others else "-" for name in names]
        rows.append([work, share(ours["fraction_of_limit"]) + " of " + ours["limit"]] + times)
    head = ["work", "rootdk"] + [f"{name} {versions[name]}" for name in names]
    return table(head, rows) + ["", where_it_ran(report, command)]


def peers_c():
    return beside("bench", "make bench")


def peers_python():
    return beside("peers", "make bench-peers")


# ---- docs/performance.md: error ----

ERROR = "build/bench/error.json"


def error_report():
    """The ratios, if they are of every cell and library."""
    report = read_json(ERROR)
    if not report["complete"]:
        raise Missing(f"{ERROR} is of some cells, of another library, or without a peer")
    return report


def counted_errors(report):
    """The cells that the mean is of."""
    return [r for r in report["records"] if not r["alone"] and r["share"] != 99]


def error():
    report = error_report()
    counted = [r["ratio"] for r in counted_errors(report)]
    heavy = [r["ratio"] for r in report["records"] if r["share"] == 99]
    versions = ", ".join(" ".join(pair) for pair in report["versions"].items())
    ratios = (f"Geometric mean {report['mean']:.3f}, worst {max(counted):.2f}; worst with 99 % on one key "
              f"{max(heavy):.2f}; bars missed: {len(report['missed']) or 'none'}.")
    where = "{draws} draws; {cpu}, {library}, arithmetic {arithmetic}, {date}, `make bench-error`.".format(**report)
    return table(report["table"]["head"], report["table"]["rows"]) + ["", f"{ratios} {where} Peers: {versions}."]


# ---- docs/embedding.md: ways, sizes ----

WAYS = "build/ways.json"


def ways():
    """Commands, seconds and lines of each way into another build."""
    found = read_json(WAYS)
    rows = [[label, count, f"{seconds:.1f}", length or "-"] for label, count, seconds, length in found["ways"]]
    head = ["way", "commands", "seconds", "lines of build files"]
    cores = "one core" if found["cores"] == 1 else f"{found['cores']} cores"
    return table(head, rows) + [
        "", f"{found['machine']}, {cores}, `make ways`. Seconds include building all of the library."]


def kilobytes(count):
    return f"{count / 1000:.0f} KB"


def sizes():
    """Of the shared library by what is in it, and of attention's scratch by head sizes."""
    found = read_json(WAYS)
    rows = [[", ".join(["scalar"] * (name not in ("all", "scalar")) + [name])] + list(map(kilobytes, counts))
            for name, *counts in found["sizes"]]
    dims, counts = zip(*(((d_qk, d_v), count) for d_qk, d_v, count in found["scratch"]))
    scratch = table(["`d_qk`, `d_v`"] + ["{}, {}".format(*d) for d in dims],
                    [["scratch of `rdk_attention`"] + list(map(kilobytes, counts))])
    return table(["ISAs in `librootdk.so`, stripped", "both operations", "softmax", "attention"], rows) + [
        "", f"{found['machine']}, release build, `make ways`.", ""] + scratch


# ---- docs/verification.md: lab ----

def lab():
    """The report as it is, if it is of every leg and nothing failed."""
    try:
        with open("build/lab/report.md", encoding="utf-8") as file:
            lines = file.read().rstrip().splitlines()
        with open("tools/lab.sh", encoding="utf-8") as file:
            legs = re.search(r'^legs="([^"]*)"', file.read(), re.M)[1].split()
    except OSError as error:
        raise Missing(f"there is no {error.filename}") from None
    absent = set(legs) - {line.split("|")[1].strip() for line in lines if line.startswith("|")}
    if absent:
        raise Missing(f"the last run of the lab was without {', '.join(sorted(absent))}")
    if any("FAILED" in line for line in lines):
        raise Missing("something failed in the lab")
    return lines


# ---- docs/design-attention.md: attention-files ----

def attention_files():
    """Each file with its lines, and the first sentence of its first comment."""
    rows = []
    for folder in ("kernels/attention", "kernels/attention/walk", "kernels/attention/tile"):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.endswith((".c", ".h")):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            comment = re.match(r"/\*(.*?)\*/", text, re.S)
            words = re.sub(r"\s*\n \* ?", " ", comment[1]).strip() if comment else ""
            what = re.match(r".*?(?=[.,:]? \*|\. |:?\s{2,}|\.?$)", words)[0].rstrip(".,:")
            rows.append([f"[{path[len('kernels/attention/'):]}](../{path})", str(text.count("\n")), what])
    total = sum(int(row[1]) for row in rows)
    return table(["file", "lines", "holds"], rows) + ["", f"{len(rows)} files, {total} lines."]


# ---- Files ----

TABLES = {
    "README.md": {"figures": figures},
    "docs/results.md": {"isas": isas, "accuracy": accuracy, "accuracy-attention": attention,
                        "results": results},
    "docs/arithmetic.md": {"accuracy-all": accuracy_all, "accuracy-attention-all": attention_all},
    "docs/performance.md": {"speed-all": speed_all, "speed-attention": speed_attention,
                            "peers": peers_c, "peers-python": peers_python, "error": error},
    "docs/design-attention.md": {"attention-files": attention_files},
    "docs/embedding.md": {"ways": ways, "sizes": sizes},
    "docs/verification.md": {"lab": lab},
}


def replace(text, name, lines):
    """The text with the table's lines in place of the old ones."""
    pattern = re.compile(rf"^(<!-- table: {name} -->\n).*?^(<!-- end -->)$", re.M | re.S)
    new = wrap.wrap("".join(line + "\n" for line in lines))
    text, count = pattern.subn(lambda m: m[1] + new + m[2], text)
    if count != 1:
        raise Missing(f"the page has {count} places for it")
    return text


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for path, makers in TABLES.items():
        with open(path, encoding="utf-8") as file:
            text = before = file.read()
        for name, make in makers.items():
            try:
                text = replace(text, name, make())
                print(f"{path}: {name}: filled")
            except Missing as why:
                print(f"{path}: {name}: left as it is: {why}")
        if text != before:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main()
