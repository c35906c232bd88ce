#!/usr/bin/env python3
"""Measures the error of attention: rootdk's beside that of other libraries and of plain float loops, all against the
result in double (docs/performance.md). Fails if a bar of cells.py is missed.

`tools/peers.sh error` installs the libraries and runs this. The figures go to error.json in the build directory.
"""

import argparse
import collections
import ctypes
import datetime
import os
import sys

import drive

drive.limit_threads(1)  # before numpy is loaded

import cells  # noqa: E402
import draws  # noqa: E402
import numpy  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import rootdk  # noqa: E402
import shapes  # noqa: E402
from operands import address, aligned  # noqa: E402

PEERS = "PyTorch", "ONNX Runtime", "OpenVINO"
ALONE = 8  # of the queries, each in a call of its own
SIDE_BY_SIDE = 16  # queries, in plain_for_python.c


def options():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n", maxsplit=1)[0].split()))
    parser.add_argument("--build", default="build/bench", metavar="DIRECTORY", help="where Meson built")
    parser.add_argument("--library", metavar="FILE", help="another librootdk than that of --build")
    parser.add_argument("--absent", metavar="FILE", help="peers that did not install, and why")
    parser.add_argument("--cells", action="store_true", help="list the cells, and stop")
    parser.add_argument("--only", default="", metavar="TEXT", help="cells with this in their name")
    parser.add_argument("--draws", type=int, default=draws.DRAWS, help="of every cell's inputs")
    parser.add_argument("--json", metavar="FILE", help="instead of error.json in --build")
    return parser.parse_args()


# ---- Who computes ------------------------------------------------------------------------------------

class Operands:
    """As operands.AttentionOperands, but what the buffers hold changes from cell to cell."""

    def __init__(self, work, k=None, v=None):
        self.work = work
        self.q = aligned((work.heads, work.queries, work.d_qk))
        self.k = k or [aligned((work.heads, work.keys, work.d_qk))]
        self.v = v or [aligned((work.heads, work.keys, work.d_v))]
        self.out = aligned(self.q.shape)

    def mask(self):
        return None  # every query sees every key


def own(library, operands, scale):
    """rootdk, on its default ISA; all have the same bits."""
    work = operands.work
    scratch = aligned((library.scratch_size(work.d_qk, work.d_v),), numpy.uint8)
    desc = rootdk.attention_desc(work, 0, rootdk.whole(work), address(operands.q), address(operands.k[0]),
                                 address(operands.v[0]), address(operands.out), address(scratch), scratch.nbytes)
    desc.scale = scale

    def call(_=scratch):  # kept: the descriptor knows only its address
        library.attention(desc)
        return operands.out
    return call


def plain(library, operands, scale):
    work, function = operands.work, library.plain_attention
    function.argtypes = [ctypes.c_void_p] * 6 + [ctypes.c_int64] * 3 + [ctypes.c_float]
    function.restype = None
    e, turned = aligned((work.keys, SIDE_BY_SIDE)), aligned((work.d_qk, SIDE_BY_SIDE))
    out = aligned(operands.out.shape)

    def call():
        for head in range(work.heads):
            function(address(out[head]), address(e), address(turned), address(operands.q[head]),
                     address(operands.k[0][head]), address(operands.v[0][head]), work.queries, work.keys,
                     work.d_qk, scale)
        return out
    return call


def peer(way, operands, scale):
    """`way` is a function of a peer's ways()."""
    calls, result = way(operands.work, operands, 1, scale=float(scale))

    def call():
        calls[0]()
        return result()
    return call


def makers_of(library, plain_library, loaded):
    """{who: makes a call for some operands}. Of each peer the first way: its attention as bench-peers calls it."""
    found = {cells.OURS: lambda *some: own(library, *some),
             "plain loops": lambda *some: plain(plain_library, *some)}
    for module in loaded:
        _, way = module.ways(work_of(64, 64, draws.QUERIES))[0]
        found[module.NAME] = lambda *some, way=way: peer(way, *some)
    return found


# ---- The cells of one d and number of keys -------------------------------------------------------------

def work_of(d, keys, queries):
    return shapes.Attention("error", "error", "", draws.HEADS, draws.HEADS, queries, keys, d, d, False, False, True)


