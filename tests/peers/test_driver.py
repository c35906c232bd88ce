#!/usr/bin/env python3
"""Tests the driver of `make bench-peers` and what `tools/peers.sh error` measures: test_driver.py COMPILER...

Without a compiler the structs are not compared with those of C, without numpy no inputs are drawn; no other package is
needed.
"""

import ctypes
import io
import itertools
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench", "peers", "python"), os.path.join(ROOT, "tests", "lib")]

import cells  # noqa: E402
import counted  # noqa: E402
import figures  # noqa: E402
import limits  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import rootdk  # noqa: E402
import sample  # noqa: E402
import shapes  # noqa: E402
from pair import Pair  # noqa: E402

try:
    import draws
    import numpy
    import operands
except ImportError:
    draws = numpy = operands = None

INCLUDE = os.path.join(ROOT, "include")
COMPILER = sys.argv[1:]

SHAPES = """
# a comment
[BERT-base n=128]
op = attention
group = model
heads = 12
queries = 128
keys = 128
d = 64
from = Devlin et al. 2018: 12 heads of 64

[decode]
op = attention
group = decode
heads = 32
kv_heads = 8
queries = 1
keys = 8192
d_qk = 192
d_v = 128
causal = yes
memory = yes

[one layer]
op = attention
group = layers
layers = 12
batch = 8
heads = 12
queries = 1
keys = 512
d = 64

[100 % of it]
op = softmax
group = softmax
rows = 4
cols = 1024
dtype = f16
log = yes
peers = no
"""


def attention(**changes):
    work = shapes.Attention("w", "full", "", 8, 8, 128, 128, 64, 64, False, False, True)
    return work._replace(**changes)


def softmax(**changes):
    return shapes.Softmax("s", "softmax", "", 4, 1024, "f32", False, False, True)._replace(**changes)


def way(by, seconds, **options):
    made = sample.Way(by, "1", "how", [lambda: None], **options)
    made.seconds = seconds
    return made


class Shapes(unittest.TestCase):
    def setUp(self):
        self.works = shapes.read(io.StringIO(SHAPES))

    def test_defaults(self):
        bert = self.works[0]
        self.assertEqual(bert, attention(name="BERT-base n=128", group="model", heads=12, kv_heads=12,
                                         source="Devlin et al. 2018: 12 heads of 64"))

    def test_all_keys(self):
        decode = self.works[1]
        self.assertEqual((decode.kv_heads, decode.d_qk, decode.d_v, decode.causal, decode.memory),
                         (8, 192, 128, True, True))

    def test_layers(self):
        layer = self.works[2]
        self.assertEqual((layer.layers, layer.batch, layer.fields()["layers"], layer.fields()["batch"]), (12, 8, 12, 8))
        self.assertEqual([work.is_from_memory for work in self.works[:3]], [False, True, True])
        self.assertEqual((self.works[0].layers, self.works[0].batch), (0, 1))

    def test_softmax(self):
        self.assertEqual(self.works[3], shapes.Softmax("100 % of it", "softmax", "", 4, 1024, "f16",
                                                       True, False, False))

    def test_what_is_missing_is_named(self):
        for text in ("[a]\nop = attention\ngroup = full\nheads = 1\nkeys = 1\nd = 1\n",
                     "[a]\ngroup = full\n", "[a]\nop = softmax\nrows = 1\ncols = 1\n",
                     "[a]\nop = softmax\ngroup = g\nrows = 1\ncols = 1\ndtype = f8\n"):
            with self.assertRaisesRegex(ValueError, "^a: "):
                shapes.read(io.StringIO(text))

    def test_left_out(self):
        self.assertEqual([bool(shapes.left_out(work)) for work in self.works], [False, False, True, True])
        self.assertIsNone(shapes.left_out(self.works[2]._replace(batch=1)))
        self.assertIsNone(shapes.left_out(attention(heads=1, queries=16384, keys=32768)))
        self.assertIsNotNone(shapes.left_out(attention(heads=1, queries=32768, keys=32768)))

    def test_flop_and_bytes(self):
        self.assertEqual(attention().flop, 4 * 8 * 128 * 128 * 64)
        self.assertEqual(attention(causal=True).flop, 2 * 8 * 128 * 128 * 64)
        self.assertEqual(attention(causal=True, queries=64).flop, 3 * 8 * 64 * 128 * 64)
        self.assertEqual(attention(causal=True, queries=1).flop, 4 * 8 * 128 * 64)
        self.assertEqual(attention(d_v=32).flop, 3 * 8 * 128 * 128 * 64)
        self.assertEqual(attention(heads=32).bytes, 2 * 8 * 128 * 64 * 4)
        self.assertEqual(softmax().bytes, 2 * 4 * 4096)
        self.assertEqual(softmax(dtype="bf16").bytes, 4 * 4096)
        self.assertEqual((softmax().flop, softmax(log=True).flop), (20 * 4096, 18 * 4096))

    def test_grouped(self):
        grouped = attention(heads=32, queries=1, causal=True).grouped()
        self.assertEqual((grouped.heads, grouped.queries, grouped.sees_all), (8, 4, True))


