#!/usr/bin/env python3
"""Writes the must-fail kernels of mutants.py as C files that need no other file of kernels/.

    mutate.py --list                          names, for the build
    mutate.py ISA SOURCE_ROOT OUTDIR DEPFILE  mutant_OPERATION_NAME.c for each, and their table
"""
import os
import re
import sys

sys.dont_write_bytecode = True # nothing is left in the source tree
from mutants import MUTANTS

INCLUDE = re.compile(r'#include "(kernels/[^"]+)"')


class Source:
    """The files under a root, of which one may be changed."""

    def __init__(self, root):
        self.root, self.read = root, set()

    def text(self, name):
        path = os.path.join(self.root, name)
        self.read.add(path)
        with open(path, encoding="utf-8") as f:
            return f.read()

    def flat(self, name, changed, seen):
        """The file with its includes of kernels/ in place, each once."""
        seen.add(name)
        out = []
        for line in changed.get(name, self.text(name)).splitlines():
            match = INCLUDE.match(line)
            if not match:
                out.append(line)
            elif match.group(1) not in seen:
                out += self.flat(match.group(1), changed, seen)
        return out


def mutated(source, name, changes, includes):
    """The text of the one file that differs, by its name."""
    for file, before, after in changes:
        if file not in includes:
            continue
        text = source.text(file)
        if text.count(before) != 1:
            sys.exit(f"mutants.py: {name}: {text.count(before)} times, not once, in {file}: {before}")
        return {file: text.replace(before, after)}
    if changes:
        sys.exit(f"mutants.py: {name}: the kernel includes none of {[c[0] for c in changes]}")
    return {}


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def make(source, isa, outdir, operation, name, kernel, changes):
    isa = "scalar" if kernel == "scalar" else isa
    file = f"kernels/{operation}/{operation}_{isa}.c"
    includes = set()
    source.flat(file, {}, includes)
    body = source.flat(file, mutated(source, name, changes, includes), set())
    head = [f"/* Generated from {file}: the mutant {name}. */",
            f"#define rdk_{operation}_{isa} rdk_{operation}_mutant_{name}"]
    if kernel == "scalar":
        head.append(f"#define rdk_{operation}_row_scalar rdk_{operation}_row_mutant_{name}")
    write(os.path.join(outdir, f"mutant_{operation}_{name}.c"), head + body)


def table(mutants):
    """mutants.c: what tests/mutants.h declares."""
    lines = ["/* Generated: the mutants of this build. */", '#include "tests/mutants.h"']
    lines += [f"RDK_{operation.upper()}_KERNEL(rdk_{operation}_mutant_{name});"
              for operation, name, _, _ in mutants]
    lines += ["const mutant MUTANTS[] = {"]
    lines += [f'    {{"{operation}: {name}", {0 if changes else 1}, '
              f'{{.{operation} = rdk_{operation}_mutant_{name}}}}},'
              for operation, name, _, changes in mutants]
    return lines + ["    {0},", "};"]


def main():
    mutants = [(operation, *mutant) for operation in MUTANTS for mutant in MUTANTS[operation]]
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(f"{operation}_{name}" for operation, name, _, _ in mutants))
        return
    isa, root, outdir, depfile = sys.argv[1:]
    source = Source(root)
    for mutant in mutants:
        make(source, isa, outdir, *mutant)
    write(os.path.join(outdir, "mutants.c"), table(mutants))
    target = os.path.relpath(os.path.join(outdir, "mutants.c"))
    write(depfile, [f"{target}: {' '.join(sorted(source.read))}"])


main()
