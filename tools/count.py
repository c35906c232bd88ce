#!/usr/bin/env python3
"""Counts the results of the tests of tools/test.sh.

count.py variant NAME    prints one line about a variant
count.py total NAME...   prints why tests were skipped, what failed and, last, the total

Every test program ends its output with `N passed, N failed, N skipped`. A program without that line
counts as one test, by its exit code. No exit code can hide a failure, and no line can hide a crash.
"""

import collections
import json
import re
import sys

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.MULTILINE)
TAIL = 20  # lines of a failed test's output that are shown
MARKED = re.compile(r"FAIL|seed 0|\s*replay: ")  # and those, wherever they stand


class Variant:
    def __init__(self, name):
        self.name = name
        self.passed = self.failed = self.skipped = 0
        self.skips = []  # reasons
        self.failures = []  # (what, lines)
        self.compiler, self.seconds = "?", "?"
        try:
            with open(f"build/test/{name}.status", encoding="utf-8") as file:
                stage, self.seconds, self.compiler = file.read().strip().split(" ", 2)
        except (OSError, ValueError):
            self.fail("did not finish", self.log())
            return
        if stage != "done":
            self.fail(f"{stage} failed", self.log())
            return
        try:
            with open(f"build/test/{name}/meson-logs/testlog.json", encoding="utf-8") as file:
                tests = [json.loads(line) for line in file]
        except (OSError, ValueError):
            tests = []
        for test in tests:
            self.add(test)
        if not tests:
            self.fail("ran no test", self.log())

    def log(self):
        try:
            with open(f"build/test/{self.name}.log", encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()
        except OSError:
            return []

    def fail(self, what, lines, count=1):
        self.failed += count
        marked = [line for line in lines[:-TAIL] if MARKED.match(line)]
        self.failures.append((f"{self.name}: {what}", marked + lines[-TAIL:]))

    def add(self, test):
        name, result, code = test["name"], test["result"], test.get("returncode")
        output = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
        lines = [line for line in output.splitlines() if line.strip()]
        reasons = [line[len("SKIP: "):] for line in lines if line.startswith("SKIP: ")]
        self.skips += reasons
        bad = result not in ("OK", "SKIP", "EXPECTEDFAIL")
        why = f"{name}: {result}, exit code {code}"

        counts = COUNTS.findall(output)
        if result == "EXPECTEDFAIL":
            self.passed += 1
            return
        if counts:
            passed, failed, skipped = map(int, counts[-1])
            self.passed += passed
            self.skipped += skipped
            if failed or bad:
                self.fail(why, lines, max(failed, 1))
            if passed + failed + skipped > 0 or bad:
                return
            # It ran, and nothing in it did.
            if result != "SKIP":
                self.fail(f"{name}: no test in it ran", lines)
                return
        if bad:
            self.fail(why, lines)
        elif result == "SKIP":
            self.skipped += 1
            if not reasons:
                self.skips.append(f"{name}: no reason given")
        else:
            self.passed += 1

    def counts(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("variant", "total"):
        sys.exit(__doc__)
    variants = [Variant(name) for name in sys.argv[2:]]
    if sys.argv[1] == "variant":
        for v in variants:
            print(f"{v.name:14} {v.compiler:30} {v.counts()}, {v.seconds} s", flush=True)
        return 0
    skips = collections.Counter(reason for v in variants for reason in v.skips)
    for reason, count in sorted(skips.items()):
        print(f"SKIP: {reason} ({count} times)" if count > 1 else f"SKIP: {reason}")
    for v in variants:
        for what, lines in v.failures:
            print(f"\nFAIL {what}")
            for line in lines:
                print("    " + line)
    total = [sum(getattr(v, key) for v in variants) for key in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*total), flush=True)
    return 1 if total[1] > 0 or total[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
