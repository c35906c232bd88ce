"""docs/arithmetic.md, section 1: numbers, and the floating-point types that round them."""

import math
import re

# ---- 1. Notation ----
#
# A number is (sign, m, e): the value (-1)^sign * m * 2^e, with integers m >= 0 and e. Zeros keep
# their sign. If it is not finite, e is None and m is 1 for an infinity, 0 for NAN, the one NaN.

ZERO, MINUS_ZERO = (0, 0, 0), (1, 0, 0)
ONE = (0, 1, 0)
INF, MINUS_INF = (0, 1, None), (1, 1, None)
NAN = (0, 0, None)


def negative(a):
    """-a, exact."""
    return a if a == NAN else (1 - a[0], a[1], a[2])


def product(a, b):
    """a * b, exact."""
    if a[2] is None or b[2] is None:
        return (a[0] ^ b[0], 1, None) if a[1] and b[1] else NAN
    return (a[0] ^ b[0], a[1] * b[1], a[2] + b[2])


def total(a, b):
    """a + b, exact. A sum of 0 is +0 unless both are -0."""
    if a[2] is None or b[2] is None:
        if NAN in (a, b) or (a[2] is b[2] and a != b):
            return NAN
        return a if a[2] is None else b
    e = min(a[2], b[2])
    p, q = a[1] << (a[2] - e), b[1] << (b[2] - e)
    m = (-p if a[0] else p) + (-q if b[0] else q)
    return (int(m < 0) if m else a[0] & b[0], abs(m), e)


def key(a):
    """An integer that orders floats and doubles by value; not for NaN."""
    size = 1 << 2100 if a[2] is None else a[1] << (a[2] + 1074)
    return -size if a[0] else size


def less(a, b):
    """a < b; false with a NaN."""
    return a != NAN and b != NAN and key(a) < key(b)


def largest(numbers):
    """The largest number, NaN passed over; -inf if nothing is left."""
    return max((a for a in numbers if a != NAN), key=key, default=MINUS_INF)


def nearest(a, digits, least):
    """a rounded to nearest even, to so many digits, but to a multiple of 2^least."""
    sign, m, e = a
    if e is None:
        return a
    drop = max(m.bit_length() - digits, least - e)
    if drop > 0:
        half, low = 1 << (drop - 1), m & ((1 << drop) - 1)
        m, e = m >> drop, e + drop
        m += low > half or (low == half and m & 1)
    return (sign, m, e)


class Type:
    """A binary floating-point type of IEEE 754; its operations round once, to nearest even."""

    def __init__(self, width, digits, bias):
        self.width, self.digits = width, digits
        self.top = bias + 1                    # finite values are below 2^top
        self.least = 2 - bias - digits         # the least subnormal is 2^least
        self.sign = 1 << (width - 1)
        self.infinity = (2 * bias + 1) << (digits - 1)
        self.quiet = self.infinity | 1 << (digits - 2)

    def round(self, a):
        """The nearest value of the type."""
        sign, m, e = nearest(a, self.digits, self.least)
        if e is not None and m and m.bit_length() + e > self.top:
            return (sign, 1, None)
        return (sign, m, e)

    def add(self, a, b):
        return self.round(total(a, b))

    def sub(self, a, b):
        return self.round(total(a, negative(b)))

    def mul(self, a, b):
        return self.round(product(a, b))

    def fma(self, a, b, c):
        return self.round(total(product(a, b), c))

    def div(self, a, b):
        """a / b of finite numbers, b not 0."""
        shift = b[1].bit_length() + self.digits + 2
        m, rest = divmod(a[1] << shift, b[1])
        return self.round((a[0] ^ b[0], 2 * m + (rest > 0), a[2] - b[2] - shift - 1))

    def sqrt(self, a):
        """The square root of a > 0."""
        shift = 2 * self.digits + (a[2] & 1)
        root = math.isqrt(a[1] << shift)
        inexact = root * root != a[1] << shift
        return self.round((0, 2 * root + inexact, (a[2] - shift) // 2 - 1))

    def decode(self, bits):
        """The number with these bits."""
        sign, size = int(bits & self.sign > 0), bits & (self.sign - 1)
        if size >= self.infinity:
            return NAN if size > self.infinity else (sign, 1, None)
        e, m = divmod(size, 1 << (self.digits - 1))
        return (sign, m + (1 << (self.digits - 1)), self.least + e - 1) if e else \
            (sign, m, self.least)

    def encode(self, a):
        """The bits of a, rounded."""
        sign, m, e = self.round(a)
        if e is None:
            return sign * self.sign | self.infinity if m else self.quiet
        if m == 0:
            return sign * self.sign
        up = min(self.digits - m.bit_length(), e - self.least)
        m, e = (m << up if up > 0 else m >> -up), e - up
        return sign * self.sign | ((e - self.least) << (self.digits - 1)) + m


F32 = Type(32, 24, 127)
F64 = Type(64, 53, 1023)
F16 = Type(16, 11, 15)
BF16 = Type(16, 8, 127)


def rint(a):
    """The nearest integer, ties to even; never -0."""
    a = nearest(a, a[1].bit_length(), 0)
    return a if a[1] or a == NAN else ZERO


def integer(a):
    """A number that is an integer as Python's."""
    m = a[1] << a[2] if a[2] > 0 else a[1] >> -a[2]
    return -m if a[0] else m


def hexadecimal(text):
    """A number from a hexadecimal float, as 0x1.8p+23."""
    whole, part, power = re.fullmatch(r"0x(\w)(?:\.(\w+))?p([+-]\d+)", text).groups("")
    return (0, int(whole + part, 16), int(power) - 4 * len(part))
