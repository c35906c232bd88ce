#!/usr/bin/env python3
"""Writes the must-fail kernels of mutants.py: C files of many mutants each, of which one is chosen at run time.

    mutate.py --list                                       the files, for the build
    mutate.py ISA SOURCE_ROOT OUTDIR DEPFILE COMPILER...   the same files in OUTDIR, and mutants.c, their table

A kernel takes seconds to compile, so a file has the whole kernel once, and of each mutant only what differs. That is
found after the preprocessor, where a changed macro is nothing but changed functions: a function that differs stands
there several times, and rdk_mutant tells which is called; so does a variable. A mutant that changes anything else,
like a type, says ALONE and has a file of its own.
"""
import concurrent.futures
import functools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True # nothing is left in the source tree
from mutants import ALONE, MUTANTS

INCLUDE = re.compile(r'#include "(kernels/[^"]+)"')
# Files of a kernel: more of them take longer, and keep more cores busy.
PARTS = {("softmax", "vector"): 2, ("attention", "vector"): 5}


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


def place(source, name, file, before, includes):
    """The one file that has the text: the file itself, or one of those that are included from a folder."""
    counts = {f: source.text(f).count(before) for f in includes if f == file or file.endswith("/") and f.startswith(file)}
    if sum(counts.values()) != 1:
        found = ", ".join(f"{n} times in {f}" for f, n in sorted(counts.items()) if n) or "nowhere"
        sys.exit(f"mutants.py: {name}: {found}, not once, in {file}: {before}")
    return next(f for f, n in counts.items() if n)


def mutated(source, name, changes, includes):
    """The text of the one file that differs, by its name."""
    for file, before, after in changes:
        if any(f.startswith(file) if file.endswith("/") else f == file for f in includes):
            file = place(source, name, file, before, includes)
            return {file: source.text(file).replace(before, after)}
    if changes:
        sys.exit(f"mutants.py: {name}: the kernel includes none of {[c[0] for c in changes]}")
    return {}


def are_directives(lines):
    """For each line whether it is one, or goes on with one."""
    out, goes_on = [], False
    for line in lines:
        out.append(goes_on or line.lstrip().startswith("#"))
        goes_on = out[-1] and line.endswith("\\")
    return out


def nearby(lines, right):
    """Of a kernel's lines all directives, and the definitions where it differs from the right one; None where it
    differs in a directive."""
    least = min(len(lines), len(right))
    first = next((i for i in range(least) if lines[i] != right[i]), least)
    same = next((i for i in range(least - first) if lines[-1 - i] != right[-1 - i]), least - first)
    directive = are_directives(lines)
    if any(directive[first:len(lines) - same]) or any(are_directives(right)[first:len(right) - same]):
        return None
    begin = next((i + 1 for i in range(first - 1, -1, -1) if lines[i].startswith("}")), 0)
    end = next((i + 1 for i in range(len(lines) - same - 1, len(lines)) if lines[i].startswith("}")), len(lines))
    return [line for i, line in enumerate(lines) if directive[i] or begin <= i < end]


# ---- Declarations ---------------------------------------------------------------------------------------------

STRING = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(rf"^[ \t]*#.*$\n?|{STRING}(?:\s*{STRING})*|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|"
                   r"\.?\d(?:[eEpP][-+]|[\w.])*|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^!=<>]=|\S", re.M)


@functools.lru_cache(None)
def tokens_of(line):
    """Most lines are those of the mutants before."""
    return TOKEN.findall(line)


def joined(tokens):
    """Pragmas stand on a line of their own."""
    return " ".join(t + "\n" if t in (";", "{", "}") else f"\n{t.strip()}\n" if t.lstrip().startswith("#") else t
                    for t in tokens)


def closing(tokens, i):
    """The index of what closes the bracket at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j] in "([{") - (tokens[j] in ")]}")
        if depth == 0:
            return j
    raise ValueError("a bracket is not closed")


def split_at_commas(tokens):
    parts, depth = [[]], 0
    for t in tokens:
        depth += (t in "([{") - (t in ")]}")
        if t == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(t)
    return parts


class Declaration:
    """What stands at file scope: a function's definition, a variable, or anything else."""

    def __init__(self, tokens):
        self.tokens, self.kind, self.name = tokens, "other", None
        first = tokens[0]
        if tokens[-1] == ";" and "=" in tokens and first == "static":
            self.kind, self.name = "variable", self.variable_name()
        elif tokens[-1] == "}" and first not in ("typedef", "struct", "enum", "union"):
            self.kind = "function"
            body = tokens.index("{")
            self.opens = max(i for i in range(body) if tokens[i] == "(" and closing(tokens, i) == body - 1)
            self.name = tokens[self.opens - 1]
            self.is_static = "static" in tokens[:self.opens]
        self.key = (self.kind, self.name) if self.name else ("other", joined(tokens))

    def variable_name(self):
        head = self.tokens[:self.tokens.index("=")]
        while head[-1] == "]":
            head = head[:max(i for i in range(len(head)) if head[i] == "[" and closing(head, i) == len(head) - 1)]
        return head[-1]

    def parameters(self):
        """Their names."""
        close = closing(self.tokens, self.opens)
        names = []
        for parameter in split_at_commas(self.tokens[self.opens + 1:close]):
            if parameter == ["void"]:
                continue
            pointer = [parameter[i + 2] for i in range(len(parameter) - 2) if parameter[i:i + 2] == ["(", "*"]]
            while parameter[-1] == "]":
                parameter = parameter[:max(i for i in range(len(parameter)) if parameter[i] == "[" and
                                           closing(parameter, i) == len(parameter) - 1)]
            names.append(pointer[0] if pointer else parameter[-1])
        return names


