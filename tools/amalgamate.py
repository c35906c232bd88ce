#!/usr/bin/env python3
"""Writes the library as one file that compilers take without flags of its own:

    amalgamate.py DIRECTORY               rootdk.c and rootdk.h: scalar, and all vector ISAs of whichever CPU
    amalgamate.py --reference DIRECTORY   rootdk-reference.c and rootdk.h: scalar alone

It has every file of kernels/ and dispatch/ as it stands, comments and all, but for
  - includes: each text stands once, before what needs it;
  - names: what two files define has the file's name in front, or the ISA's;
  - macros: those of a file end with it;
  - linkage: what rootdk.h does not have is static.
Texts that every ISA compiles (TEXTS) stand there for each ISA, between pragmas that choose its instructions.
"""

import argparse
import collections
import glob
import os
import re
import subprocess

import c_names
import isas

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What each file that includes it compiles for itself; all other headers stand once.
TEXTS = ("kernels/vec/", "kernels/attention/tile/", "kernels/attention/walk/", "kernels/softmax/softmax_rows.h")
OF_ISA = "kernels/vec/" # of these, what the files of an ISA share
OF_ALL = "kernels/vec/inline.h" # but this
STRICT, HEADER = "kernels/strict.h", "rootdk/rootdk.h"
INCLUDE = re.compile(r'^#include (["<])(.*)[">].*\n', re.M)
TOP = re.compile(r"(?:\s+|/\*.*?\*/|#include[^\n]*\n)*", re.S)
GUARD = re.compile(r"^#ifndef (RDK_\w+_H)\n#define \1\n", re.M)
CPUS = {"x86_64": "__x86_64__", "aarch64": "__aarch64__"} # what compilers for them define
INTERNAL = "RDK_INTERNAL"

Unit = collections.namedtuple("Unit", "path isa scope") # a file to compile; its ISA, or None
Piece = collections.namedtuple("Piece", "path scope text") # a part of a file, up to an include


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def without_guard(text):
    guard = GUARD.search(text)
    return text if not guard else (text[:guard.start()] + text[guard.end():text.rindex("#endif")])


def is_shared(path):
    return path == OF_ALL or (not path.startswith(TEXTS) and not path.endswith(".c"))


class Reader:
    """Takes files apart at their includes. What stands there already, in the same scope, is not taken again."""

    def __init__(self):
        self.system = {} # headers: the CPU that they are for, or ""
        self.seen = set()

    def pieces(self, path, scope, cpu):
        scope = "" if is_shared(path) else scope.split("/")[0] if path.startswith(OF_ISA) else scope
        if (path, scope) in self.seen:
            return []
        self.seen.add((path, scope))
        text = re.sub(r"^#define _GNU_SOURCE.*\n", "", without_guard(read(path)), flags=re.M)
        # Includes at the top come before the whole file, the others between its parts.
        top = TOP.match(text)[0]
        out = self.included(INCLUDE.finditer(top), scope, cpu)
        text = INCLUDE.sub("", top) + text[len(top):]
        at, depth = 0, 0
        for match in re.finditer(r"^#(if|endif|include).*\n", text, re.M):
            depth += {"if": 1, "endif": -1}.get(match[1], 0)
            include = INCLUDE.match(match[0])
            if include and not (include[1] == "<" and depth): # a system's own stays where it is
                out.append(Piece(path, scope, text[at:match.start()]))
                out += self.included([include], scope, cpu)
                at = match.end()
        return out + [Piece(path, scope, text[at:])]

    def included(self, includes, scope, cpu):
        out = []
        for include in includes:
            if include[1] == "<":
                self.system.setdefault(include[2], cpu)
            elif include[2] != HEADER:
                out += self.pieces(include[2], scope, cpu)
        return out


