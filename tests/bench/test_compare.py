"""What bench_compare prints of a library beside itself, and beside one that refuses:

test_compare.py BENCH_COMPARE LIBRARY REFUSES
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import counted

COMPARE, LIBRARY, REFUSES = sys.argv[1:4]

WORKS = {
    "few rows": "op = softmax\nrows = 500\ncols = 200\n",
    "halves": "op = softmax\nrows = 500\ncols = 200\ndtype = bf16\n",
    "logarithms": "op = softmax\nrows = 500\ncols = 200\nlog = yes\n",
    "biased": "op = softmax\nrows = 500\ncols = 200\nbias = yes\n",
    "grouped": "op = attention\nheads = 4\nkv_heads = 2\nqueries = 24\nkeys = 40\nd = 16\ncausal = yes\n",
    "wide": "op = attention\nheads = 1\nqueries = 1\nkeys = 300\nd_qk = 36\nd_v = 20\nmemory = yes\n",
}
ROW = re.compile(r"^(?P<name>\S.*?) +[\d.]+ +[\d.]+ +[\d.]+ +(?P<middle>[\d.]+) "
                 r"\([\d.]+ to [\d.]+\)  (?P<verdict>faster|slower|the same|too few pairs to tell)(?P<bits>; other bits)?$", re.MULTILINE)
NO_ROW = re.compile(r"^(?P<name>\S.*?)( +-){4} (?P<why>.*)$", re.MULTILINE)
SUMMARY = re.compile(r"^(?P<isa>\w+): geometric mean (?P<mean>[\d.]+) of (?P<rows>\d+); "
                     r"slowest (?P<slowest>[\d.]+), (?P<name>[^,\n]*)", re.MULTILINE)


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.shapes = os.path.join(cls.directory.name, "shapes.ini")
        with open(cls.shapes, "w", encoding="utf-8") as file:
            file.write("".join(f"[{name}]\n{text}" for name, text in WORKS.items()))
        # The same file twice would be one library to the loader.
        cls.twin = os.path.join(cls.directory.name, "twin.so")
        shutil.copy(LIBRARY, cls.twin)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_it(self, *arguments):
        return subprocess.run([COMPARE, *arguments], capture_output=True, text=True, check=False)

    def compare(self, base, new, *options):
        done = self.run_it(base, new, self.shapes, "--seconds", "0.1", *options)
        if done.returncode == 2 and "no vector ISA" in done.stderr:
            self.skipTest("bench_compare: this CPU has no vector ISA")
        return done

    def test_itself(self):
        done = self.compare(self.twin, LIBRARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        summaries = list(SUMMARY.finditer(done.stdout))
        rows = list(ROW.finditer(done.stdout))
        self.assertGreater(len(summaries), 0, done.stdout)
        self.assertEqual([r["name"] for r in rows], list(WORKS) * len(summaries), done.stdout)
        self.assertEqual([r["name"] for r in rows if r["bits"]], [])
        for n, s in enumerate(summaries):
            middles = [float(r["middle"]) for r in rows[n * len(WORKS):(n + 1) * len(WORKS)]]
            self.assertEqual(int(s["rows"]), len(WORKS))
            self.assertEqual(float(s["slowest"]), max(middles))
            self.assertEqual(middles[list(WORKS).index(s["name"])], max(middles))
            self.assertLessEqual(min(middles), float(s["mean"]))
            self.assertGreaterEqual(max(middles), float(s["mean"]))
            # Wide enough for calls of microseconds on a machine that does something else.
            self.assertTrue(0.8 < float(s["mean"]) < 1.25, done.stdout)

    def test_base_refuses(self):
        done = self.compare(REFUSES, LIBRARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        refused = {r["name"]: r["why"] for r in NO_ROW.finditer(done.stdout)}
        softmax = [name for name, text in WORKS.items() if "softmax" in text]
        self.assertEqual(refused, dict.fromkeys(softmax, "base refuses: never"), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^base +0\.0\.0, arithmetic 0: ")

    def test_new_refuses(self):
        done = self.compare(LIBRARY, REFUSES)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("new refuses: never", done.stdout)

    def test_other_bits(self):
        done = self.compare(LIBRARY, REFUSES, "--only", "grouped")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all(r["bits"] for r in ROW.finditer(done.stdout)), done.stdout)
        self.assertIn(", 1 with other bits", done.stdout)

    def test_choices(self):
        done = self.compare(self.twin, LIBRARY, "--only", "few", "--isa", "scalar")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["name"] for r in ROW.finditer(done.stdout)], ["few rows"], done.stdout)
        self.assertRegex(done.stdout, r"(?m)^scalar: geometric mean .* of 1; slowest .*, few rows")

    def test_too_long(self):
        done = self.run_it(self.twin, LIBRARY, self.shapes, "--seconds", "1e-9", "--isa", "scalar")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["name"] for r in NO_ROW.finditer(done.stdout)], list(WORKS))
        self.assertIn("scalar: nothing compared", done.stdout)

    def test_wrong_arguments(self):
        both = [self.twin, LIBRARY]
        for arguments in [], both, [*both, "no such file"], ["no such file", LIBRARY, self.shapes], \
                [*both, self.shapes, "more"], [*both, self.shapes, "--only"], \
                [*both, self.shapes, "--only", "no such work"], [*both, self.shapes, "--isa", "avx3"], \
                [*both, self.shapes, "--seconds", "0"], [*both, self.shapes, "--seconds", "x"], \
                [*both, self.shapes, "--frob", "1"]:
            with self.subTest(arguments):
                done = self.run_it(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    sys.exit(counted.main())
