#!/usr/bin/env python3
"""No inner loop of an attention tile keeps vectors on the stack:

    spills.py OBJDUMP OPTIMIZATION SANITIZER STATIC_LIBRARY

Disassembles the attention kernels of a static library and looks at the loops, with at least LEAST fused
multiply-adds, of the functions tile_*. Prints what each loop does. The loops of few_* are shown too, but not
judged: with four queries the sums and the keys that are turned need more than AVX2's sixteen registers.
"""

import collections
import os
import re
import shutil
import subprocess
import sys

LEAST = 4
JUDGED, SHOWN = "tile_", "few_"

FILE = re.compile(r"^(\S+):\s+file format")
MEMBER = re.compile(r"(attention_(?!scalar)[a-z0-9]+)\.c\.o(bj)?$")
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
        sys.exit(f"spills.py: {objdump}: {run.stderr}")
    return run.stdout


def functions(text):
    """[(object, rules of its CPU, name, instructions)] of the attention kernels."""
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
    bodies = [b for b in bodies if sum(bool(rules.fma.match(code[i].name)) for i in b) >= LEAST]
    return [b for b in bodies if not any(other < b for other in bodies)]


def on_stack(rules, code, c):
    """Whether an instruction with a vector in it reads or writes the stack."""
    place = rules.memory.search(c.operands)
    if not place or not rules.vector.search(c.operands):
        return False
    has_frame = any(rules.frame_is_set.match(f"{o.name} {o.operands}") for o in code)
    base = re.split(r"[,\s]+", place[1])
    return rules.stack in base or (has_frame and rules.frame in base)


def row(*cells):
    print("{:<18} {:<12} {:>6} {:>5} {:>6} {:>5} {:>6}".format(*cells))


def look(member, rules, name, code):
    """Prints a line for each loop; how many there are, and the first spill of each that has some."""
    bodies, spills = loops(rules, code), []
    for body in bodies:
        inside = [code[i] for i in sorted(body)]
        fmas = [c for c in inside if rules.fma.match(c.name)]
        loads = sum(rules.is_load(c.name, c.operands) for c in inside)
        stack = [c for c in inside if on_stack(rules, code, c)]
        row(member, name, f"{inside[0].address:x}", len(fmas), loads,
            len({rules.destination(c.operands) for c in fmas}), len(stack))
        spills += [f"{member}: {name}: {c.address:x}: {c.name} {c.operands}" for c in stack[:1]]
    return len(bodies), spills


def main():
    objdump, optimization, sanitizer, library = sys.argv[1:]
    if sanitizer != "none":
        skip("loops that spill: a sanitizer adds its own")
    if optimization not in ("2", "3"):
        skip(f"loops that spill: registers are not expected to be used well at -O{optimization}")
    if not shutil.which(objdump):
        skip("loops that spill: there is no objdump")
    judged, spills = collections.Counter(), []
    row("kernel", "function", "loop", "fmas", "loads", "sums", "stack")
    for member, rules, name, code in functions(disassembly(objdump, library)):
        judged[member] += 0
        if name.startswith(JUDGED):
            count, found = look(member, rules, name, code)
            judged[member] += count
            spills += found
        elif name.startswith(SHOWN):
            look(member, rules, name + " *", code)
    print("* is shown, not judged")
    if not judged or not all(judged.values()):
        sys.exit(f"spills.py: no loops were found: {dict(judged)}")
    if spills:
        sys.exit("\n".join(["spills.py: vectors on the stack within loops, the first of each:"] + spills))


main()
