"""The machine's limits by ctypes (limits_for_python.c)."""

import ctypes
from ctypes import c_double, c_int, c_size_t, c_void_p

LEAST = 1e-3  # seconds of a call about: what surrounds it hardly counts, and some calls are not interrupted


class Limits:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.limits_compiler.restype = ctypes.c_char_p
        self.c.limits_fma_flop.restype = c_double
        self.c.limits_fma.restype = None
        self.c.limits_read.argtypes = [c_int, c_int, c_int, c_void_p, c_size_t, c_void_p, c_size_t]
        self.c.limits_read.restype = None
        self.c.limits_copy.argtypes = [c_int, c_void_p, c_void_p, c_size_t]
        self.c.limits_copy.restype = None
        self.compiler = self.c.limits_compiler().decode()

    def fma_flop(self, isa):
        return self.c.limits_fma_flop(isa)

    def fma(self, isa, times):
        return lambda: self.c.limits_fma(isa, times)

    def reads(self, isa):
        """How many loops there are."""
        return self.c.limits_read_count(isa)

    def read(self, isa, loop, times, spans):
        """`spans`: one or two pairs of an address and a number of bytes."""
        arguments = [isa, loop, times, *spans[0], *(spans[1] if len(spans) > 1 else (None, 0))]
        return lambda: self.c.limits_read(*arguments)

    def copy(self, times, to, span):
        return lambda: self.c.limits_copy(times, to, *span)


def times_for(amount, rate):
    """How often so many bytes or FLOPs fit into a call, at a rate per second that is a guess."""
    return max(1, round(LEAST * rate / max(amount, 1)))


def half_spans(span):
    """A span in two, at a multiple of a cache line."""
    address, size = span
    first = size // 2 // 64 * 64
    return (address, first), (address + first, size - first)
