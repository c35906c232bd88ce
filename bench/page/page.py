#!/usr/bin/env python3
"""Draws a report of the bench as one page that needs nothing else.

usage: page.py REPORT.json OUT.html
"""

import json
import os
import sys

import bars
import data
import plots
from data import escape, number, positive

HERE = os.path.dirname(os.path.abspath(__file__))
SECTIONS = (("roofline", "Roofline"), ("works", "Work by work"), ("softmax", "Softmax"), ("decode", "Decode"),
            ("accuracy", "Accuracy"), ("errors", "Errors"), ("records", "All records"))

# The marks of peers, around (0, 0); ours is a circle that is filled.
SHAPES = {
    "0": "M-4 -4H4V4H-4Z", "1": "M0 -5.5L5.5 0L0 5.5L-5.5 0Z", "2": "M0 -5L5 4H-5Z", "3": "M0 5L5 -4H-5Z",
    "4": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z", "5": "M-5 -3H5V3H-5Z", "6": "M-3 -5H3V5H-3Z",
    "other": "M-4 -4L4 4M-4 4L4 -4",
}


def beside(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


# ---- Head ----

def versions(records):
    """The peers that took part, with their versions."""
    peers = sorted({(data.word(r, "by"), data.word(r, "version")) for r in records if not data.is_ours(r)},
                   key=data.series_rank)
    return " · ".join(" ".join(part for part in peer if part) for peer in peers)


def absent(report):
    """The peers that did not take part, and why."""
    return " · ".join(f"{data.word(peer, 'peer') or '?'}: {data.word(peer, 'reason') or 'no reason given'}"
                      for peer in data.dicts(report, "absent"))


def facts(report, records):
    library = data.word(report, "library")
    if report.get("arithmetic") is not None:
        library += f", arithmetic {data.word(report, 'arithmetic')}"
    rows = [("CPU", data.word(report, "cpu")), ("Compiler", data.word(report, "compiler")), ("Library", library),
            ("Date", data.word(report, "date")), ("Command", data.word(report, "command")),
            ("Peers", versions(records)), ("Absent", absent(report))]
    items = [f"<div{' class=wide' if key in ('Peers', 'Absent') else ''}><dt>{key}</dt><dd>{escape(value)}</dd></div>"
             for key, value in rows if value]
    return f'<dl class="facts">{"".join(items)}</dl>'


def header(report, records):
    return (f"<header><h1>rootdk <span>measured against the machine</span></h1>{facts(report, records)}"
            '<p class="how">How to read it: every time is held against what the same machine did in the same run; '
            "100 % is a loop that does nothing but multiply and add, or nothing but read or copy the bytes in "
            "question, and nothing can be faster.</p></header>")


def links():
    return "<nav>" + "".join(f'<a href="#{name}">{title}</a>' for name, title in SECTIONS) + "</nav>"


# ---- Headline figures ----

def most(records, value, largest=True):
    """(figure, record) of the best record that has one, or None."""
    found = [(value(r), i) for i, r in enumerate(records) if value(r) is not None]
    if not found:
        return None
    figure, i = (max if largest else min)(found, key=lambda item: item[0])
    return figure, records[i]


def tile(figure, what, record):
    where = "not measured"
    if record:
        where = f"{escape(data.word(record, 'work'))}, <span>{escape(data.name(record))}</span>"
    return (f'<div class="tile"><p class="figure">{escape(figure)}</p><p class="what">{escape(what)}</p>'
            f'<p class="where">{where}</p></div>')


def times_memcpy(record):
    share = data.fraction(record, "memcpy")
    return 1 / share if share else None


def headlines(records):
    """Of rootdk as `make bench` measured it. A noisy record is never the best."""
    ours = [r for r in records if data.is_ours(r) and data.process_of(r) == "bench"]
    calm = [r for r in ours if r.get("noisy") is not True]
    soft = [r for r in calm if data.is_plain_softmax(r)]
    prefill = most([r for r in calm if data.is_prefill(r)], lambda r: data.fraction(r, "fma"))
    layers = [r for r in calm if data.is_of_layers(r)]
    read = most(layers or [r for r in calm if data.is_decode(r)], lambda r: data.fraction(r, "read"))
    copy = most(soft, times_memcpy, largest=False)
    worst = most([r for r in ours if data.word(r, "op") == "softmax"], lambda r: number(r, "error_ulp"))
    rows = [(prefill, data.percent, "of the FMA peak: best prefill"),
            (read, data.percent, "of read bandwidth: best decode" + (", layer after layer" if layers else "")),
            (copy, lambda v: f"{v:.2f}×", "the time of memcpy: best softmax"),
            (worst, lambda v: f"{v:.2f} ULP", "worst error of softmax")]
    tiles = [tile(form(found[0]), what, found[1]) if found else tile("–", what, None) for found, form, what in rows]
    return f'<section id="headlines" class="tiles">{"".join(tiles)}</section>'


# ---- Tables ----

def cells(tag, row, words):
    """The first `words` columns are words, the others figures."""
    return "".join(f"<{tag}{'' if i < words else ' class=figure'}>{escape(cell)}</{tag}>" for i, cell in enumerate(row))


def table(head, rows, words):
    heads = cells("th", head, words).replace("_", "_<wbr>")
    body = "".join(f"<tr>{cells('td', row, words)}</tr>" for row in rows)
    return (f'<div class="scroll" tabindex="0"><table><thead><tr>{heads}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def errors(records, op, unit):
    """A row per work, a column per series; of several measurements the worst."""
    found = [r for r in records if data.word(r, "op") == op and number(r, "error_ulp") is not None]
    if not found:
        return f'<p class="nothing">No error of {escape(op)} was measured.</p>'
    names = sorted({data.series(r) for r in found}, key=data.series_rank)
    rows = []
    for work, part in data.grouped(found, lambda r: data.word(r, "work")).items():
        worst = {}
        for r in part:
            worst[data.series(r)] = max(number(r, "error_ulp"), worst.get(data.series(r), 0))
        rows.append([work] + [data.ulp(worst.get(s)) for s in names])
    return (f"<h3>{escape(op.capitalize())}</h3><p class=lead>{escape(unit)}</p>" +
            table(["work"] + [data.series_name(*s) for s in names], rows, words=1))


def error_tables(records):
    return ('<section id="errors"><h2>Errors</h2>' +
            errors(records, "softmax", "Worst error in ULP, over weights of at least 1e-6.") +
            errors(records, "attention", "Worst |error| in units of max|v| · 2⁻²³.") + "</section>")


RECORD_HEAD = ("work", "by", "how", "type", "process", "limit", "threads", "best", "median", "of limit", "repeats",
               "error", "")


def record_row(r):
    marks = [mark for mark, is_set in (("noisy", r.get("noisy") is True), ("not checked", r.get("checked") is False))
             if is_set]
    how = data.word(r, "how")
    return [data.word(r, "work"), data.word(r, "by"), data.ISAS.get(how, how), data.word(r, "dtype"),
            data.process_of(r), data.word(r, "limit"), data.word(r, "threads"), data.seconds(positive(r, "best")),
            data.seconds(positive(r, "median")), data.percent(number(r, "fraction_of_limit")),
            data.word(r, "repeats"), data.ulp(number(r, "error_ulp")), ", ".join(marks)]


def all_records(records):
    lead = f"{len(records)} in all; errors in the units above."
    head = f'<section id="records"><h2>All records</h2><p class="lead">{lead}</p>'
    if not records:
        return head + '<p class="nothing">There are no records.</p></section>'
    return head + table(RECORD_HEAD, [record_row(r) for r in records], words=6) + "</section>"


# ---- The page ----

def shapes():
    drawn = "".join(f'<path id="shape-{name}" d="{path}"/>' for name, path in SHAPES.items())
    return f'<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>'


def render(report):
    records, limits = data.dicts(report, "records"), data.dicts(report, "limits")
    nothing = "" if records else '<p class="nothing">This report has no records: nothing was measured.</p>'
    body = [shapes(), header(report, records), nothing, headlines(records), links(),
            plots.roofline(records, limits), bars.section(records), plots.softmax(records),
            plots.decode(records, limits), plots.accuracy(records), error_tables(records), all_records(records)]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>rootdk on {escape(data.word(report, 'cpu') or 'this machine')}</title>"
            f"<style>\n{beside('style.css')}</style></head>\n<body><main>\n" + "\n".join(body) +
            f"\n</main><script>\n{beside('script.js')}</script></body></html>\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    if not isinstance(report, dict):
        sys.exit(f"page.py: {sys.argv[1]} is not a report")
    page = render(report)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
