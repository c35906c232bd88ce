"""The plots. A position is a percentage of the frame and a text has its size in pixels, so that a plot
fits a phone as well as a desk, and its labels stay readable.
"""

import math

import data
from data import escape, number, positive

GAP = 4.4  # percent of a frame's height that a label takes


# ---- Axes ----

class Axis:
    """Numbers to percentages, 0 at `lo`; `ticks` are numbers with their labels."""

    def __init__(self, title, lo, hi, ticks, log):
        self.title, self.lo, self.hi, self.ticks, self.log = title, lo, hi, ticks, log

    def at(self, value):
        if self.log:
            lo, hi = math.log(self.lo), math.log(self.hi)
            return 100 * (math.log(max(value, self.lo)) - lo) / (hi - lo)
        return 100 * (value - self.lo) / (self.hi - self.lo)


def decades(title, values, below=1.6, above=1.6):
    """A logarithmic axis; up to three decades have ticks at 1, 2, 5."""
    lo, hi = min(values) / below, max(values) * above
    steps = (1,) if hi / lo > 1000 else (1, 2, 5)
    exponents = range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1)
    ticks = [step * 10.0 ** e for e in exponents for step in steps]
    return Axis(title, lo, hi, [(t, plain(t)) for t in ticks if lo <= t <= hi], log=True)


def doublings(title, values, most=7):
    """A logarithmic axis with powers of two."""
    lo, hi = min(values) / 1.4, max(values) * 1.4
    first, last = math.ceil(math.log2(lo)), math.floor(math.log2(hi))
    step = max(1, math.ceil((last - first + 1) / most))
    ticks = [2 ** e for e in range(max(first, 0), last + 1, step)]
    return Axis(title, lo, hi, [(t, data.size(t)) for t in ticks], log=True)


def upward(title, values, most=6):
    """A linear axis from 0."""
    hi = max(values) * 1.1
    step = 10.0 ** math.floor(math.log10(hi / most))
    step *= next(s for s in (1, 2, 5, 10) if hi / (step * s) <= most)
    ticks = [step * i for i in range(int(hi / step) + 1)]
    return Axis(title, 0, hi, [(t, plain(t)) for t in ticks], log=False)


def shares():
    ticks = [(i / 5, f"{20 * i} %") for i in range(6)]
    return Axis("share of the binding limit", 0, 1.04, ticks, log=False)


def plain(value):
    """The label of a tick."""
    return f"{value / 1000:g}k" if value >= 10000 else f"{value:g}"


# ---- Parts of a drawing ----

def at(axis, value, flipped=False):
    """A coordinate, as SVG has it: y grows downwards."""
    position = axis.at(value)
    return f"{100 - position if flipped else position:.2f}%"


def line(x1, y1, x2, y2, classes):
    return f'<line class="{classes}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def text(x, y, label, classes, dx=0, dy=0):
    return f'<text class="{classes}" x="{x}" y="{y}" dx="{dx}" dy="{dy}">{escape(label)}</text>'


def grid(x, y):
    parts = [line(at(x, t), "0%", at(x, t), "100%", "grid") for t, _ in x.ticks]
    parts += [line("0%", at(y, t, True), "100%", at(y, t, True), "grid") for t, _ in y.ticks]
    parts += [text(at(x, t), "100%", label, "tick middle", dy=18) for t, label in x.ticks]
    parts += [text("0%", at(y, t, True), label, "tick end", dx=-7, dy=4) for t, label in y.ticks]
    parts += [line("0%", "100%", "100%", "100%", "axis"),
              text("100%", "100%", x.title, "title end", dy=37),
              text("0%", "0%", y.title, "title", dx=-48, dy=-14)]
    return parts


def mark(by, how, x, y, tip, kind="dot"):
    """A dot of a series: ours are filled, peers hollow, each of a shape of its own."""
    classes = f"{kind} {data.color(by, how)}"
    if by == "rootdk":
        return f'<circle class="{classes} ours" cx="{x}" cy="{y}" r="4.5">{title(tip)}</circle>'
    shape = data.color(by, how).replace("p-", "shape-")
    return f'<use class="{classes} hollow" href="#{shape}" x="{x}" y="{y}">{title(tip)}</use>'


