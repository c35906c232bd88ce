"""Loops in disassembled kernels: what spills.py and tools/lab/static-performance.py look at."""

import collections
import os
import re
import subprocess
import sys

LEAST = 4  # fused multiply-adds of a loop that is looked at

FILE = re.compile(r"^(\S+):\s+file format")
MEMBER = re.compile(r"((?:attention|softmax)_(?!scalar)[a-z0-9]+)\.c\.o(?:bj)?$")
FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")
TARGET = re.compile(r"\b([0-9a-f]+) <")


class X86:
    jump = re.compile(r"^j\w+$")
    end = re.compile(r"^(ret|jmp)")
    fma = re.compile(r"^vfn?m(add|sub)\d+ps$")
    vector = re.compile(r"%[xyz]mm\d+")
    memory = re.compile(r"\(([^)]*)\)")
    stack, frame = "%rsp", "%rbp"
    comment = re.compile(r"\s*#.*")
    frame_is_set = re.compile(r"^(mov\s+%rsp|lea\s+\S*\(%rsp\)),%rbp")

    @classmethod
    def destination(cls, operands):
        return cls.vector.findall(operands)[-1]

    @classmethod
    def is_load(cls, _, operands):
        return bool(cls.memory.search(operands) and re.search(r"%[xyz]mm\d+\S*$", operands))


class AArch64:
    jump = re.compile(r"^(b|b\.\w+|cbn?z|tbn?z)$")
    end = re.compile(r"^(ret|b|br)$")
    fma = re.compile(r"^fml[as]$")
    vector = re.compile(r"\b[vqds]\d+\b")
    memory = re.compile(r"\[([^]]*)\]")
    stack, frame = "sp", "x29"
    comment = re.compile(r"\s*//.*")
    frame_is_set = re.compile(r"^(mov|add)\s+x29, sp")

    @classmethod
    def destination(cls, operands):
        return cls.vector.findall(operands)[0]

    @classmethod
    def is_load(cls, name, operands):
        return name.startswith("ld") and bool(cls.vector.search(operands.split("[")[0]))


Instruction = collections.namedtuple("Instruction", "address name operands")


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def disassembly(objdump, library):
    run = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], capture_output=True,
                         text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    if "can't disassemble" in run.stderr:
        skip(f"{objdump} does not know this CPU")
    if run.returncode:
        sys.exit(f"{objdump}: {run.stderr}")
    return run.stdout


def functions(text):
    """[(object, rules of its CPU, name, instructions)] of the vector kernels."""
    found, member, rules = [], None, None
    for line in text.splitlines():
        if FILE.match(line):
            member = MEMBER.search(FILE.match(line)[1])
            rules = X86 if "x86-64" in line else AArch64
        elif member and FUNCTION.match(line):
            found.append((member[1], rules, FUNCTION.match(line)[1], []))
        elif member and INSTRUCTION.match(line):
            address, name, operands = INSTRUCTION.match(line).groups()
            found[-1][3].append(Instruction(int(address, 16), name, rules.comment.sub("", operands)))
    return found


def successors(rules, code):
    """For each instruction the indices of those that may come next."""
    index = {c.address: i for i, c in enumerate(code)}
    after = []
    for i, c in enumerate(code):
        to = [] if rules.end.match(c.name) or i + 1 == len(code) else [i + 1]
        target = TARGET.search(c.operands) if rules.jump.match(c.name) else None
        if target and int(target[1], 16) in index:
            to.append(index[int(target[1], 16)])
        after.append(to)
    return after


def reached(start, edges, but=None):
    """What can be reached from `start` without going on from `but`."""
    seen, left = {start}, [start]
    while left:
        i = left.pop()
        if i != but:
            new = [k for k in edges[i] if k not in seen]
            seen.update(new)
            left += new
    return seen


def fmas(rules, code):
    """How many fused multiply-adds there are among instructions."""
    return sum(bool(rules.fma.match(c.name)) for c in code)


def loops(rules, code):
    """The innermost loops that have enough fmas, each as a set of indices."""
    after = successors(rules, code)
    before = [[] for _ in code]
    for i, to in enumerate(after):
        for k in to:
            before[k].append(i)
    bodies = [] # of each jump back by itself: an outer loop may begin where the inner one does
    for i, to in enumerate(after):
        for head in to:
            if head <= i and i in reached(head, after): # and not only a jump to shared code
                bodies.append(reached(i, before, head) & reached(head, after))
    bodies = [b for b in bodies if fmas(rules, [code[i] for i in b]) >= LEAST]
    return [b for b in bodies if not any(other < b for other in bodies)]


def straight_runs(rules, code):
    """The stretches that nothing jumps into or out of, each as a range of indices."""
    after = successors(rules, code)
    heads = {k for i, to in enumerate(after) for k in to if k != i + 1}
    heads |= {i + 1 for i, to in enumerate(after) if to != [i + 1]} | {0, len(code)}
    heads = sorted(heads)
    return [range(first, end) for first, end in zip(heads, heads[1:])]
