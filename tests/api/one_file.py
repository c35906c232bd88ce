#!/usr/bin/env python3
"""The library as one file (tools/amalgamate.py) compiles without a warning, has only the header's names, and gives the
golden hashes and an example's digits on every ISA of its CPU:

    one_file.py [--run COMMAND] [--flags=FLAGS] [--reference] SOURCE COMPILER...

FLAGS are all that the file is compiled with, beside warnings (-O2). COMMAND runs a program of a foreign CPU. The last
line is `N passed, N failed, N skipped`.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

TOOL = ["tools/rootdk/main", "tools/rootdk/info", "tools/rootdk/machine", "tools/rootdk/verify", "golden/golden", "golden/softmax", "golden/attention"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Arithmetic on whole vectors, and whatever AVX brings.
VECTOR = re.compile(r"^(v\w+|(add|sub|mul|div|max|min|sqrt)p[sd])$")

counts = {True: 0, False: 0}


def check(what, right, why=""):
    counts[bool(right)] += 1
    print(f"{'ok' if right else 'FAIL'}: {what}" + ("" if right else f"\n{why}"), flush=True)
    return right


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **options)


def runs(what, command, **options):
    """What a command prints; None if it failed."""
    done = run(command, **options)
    return done.stdout if check(what, done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}") else None


def program_of(compiler, name):
    """The compiler's own nm or objdump, which know its CPU."""
    return run(compiler + [f"-print-prog-name={name}"]).stdout.strip() or name


def public_names(header):
    with open(header, encoding="utf-8") as f:
        return sorted(re.findall(r"^RDK_API .*?\b(rdk_\w+)\(", f.read(), re.M))


def check_names(o, header):
    """No function of the header is missing, and no other name is there."""
    lines = run([program_of(o.compiler, "nm"), "-g", "--defined-only", o.library]).stdout.splitlines()
    # The compiler's own are no leak: sections of its run-time on Windows, thunks on 32-bit x86.
    names = sorted(line.split()[-1] for line in lines if re.match(r"[0-9a-f]+ [A-Z] (?!\.|__x86\.)", line))
    check(f"{len(names)} global names, the header's functions", names == public_names(header), names)


def code_of(o, everything):
    """The instructions of the library, or of the functions of the reference that are no one's inline."""
    inside, found = False, []
    for line in run([program_of(o.compiler, "objdump"), "-d", "--no-show-raw-insn", o.library]).stdout.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            inside = "scalar" in head[1] or everything
        words = line.split("\t")
        if inside and len(words) > 1:
            found.append(words[1].split()[0])
    return found


def check_code(o, macros):
    """x86-64: no AVX in the reference, whatever the command line asks for; gcc's has no vectors at all. On Windows gcc
    would align vectors on a stack that is not aligned."""
    clang = "__clang__" in macros
    if "_WIN32" in macros and not clang:
        aligned = [c for c in code_of(o, True) if re.match(r"vmov(ap[sd]|dqa)", c)]
        check("no vector is moved as if it were aligned", not aligned, len(aligned))
    code = code_of(o, o.reference)
    wrong = sorted({c for c in code if VECTOR.match(c) and (c[0] == "v" or not clang)})
    check(f"no {'AVX' if clang else 'vectors'} in {len(code)} instructions of the reference", code and not wrong, wrong)


def tool(o):
    """The command-line tool, from the project's own sources, over the one file."""
    files = [os.path.join(o.source, f"{name}.c") for name in TOOL]
    out = os.path.join(o.dir, "tool.exe")
    paths = [f"-I{o.source}", f"-I{o.source}/include"]
    built = runs("the tool is built", o.compiler + ["-O1"] + paths + o.console + files + [o.library, "-lm", "-o", out])
    return None if built is None else o.run + [out]


def check_tool(o, isas):
    """Golden hashes, and that every ISA of the CPU's family is in the file."""
    command = tool(o)
    if not command:
        return
    info = runs("rootdk info", command + ["info"]) or ""
    for isa in isas:
        line = re.search(rf"^ *{isa} .*", info, re.M)
        check(f"{isa} is in the file", line and "not in this build" not in line[0], info)
    verified = runs("rootdk verify", command + ["verify"]) or ""
    lines = [line for line in verified.splitlines() if "hash" in line]
    print(verified, end="")
    check(f"{len(lines)} golden hashes", len(lines) >= 2 and all(line.endswith("  ok") for line in lines), verified)


def check_example(o):
    """An example as a user has it: beside rootdk.h and the one file."""
    with open(os.path.join(o.source, "examples/prefill.c"), encoding="utf-8") as f:
        text = f.read().replace("<rootdk/rootdk.h>", '"rootdk.h"')
    with open(os.path.join(o.dir, "example.c"), "w", encoding="utf-8") as f:
        f.write(text)
    out = os.path.join(o.dir, "example.exe")
    if runs("an example is built", o.compiler + o.console + ["-O2", "example.c", o.library, "-lm", "-o", out],
            cwd=o.dir) is None:
        return
    with open(os.path.join(o.source, "tests/api/examples/prefill.txt"), encoding="utf-8") as f:
        expected = f.read()
    printed = runs("it runs", o.run + [out])
    check("and prints its digits", printed == expected, printed)


def macros_of(compiler):
    return set(re.findall(r"#define (\w+)", run(compiler + ["-dM", "-E", "-x", "c", os.devnull]).stdout))


def isas_of(o, macros):
    """What the file should have, by the project's list."""
    sys.path.insert(0, os.path.join(o.source, "tools"))
    import isas # noqa: E402
    family = "x86_64" if "__x86_64__" in macros else "aarch64" if "__aarch64__" in macros else ""
    return [isa.name for isa in isas.read() if isa.family == "" or (isa.family == family and not o.reference)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("compiler", nargs="+")
    parser.add_argument("--run", type=shlex.split, default=[])
    parser.add_argument("--flags", type=shlex.split, default=["-O2"])
    parser.add_argument("--reference", action="store_true")
    o = parser.parse_args()
    o.source, o.compiler = os.path.abspath(o.source), [w for text in o.compiler for w in shlex.split(text)]
    macros = macros_of(o.compiler)
    o.console = ["-D__USE_MINGW_ANSI_STDIO=1"] if "_WIN32" in macros else [] # printf as C11 has it
    with tempfile.TemporaryDirectory() as o.dir:
        script = [sys.executable, os.path.join(o.source, "tools/amalgamate.py")]
        runs("it is written", script + [o.dir])
        if o.reference:
            runs("so is the reference", script + ["--reference", o.dir])
        name = "rootdk-reference.c" if o.reference else "rootdk.c"
        o.library = os.path.join(o.dir, "rootdk.o")
        with open(os.path.join(o.dir, name), encoding="utf-8") as f:
            lines = len(f.readlines())
        if o.reference:
            check(f"{lines} lines, fewer than 2500", lines < 2500)
        if runs(f"{name} is compiled by {' '.join(o.compiler + o.flags)}",
                o.compiler + o.flags + WARNINGS + ["-c", name, "-o", o.library], cwd=o.dir) is not None:
            check_names(o, os.path.join(o.source, "include/rootdk/rootdk.h"))
            if "__x86_64__" in macros and "-O0" not in o.flags:
                check_code(o, macros)
            check_tool(o, isas_of(o, macros))
            check_example(o)
    print(f"{counts[True]} passed, {counts[False]} failed, 0 skipped")
    sys.exit(1 if counts[False] else 0)


main()