class Parts(unittest.TestCase):
    def cells(self, parts):
        """Every head and query with the head of keys it uses."""
        return sorted((head, query, part.kv_head + (head - part.head) // (part.heads // part.kv_heads))
                      for part in parts
                      for head in range(part.head, part.head + part.heads)
                      for query in range(part.query, part.query + part.queries))

    def test_halves_are_the_whole(self):
        for kv_heads, group, queries, causal in itertools.product((1, 2, 3, 8), (1, 2, 4), (1, 2, 5),
                                                                  (False, True)):
            work = attention(heads=kv_heads * group, kv_heads=kv_heads, queries=queries, causal=causal)
            found = rootdk.halves(work)
            if work.heads * work.queries == 1:
                self.assertIsNone(found)
                continue
            self.assertEqual(len(found[1]), 2)
            self.assertEqual(self.cells(found[1]), self.cells([rootdk.whole(work)]))

    def test_rows(self):
        self.assertIsNone(rootdk.row_halves(softmax(rows=1)))
        self.assertEqual(rootdk.row_halves(softmax(rows=5)), ("rows", [(0, 3), (3, 2)]))

    def test_descriptor_of_a_part(self):
        work = attention(heads=8, kv_heads=4, queries=10, keys=30, d_v=16, causal=True)
        part = rootdk.Part(2, 4, 1, 2, 3, 5)
        desc = rootdk.attention_desc(work, 2, part, 1000, 2000, 3000, 4000, 5000, 6)
        self.assertEqual((desc.q.data, desc.q.head_stride, desc.q.row_stride),
                         (1000 + 4 * 64 * (2 * 10 + 3), 640, 64))
        self.assertEqual((desc.k.data, desc.v.data), (2000 + 4 * 64 * 30, 3000 + 4 * 16 * 30))
        self.assertEqual(desc.out.data, 4000 + 4 * 16 * (2 * 10 + 3))
        self.assertEqual((desc.q_heads, desc.kv_heads, desc.q_len, desc.kv_len), (4, 2, 5, 30))
        self.assertEqual((desc.causal, desc.q_pos), (2, 30 - 10 + 3))
        self.assertEqual(desc.size, ctypes.sizeof(rootdk.AttentionDesc))

    def test_softmax_descriptor_of_a_part(self):
        desc = rootdk.softmax_desc(softmax(dtype="f16"), 2, rootdk.Rows(2, 1), 1000, 20000, 30000, 2)
        self.assertEqual((desc.x, desc.y, desc.bias, desc.rows, desc.x_type),
                         (1000 + 2 * 2048, 20000 + 2 * 2048, 30000 + 2 * 4096, 1, 1))

    def test_half_spans(self):
        self.assertEqual(limits.half_spans((64, 1000)), ((64, 448), (512, 552)))


def fields_of(header, name):
    """The names that the header declares in a struct."""
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), header, re.DOTALL).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return [re.search(r"(\w+)\s*$", one).group(1) for one in re.split(r"[;,]", body) if one.strip()]