def declarations(text):
    """All of a preprocessed text, in order."""
    tokens = [t for line in text.splitlines(True) for t in tokens_of(line)]
    out, start, i = [], 0, 0
    while i < len(tokens):
        t = tokens[i]
        if t.lstrip().startswith("#") and i == start:
            start = i = i + 1 # nothing that stands there concerns a function
            continue
        if t in ("(", "[", "{"):
            head, i = tokens[start:i], closing(tokens, i)
            ends = t == "{" and "=" not in head and head[0] not in ("typedef", "struct", "enum", "union")
        else:
            ends = t == ";"
        i += 1
        if ends:
            out.append(Declaration(tokens[start:i]))
            start = i
    return out


# ---- Files ----------------------------------------------------------------------------------------------------

class Mutant:
    def __init__(self, number, operation, name, kernel, changes, *more):
        self.number, self.operation, self.name, self.kernel, self.changes = number, operation, name, kernel, changes
        self.alone = ALONE in more
        self.different = {} # of what the kernel declares: its tokens

    def size(self):
        return sum(map(len, self.different.values()))


class Kernel:
    """A kernel of an operation, and its mutants."""

    def __init__(self, source, compiler, isa, operation, kernel):
        self.source, self.compiler, self.operation, self.kernel = source, compiler, operation, kernel
        self.file = f"kernels/{operation}/{operation}_{'scalar' if kernel == 'scalar' else isa}.c"
        self.entry = f"rdk_{operation}_{'scalar' if kernel == 'scalar' else isa}"
        self.includes = set()
        self.lines = source.flat(self.file, {}, self.includes)
        self.headers = [line for line in self.lines if line.startswith("#include")]
        self.right = self.declared(self.lines)
        names = [d.name for d in self.right if d.name]
        if len(set(names)) != len(names):
            sys.exit(f"mutate.py: {self.file} has two of {sorted(n for n in set(names) if names.count(n) > 1)}")

    def declared(self, lines):
        """Headers of others stay away: no `#if` of a kernel asks for anything in them, and they are long."""
        text = "\n".join(line for line in lines if not line.startswith("#include"))
        done = subprocess.run([*self.compiler, "-E", "-P", "-x", "c", "-"], input=text, stdout=subprocess.PIPE,
                              encoding="utf-8", check=True)
        return declarations(done.stdout)

    def find_differences(self, mutant):
        changed = mutated(self.source, mutant.name, mutant.changes, self.includes)
        lines = self.source.flat(self.file, changed, set())
        near = nearby(lines, self.lines)
        if mutant.alone:
            mutant.whole = self.declared(lines)
        elif mutant.changes and not (near and self.found(mutant, self.declared(near))):
            wrong = self.declared(lines)
            if [d.key for d in wrong] != [d.key for d in self.right] or not self.found(mutant, wrong):
                sys.exit(f"mutants.py: {mutant.name}: it changes nothing in {self.file}, or more than functions and "
                         "variables; then say ALONE")

    def found(self, mutant, wrong):
        """Notes what differs. Most mutants change one function: to expand the macros of all others would take longer
        than to compile it."""
        right = {d.key: d for d in self.right}
        if all(d.key in right for d in wrong):
            mutant.different = {d.name: d.tokens for d in wrong if d.tokens != right[d.key].tokens}
        return bool(mutant.different)

    def part(self, part, mutants):
        """The lines of a file with some mutants."""
        if mutants and mutants[0].alone:
            return self.whole(part, mutants[0].whole, [])
        return self.whole(part, self.right, mutants)

    def whole(self, part, declared, mutants):
        lines = [f"/* Generated from {self.file}. */", *self.headers, "extern int rdk_mutant;"]
        before = set() # names that have several versions
        for d in declared:
            if d.kind == "function" and not d.is_static: # other files have it, too
                lines.append(f"#define {d.name} {self.operation}_{part}_{d.name}")
            versions = {m.number: m.different[d.name] for m in mutants if d.name in m.different}
            if versions:
                lines += one_of(d, versions, before, {m.number: m.different for m in mutants})
                before.add(d.name)
            else:
                lines.append(joined(d.tokens))
        lines += [f"rdk_{self.operation}_kernel *const rdk_{self.operation}_of_{part} = {self.entry};"]
        return lines


