#!/usr/bin/env python3
"""An independent implementation of docs/arithmetic.md and docs/golden.md.

It follows those two pages alone, in exact integer arithmetic (no Python float is used anywhere),
and reproduces the golden hashes. Sections bear the names of the pages' sections: those of
arithmetic.md are in floats.py, softmax.py and attention.py, those of golden.md in draws.py,
softmax_cases.py and attention_cases.py.

usage: contract.py [--op NAME] [--inc DIR] [--cases A:B] [--every N]

  --op NAME      only this operation: softmax or attention
  --inc DIR      where NAME.inc, the expected hashes, are (default: ../../golden from here)
  --cases A:B    of each operation only the cases A <= i < B; either may be left out
  --every N      of these, only every Nth

The last line says how many cases passed and failed. Exit 1 if one failed or none ran.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree
from attention_cases import KIND_OF, attention_hash  # noqa: E402
from draws import hash_of_all  # noqa: E402
from softmax_cases import COLUMNS, softmax_hash  # noqa: E402

# ---- The run ----

SHOWN = 5                                      # differences printed, of each operation
OPERATIONS = {"softmax": (softmax_hash, len(COLUMNS)), "attention": (attention_hash, len(KIND_OF))}


def expected_hashes(path):
    """{case number or "all": (hash as text, name)} from NAME.inc."""
    line = re.compile(r"0x([0-9a-f]{16}), /\* (\w+) ?(.*) \*/")
    with open(path, encoding="ascii") as file:
        found = [m.groups() for m in map(line.match, file) if m]
    return {int(n) if n.isdigit() else n: (h, name) for h, n, name in found}


def arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    inc = os.path.join(here, "..", "..", "golden")
    parser = argparse.ArgumentParser(description="docs/arithmetic.md against the golden hashes")
    parser.add_argument("--op", choices=list(OPERATIONS))
    parser.add_argument("--inc", default=inc, metavar="DIR")
    parser.add_argument("--cases", default=":", metavar="A:B")
    parser.add_argument("--every", default=1, type=int, metavar="N")
    args = parser.parse_args()
    if not re.fullmatch(r"\d*:\d*", args.cases) or args.every < 1:
        parser.error("--cases takes A:B, --every a number from 1 on")
    return args


def check(op, args):
    """How many cases of an operation passed, and how many hashes are wrong."""
    case_hash, count = OPERATIONS[op]
    expected = expected_hashes(os.path.join(args.inc, f"{op}.inc"))
    part = slice(*(int(n) if n else None for n in args.cases.split(":")), args.every)
    numbers = range(count)[part]
    got = {i: case_hash(i) for i in numbers}
    if len(numbers) == count:
        got["all"] = hash_of_all(got.values())
    wrong = [i for i in got if expected.get(i, ("",))[0] != f"{got[i]:016x}"]
    for i in wrong[:SHOWN]:
        print("{} case {}: expected {} ({}), got {:016x}".format(
            op, i, *expected.get(i, ("nothing", "not listed")), got[i]))
    return sum(i not in wrong for i in numbers), len(wrong)


def main():
    args = arguments()
    results = [check(op, args) for op in OPERATIONS if args.op in (None, op)]
    passed, failed = map(sum, zip(*results))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
