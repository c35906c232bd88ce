"""The cells that error.py measures, the bars, and the tables of errors. It needs no package."""

import collections
import math

DIMS = 64, 80, 128
KEYS = 17, 128, 512, 1024, 4096, 32768
SHARES = 10, 30, 70, 99  # % of the weight on one key
PLACES = "first", "middle", "last"
OURS = "rootdk"

# A ratio is rootdk's RMS error over that of the best other.
WORST, WORST_AT_99, MEAN = 1.02, 1.1, 0.9

Cell = collections.namedtuple("Cell", "d keys share place alone")


def name_of(cell):
    what = f"{cell.share} % on the {cell.place} key" if cell.share else "N(0,1)"
    return f"d={cell.d} keys={cell.keys} {what}" + (", one query" if cell.alone else "")


def cells_of(d, keys):
    found = [Cell(d, keys, 0, "", False)]
    found += [Cell(d, keys, share, place, False) for share in SHARES for place in PLACES]
    return found + [Cell(d, keys, 0, "", True)]


def wanted(text=""):
    """All cells with this in their name, in groups of one d and number of keys."""
    groups = [cells_of(d, keys) for d in DIMS for keys in KEYS]
    groups = [[cell for cell in group if text in name_of(cell)] for group in groups]
    return [group for group in groups if group]


def bar_of(cell):
    """The most that its ratio may be; None where it is only shown."""
    if cell.alone:
        return None
    return WORST_AT_99 if cell.share == 99 else WORST


def is_in_mean(cell):
    return not cell.alone and cell.share != 99


def heavy_index(place, keys):
    return {"first": 0, "middle": keys // 2, "last": keys - 1}[place]


def heavy_logit(share, keys):
    """Where the logit of one key lies that has this share (in %) of the weight, if the others' are N(0,1): the mean of
    exp() is then exp(1/2)."""
    return math.log(share / (100 - share)) + math.log(keys - 1) + 0.5


# ---- Results -------------------------------------------------------------------------------------------

def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Result:
    """Of one cell: {who: the mean square error of every draw}, and the heavy key's median weight."""

    def __init__(self, cell, squares, weight=None):
        self.cell, self.squares, self.weight = cell, squares, weight
        self.rms = {who: math.sqrt(sum(values) / len(values)) for who, values in squares.items()}
        self.best = min((who for who in self.rms if who != OURS), key=self.rms.get)
        self.ratio = self.rms[OURS] / self.rms[self.best]

    @property
    def is_over(self):
        bar = bar_of(self.cell)
        return bar is not None and not self.ratio <= bar

    def record(self):
        return {"name": name_of(self.cell), **self.cell._asdict(), "weight": self.weight, "rms": self.rms,
                "squares": self.squares, "best": self.best, "ratio": self.ratio}


def mean_ratio(results):
    """Geometric; None without a cell that counts."""
    ratios = [result.ratio for result in results if is_in_mean(result.cell)]
    return geometric_mean(ratios) if ratios else None


def worst_first(results):
    return sorted(results, key=lambda result: -result.ratio)


def missed(results):
    """A line for every bar that is missed."""
    lines = [f"{name_of(r.cell)}: {r.ratio:.3f} x {r.best}, at most {bar_of(r.cell)}"
             for r in worst_first(results) if r.is_over]
    mean = mean_ratio(results)
    if mean is not None and not mean <= MEAN:
        lines.insert(0, f"geometric mean: {mean:.3f}, at most {MEAN}")
    return lines


# ---- Tables --------------------------------------------------------------------------------------------

def text_table(results):
    """Lines: the RMS error of every library in every cell."""
    names = list(dict.fromkeys(who for result in results for who in result.rms))
    yield f"{'RMS error':40}" + "".join(f"{who:>14}" for who in names) + "   ratio"
    for r in results:
        yield (f"{name_of(r.cell):40}" + "".join(f"{r.rms[who]:14.3e}" for who in names) +
               f"{r.ratio:8.3f} x {r.best}" + ("  OVER" if r.is_over else ""))


def ratio_table(results):
    """A head and rows of ratios, one row for each d and number of keys."""
    columns = {(0, False): "N(0,1)", **{(share, False): f"{share} %" for share in SHARES}, (0, True): "one query"}
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in results:
        found[r.cell.d, r.cell.keys][r.cell.share, r.cell.alone].append(f"{r.ratio:.2f}")
    rows = [[*sizes, *(" / ".join(ratios[column]) or "-" for column in columns)] for sizes, ratios in found.items()]
    return ["d", "keys", *columns.values()], rows
