#!/usr/bin/env python3
"""Keeps and prints the table of tools/lab.sh.

report.py note LEG --what TEXT [OPTION...]   adds a row to build/lab/LEG/rows
    --by TEXT        what executed it
    --variant NAME   counts, cases, hashes and seconds from a variant that tools/test.sh ran
    --log FILE       counts, cases and hashes from what test programs and `rootdk verify` printed
    --passed, --failed, --skipped N; --cases TEXT; --hash TEXT; --seconds N; --note TEXT
report.py table LEG...   prints the rows of these legs, writes build/lab/report.md; then what failed, with the
                         words of its leg; the last line is `N passed, N failed, N skipped`
"""

import argparse
import collections
import datetime
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import count  # noqa: E402

CASES = re.compile(r"^(\w[^:\n]*) \([^()\n]*\): (\d+) cases, \d+ failures", re.MULTILINE)
HASH = re.compile(r"\b([0-9a-f]{16})\b")
COLUMNS = ("leg", "what", "executed by", "cases", "hash", "seconds", "result")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def tests_of(variant):
    """The outputs of a variant's tests, by name."""
    try:
        lines = read(f"build/test/{variant}/meson-logs/testlog.json").splitlines()
    except OSError:
        return {}
    return {test["name"]: test.get("stdout") or "" for test in map(json.loads, lines)}


def cases_in(text):
    """Paths and how many cases each was given, summed over programs."""
    cases = collections.Counter()
    for path, n in CASES.findall(text):
        cases[path] += int(n)
    return ", ".join(f"{path} {n:,}" for path, n in cases.items()
                     if n and (path != "scalar" or len(cases) == 1))


def hashes_in(text):
    """The golden hashes that `rootdk verify` or test_golden printed, each once."""
    lines = [line for line in text.splitlines() if "hash" in line and "expected" not in line]
    found = [h for line in lines for h in HASH.findall(line)]
    return " ".join(dict.fromkeys(found))


def note(options):
    row = vars(options)
    if options.variant:
        v = count.Variant(options.variant)
        tests = tests_of(options.variant)
        text = "\n".join(tests.values())
        row.update(passed=v.passed, failed=v.failed, skipped=v.skipped, seconds=v.seconds)
        row["skips"] = sorted(set(v.skips))
    elif options.log:
        text = read(options.log)
        counts = count.COUNTS.findall(text)
        for i, key in enumerate(("passed", "failed", "skipped")):
            row[key] += sum(int(c[i]) for c in counts)
        row["skips"] = sorted(set(re.findall(r"^SKIP: (.*)$", text, re.MULTILINE)))
        if not any(row[key] for key in ("passed", "failed", "skipped")):
            row["failed"] = 1
            row["note"] = (row["note"] + " nothing was counted").strip()
    else:
        text = ""
    row["cases"] = row["cases"] or cases_in(text)
    row["hash"] = row["hash"] or hashes_in(text)
    with open(f"build/lab/{options.leg}/rows", "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def result_of(row):
    parts = [f"{row[key]:,} {key}" for key in ("passed", "failed", "skipped") if row[key]]
    text = ", ".join(parts) if parts else "nothing ran"
    if row["failed"]:
        text = "FAILED: " + text
    return text + (f" ({row['note']})" if row["note"] else "")


def cells_of(row):
    return (row["leg"], row["what"], row["by"], row["cases"], row["hash"], str(row["seconds"]), result_of(row))


def rows_of(leg):
    try:
        rows = [json.loads(line) for line in read(f"build/lab/{leg}/rows").splitlines()]
    except OSError:
        rows = []
    if not rows:
        rows = [dict(leg=leg, what="all of it", by="", cases="", hash="", seconds="", passed=0, failed=1,
                     skipped=0, note="noted nothing")]
    return rows


def about_this_machine():
    """Its CPU, as far as it says, its compilers and the date."""
    try:
        cpu = re.findall(r"model name\s*:\s*(.*)", read("/proc/cpuinfo"))[:1]
    except OSError:
        cpu = []
    said = [(cc, subprocess.run([cc, "--version"], capture_output=True, text=True).stdout) for cc in ("gcc", "clang")]
    compilers = [f"{cc} {re.search(r'[0-9]+[.][0-9.]+', text)[0]}" for cc, text in said]
    return cpu + compilers + [datetime.date.today().isoformat()]


def log_of(leg):
    """What a leg said of failures, and its last words."""
    try:
        lines = read(f"build/lab/{leg}/log").splitlines()
    except OSError:
        return []
    marked = [line for line in lines[:-count.TAIL] if re.search(r"\bFAIL|SURVIVED", line)]
    return marked[-count.TAIL:] + lines[-count.TAIL:]


def table(legs):
    rows = [row for leg in legs for row in rows_of(leg)]
    cells = [COLUMNS] + [cells_of(row) for row in rows]
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    lines.insert(1, "|" + " --- |" * len(COLUMNS))
    skips = sorted({reason for row in rows for reason in row.get("skips", [])})
    with open("build/lab/report.md", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        command = "make lab" if os.environ.get("LAB_SIZE", "full") == "full" else "make lab LEG=ci"
        file.write("\n" + ", ".join(about_this_machine() + [f"`{command}`"]) + ".\n")
        if skips:
            file.write("\nSkipped inside the suites:\n\n" + "".join(f"- {s}\n" for s in skips))
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS) - 1)]
    for line in cells:
        print("  ".join([text.ljust(w) for text, w in zip(line, widths)] + [line[-1]]).rstrip())
    for reason in skips:
        print(f"SKIP: {reason}")
    for row in rows:
        if row["failed"]:
            print(f"{row['leg']}, {row['what']}: {result_of(row)}")
    for leg in dict.fromkeys(row["leg"] for row in rows if row["failed"]):
        print("\n".join(f"{leg}: {line}" for line in log_of(leg)))
    total = [sum(row[key] for row in rows) for key in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*total), flush=True)
    return 1 if total[1] or not total[0] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    jobs = parser.add_subparsers(dest="job", required=True)
    one = jobs.add_parser("note")
    one.add_argument("leg")
    one.add_argument("--what", required=True)
    for option in ("by", "variant", "log", "cases", "hash", "seconds", "note"):
        one.add_argument("--" + option, default="")
    for option in ("passed", "failed", "skipped"):
        one.add_argument("--" + option, type=int, default=0)
    jobs.add_parser("table").add_argument("legs", nargs="+")
    options = parser.parse_args()
    if options.job == "note":
        return note(options)
    return table(options.legs)


if __name__ == "__main__":
    sys.exit(main())
