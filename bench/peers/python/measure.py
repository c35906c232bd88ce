"""Measures works: rootdk, the limits and the peers beside each other."""

import sys

import check
import figures
import own
from operands import last_level_cache, operands_of
from peers import last_line
from sample import Sampler, Way


class Run:
    """All works of one process."""

    def __init__(self, machine, peers, threads, absent):
        self.machine, self.peers, self.threads, self.absent = machine, peers, threads, absent
        self.measured = []  # (work, ways, seconds of each limit)
        self.peaks = {}  # FLOP/s of each ISA, the best of all works
        self.speeds = {}  # (limit, where, ISA) -> B/s
        self.wrong = 0  # results of rootdk that are not the scalar path's

    # ---- Ways that give the right result ---------------------------------------------------------

    def own_ways(self, operands):
        rows = own.scalar_rows(self.machine, operands)
        for way in filter(None, [own.own_way(self.machine, operands, isa) for isa in self.machine.isas]):
            spoil(operands)
            way.calls[0]()
            if own.has_bits_of(way.result(), rows):
                way.error = check.error_of(operands, values_of(operands, way.result()))
                yield way
            else:
                self.wrong += 1
                print(f"peers: {operands.work.name} on {way.how}: not the scalar path's bits",
                      file=sys.stderr)

    def leave_out(self, peer, how, work, reason):
        self.absent.append({"peer": peer, "reason": f"{how} of {work.name}: {reason}"})

    def peer_way(self, peer, how, make, operands, expected):
        """A peer's way, or None when it does not run or is not right."""
        work = operands.work
        spoil(operands)
        try:
            calls, result = make(work, operands, self.threads)
            calls[-1]()
            got = values_of(operands, result())
        except Exception as error:  # whatever a foreign library raises
            self.leave_out(peer.NAME, how, work, last_line(error))
            return None
        reason = check.difference(work, expected, got)
        if reason:
            self.leave_out(peer.NAME, how, work, reason)
            return None
        way = Way(peer.NAME, peer.version(), how, calls, result)
        way.error = check.error_of(operands, got)
        return way

    def peer_ways(self, operands, expected):
        ways = [self.peer_way(peer, how, make, operands, expected)
                for peer in self.peers for how, make in peer.ways(operands.work)]
        return filter(None, ways)

    # ---- Samples ---------------------------------------------------------------------------------

    def measure(self, work, seconds):
        operands = operands_of(work)
        ways = [*self.own_ways(operands), *self.peer_ways(operands, self.expected(operands))]
        bounds = own.limit_ways(self.machine, operands)
        Sampler(ways + bounds, self.threads).run(seconds)
        for way in ways + bounds:
            way.forget_calls()
        self.note_limits(operands, bounds)
        self.measured.append((work, ways, self.seconds_of(bounds)))

    def expected(self, operands):
        """rootdk's result on the calling thread alone, by its best kernel."""
        alone = own.Machine(self.machine.rootdk, self.machine.limits, None)
        way = own.own_way(alone, operands, self.machine.isas[-1])
        way.calls[0]()
        return values_of(operands, way.result()).copy()

    def note_limits(self, operands, bounds):
        from_memory = len(operands.moved()) > 1 or operands.work.bytes > last_level_cache()
        for way in bounds:
            if way.how == "fma":
                peak = self.parts * self.machine.limits.fma_flop(way.isa) / way.best
                self.peaks[way.isa] = max(peak, self.peaks.get(way.isa, 0))
            else:
                key = way.how, "memory" if from_memory else "cache", way.isa
                self.speeds[key] = max(way.bytes / way.best, self.speeds.get(key, 0))

    @property
    def parts(self):
        """FMA loops that run at once."""
        return 2 if self.machine.pair else 1

    @staticmethod
    def seconds_of(bounds):
        found = {}
        for way in bounds:
            if way.how != "fma":
                found[way.how] = min(way.best, found.get(way.how, way.best))
        return found

    # ---- Figures, once all peaks are known -------------------------------------------------------

    def peak_for(self, way):
        """rootdk is held against its own ISA, a peer against the best there is."""
        return self.peaks.get(way.isa) if way.isa else max(self.peaks.values(), default=None)

    def records(self, work, ways, seconds_of):
        return [figures.record(work, way, self.threads,
                               figures.needed_by(work, self.peak_for(way), seconds_of))
                for way in ways]

    def all_records(self):
        return [self.records(*entry) for entry in self.measured]

    def limits(self):
        name = self.machine.rootdk.isa_name
        common = {"process": "peers", "threads": self.threads}
        peaks = [{**common, "limit": "fma", "isa": name(isa), "best": peak, "unit": "FLOP/s"}
                 for isa, peak in self.peaks.items()]
        speeds = [{**common, "limit": limit, "where": where, **({"isa": name(isa)} if isa else {}),
                   "best": speed, "unit": "B/s"}
                  for (limit, where, isa), speed in self.speeds.items()]
        return peaks + speeds


def spoil(operands):
    """NaN everywhere in the result, so that an element that is not written is seen."""
    (operands.out if operands.work.op == "attention" else operands.y).view("u1").fill(0xff)


def values_of(operands, result):
    """A result as f32."""
    return result if operands.work.op == "attention" else operands.wide(result)