def kernel_units(isa, others):
    """The files of an ISA; those that belong to none are scalar's."""
    found = [f"kernels/{op}/{op}_{isa.name}.c" for op in ("softmax", "attention")]
    if isa.name == "scalar":
        endings = tuple(f"_{name}.c" for name in others)
        once = [os.path.relpath(f, ROOT) for f in sorted(glob.glob(os.path.join(ROOT, "kernels/*/*.c")))]
        found = [f for f in once if not f.endswith(endings)]
    found = [f for f in found if os.path.exists(os.path.join(ROOT, f))] + [f"kernels/table_{isa.name}.c"]
    return [unit(f, None if isa.name == "scalar" else isa) for f in found]


def unit(path, isa=None):
    name = os.path.basename(path)[:-2]
    return Unit(path, isa, f"{isa.name if isa else ''}/{name}")


def dispatch_units(vector):
    """No operation is left out, and the reference does not look at the CPU."""
    files = sorted(glob.glob(os.path.join(ROOT, "dispatch/*.c")))
    without = ("left_out.c",) if vector else ("left_out.c", "cpu.c")
    return [unit(os.path.relpath(f, ROOT)) for f in files if os.path.basename(f) not in without]


# ---- Names ---------------------------------------------------------------------------------------------------------


class Text:
    """The tokens of a piece, and what it defines."""

    def __init__(self, piece):
        self.path, self.scope = piece.path, piece.scope
        self.tokens = c_names.tokens(piece.text)
        self.heads = c_names.pasted_heads(piece.text) if self.scope else set()
        self.names = set()
        c_names.mark_members(c_names.code_of(self.tokens))


def define(texts):
    """Notes the names of a file, whose declarations may go on from piece to piece."""
    for text in texts:
        if text.scope:
            text.names |= c_names.defined_by_macros(text.tokens)
        for code in c_names.declarations(text.tokens):
            text.names |= c_names.defined_names(code)


class Names:
    """New names for those that two scopes define."""

    def __init__(self, texts):
        self.of = collections.defaultdict(set) # name: scopes
        self.heads = collections.defaultdict(set)
        for text in texts:
            self.heads[text.scope] |= text.heads
            for name in text.names:
                self.of[name].add(text.scope)
        wrong = [n for n, scopes in self.of.items() if "" in scopes and len(scopes) > 1]
        if wrong:
            raise SystemExit(f"amalgamate.py: defined in a header and elsewhere: {wrong}")

    def new(self, name, scope):
        """What `name` is called where the scope stands."""
        if not scope:
            return name
        for s in dict.fromkeys((scope, scope.split("/")[0])):
            if (s in self.of.get(name, ()) and len(self.of[name]) > 1) or \
                    (name not in self.of and any(name.startswith(h) for h in self.heads[s])):
                return self.prefixed(name, s)
        return name

    def prefixed(self, name, scope):
        """With the ISA in front if no other file of it has the name, else the file."""
        isa, _, file = scope.partition("/")
        alone = sum(s.startswith(f"{isa}/") or s == isa for s in self.of[name]) <= 1 if name in self.of else True
        front = (isa if isa and alone else file or isa) + "_"
        return (front.upper() if c_names.is_macro(name) else front) + name


# ---- Writing ---------------------------------------------------------------------------------------------------------


def marked(path, more=""):
    line = f"/* ==== {path}{more} "
    return "\n" + line + "=" * (97 - len(line)) + " */\n"


def written(texts, names):
    """Texts with a mark where another file begins, and #undef of all that a scope defines."""
    out, last, begun = [], None, set()
    for text in texts:
        body = c_names.renamed(text.tokens, lambda n, s=text.scope: names.new(n, s))
        if body.strip():
            if text.path != last:
                out.append(marked(text.path, ", continued" if text.path in begun else ""))
            begun.add(text.path)
            last = text.path
            out.append(body.strip("\n") + "\n\n")
    return "".join(out)


def ended(written_text):
    lines = c_names.undefine(written_text)
    return lines and lines + "\n"