def one_of(right, versions, before, different):
    """All versions of a function or variable, and what chooses one by the name of all."""
    name, lines = right.name, []
    for number, tokens in [(0, right.tokens), *versions.items()]:
        # Where a mutant is known to run, what it does not change need not be chosen again.
        known = {n: n + (f"__{number}" if n in different[number] else "__0") for n in before} if number else {}
        lines.append(joined(f"{name}__{number}" if t == name else known.get(t, t) for t in tokens))
    if right.kind == "variable":
        chosen = "".join(f"rdk_mutant == {n} ? &{name}__{n} : " for n in versions)
        return lines + [f"#define {name} (*({chosen}&{name}__0))"]
    arguments = ", ".join(right.parameters())
    result = "" if right.tokens[right.opens - 2] == "void" else "return "
    lines.append(joined(right.tokens[:right.tokens.index("{")]) + " {")
    lines += [f"    if (rdk_mutant == {n}) {{ {result}{name}__{n}({arguments}); }} else" for n in versions]
    return lines + [f"    {{ {result}{name}__0({arguments}); }}", "}"]


def all_mutants():
    listed = [(operation, *mutant) for operation in MUTANTS for mutant in MUTANTS[operation]]
    return [Mutant(number, *mutant) for number, mutant in enumerate(listed, 1)]


def kernels_of(mutants):
    """Pairs of operation and kernel, in order."""
    return list(dict.fromkeys((m.operation, m.kernel) for m in mutants))


def alone(mutants, operation, kernel):
    return [m for m in mutants if m.alone and (m.operation, m.kernel) == (operation, kernel)]


def parts_of(mutants, operation, kernel):
    """Names of files: those with many mutants, and those with one."""
    many = PARTS.get((operation, kernel), 1)
    return ([f"{operation}_{kernel}_{i}" for i in range(many)] +
            [f"{operation}_{m.name}" for m in alone(mutants, operation, kernel)])


def shared_out(mutants, count):
    """The mutants of each file: about as much text in each."""
    shares = [[] for _ in range(count)]
    for m in sorted(mutants, key=lambda m: (-m.size(), m.number)):
        min(shares, key=lambda share: sum(x.size() for x in share)).append(m)
    return shares


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def table(isa, operations, entries):
    """mutants.c: what tests/mutants/mutants.h declares. An entry is (operation, name, number, part)."""
    lines = ["/* Generated: the mutants of this build. */", '#include "tests/mutants/mutants.h"', "int rdk_mutant;",
             f"const rdk_isa MUTANT_ISA = RDK_ISA_{isa.upper()};"]
    lines += [f"extern rdk_{operation}_kernel *const rdk_{operation}_of_{part};" for operation, part in operations]
    lines += ["const mutant MUTANTS[] = {"]
    lines += [f'    {{"{operation}: {name}", {number}, .{operation} = &rdk_{operation}_of_{part}}},'
              for operation, name, number, part in entries]
    return lines + ["    {0},", "};"]


def make(source, isa, outdir, compiler, mutants):
    """Writes all files; returns the entries of the table, and the files as (operation, part)."""
    entries, files = [], []
    for operation, kernel in kernels_of(mutants):
        own = [m for m in mutants if (m.operation, m.kernel) == (operation, kernel)]
        k = Kernel(source, compiler, isa, operation, kernel)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(k.find_differences, own))
        wrong = [m for m in own if m.changes and not m.alone]
        shares = shared_out(wrong, PARTS.get((operation, kernel), 1))
        shares += [[m] for m in alone(own, operation, kernel)]
        right = [m for m in own if not m.changes]
        for part, share in zip(parts_of(mutants, operation, kernel), shares):
            write(os.path.join(outdir, f"mutants_{part}.c"), k.part(part, share))
            files.append((operation, part))
            # Each file must be right where nothing is wrong.
            if not share or not share[0].alone:
                entries += [(operation, f"{m.name} of {part}", 0, part, m.number) for m in right]
            entries += [(operation, m.name, m.number, part, m.number) for m in share]
    entries.sort(key=lambda entry: entry[4])
    return [entry[:4] for entry in entries], files


def main():
    mutants = all_mutants()
    if sys.argv[1:2] == ["--list"]:
        for operation, kernel in kernels_of(mutants):
            print("\n".join(f"mutants_{part}.c" for part in parts_of(mutants, operation, kernel)))
        return
    isa, root, outdir, depfile, *compiler = sys.argv[1:]
    source = Source(root)
    entries, files = make(source, isa, outdir, compiler, mutants)
    write(os.path.join(outdir, "mutants.c"), table(isa, files, entries))
    target = os.path.relpath(os.path.join(outdir, "mutants.c"))
    write(depfile, [f"{target}: {' '.join(sorted(source.read))}"])


main()
