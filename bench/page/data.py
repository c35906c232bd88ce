"""What a report says, in words: fields that may be missing, names of series, units.

A report comes from elsewhere, so nothing in it is taken for granted: a field that is missing or of
another type is as good as null, and every text is escaped.
"""

import collections
import html
import math
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import isas  # noqa: E402

ISAS = isas.titles()  # scalar first
COLORS = 4  # of ISAs in style.css, s-0 to s-3; further ones share s-other
PEERS = ("oneDNN", "XNNPACK", "OpenBLAS", "ONNX Runtime", "PyTorch", "OpenVINO", "numpy")
LIMITS = {"fma": "FMA peak", "read": "a plain read", "memcpy": "memcpy"}
PROCESSES = {"bench": "make bench", "peers": "make bench-peers"}


# ---- Fields ----

def number(record, key):
    """The finite number that `key` holds, or None."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def positive(record, key):
    value = number(record, key)
    return value if value is not None and value > 0 else None


def word(record, key):
    """The text that `key` holds; "" if there is none."""
    value = record.get(key)
    return "" if value is None else str(value)


def dicts(report, key):
    """The objects in the list `key`."""
    value = report.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def escape(value):
    """Text for HTML and for XML, which has no place for control characters."""
    return html.escape("".join(c for c in str(value) if c >= " " or c in "\n\t"), quote=True)


# ---- What a record is ----

def is_ours(record):
    return word(record, "by") == "rootdk"


def is_decode(record):
    return word(record, "op") == "attention" and number(record, "nq") == 1


def is_of_layers(record):
    """Decode as a model does it, one layer after the other, one sequence after the other."""
    return is_decode(record) and (number(record, "layers") or 0) > 0 and (number(record, "batch") or 1) == 1


def is_prefill(record):
    return word(record, "op") == "attention" and (number(record, "nq") or 0) > 1


def is_plain_softmax(record):
    """f32, and neither the logarithm nor a bias."""
    extra = record.get("log") or record.get("bias") or \
        {"log", "bias"} & set(word(record, "work").lower().replace(",", " ").split())
    return word(record, "op") == "softmax" and word(record, "dtype") in ("f32", "") and not extra


def fraction(record, limit):
    """The share of that limit, or None."""
    fractions = record.get("fractions")
    share = positive(fractions, limit) if isinstance(fractions, dict) else None
    if share is None and word(record, "limit") == limit:
        share = positive(record, "fraction_of_limit")
    return share


def process_of(record):
    return word(record, "process") or "bench"


def processes(records):
    """The processes that measured these, in the order in which they ran."""
    there = {process_of(r) for r in records}
    return [p for p in PROCESSES if p in there] + sorted(there - set(PROCESSES))


def process_name(process):
    return PROCESSES.get(process, process)


def grouped(records, key):
    """An ordered dict of lists."""
    groups = collections.OrderedDict()
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


# ---- Series: who computed it, and how ----

def series(record):
    return word(record, "by"), word(record, "how")


def series_name(by, how):
    if by == "rootdk":
        return f"rootdk {ISAS.get(how, how)}".strip()
    return ", ".join(part for part in (by, how) if part) or "?"


def name(record):
    """The series, with what is not usual about it."""
    parts = [series_name(*series(record))]
    threads = number(record, "threads")
    if threads is not None and threads != 1:
        parts.append(f"{threads:g} threads")
    return ", ".join(parts)


def color(by, how):
    """The CSS class that colours a series."""
    if by == "rootdk":
        rank = list(ISAS).index(how) if how in ISAS else 1
        return f"s-{rank if rank < COLORS else 'other'}"
    return "p-" + (str(PEERS.index(by)) if by in PEERS else "other")


def series_rank(key):
    """Vector ISAs first, the highest at the top, the scalar path after them, then the peers."""
    by, how = key[:2]
    if by == "rootdk":
        order = list(ISAS)[:0:-1] + ["", "scalar"]
        return (0, order.index(how if how in order else ""), how)
    return (1, PEERS.index(by) if by in PEERS else len(PEERS), by + how)


# ---- Numbers in words ----

def seconds(value):
    """A time with three digits."""
    if value is None:
        return "–"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def digits(value):
    """Three significant digits, no exponent."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(decimals, 6)}f}"


def percent(share):
    return "–" if share is None else f"{100 * share:.1f} %"


def ulp(value):
    return "–" if value is None else f"{value:.2f}"


def size(value):
    """A count as short as an axis wants it: 64, 1K, 32K, 1M for powers of two."""
    for unit, step in (("M", 1 << 20), ("K", 1 << 10)):
        if value >= step and value % step == 0:
            return f"{int(value // step)}{unit}"
    return f"{value:g}"