def c_program(structs, constants):
    lines = ["#include <rootdk/rootdk.h>", "#include <stdio.h>", "int main(void) {"]
    for name, struct in structs:
        lines.append(f'printf("%d\\n", (int)sizeof({name}));')
        lines += [f'printf("%d\\n", (int)offsetof({name}, {field}));' for field, _ in struct._fields_]
        lines += [f'printf("%d\\n", (int)sizeof((({name} *)0)->{field}));' for field, _ in struct._fields_]
    lines += [f'printf("%d\\n", (int){constant});' for constant in constants]
    return "\n".join(lines + ["return 0;", "}", ""])


@unittest.skipIf(operands is None, "no numpy")
class Copies(unittest.TestCase):
    def test_as_many_caches_as_the_memory_holds(self):
        layer = attention(heads=12, kv_heads=12, queries=1, keys=512, layers=12)
        least, most = 4 * operands.LEAST_CACHE, operands.MOST_COPIES
        size = operands.copies_of(layer) * layer.bytes
        self.assertTrue(least <= size < most + layer.bytes)
        self.assertEqual(operands.copies_of(layer._replace(layers=0)), 1)

    def test_every_copy_has_its_own_memory(self):
        layer = attention(queries=1, keys=16384, layers=2)
        made = operands.operands_of(layer)
        spans = sorted(part for copy in made.moved() for part in copy)
        self.assertEqual(len(spans), 2 * operands.copies_of(layer))
        self.assertTrue(all(a + size <= b for (a, size), (b, _) in zip(spans, spans[1:])))


class Header(unittest.TestCase):
    STRUCTS = [("rdk_softmax_desc", rootdk.SoftmaxDesc), ("rdk_view", rootdk.View),
               ("rdk_const_view", rootdk.View), ("rdk_attention_desc", rootdk.AttentionDesc)]
    CONSTANTS = {"RDK_F32": rootdk.TYPES["f32"], "RDK_F16": rootdk.TYPES["f16"],
                 "RDK_BF16": rootdk.TYPES["bf16"], "RDK_ISA_SCALAR": rootdk.SCALAR,
                 "RDK_ISA_COUNT": 1 + len(rootdk.isas.read()), "RDK_SOFTMAX": int(False), "RDK_LOG_SOFTMAX": int(True),
                 "RDK_CAUSAL_FROM_POSITION": rootdk.CAUSAL_FROM_POSITION, "RDK_OK": 0}

    def of_ctypes(self):
        for _, struct in self.STRUCTS:
            yield ctypes.sizeof(struct)
            yield from [getattr(struct, field).offset for field, _ in struct._fields_]
            yield from [ctypes.sizeof(kind) for _, kind in struct._fields_]
        yield from self.CONSTANTS.values()

    def test_no_field_is_left_out(self):
        with open(os.path.join(INCLUDE, "rootdk", "rootdk.h"), encoding="utf-8") as file:
            header = file.read()
        for name, struct in self.STRUCTS:
            self.assertEqual(fields_of(header, name), [field for field, _ in struct._fields_])

    def test_structs_and_constants(self):
        if not COMPILER:
            self.skipTest("no C compiler was given")
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w", encoding="utf-8") as file:
                file.write(c_program(self.STRUCTS, self.CONSTANTS))
            subprocess.run([*COMPILER, "-I", INCLUDE, source, "-o", program], check=True)
            output = subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual([int(line) for line in output.split()], list(self.of_ctypes()))


