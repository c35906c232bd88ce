#!/usr/bin/env python3
"""The files and flags of docs/embedding.md, "Any other build system", build a library that works:

    by_hand.py SOURCE CPU EXAMPLE EXPECTED

Compiles what the table says for the CPU (x86_64 or aarch64), links an example with it, and compares what that prints.
CC and CFLAGS count; CFLAGS come last.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

CPUS = {"x86_64": "x86-64", "aarch64": "AArch64"}


def rows(page):
    """(files, CPU, flags) of each row, and the flags of every file."""
    table = re.search(r"^\| files \|.*?\n\n", page, re.M | re.S)[0]
    found = [line.split("|")[1:4] for line in table.strip().split("\n")[2:]]
    flags = re.search(r"for every file,\s+last\s+on\s+the\s+line,\s+`([^`]*)`", page)[1].split()
    return [(re.findall(r"`([^`]*\.c)`", files), cpu.strip(), re.findall(r"`(-[^`]*)`", text))
            for files, cpu, text in found], flags


def expand(source, pattern):
    names = re.match(r"(.*)\{(.*)\}(.*)", pattern)
    patterns = [names[1] + n + names[3] for n in names[2].split(",")] if names else [pattern]
    return [f for p in patterns for f in sorted(glob.glob(os.path.join(source, p)))]


def main():
    source, cpu, example, expected = sys.argv[1:]
    if cpu not in CPUS:
        print(f"SKIP: the table says nothing of {cpu}")
        sys.exit(77)
    with open(os.path.join(source, "docs/embedding.md"), encoding="utf-8") as f:
        table, common = rows(f.read())
    common += os.environ.get("CFLAGS", "").split()
    mine = [r for r in table if r[1] in ("every CPU", CPUS[cpu])]
    have = [w for _, _, flags in mine for text in flags for w in text.split() if re.match(r"-DRDK_HAVE_\w+$", w)]
    isas = [w[len("-DRDK_HAVE_"):].lower() for w in have] + ["scalar"]
    compiler = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as build:
        objects = []
        for patterns, _, flags in mine:
            own = [w for text in flags[:1] for w in text.split() if not re.match(r"-DRDK_HAVE_", w)]
            if any(p.startswith("dispatch") for p in patterns):
                own += have
            for path in [f for p in patterns for f in expand(source, p)]:
                isa = re.search(r"table_(\w+)\.c$", path)
                if isa and isa[1] not in isas:
                    continue
                objects.append(os.path.join(build, os.path.relpath(path, source).replace("/", "_") + ".o"))
                subprocess.run(compiler + own + [f"-I{source}", f"-I{source}/include"] + common +
                               ["-c", path, "-o", objects[-1]], check=True)
        program = os.path.join(build, "program")
        subprocess.run(compiler + [f"-I{source}/include", example] + objects + ["-lm", "-o", program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    with open(expected, encoding="utf-8") as f:
        if printed != f.read():
            sys.exit(f"by_hand.py: the program prints something else:\n{printed}")
    print(f"{len(objects)} files, {', '.join(isas)}")


main()