def chosen(isa, flags):
    """The pragmas around the files of an ISA: (before, after)."""
    target = ",".join(flag[2:] for flag in flags)
    head = f"#if defined({CPUS[isa.family]}) /* {isa.title} */\n"
    if not target:
        return head, "#endif\n"
    return (head + "#ifdef __clang__\n"
            f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)\n'
            f'#else\n#pragma GCC push_options\n#pragma GCC target("{target}")\n#endif\n',
            "#ifdef __clang__\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n#endif\n")


HEAD = """\
/* rootdk {version} {what}
 *
{how}
 *
{license} */

/* Written by tools/amalgamate.py; the source and the documents are the project's. A name that several
 * of its files use has the file's name in front here, or the ISA's. */
#define RDK_ONE_FILE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif

/* Static here; some are for other parts of the project, its tests among them. */
#define RDK_INTERNAL static __attribute__((unused))

"""
ONE_FILE = """\
 * Compile it beside a program: cc -O2 program.c rootdk.c -lm. No other flags are needed. It has the
 * kernels of all instruction sets of the CPU's family, and chooses among them when it runs."""

REFERENCE = """\
 * The reference kernels and the dispatcher, which is what docs/arithmetic.md means, to be read, or to be
 * compared with. A program that is linked with it includes rootdk.h as ever."""

# gcc does not inline a function into one of other options of optimisation, so that these are for the whole file; the
# vector kernels bring their own vectors. Where the command line is for a CPU with AVX, what any CPU runs gets the flags
# of any again, and each ISA its own on top.
OPTIONS = """\
/* The reference stays one: it is not vectorised. (clang has no pragma for that; the bits are the same.) */
#ifndef __clang__
#pragma GCC optimize("no-tree-vectorize", "no-tree-slp-vectorize")
#endif

"""
NO_CPU = """\
/* The reference runs on every CPU, and no speed is chosen for it. */
static unsigned rdk_cpu_flags(void) {
    return 0;
}

static int64_t rdk_cpu_l2(void) {
    return 0;
}

"""
ANY_CPU = """\
/* With -march=native, too, each part has the instructions that it says, and no others. */
#if defined(__x86_64__) && defined(__AVX__) && !defined(__clang__)
#pragma GCC target("arch=x86-64")
#endif

"""
# gcc keeps vectors on the stack at multiples of 32 and 64 bytes, but Windows aligns the stack to 16 only (gcc's bug
# 54412): what -Wa,-muse-unaligned-vector-move does where flags can be given.
WINDOWS = """\
/* gcc takes the stack of Windows for better aligned than it is: every aligned move of a vector of AVX becomes
 * an unaligned one, which costs nothing. */
#if defined(_WIN32) && defined(__x86_64__) && !defined(__clang__)
__asm__({macros});
#endif

"""
ALIGNED = ("vmovaps", "vmovapd", "vmovdqa", "vmovdqa32", "vmovdqa64")
PLAIN = """\
#if defined(__x86_64__) && defined(__AVX__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("no-avx"))), apply_to = function)
#endif
"""
PLAIN_END = """\
#if defined(__x86_64__) && defined(__AVX__) && defined(__clang__)
#pragma clang attribute pop
#endif

"""


def windows():
    macros = [f'".macro {move} all:vararg\\n{to} \\\\all\\n.endm\\n"' for move in ALIGNED
              for to in [move.replace("vmova", "vmovu").replace("dqa", "dqu")]]
    return WINDOWS.format(macros="\n        ".join(macros))


def includes(system):
    """Those of the system: for all CPUs, then for each."""
    out = "".join(f"#include <{h}>\n" for h in sorted(h for h, cpu in system.items() if not cpu))
    for cpu in dict.fromkeys(system.values()):
        if cpu:
            lines = "".join(f"#include <{h}>\n" for h in sorted(h for h, c in system.items() if c == cpu))
            out += f"\n#if defined({CPUS[cpu]})\n{lines}#endif\n"
    return out + '\n#include "rootdk.h"\n\n'