class Group:
    def __init__(self, group, makers):
        self.cells, self.d, self.keys = group, group[0].d, group[0].keys
        self.scale = draws.scale_of(self.d)
        self.operands = Operands(work_of(self.d, self.keys, draws.QUERIES))
        self.one = Operands(work_of(self.d, self.keys, 1), self.operands.k, self.operands.v)
        self.calls = {who: make(self.operands, self.scale) for who, make in makers.items()}
        self.calls_alone = {who: make(self.one, self.scale) for who, make in makers.items()}

    def squares(self, cell, exact):
        """{who: the mean square error}."""
        if not cell.alone:
            return {who: draws.mean_square(call(), exact) for who, call in self.calls.items()}
        found = collections.defaultdict(list)
        for i in range(ALONE):
            self.one.q[...] = self.operands.q[:, i:i + 1]
            for who, call in self.calls_alone.items():
                found[who].append(draws.mean_square(call(), exact[:, i:i + 1]))
        return {who: sum(values) / len(values) for who, values in found.items()}

    def measure_cell(self, cell, draw, wide_k, wide_v):
        """The squares, and the heavy key's median weight."""
        k = self.operands.k[0]
        self.operands.q[...] = draw.queries(cell)
        if not cell.share:
            return self.squares(cell, draws.attention(self.operands.q, wide_k, wide_v, self.scale)[0]), None
        at = cells.heavy_index(cell.place, cell.keys)
        light = k[:, at].copy()
        k[:, at] += draw.heavy_part(cell)
        wide_k[:, at] = k[:, at]
        exact, weights = draws.attention(self.operands.q, wide_k, wide_v, self.scale, at)
        squares = self.squares(cell, exact)
        k[:, at] = wide_k[:, at] = light
        return squares, float(numpy.median(weights))

    def measure_draw(self, draw):
        """{cell: its squares and weight}."""
        found = {}
        self.operands.v[0][...] = draw.v
        wide_v = draw.v.astype(numpy.float64)
        for heavy, k in ((False, lambda: draw.k), (True, draw.keys_without_u)):
            some = [cell for cell in self.cells if bool(cell.share) == heavy]
            if some:
                self.operands.k[0][...] = k()
                wide_k = self.operands.k[0].astype(numpy.float64)
                found.update((cell, self.measure_cell(cell, draw, wide_k, wide_v)) for cell in some)
        return found

    def measure(self, count):
        found = [self.measure_draw(draws.Draw(self.d, self.keys, number)) for number in range(count)]
        return [self.result_of(cell, [of_draw[cell] for of_draw in found]) for cell in self.cells]

    def result_of(self, cell, measured):
        squares = {who: [some[who] for some, _ in measured] for who in self.calls}
        weight = sum(weight for _, weight in measured) / len(measured) if cell.share else None
        return cells.Result(cell, squares, weight)


# ---- The report ----------------------------------------------------------------------------------------

def report_of(arguments, results, library, loaded):
    head, rows = cells.ratio_table(results)
    complete = not arguments.only and not arguments.library and len(loaded) == len(PEERS)
    return {"library": "rootdk " + library.version, "arithmetic": library.arithmetic, "cpu": report.cpu_name(),
            "date": datetime.date.today().isoformat(), "complete": complete, "draws": arguments.draws,
            "versions": {module.NAME: module.version() for module in loaded}, "mean": cells.mean_ratio(results),
            "missed": cells.missed(results), "table": {"head": head, "rows": rows},
            "records": [result.record() for result in results]}


def print_results(results):
    print("\n".join(cells.text_table(results)))
    head, rows = cells.ratio_table(results)
    print("\nratios to the best other; of heavy keys: the first / a middle / the last one")
    for row in [head, ["---"] * len(head)] + rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print("\nthe worst cells")
    for result in cells.worst_first(results)[:10]:
        print(f"  {result.ratio:.3f} x {result.best}: {cells.name_of(result.cell)}")
    mean = cells.mean_ratio(results)
    print("\n" + (f"geometric mean: {mean:.3f}" if mean else "no cell of the geometric mean"))


def load(arguments):
    """rootdk, and the module of every peer."""
    library = rootdk.Library(arguments.library or drive.find_library(arguments.build, "librootdk.so"))
    absent = report.read_absent(arguments.absent) if arguments.absent else []
    loaded = peers.load(absent, {name: peers.MODULES[name] for name in PEERS})
    print(f"rootdk {library.version}, arithmetic {library.arithmetic}; " +
          ", ".join(f"{module.NAME} {module.version()}" for module in loaded))
    for entry in absent:
        if entry["peer"] in PEERS:
            print(f"absent    {entry['peer']}: {entry['reason']}")
    return library, loaded


def main():
    arguments = options()
    groups = cells.wanted(arguments.only)
    if not groups:
        sys.exit("error: no cell has that name")
    if arguments.cells:
        print("\n".join(cells.name_of(cell) for group in groups for cell in group))
        return 0
    library, loaded = load(arguments)
    plain_library = ctypes.CDLL(
        drive.find_library(arguments.build, "bench/peers/python/libplain_for_python.*"))
    print(f"{arguments.draws} draws of {draws.HEADS} heads and {draws.QUERIES} queries, "
          f"from default_rng([{draws.SEED}, d, keys, draw])", flush=True)
    makers, results = makers_of(library, plain_library, loaded), []
    for group in groups:
        print(f"measuring d={group[0].d} keys={group[0].keys}", file=sys.stderr, flush=True)
        results += Group(group, makers).measure(arguments.draws)
    print_results(results)
    report.save(arguments.json or os.path.join(arguments.build, "error.json"),
                report_of(arguments, results, library, loaded))
    lines = cells.missed(results)
    for line in lines:
        print("missed    " + line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
