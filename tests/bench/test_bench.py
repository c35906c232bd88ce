"""What the bench refuses, and whether its report has what it promises: test_bench.py BENCH SHAPES"""

import configparser
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import counted

BENCH, SHAPES = sys.argv[1:3]

RIGHT = "[a]\nop = softmax\nrows = 2\ncols = 3\n"
WRONG = {
    "a value before any name": "op = softmax\n",
    "an unknown key": RIGHT + "columns = 3\n",
    "not a number": RIGHT + "rows = many\n",
    "no rows": "[a]\nop = softmax\ncols = 3\n",
    "zero rows": RIGHT + "rows = 0\n",
    "a negative number": RIGHT + "rows = -1\n",
    "not yes or no": RIGHT + "log = maybe\n",
    "an unknown operation": "[a]\nop = convolution\n",
    "an unknown type": RIGHT + "dtype = f8\n",
    "no operation": "[a]\nrows = 2\ncols = 3\n",
    "a shape that is not complete before another": "[a]\nop = softmax\n[b]\n" + RIGHT[4:],
    "a name without an end": "[a\n",
    "a name with a quotation mark": '["a"]\n' + RIGHT[4:],
    "a name that is too long": "[" + "a" * 60 + "]\n" + RIGHT[4:],
    "heads that are no multiple": "[a]\nop = attention\nheads = 3\nkv_heads = 2\nqueries = 1\nkeys = 1\nd = 8\n",
    "no number of layers": "[a]\nop = attention\nheads = 1\nqueries = 1\nkeys = 1\nd = 8\nlayers = all\n",
    "no sequence": "[a]\nop = attention\nheads = 1\nqueries = 1\nkeys = 1\nd = 8\nbatch = 0\n",
    "a head that is too wide": "[a]\nop = attention\nheads = 1\nqueries = 1\nkeys = 1\nd = 1025\n",
}

FIELDS = {"process", "work", "group", "from", "op", "by", "version", "how", "dtype", "threads", "best", "median",
          "repeats", "flop", "bytes", "limit", "fraction_of_limit", "fractions", "noisy", "disturbed",
          "checked", "error_ulp"}


def run(*arguments):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, check=False)


def run_on(text, *arguments):
    """On a file of shapes with this text."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "shapes.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return run(path, *arguments)


class Refused(unittest.TestCase):
    def test_wrong_shapes(self):
        for what, text in WRONG.items():
            with self.subTest(what):
                done = run_on(text, "--quick")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"shapes\.ini:\d+: ")
                self.assertEqual(done.stdout, "")

    def test_wrong_arguments(self):
        for arguments in [], ["no such file"], [SHAPES, "--isa", "avx3"], [SHAPES, "--seconds", "x"], \
                [SHAPES, "--only"], [SHAPES, "--frob", "1"], [SHAPES, "--quick", "--only", "no such work"]:
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertNotEqual(done.stderr, "")

    def test_comments_and_blanks(self):
        done = run_on("# comment\n\n  " + RIGHT.replace("=", "  =  "), "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rootdk", done.stdout)


class Report(unittest.TestCase):
    """Of a quick run of everything."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "report.json")
            cls.done = run(SHAPES, "--quick", "--json", path, "--command", "a test")
            with open(path, encoding="utf-8") as file:
                cls.report = json.load(file)

    def test_it_succeeds(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_every_shape_is_there(self):
        shapes = configparser.ConfigParser()
        shapes.read(SHAPES, encoding="utf-8")
        self.assertEqual(list(dict.fromkeys(r["work"] for r in self.report["records"])), shapes.sections())

    def test_records_are_whole(self):
        for r in self.report["records"]:
            with self.subTest((r["work"], r["by"], r["how"])):
                self.assertLessEqual(FIELDS, set(r))
                self.assertIs(r["checked"], True)
                self.assertLessEqual(r["best"], r["median"])
                self.assertGreater(r["repeats"], 0)
                self.assertEqual(r["fraction_of_limit"], max(r["fractions"].values()))
                self.assertEqual(r["fraction_of_limit"], r["fractions"][r["limit"]])
                self.assertTrue(0 < r["fraction_of_limit"] <= 1)

    def test_layers_are_held_against_a_read(self):
        found = [r for r in self.report["records"] if r["group"] == "layers"]
        self.assertEqual({(r["layers"], r["batch"]) for r in found}, {(12, 1), (32, 1), (12, 8), (32, 8)})
        for r in found:
            self.assertIn("read", r["fractions"])
            self.assertEqual(r["bytes"], 8 * r["batch"] * r["kv_heads"] * r["nk"] * r["d_qk"])

    def test_batches_are_beside_their_sequences(self):
        for name in "GPT-2", "Llama-3-8B":
            self.assertRegex(self.done.stdout, rf'(?m)^"{name} decode n=512" 8 times, one by one, takes [\d.]+ times')

    def test_it_tells_of_itself(self):
        self.assertEqual(self.report["command"], "a test")
        self.assertLessEqual({"library", "arithmetic", "cpu", "os", "caches", "compiler", "date", "absent", "limits"},
                             set(self.report))
        self.assertIn(os.uname().release, self.report["os"])
        self.assertLessEqual(set(self.report["caches"]), {"L1", "L2", "L3"})
        self.assertTrue(all(size >= 1024 for size in self.report["caches"].values()))
        kinds = {x["limit"] for x in self.report["limits"]}
        self.assertLessEqual({"read", "memcpy"}, kinds)

    def test_rootdk_is_as_exact_everywhere(self):
        for r in self.report["records"]:
            if r["by"] == "rootdk" and r["op"] == "softmax" and r["dtype"] == "f32" and not r["bias"]:
                self.assertLessEqual(r["error_ulp"], 4, r["work"])


if __name__ == "__main__":
    sys.exit(counted.main())