class Figures(unittest.TestCase):
    def test_attention_is_bound_by_what_takes_longest(self):
        work = attention()
        needed = figures.needed_by(work, 2 * work.flop, {"read": 0.1})
        self.assertEqual(needed, {"read": 0.1, "fma": 0.5})
        made = figures.record(work, way("PyTorch", [4.0, 2.0, 3.0]), 1, needed)
        self.assertEqual((made["limit"], made["fraction_of_limit"], made["fractions"]["read"]),
                         ("fma", 0.25, 0.05))
        self.assertEqual((made["best"], made["median"], made["repeats"]), (2, 3, 3))
        self.assertEqual((made["process"], made["by"], made["q_heads"]), ("peers", "PyTorch", 8))

    def test_softmax_without_a_peak(self):
        moving = {"read": 0.1, "memcpy": 0.2}
        self.assertEqual(figures.needed_by(softmax(), None, moving), moving)

    def test_without_limits(self):
        made = figures.record(attention(), way("numpy", [1.0]), 1, {})
        self.assertEqual((made["limit"], made["fraction_of_limit"]), (None, None))
        self.assertIn("numpy", figures.table([made])[1])

    def test_faster_than_the_machine(self):
        fine = figures.record(attention(), way("numpy", [1.0]), 1, {"fma": 1.0})
        wrong = figures.record(attention(), way("numpy", [1.0]), 1, {"fma": 1.01, "read": 0.5})
        self.assertEqual(figures.broken([fine, wrong]), [wrong])

    def test_table_is_relative_to_rootdk(self):
        records = [figures.record(attention(), way(by, seconds), 1, {"fma": 0.5})
                   for by, seconds in (("numpy", [6.0, 6.0]), ("rootdk", [2.0, 2.0]), ("rootdk", [4.0, 4.0]))]
        lines = figures.table(records)
        self.assertEqual([line.split()[0] for line in lines[1:]], ["rootdk", "rootdk", "numpy"])
        self.assertIn(" 3.00 ", lines[3])


class Clock:
    """Moves only when a call says so."""
    now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


class Samples(unittest.TestCase):
    def test_times_and_noise(self):
        self.assertEqual((way("x", [4.0, 6.0, 8.0], times=2).best, way("x", [4.0, 6.0, 8.0], times=2).median),
                         (2, 3))
        self.assertFalse(way("x", [1.0, 9.0, 1.02, 9.0]).is_noisy)
        self.assertTrue(way("x", [1.0, 9.0, 1.04, 9.0]).is_noisy)
        self.assertTrue(way("x", [1.0]).is_noisy)

    def test_every_way_is_taken_in_every_round(self):
        clock = Clock()
        ways = [sample.Way("x", "", str(i), [lambda i=i: clock.wait(10 + i)]) for i in range(3)]
        sample.Sampler(ways, 1, clock).run(0)
        self.assertEqual([w.seconds for w in ways], [[10 + i] * sample.ROUNDS for i in range(3)])

    def test_short_calls_are_repeated(self):
        clock = Clock()
        short = sample.Way("x", "", "", [lambda: clock.wait(sample.BURST / 4)])
        sample.Sampler([short], 1, clock).run(0)
        self.assertEqual(len(short.seconds), 4 * sample.ROUNDS)

    def test_no_copy_is_read_twice_running(self):
        clock, read = Clock(), []

        def call_of(copy):
            def call():
                read.append(copy)
                clock.wait(1)
            return call
        ways = [sample.Way("x", "", str(i), [call_of(copy) for copy in range(4)]) for i in range(3)]
        sample.Sampler(ways, 1, clock).run(100)
        self.assertTrue(all(b == (a + 1) % 4 for a, b in zip(read, read[1:])))

    def test_pair_runs_both(self):
        pair, done = Pair(), []
        both = pair.both(lambda: done.append(1), lambda: done.append(2))
        for _ in range(100):
            both()
        self.assertEqual((done.count(1), done.count(2)), (100, 100))


def entry(process, threads, **more):
    return {"process": process, "threads": threads, **more}


