#!/usr/bin/env python3
"""No line of a C source or of a Markdown text in git is longer than 100 columns, and none has a tab:
columns.py SOURCE_ROOT

In Markdown tables and code may be wider. The last line is `N passed, N failed, N skipped`, counted by files.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.append(os.path.join(sys.argv[1], "tools"))
import wrap  # noqa: E402

MOST = 100
ENDINGS = ("*.c", "*.h", "*.cc", "*.md")


def sources(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", *ENDINGS], stdout=subprocess.PIPE, check=False)
    return [name for name in git.stdout.decode().split("\0") if name]


def too_long(text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MOST:
            yield number, len(line)


def faults(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = wrap.too_long(text) if path.endswith(".md") else too_long(text)
    faulty = [(number, f"{columns} columns") for number, columns in found]
    faulty += [(number, "a tab") for number, line in enumerate(text.split("\n"), 1) if "\t" in line]
    return [f"{number}: {fault}" for number, fault in sorted(faulty)]


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
