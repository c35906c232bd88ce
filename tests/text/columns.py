#!/usr/bin/env python3
"""No line of a C source in git is longer than 100 columns, and none has a tab: columns.py SOURCE_ROOT

The last line is `N passed, N failed, N skipped`, counted by files.
"""

import os
import subprocess
import sys

MOST = 100
ENDINGS = ("*.c", "*.h", "*.cc")


def sources(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", *ENDINGS], stdout=subprocess.PIPE, check=False)
    return [name for name in git.stdout.decode().split("\0") if name]


def faults(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            columns = len(line.rstrip("\n"))
            if columns > MOST:
                yield f"{number}: {columns} columns"
            if "\t" in line:
                yield f"{number}: a tab"


def main():
    root = sys.argv[1]
    names = sources(root)
    if not names:
        print(f"SKIP: git lists no sources in {root}")
        sys.exit(77)
    failed = 0
    for name in names:
        found = [f"{name}:{fault}" for fault in faults(os.path.join(root, name))]
        print("".join(line + "\n" for line in found), end="")
        failed += bool(found)
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
