"""build/bench/report.json: the driver's records beside those of other processes."""

import datetime
import json
import os
import platform

import peers

PROCESS = "peers"


def cpu_name(path="/proc/cpuinfo"):
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def caches():
    """{"L1": bytes, ...} of the data caches that the system tells of, as bench/host.c has it."""
    found = {}
    for level, name in (("L1", "SC_LEVEL1_DCACHE_SIZE"), ("L2", "SC_LEVEL2_CACHE_SIZE"), ("L3", "SC_LEVEL3_CACHE_SIZE")):
        try:
            found[level] = os.sysconf(name)
        except (AttributeError, OSError, ValueError):
            pass
    return {level: size for level, size in found.items() if size > 0}


def system():
    return " ".join((platform.system(), platform.release(), platform.machine()))


def new(library, arithmetic, compiler):
    return {"library": "rootdk " + library, "arithmetic": arithmetic, "cpu": cpu_name(), "os": system(),
            "caches": caches(), "compiler": compiler, "date": datetime.date.today().isoformat(),
            "command": "make bench-peers", "absent": [], "limits": [], "records": []}


def load(path):
    """The report, or None where there is none."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_older(entry, threads):
    return entry["process"] == PROCESS and entry["threads"] == threads


def merge(report, threads, limits, records, absent):
    """Replaces what an earlier run of so many threads left; everything else stays."""
    merged = dict(report)
    for key, new_entries in (("limits", limits), ("records", records)):
        kept = [entry for entry in report[key] if not is_older(entry, threads)]
        merged[key] = kept + new_entries
    merged["absent"] = merge_absent(report["absent"], threads, absent)
    return merged


def merge_absent(old, threads, new_entries):
    """A run begins with one thread; the one with two adds what the first did not say."""
    kept = [entry for entry in old if threads > 1 or entry["peer"] not in peers.MODULES]
    return kept + [entry for entry in new_entries if entry not in kept]


def save(path, report):
    """All or nothing: a reader never sees half of it."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def read_absent(path):
    """Lines of a peer, a tab and the reason, as tools/peers.sh writes them."""
    with open(path, encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file if "\t" in line]
    return [{"peer": peer, "reason": reason} for peer, reason in pairs]