class Report(unittest.TestCase):
    def setUp(self):
        self.old = report.new("0.1.0", 1, "gcc")
        self.old["records"] = [entry("bench", 1), entry("peers", 1, best=1), entry("peers", 2, best=2)]
        self.old["limits"] = [entry("bench", 2), entry("peers", 1)]
        self.old["absent"] = [{"peer": "oneDNN", "reason": "x"}, {"peer": "PyTorch", "reason": "y"}]

    def test_only_its_own_is_replaced(self):
        merged = report.merge(self.old, 1, [entry("peers", 1, best=5)], [entry("peers", 1, best=3)], [])
        self.assertEqual(merged["records"],
                         [entry("bench", 1), entry("peers", 2, best=2), entry("peers", 1, best=3)])
        self.assertEqual(merged["limits"], [entry("bench", 2), entry("peers", 1, best=5)])
        self.assertEqual(merged["library"], "rootdk 0.1.0")

    def test_absent_of_both_runs(self):
        first = report.merge(self.old, 1, [], [], [{"peer": "OpenVINO", "reason": "z"}])
        self.assertEqual([e["peer"] for e in first["absent"]], ["oneDNN", "OpenVINO"])
        for again in ([], first["absent"][1:]):
            second = report.merge(first, 2, [], [], again + [{"peer": "numpy", "reason": "z"}])
            self.assertEqual([e["peer"] for e in second["absent"]], ["oneDNN", "OpenVINO", "numpy"])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            self.assertIsNone(report.load(path))
            report.save(path, self.old)
            self.assertEqual(report.load(path), self.old)
            self.assertEqual(os.listdir(folder), ["report.json"])


class Absent(unittest.TestCase):
    def test_what_did_not_install(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "absent")
            with open(path, "w", encoding="utf-8") as file:
                file.write("OpenVINO\tdid not install: ERROR: no\tsuch version\n\n")
            self.assertEqual(report.read_absent(path),
                             [{"peer": "OpenVINO", "reason": "did not install: ERROR: no\tsuch version"}])

    def test_what_does_not_load(self):
        absent = [{"peer": "Old", "reason": "did not install"}]
        loaded = peers.load(absent, {"Old": "by_nothing", "New": "by_nothing_else", "There": "shapes"})
        self.assertEqual(loaded, [shapes])
        self.assertEqual([e["peer"] for e in absent], ["Old", "New"])
        self.assertIn("by_nothing_else", absent[1]["reason"])


# ---- error.py --------------------------------------------------------------------------------------------

def cell(share=0, place="", alone=False, d=64, keys=128):
    return cells.Cell(d, keys, share, place, alone)


def result(ratio, **changes):
    """Of two draws; the best of the others has an RMS error of 1."""
    squares = {"rootdk": [ratio ** 2 - 0.1, ratio ** 2 + 0.1], "plain loops": [4, 4], "PyTorch": [0.5, 1.5]}
    return cells.Result(cell(**changes), squares)


class Cells(unittest.TestCase):
    def test_every_cell_has_a_name(self):
        names = [cells.name_of(one) for group in cells.wanted() for one in group]
        self.assertEqual(len(set(names)), len(cells.DIMS) * len(cells.KEYS) * (2 + 3 * len(cells.SHARES)))
        self.assertIn("d=80 keys=17 30 % on the middle key", names)
        self.assertIn("d=64 keys=512 N(0,1), one query", names)

    def test_only_some(self):
        self.assertEqual([len(group) for group in cells.wanted("keys=17 N(0,1)")], [2] * len(cells.DIMS))
        self.assertEqual(cells.wanted("nothing"), [])

    def test_heavy_key(self):
        self.assertEqual([cells.heavy_index(place, 17) for place in cells.PLACES], [0, 8, 16])
        weight, others = math.exp(cells.heavy_logit(30, 128)), 127 * math.exp(0.5)
        self.assertAlmostEqual(weight / (weight + others), 0.3)


