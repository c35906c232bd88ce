"""Runs the test cases of a program and ends with the line that tools/count.py reads."""

import sys
import unittest


def main():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    for _, reason in result.skipped:
        print(f"SKIP: {reason}")
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not result.testsRun else 0