def title(tip):
    return f"<title>{escape(tip)}</title>" if tip else ""


def dots(records, x, y, x_of, y_of):
    """Peers first, so that ours are never hidden below them."""
    order = sorted(records, key=lambda r: data.series_rank(data.series(r)), reverse=True)
    return [mark(*data.series(r), at(x, x_of(r)), at(y, y_of(r), True), tip_of(r)) for r in order]


def tip_of(record):
    """What a dot stands for."""
    best, flop, moved = (positive(record, key) for key in ("best", "flop", "bytes"))
    lines = [f"{data.word(record, 'work')}: {data.name(record)}", data.seconds(best)]
    share, limit = number(record, "fraction_of_limit"), data.word(record, "limit")
    if share is not None:
        lines[-1] += f", {data.percent(share)} of {data.LIMITS.get(limit, limit)}"
    if best and flop:
        lines.append(f"{data.digits(flop / best / 1e9)} GFLOP/s")
    if best and moved:
        lines.append(f"{data.digits(moved / best / 1e9)} GB/s")
    if number(record, "error_ulp") is not None:
        unit = "ULP" if data.word(record, "op") == "softmax" else "· 2⁻²³ max|v|"
        lines.append(f"error {data.ulp(number(record, 'error_ulp'))} {unit}")
    if record.get("noisy") is True:
        lines.append("noisy")
    return "\n".join(lines)


def joined(records, x, y, x_of, y_of, key, variant):
    """A line through the records of each series, from left to right."""
    parts = []
    for group in data.grouped(sorted(records, key=x_of), key).values():
        classes = f"run {data.color(*data.series(group[0]))} v{variant(group[0])}"
        for a, b in zip(group, group[1:]):
            parts.append(line(at(x, x_of(a)), at(y, y_of(a), True),
                              at(x, x_of(b)), at(y, y_of(b), True), classes))
    return parts


def spread(positions, gap=GAP):
    """Positions in percent, moved down just so far that labels do not lie on each other."""
    placed, last = {}, -100.0
    for position in sorted(set(positions)):
        last = max(position, last + gap)
        placed[position] = last
    return [placed[position] for position in positions]


