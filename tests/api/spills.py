#!/usr/bin/env python3
"""No inner loop of an attention tile keeps vectors on the stack:

    spills.py OBJDUMP OPTIMIZATION SANITIZER STATIC_LIBRARY

Disassembles the attention kernels of a static library and looks at the loops, with some fused
multiply-adds, of the functions tile_*. Prints what each loop does. The loops of thin_* are shown too, but not
judged: with four queries the sums and the keys that are turned need more than AVX2's sixteen registers.
"""

import collections
import re
import shutil
import sys

from loops import disassembly, functions, loops, skip

JUDGED, SHOWN = "tile_", ("thin_", "asm_thin_")


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
        if not member.startswith("attention_"):
            continue
        if name == f"rdk_{member}": # the kernel
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
