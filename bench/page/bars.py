"""Bars: for every work one row per series, as long as its share of the limit that binds it."""

import data
from data import escape, number, positive

GROUPS = {
    "model": ("Models", "Shapes of published models."),
    "full": ("Prefill, full", "As many queries as keys, each sees all of them."),
    "causal": ("Prefill, causal", "Each query sees the keys up to its own position."),
    "few": ("Few queries", "A handful of queries over a long context."),
    "layers": ("Decode, layer after layer", "A step of generation as a model does it: each layer has K and V of its own, "
               "so that they come from memory. A row is one layer."),
    "decode": ("Decode", "One query over a context: what is read limits it."),
    "growth": ("Growth", "One head at growing lengths: the scratch stays the same."),
    "softmax": ("Softmax", "Rows of logits alone."),
}


def detail(record):
    """The sizes of a work."""
    if data.word(record, "op") == "softmax":
        parts = [sizes(record, "{:g} rows of {:g}", "rows", "cols"), data.word(record, "dtype")]
    else:
        queries = "{:g} query, {:g} keys" if data.is_decode(record) else "{:g} queries, {:g} keys"
        parts = [sequences(record), heads(record), sizes(record, queries, "nq", "nk"), head_size(record),
                 "causal" if record.get("causal") is True else "", data.word(record, "dtype")]
    return ", ".join(part for part in parts if part)


def sizes(record, form, *names):
    values = [number(record, key) for key in names]
    return "" if None in values else form.format(*values)


def sequences(record):
    count = number(record, "batch")
    return "" if count in (None, 1) else f"{count:g} sequences"


def heads(record):
    queries, shared = number(record, "q_heads"), number(record, "kv_heads")
    if queries is None:
        return ""
    return f"{queries:g} heads" + (f" over {shared:g}" if shared not in (None, queries) else "")


def head_size(record):
    scores, values = number(record, "d_qk"), number(record, "d_v")
    if scores is None:
        return ""
    return f"d = {scores:g}" + (f" and {values:g}" if values not in (None, scores) else "")


def comparable(record):
    return tuple(data.word(record, key) for key in ("process", "dtype", "threads"))


def against_ours(record, records):
    """Time over that of our fastest path, measured in the same process; None for that path itself."""
    times = [positive(r, "best") for r in records
             if data.is_ours(r) and comparable(r) == comparable(record) and positive(r, "best")]
    best = positive(record, "best")
    if not times or not best or (data.is_ours(record) and best == min(times)):
        return None
    return best / min(times)


def label(record):
    """The series; a peer's way of doing it is less important than its name, and may be long."""
    who, _, how = data.name(record).partition(", ")
    return escape(who) + (f' <span class="way">{escape(how).replace("_", "_<wbr>")}</span>' if how else "")


def bar(record, records):
    share, limit = number(record, "fraction_of_limit"), data.word(record, "limit")
    ratio = against_ours(record, records)
    noisy = ' <span class="tag">noisy</span>' if record.get("noisy") is True else ""
    unchecked = ' <span class="tag">not checked</span>' if record.get("checked") is False else ""
    length = 0 if share is None else max(0.0, min(share, 1.0)) * 100
    of = limit.replace("fma", "FMA") if share is not None else "no limit"
    return (
        f'<div class="row{" noisy" if noisy else ""}">'
        f'<span class="name">{label(record)}{noisy}{unchecked}</span>'
        f'<svg class="bar" height="12" role="img" aria-label="{escape(data.percent(share))}">'
        f'<rect class="{"none" if share is None else "track"}" width="100%" height="12"/>'
        f'<rect class="fill {data.color(*data.series(record))}" width="{length:.1f}%" height="12"/></svg>'
        f'<span class="share">{escape(data.percent(share))}</span><span class="of">{escape(of)}</span>'
        f'<span class="time">{escape(data.seconds(positive(record, "best")))}</span>'
        f'<span class="ratio">{"" if ratio is None else escape(data.digits(ratio)) + "×"}</span></div>')


def work(name, records, alone):
    """A work: its rows by process."""
    first = records[0]
    source = data.word(first, "from")
    about = " · ".join(part for part in (detail(first), source) if part)
    parts = [f'<div class="work"><h4>{escape(name)}</h4><p class="about">{escape(about)}</p>']
    for process in data.processes(records):
        part = [r for r in records if data.process_of(r) == process]
        if not alone:
            parts.append(f'<p class="process">{escape(data.process_name(process))}</p>')
        order = sorted(part, key=lambda r: data.series_rank(data.series(r)))
        parts += [bar(r, part) for r in order]
    return "".join(parts) + "</div>"


def group(name, records, alone):
    heading, about = GROUPS.get(name, (name or "Other works", ""))
    works = data.grouped(records, lambda r: data.word(r, "work"))
    body = "".join(work(title, part, alone) for title, part in works.items())
    return (f'<details open class="group"><summary><h3>{escape(heading)}</h3> '
            f'<span class="count">{len(works)}</span></summary><p class="lead">{escape(about)}</p>'
            f'<div class="works">{body}</div></details>')


def section(records):
    lead = ("A full bar is the limit itself: a loop that does nothing but multiply and add, or nothing but read "
            "or copy the same bytes. The last figure is the time over that of rootdk's fastest path, always of the "
            "same process.")
    head = f'<section id="works"><h2>Work by work</h2><p class="lead">{lead}</p>'
    if not records:
        return head + '<p class="nothing">There are no records.</p></section>'
    groups = data.grouped(records, lambda r: data.word(r, "group"))
    order = [g for g in GROUPS if g in groups] + [g for g in groups if g not in GROUPS]
    alone = len(data.processes(records)) == 1
    return head + "".join(group(g, groups[g], alone) for g in order) + "</section>"
