"""Takes samples of several ways to do a work, interleaved in random order."""

import random
import statistics
import time

ROUNDS = 3  # at least
BURST = 1e-3  # seconds of calls in one sample, and one call at least
LONG = 5e-3  # seconds from which on the call before makes no difference
SETTLE = 5e-3  # seconds in which threads of the way before, that still wait for work, go to sleep
NOISE = 0.03


class Way:
    """One way to do a work. `calls` are the same call over the copies of the operands."""

    def __init__(self, by, version, how, calls, result=None, times=1, isa=None):
        self.by, self.version, self.how = by, version, how
        self.calls, self.result = calls, result
        self.times = times  # how often a call does the work
        self.isa = isa  # None: the library's own choice
        self.error = None  # of the result (check.py)
        self.seconds = []

    def forget_calls(self):
        """Lets go of the operands, of which there may be hundreds of megabytes."""
        self.calls, self.result = [], None

    @property
    def best(self):
        return min(self.seconds) / self.times

    @property
    def median(self):
        return statistics.median(self.seconds) / self.times

    @property
    def is_noisy(self):
        middle = len(self.seconds) // 2
        if not middle:
            return True
        halves = min(self.seconds[:middle]), min(self.seconds[middle:])
        return max(halves) > (1 + NOISE) * min(halves)


class Sampler:
    def __init__(self, ways, threads, clock=time.perf_counter, seed=1):
        self.ways, self.threads, self.clock = ways, threads, clock
        self.random = random.Random(seed)
        self.turn = 0  # of the copies, the same for all ways: none finds what another has just read

    def next_call(self, way):
        self.turn += 1
        return way.calls[self.turn % len(way.calls)]

    def timed(self, way):
        call = self.next_call(way)
        begin = self.clock()
        call()
        return self.clock() - begin

    def take(self, way, guess):
        if self.threads > 1:
            time.sleep(SETTLE)
        if guess < LONG and len(way.calls) == 1:
            way.calls[0]()
        spent = 0
        while not spent or spent < BURST:
            seconds = self.timed(way)
            way.seconds.append(seconds)
            spent += seconds

    def run(self, budget):
        """For so many seconds, but ROUNDS rounds at least, after a call of each that is not counted."""
        guess = {way: self.timed(way) for way in self.ways}
        end, rounds = self.clock() + budget, 0
        while rounds < ROUNDS or self.clock() < end:
            for way in self.random.sample(self.ways, len(self.ways)):
                self.take(way, guess[way])
            rounds += 1