class Library:
    """The texts of units, by scope, and their names."""

    def __init__(self, units):
        self.reader, self.units, pieces = Reader(), units, []
        for u in units:
            pieces += self.reader.pieces(u.path, u.scope, u.isa.family if u.isa else "")
        self.texts = [Text(p) for p in pieces]
        define(self.texts)
        self.names = Names(self.texts)
        public = set(re.findall(r"^RDK_API .*?\b(rdk_\w+)\(", read(f"include/{HEADER}"), re.M))
        for text in self.texts:
            c_names.made_internal(text.tokens, public, INTERNAL)

    def headers(self, folder):
        """What stands once, but for STRICT, which comes first of all."""
        return written([t for t in self.texts if not t.scope and t.path != STRICT and t.path.startswith(folder)],
                       self.names)

    def strict(self):
        return written([t for t in self.texts if t.path == STRICT], self.names)

    def unit(self, u):
        text = written([t for t in self.texts if t.scope == u.scope], self.names)
        return text + ended(text)

    def plain(self, folder):
        """Headers and units of a folder that are for every CPU."""
        units = "".join(self.unit(u) for u in self.units if not u.isa and u.path.startswith(folder))
        text = self.headers(folder) + units
        return PLAIN + text + PLAIN_END if self.has_vectors() else text

    def has_vectors(self):
        return any(u.isa for u in self.units)

    def of_isa(self, isa, flags):
        before, after = chosen(isa, flags)
        shared = written([t for t in self.texts if t.scope == isa.name], self.names)
        units = "".join(self.unit(u) for u in self.units if u.isa == isa)
        return before + shared + units + ended(shared) + after + "\n"


def have(vector):
    """Which ISAs are in the file, by the compiler's CPU."""
    out = ""
    for cpu in dict.fromkeys(isa.family for isa in vector):
        out += f"#{'elif' if out else 'if'} defined({CPUS[cpu]})\n"
        out += "".join(f"#define RDK_HAVE_{isa.name.upper()} 1\n" for isa in vector if isa.family == cpu)
    return out + "#endif\n\n" if out else ""


def commented(text):
    return "".join(f" * {line}".rstrip() + "\n" for line in text.strip().split("\n")).rstrip("\n")


def amalgamated(what, how, vector):
    flags = collections.defaultdict(list)
    scalar = next(isa for isa in isas.read() if not isa.family)
    units = kernel_units(scalar, [isa.name for isa in vector_isas()])
    for isa in vector:
        units += kernel_units(isa, [])
    lib = Library(units + dispatch_units(vector))
    version = subprocess.run([os.path.join(ROOT, "tools/version.sh")], stdout=subprocess.PIPE, check=True,
                             universal_newlines=True).stdout.strip()
    license_text = read("LICENSE")
    if not vector: # nobody's copy: the names of the license and of who gives it
        license_text = "\n".join(license_text.split("\n")[:3])
    out = HEAD.format(version=version, what=what, how=how, license=commented(license_text))
    out += OPTIONS + (ANY_CPU + windows() if vector else "") + lib.strict() + includes(lib.reader.system) + have(vector)
    out += lib.plain("kernels/")
    for isa in vector:
        flags[isa.family] += isa.flags.split()
        out += lib.of_isa(isa, flags[isa.family])
    return re.sub(r"\n{3,}", "\n\n", out + lib.plain("dispatch/") + ("" if vector else NO_CPU))


def vector_isas():
    return [isa for isa in isas.read() if isa.family]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reference", action="store_true", help="scalar alone")
    parser.add_argument("directory")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    if options.reference:
        text = amalgamated("reference", REFERENCE, [])
    else:
        text = amalgamated("in one file", ONE_FILE, vector_isas())
    write(os.path.join(options.directory, "rootdk-reference.c" if options.reference else "rootdk.c"), text)
    write(os.path.join(options.directory, "rootdk.h"), read(f"include/{HEADER}"))


if __name__ == "__main__":
    main()