class Ratios(unittest.TestCase):
    def test_the_best_other_counts(self):
        one = result(1.5)
        self.assertEqual(one.best, "PyTorch")
        self.assertAlmostEqual(one.ratio, 1.5)
        self.assertAlmostEqual(one.rms["plain loops"], 2)

    def test_bars(self):
        self.assertFalse(result(1.019).is_over)
        self.assertTrue(result(1.021).is_over)
        self.assertFalse(result(1.09, share=99, place="first").is_over)
        self.assertTrue(result(1.11, share=99, place="first").is_over)
        self.assertFalse(result(9, alone=True).is_over)

    def test_no_number_is_over(self):
        self.assertTrue(cells.Result(cell(), {"rootdk": [math.nan], "PyTorch": [1]}).is_over)

    def test_mean_is_of_what_is_not_apart(self):
        some = [result(0.5), result(0.8), result(1.1, share=99, place="last"), result(2, alone=True)]
        self.assertAlmostEqual(cells.mean_ratio(some), math.sqrt(0.4))
        self.assertIsNone(cells.mean_ratio(some[2:]))

    def test_what_is_missed(self):
        self.assertEqual(cells.missed([result(0.5), result(1)]), [])
        lines = cells.missed([result(1.2), result(1.3, share=10, place="first"), result(0.9)])
        self.assertEqual([line.split(":")[0] for line in lines],
                         ["geometric mean", "d=64 keys=128 10 % on the first key", "d=64 keys=128 N(0,1)"])

    def test_tables(self):
        some = [result(0.5), result(0.6, share=10, place="first"), result(0.7, share=10, place="middle"),
                result(1.234, alone=True), result(0.9, keys=17)]
        head, rows = cells.ratio_table(some)
        self.assertEqual(head, ["d", "keys", "N(0,1)", "10 %", "30 %", "70 %", "99 %", "one query"])
        self.assertEqual(rows, [[64, 128, "0.50", "0.60 / 0.70", "-", "-", "-", "1.23"],
                                [64, 17, "0.90", "-", "-", "-", "-", "-"]])
        self.assertIn("OVER", list(cells.text_table([result(1.1)]))[1])


@unittest.skipIf(draws is None, "no numpy")
class Draws(unittest.TestCase):
    def test_same_again(self):
        first, again, other = draws.Draw(64, 17, 0), draws.Draw(64, 17, 0), draws.Draw(64, 17, 1)
        self.assertEqual(first.k.tobytes(), again.k.tobytes())
        self.assertNotEqual(first.k.tobytes(), other.k.tobytes())

    def test_only_the_heavy_key_lies_along_u(self):
        draw = draws.Draw(80, 17, 0)
        k = draw.keys_without_u()
        k[:, 3] += draw.heavy_part(cell(70, "middle", d=80, keys=17))
        along = numpy.abs(k @ draw.u.transpose(0, 2, 1))
        self.assertTrue(numpy.allclose(along[:, 3], math.sqrt(80), rtol=1e-5))
        self.assertLess(numpy.delete(along, 3, axis=1).max(), 1e-5)

    def test_shares(self):
        draw = draws.Draw(64, 128, 0)
        for share, place in itertools.product(cells.SHARES, cells.PLACES):
            heavy, k = cell(share, place), draw.keys_without_u()
            at = cells.heavy_index(place, 128)
            k[:, at] += draw.heavy_part(heavy)
            _, weights = draws.attention(draw.queries(heavy), k.astype(float), draw.v.astype(float),
                                         draws.scale_of(64), at)
            odds = numpy.log(weights / (1 - weights))
            self.assertLess(abs(numpy.median(odds) - math.log(share / (100 - share))), 0.75)

    def test_exact_result(self):
        q, k, v = numpy.ones((1, 1, 2)), numpy.array([[[1.0, 2], [0, 0]]]), numpy.array([[[1.0, 0], [0, 1]]])
        out, weights = draws.attention(q, k, v, 1, 1)
        second = 1 / (1 + math.exp(3))
        self.assertTrue(numpy.allclose(out, [[[1 - second, second]]], rtol=1e-15))
        self.assertTrue(numpy.allclose(weights, [[second]], rtol=1e-15))
        self.assertEqual(draws.mean_square(out, out + 2), 4)


if __name__ == "__main__":
    sys.exit(counted.main())
