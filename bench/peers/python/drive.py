#!/usr/bin/env python3
"""Measures rootdk beside the libraries that Python packages, in one process (docs/performance.md).

tools/peers.sh installs them and runs this. The results go to report.json in the build directory, and as tables to
the terminal.
"""

import argparse
import glob
import os
import subprocess
import sys

import figures
import limits
import peers
import report
import rootdk
import shapes
from pair import Pair

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(os.path.dirname(HERE))


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default=os.path.join(BENCH, "shapes.ini"), metavar="FILE")
    parser.add_argument("--build", default="build/bench", metavar="DIRECTORY", help="where Meson built")
    parser.add_argument("--absent", metavar="FILE", help="peers that did not install, and why")
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--seconds", type=float, default=2, help="for each work, about")
    parser.add_argument("--only", metavar="TEXT", help="works with this in their name")
    return parser.parse_args()


def pin(threads):
    """To the cores furthest from the first, which takes most interrupts; RDK_BENCH_CORE is the last one
    of them. Before any library is loaded: their threads inherit it. Returns the cores."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    last = os.environ.get("RDK_BENCH_CORE")
    if last:
        cores = [core for core in cores if core != int(last)] + [int(last)]
    if len(cores) < threads:
        sys.exit(f"peers: {threads} threads need as many cores")
    os.sched_setaffinity(0, cores[-threads:])
    return cores[-threads:]


def limit_threads(threads):
    """Environment variables that libraries read when they are loaded: OpenBLAS of numpy, OpenMP of PyTorch."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(threads)


def find_library(build, pattern):
    found = sorted(glob.glob(os.path.join(build, pattern)))
    if not found:
        sys.exit(f"peers: no {pattern} in {build}: tools/peers.sh builds it")
    return found[0]


def load_machine(arguments, own):
    library = rootdk.Library(find_library(arguments.build, "librootdk.so"))
    machine_limits = limits.Limits(
        find_library(arguments.build, "bench/peers/python/liblimits_for_python.*"))
    return own.Machine(library, machine_limits, Pair() if arguments.threads > 1 else None)


def wanted_works(arguments):
    try:
        with open(arguments.shapes, encoding="utf-8") as file:
            works = shapes.read(file)
    except (OSError, ValueError) as error:
        sys.exit(f"peers: {error}")
    works = [work for work in works if not arguments.only or arguments.only in work.name]
    for work in works:
        if shapes.left_out(work):
            print(f"left out  {work.name}: {shapes.left_out(work)}")
    return [work for work in works if not shapes.left_out(work)]


def write_report(arguments, run, records):
    machine, path = run.machine, os.path.join(arguments.build, "report.json")
    old = report.load(path) or report.new(machine.rootdk.version, machine.rootdk.arithmetic,
                                          machine.limits.compiler)
    report.save(path, report.merge(old, arguments.threads, run.limits(), records, run.absent))
    page = os.path.join(BENCH, "page", "page.py")
    if os.path.exists(page):
        subprocess.run([sys.executable, page, path, path[:-len("json")] + "html"], check=True)


def print_limits(run):
    for limit in run.limits():
        words = [limit["limit"], limit.get("where", ""), limit.get("isa", "")]
        print(f"{'limit':9} {' '.join(filter(None, words)):24} {limit['best'] / 1e9:8.1f} G{limit['unit']}")


def print_tables(run, tables):
    print_limits(run)
    for records in filter(None, tables):
        print(f"\n{records[0]['work']}")
        print("\n".join(figures.table(records)))
    if run.absent:
        print()
    for entry in run.absent:
        print(f"absent    {entry['peer']}: {entry['reason']}")
    print()


def complain(records):
    """Names the figures that cannot be; returns how many there are."""
    broken = figures.broken(records)
    for r in broken:
        print(f"peers: {r['work']} by {r['by']}, {r['how']}: {r['fractions']}: faster than the machine",
              file=sys.stderr)
    return len(broken)


def main():
    arguments = options()
    cores = pin(arguments.threads)
    limit_threads(arguments.threads)
    import measure  # these load numpy, which then sees what was set above
    import own

    absent = report.read_absent(arguments.absent) if arguments.absent else []
    loaded = peers.load(absent)
    run = measure.Run(load_machine(arguments, own), loaded, arguments.threads, absent)
    print(f"threads   {arguments.threads}" + (f", on cores {cores}" if cores else ""))
    print("peers     " + ", ".join(f"{peer.NAME} {peer.version()}" for peer in loaded), flush=True)
    works = wanted_works(arguments)
    if not works:
        sys.exit("peers: no work has that name")
    for work in works:
        print(f"measuring {work.name}", file=sys.stderr, flush=True)
        run.measure(work, arguments.seconds)
    tables = run.all_records()
    records = [r for some in tables for r in some]
    print_tables(run, tables)
    write_report(arguments, run, records)
    return 1 if complain(records) or run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
