"""From seconds to records: fractions of the limits, and which limit binds."""


def fractions(seconds, needed):
    """`needed`: the seconds that each limit leaves for the work."""
    return {limit: least / seconds for limit, least in needed.items()}


def binding(needed):
    """The limit that takes longest; None where none was measured."""
    return max(needed, key=needed.get) if needed else None


def needed_by(work, peak, seconds_of):
    """The limits of a work, in seconds. `peak` is in FLOP/s or None, `seconds_of` has what moving the
    bytes takes. The FMAs of a softmax are those of rootdk's arithmetic, so that all are held against
    the same."""
    return {**seconds_of, **({"fma": work.flop / peak} if peak else {})}


def record(work, way, threads, needed):
    limit, of = binding(needed), fractions(way.best, needed)
    return {
        "process": "peers", "work": work.name, "group": work.group, "op": work.op, "from": work.source,
        "by": way.by, "version": way.version, "how": way.how, "dtype": work.dtype, "threads": threads,
        "best": way.best, "median": way.median, "repeats": len(way.seconds), "flop": work.flop,
        "bytes": work.bytes, "limit": limit, "fraction_of_limit": of.get(limit), "fractions": of,
        "noisy": way.is_noisy, "checked": True, "error_ulp": way.error, **work.fields()}


def broken(records):
    """The figures that are faster than the machine: a measurement gone wrong."""
    return [r for r in records if any(f > 1 for f in r["fractions"].values())]


def line(record, rootdk):
    """One line of the table; `rootdk` is its best time in the same process."""
    error = "-" if record["error_ulp"] is None else f"{record['error_ulp']:.2f}"
    of = "-" if record["limit"] is None else f"{100 * record['fraction_of_limit']:.1f} % {record['limit']}"
    times = f"{record['best'] / rootdk:.2f}" if rootdk else "-"
    return (f"  {record['by']:13} {record['how']:52} {1e3 * record['best']:10.3f} {of:>14} {times:>8} "
            f"{error:>7}{'  noisy' if record['noisy'] else ''}")


HEADER = f"  {'by':13} {'how':52} {'ms':>10} {'of limit':>14} {'x rootdk':>8} {'error':>7}"


def table(records):
    """Lines for the records of one work, the fastest first."""
    own = [r["best"] for r in records if r["by"] == "rootdk"]
    rootdk = min(own) if own else None
    return [HEADER] + [line(r, rootdk) for r in sorted(records, key=lambda r: r["best"])]