def legend(records, lines):
    """What each mark is; with its line where marks are joined. All ways of a peer have the same mark."""
    def key(record):
        by, how = data.series(record)
        return by, how if lines or by == "rootdk" else ""

    items, width = [], 34 if lines else 16
    for (by, how), part in sorted(data.grouped(records, key).items(), key=lambda item: data.series_rank(item[0])):
        drawn = line("2", "8", "32", "8", f"run {data.color(by, how)} v{lines(part[0])}") if lines else ""
        drawn += mark(by, how, str(width // 2), "8", "", kind="key")
        items.append(f'<li><svg class="swatch" width="{width}" height="16" aria-hidden="true">{drawn}</svg>'
                     f"{escape(data.series_name(by, how))}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def panel(label, parts, process, alone):
    """One frame; where there are several, it says which process was measured."""
    head = "" if alone else f'<p class="process">{escape(data.process_name(process))}</p>'
    return (f'<div class="panel">{head}<div class="frame"><svg class="area" role="img" '
            f'aria-label="{escape(label)}">{"".join(parts)}</svg></div></div>')


def figure(name, heading, lead, records, draw, empty, lines=None):
    """A plot with a panel for every process: what two processes measured is never in one frame."""
    head = f'<section id="{name}" class="plot"><h2>{heading}</h2><p class="lead">{lead}</p>'
    if not records:
        return f'{head}<p class="nothing">{escape(empty)}</p></section>'
    names = data.processes(records)
    panels = [panel(heading, draw([r for r in records if data.process_of(r) == p], p), p,
                    len(names) == 1) for p in names]
    return (f'{head}{legend(records, lines)}<div class="panels n{min(len(panels), 2)}">{"".join(panels)}</div>'
            "</section>")


# ---- Limits ----

def best_limits(limits, process, kind, key):
    """The best of each kind of limit that a process measured: {(key, threads): number}."""
    found = {}
    for limit in limits:
        best = positive(limit, "best")
        if data.process_of(limit) == process and limit.get("limit") == kind and best:
            at_key = data.word(limit, key), number(limit, "threads") or 1
            found[at_key] = max(best, found.get(at_key, 0))
    return found


def with_threads(label, threads):
    """Short, so that it fits beside its line on a phone."""
    return label if threads == 1 else f"{label} ({threads:g} thr.)"


def roofs(limits, process):
    """(label, class, FLOP/s) of every FMA peak."""
    peaks = best_limits(limits, process, "fma", "isa")
    return [(with_threads(f"{data.ISAS.get(isa, isa)} {data.digits(peak / 1e9)}", threads),
             data.color("rootdk", isa), peak) for (isa, threads), peak in peaks.items()]


def slopes(limits, process):
    """(label, B/s) of every read, the fastest first."""
    reads = best_limits(limits, process, "read", "where")
    return [(with_threads(f"{where or 'read'}: {data.digits(best / 1e9)} GB/s", threads), best)
            for (where, threads), best in sorted(reads.items(), key=lambda item: -item[1])]


# ---- The roofline ----

def intensity(record):
    return positive(record, "flop") / positive(record, "bytes")


def gflops(record):
    return positive(record, "flop") / positive(record, "best") / 1e9


def draw_roofs(y, limits, process):
    tops = roofs(limits, process)
    heights = [100 - y.at(peak / 1e9) for _, _, peak in tops]
    # Labels lie above their lines, so they make room upwards; on the left, where reading allows no dot.
    places = [-p for p in spread([-h for h in heights])]
    parts = []
    for (label, classes, _), height, place in zip(tops, heights, places):
        parts.append(line("0%", f"{height:.2f}%", "100%", f"{height:.2f}%", f"roof {classes}"))
        parts.append(text("0%", f"{place:.2f}%", label, "label", dx=4, dy=-5))
    return parts


def draw_slopes(x, y, limits, process):
    """Faint above the highest roof, where the labels are: the fastest has its on the left."""
    ceiling = min(y.hi, max([peak / 1e9 for _, _, peak in roofs(limits, process)] + [0]) or y.hi)
    parts = []
    for i, (label, best) in enumerate(slopes(limits, process)):
        start, ridge, end = (min(x.hi, height * 1e9 / best) for height in (y.lo, ceiling, y.hi))
        points = [(at(x, p), at(y, best * p / 1e9, True)) for p in (max(start, x.lo), ridge, end)]
        parts.append(line(*points[0], *points[1], "slope"))
        parts.append(line(*points[1], *points[2], "slope beyond"))
        parts.append(text(points[2][0], points[2][1], label, "label" if i else "label end", dx=6 if i else -6,
                          dy=12 + 16 * max(0, i - 1)))
    return parts


def roofline(records, limits):
    drawn = [r for r in records if all(positive(r, key) for key in ("flop", "bytes", "best"))]

    def draw(part, process):
        return grid(x, y) + draw_slopes(x, y, limits, process) + draw_roofs(y, limits, process) + \
            dots(part, x, y, intensity, gflops)

    if drawn:
        peaks = [positive(limit, "best") / 1e9 for limit in limits
                 if limit.get("limit") == "fma" and positive(limit, "best")]
        x = decades("FLOP per byte that must be moved", [intensity(r) for r in drawn], below=50)
        y = decades("GFLOP/s", [gflops(r) for r in drawn] + peaks, above=4)
    return figure(
        "roofline", "Roofline",
        "Each dot is one measurement. A slope is what reading alone allows, a horizontal line what the multiply-adds "
        "of an ISA alone allow: the closer a dot is to its line, the less there is to gain.", drawn, draw,
        "There is nothing to draw: no record has FLOPs, bytes and a time.")


# ---- Softmax by row length ----

def ns_per_element(record):
    return positive(record, "best") / (positive(record, "rows") * positive(record, "cols")) * 1e9


def columns(record):
    return positive(record, "cols")


def has_elements(record):
    return all(positive(record, key) for key in ("rows", "cols", "best"))


def variants(records):
    """Numbers for the ways of one peer, which share its colour."""
    hows = data.grouped(sorted({data.series(r) for r in records}), lambda s: s[0])
    return lambda r: hows[data.series(r)[0]].index(data.series(r)) % 3 if not data.is_ours(r) else 0


def softmax(records):
    drawn = [r for r in records if data.is_plain_softmax(r) and has_elements(r)]
    if drawn:
        x = doublings("columns of a row", [columns(r) for r in drawn])
        y = decades("ns per element, less is better", [ns_per_element(r) for r in drawn])

    def draw(part, process):
        del process
        return grid(x, y) + joined(part, x, y, columns, ns_per_element, data.name, variants(drawn)) + \
            dots(part, x, y, columns, ns_per_element)

    return figure("softmax", "Softmax by row length",
                  "f32, without a bias or the logarithm. Both axes are logarithmic.", drawn, draw,
                  "No softmax of f32 was measured.", variants(drawn))


# ---- Decode by context length ----

def gigabytes(record):
    return positive(record, "bytes") / positive(record, "best") / 1e9


def keys(record):
    return positive(record, "nk")


def shape(record):
    """Lines join works that differ in their length alone."""
    sizes = ("q_heads", "kv_heads", "d_qk", "d_v", "batch", "layers")
    return (data.name(record),) + tuple(number(record, key) for key in sizes)


def draw_reads(y, limits, process):
    lines = slopes(limits, process)
    heights = [100 - y.at(best / 1e9) for _, best in lines]
    places = [-p for p in spread([-h for h in heights])]
    parts = []
    for (label, _), height, place in zip(lines, heights, places):
        parts.append(line("0%", f"{height:.2f}%", "100%", f"{height:.2f}%", "slope"))
        parts.append(text("100%", f"{place:.2f}%", f"read, {label}", "label end", dx=-4, dy=-5))
    return parts


def decode(records, limits):
    drawn = [r for r in records if data.is_decode(r) and data.word(r, "group") in ("layers", "decode", "model")
             and all(positive(r, key) for key in ("bytes", "best", "nk"))]
    if drawn:
        there = data.processes(drawn)
        reads = [best / 1e9 for process in there for _, best in slopes(limits, process)]
        x = doublings("keys in the context", [keys(r) for r in drawn])
        y = upward("GB/s of K and V", [gigabytes(r) for r in drawn] + reads)

    def draw(part, process):
        return grid(x, y) + draw_reads(y, limits, process) + \
            joined(part, x, y, keys, gigabytes, shape, variants(drawn)) + dots(part, x, y, keys, gigabytes)

    return figure("decode", "Decode by context length",
                  "One query: K and V are read once, so the speed of a plain read is the limit.", drawn, draw,
                  "No attention of one query was measured.", variants(drawn))


# ---- Accuracy beside speed ----

def error(record):
    return number(record, "error_ulp")


def share_of_limit(record):
    return min(number(record, "fraction_of_limit"), 1)


def accuracy(records):
    drawn = [r for r in records if data.word(r, "op") == "softmax" and error(r) is not None
             and positive(r, "fraction_of_limit")]
    if drawn:
        x = decades("worst error in ULP, less is better", [max(error(r), 0.05) for r in drawn])
        y = shares()

    def draw(part, process):
        del process
        return grid(x, y) + dots(part, x, y, error, share_of_limit)

    return figure("accuracy", "Accuracy beside speed",
                  "Softmax: the top left corner is both fast and exact. Errors are against a double-precision "
                  "oracle, over weights of at least 1e-6.", drawn, draw,
                  "No softmax has both an error and a share of a limit.")
