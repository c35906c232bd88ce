#!/usr/bin/env python3
"""An independent implementation of docs/arithmetic.md and docs/golden.md.

It follows those two pages alone, in exact integer arithmetic (no Python float is used anywhere),
and reproduces the golden hashes. The sections below bear the names of the pages' sections.

usage: contract.py [--op NAME] [--inc DIR] [--cases A:B] [--every N]

  --op NAME      only this operation: softmax or attention
  --inc DIR      where NAME.inc, the expected hashes, are (default: ../../golden from here)
  --cases A:B    of each operation only the cases A <= i < B; either may be left out
  --every N      of these, only every Nth

The last line says how many cases passed and failed. Exit 1 if one failed or none ran.
"""

import argparse
import collections
import itertools
import math
import os
import re
import sys

# ---- arithmetic.md, 1. Notation ----
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


# ---- 2. Constants ----

LOG2E = hexadecimal("0x1.71547652b82fep+0")
LN2 = hexadecimal("0x1.62e42fefa39efp-1")
LH = hexadecimal("0x1.715476p+0")
LL = hexadecimal("0x1.4ae0cp-26")
MAGIC = hexadecimal("0x1.8p+23")
A1, A2, A3, A4, A5, A6 = map(hexadecimal, (
    "0x1.62e43p-1", "0x1.ebfbb6p-3", "0x1.c6aeacp-5",
    "0x1.3b4128p-7", "0x1.5f7c36p-10", "0x1.3812c2p-13"))
LN2_F = hexadecimal("0x1.62e43p-1")
HOT = (0, 1, 16)
ABSENT = negative(hexadecimal("0x1.62e43p+15"))
FLUSH = (1, 100, 0)
LANES, BLOCK = 16, 128


# ---- 3. A row ----

# What section 6 needs of a row: l, M, the weights e, which columns are present, whether the row is
# cold, and a function of j that gives column j's logit relative to M.
Row = collections.namedtuple("Row", "l M e present cold relative")


def compute_row(x, bias, scale):
    """The Row of the visible columns; bias is None or as long as x."""
    c2 = F64.mul(scale, LOG2E)
    ch = F32.round(c2)
    b = bias and [F32.fma(v, LH, F32.mul(v, LL)) for v in bias]
    present = [not bias or bias[j] == NAN or less(ABSENT, bias[j]) for j in range(len(x))]
    if ch[2] is None:                          # scale not finite
        return Row(NAN if any(present) else ZERO, ZERO, x, present, False, None)
    cl = F32.round(F64.sub(c2, ch))
    columns = [j for j in range(len(x)) if present[j]]
    T = largest(F32.fma(x[j], ch, b[j]) if b else F32.mul(x[j], ch) for j in columns)
    B = largest(b[j] for j in columns) if b else MINUS_INF
    e = [ZERO] * len(x)
    cold = is_cold(T, B, HOT)
    if cold:
        t = {j: logit(x[j], bias and bias[j], c2) for j in columns}
        M = rint(largest(t.values()))
        for j in columns:
            e[j] = cold_weight(t[j], M)
    else:
        M = largest((negative(HOT), rint(T)))
        for j in columns:
            e[j] = weight(x[j], bias and bias[j], b and b[j], ch, cl, M)

    def relative(j):
        if cold:
            return F64.sub(t[j], M)
        return relative_logit(x[j], bias and bias[j], b and b[j], ch, cl, M)
    return Row(weight_sum(e), M, e, present, cold, relative)


def is_cold(T, B, hot):
    """Whether a row is cold, or with B = -inf a chunk."""
    return less(hot, T) or T != MINUS_INF and (less(T, negative(hot)) or less(hot, B))


# ---- 4. Weights ----

def weight(x, bias, b, ch, cl, M):
    """e of a present column; bias and b are None without one."""
    u, n, f = parts(x, bias, b, ch, cl, M)
    k = F32.sub(u, MAGIC)
    if k == NAN:
        return NAN
    return ZERO if less(k, FLUSH) else power(f, k)


def parts(x, bias, b, ch, cl, M):
    """u, n and f."""
    m = F32.sub(MAGIC, M)
    u = F32.add(F32.fma(x, ch, b), m) if b else F32.fma(x, ch, m)
    n = F32.sub(u, m)
    if not b:
        return u, n, F32.fma(x, cl, F32.fma(x, ch, negative(n)))
    n1 = F32.sub(F32.fma(x, ch, MAGIC), MAGIC)
    n2 = F32.sub(n, n1)
    f = F32.add(F32.fma(x, ch, negative(n1)), F32.fma(bias, LH, negative(n2)))
    return u, n, F32.fma(bias, LL, F32.fma(x, cl, f))


def power(f, k):
    """p * 2^k, p being 2^f."""
    p = A6
    for a in (A5, A4, A3, A2, A1, ONE):
        p = F32.fma(p, f, a)
    return (p[0], p[1], p[2] + integer(k))


def weight_sum(e):
    """l."""
    l = ZERO
    for start in range(0, len(e), BLOCK):
        l = F64.add(l, block_sum(e[start:start + BLOCK]))
    return l


def block_sum(e):
    """The sum of a block, a double."""
    lanes = [ZERO] * LANES
    for j, v in enumerate(e):
        lanes[j % LANES] = F32.add(lanes[j % LANES], v)
    for half in (8, 4, 2, 1):
        lanes = [F64.add(lanes[i], lanes[i + half]) for i in range(half)]
    return lanes[0]


# ---- 5. Cold rows ----

def logit(x, bias, c2):
    """t in double; bias is None without one."""
    t = F64.mul(x, c2)
    return F64.add(t, F64.mul(bias, LOG2E)) if bias else t


def cold_weight(t, M):
    """e of a present column."""
    d = F64.sub(t, M)
    n = rint(d)
    if n == NAN:
        return NAN
    if less(n, FLUSH):
        return ZERO
    return power(F32.round(F64.sub(d, n)), n)


# ---- 6. What is written ----

def softmax_row(r, cols):
    """y of the row, floats."""
    visible, hidden = len(r.e), cols - len(r.e)
    if r.l == NAN:
        return [NAN] * visible + [ZERO] * hidden
    if r.l[1] == 0:
        return [ZERO] * cols
    inv = F32.round(F64.div(ONE, r.l))
    return [F32.mul(e, inv) for e in r.e] + [ZERO] * hidden


def log_softmax_row(r, cols):
    """y of the row, floats."""
    visible = len(r.e)
    y = [NAN if r.l == NAN else MINUS_INF] * visible + [MINUS_INF] * (cols - visible)
    if r.l[1]:
        log_l = log2(r.l)
        c = F32.round(F64.mul(log_l, LN2))
        for j in range(visible):
            if r.present[j] and r.cold:
                y[j] = F32.round(F64.mul(F64.sub(r.relative(j), log_l), LN2))
            elif r.present[j]:
                y[j] = F32.fma(r.relative(j), LN2_F, negative(c))
    return y


def relative_logit(x, bias, b, ch, cl, M):
    """r, the logit of a hot row's column relative to M."""
    _, n, f = parts(x, bias, b, ch, cl, M)
    return n if n == MINUS_INF else F32.add(F32.sub(n, M), f)


def lse_of(r):
    """The LSE of the row, a float."""
    if r.l[1] == 0:
        return NAN if r.l == NAN else MINUS_INF
    return F32.round(F64.mul(F64.add(r.M, log2(r.l)), LN2))


SQRT2 = hexadecimal("0x1.6a09e667f3bcdp+0")
C = [hexadecimal(c) for c in """
    0x1.71547652b82fep+1 0x1.ec709dc3a03fdp-1 0x1.2776c50ef9bfep-1 0x1.a61762a7aded9p-2
    0x1.484b13d7c02a9p-2 0x1.0c9a84994022dp-2 0x1.c68f568d31760p-3 0x1.89f3b1694cffep-3
    0x1.5b9ac9b743f0dp-3 0x1.3703c1f4d0ffep-3 0x1.1964ec6fc9491p-3""".split()]


def log2(l):
    """log2 of a double > 0."""
    digits = l[1].bit_length()
    m, q = (0, l[1], 1 - digits), l[2] + digits - 1
    if less(SQRT2, m):
        m, q = (0, m[1], m[2] - 1), q + 1
    z = F64.div(F64.sub(m, ONE), F64.add(m, ONE))
    w = F64.mul(z, z)
    s = C[10]
    for i in range(9, -1, -1):
        s = F64.add(F64.mul(s, w), C[i])
    return F64.add((int(q < 0), abs(q), 0), F64.mul(z, s))


# ---- 10. Attention ----

CHUNK = 1024
ONE_CHAIN, PIECE = 48, 192
HOT_ATTENTION = (0, 1, 21)
HEADROOM = (0, 8, 0)
LEAST_SHIFT = (1, 126, 0)

# What is known of a run of keys: M, l, and o, a float for each column of the values.
State = collections.namedtuple("State", "M l o")


def shift(M, top):
    """2^(M - top) as a factor of sums: 1 if they are equal, +0 if that is too small."""
    if M == top:
        return ONE
    d = F64.sub(M, top)
    return ZERO if less(d, LEAST_SHIFT) else (0, 1, integer(d))


def attention_scale(scale, d_qk):
    """ch."""
    if scale != NAN and scale[1] == 0:
        scale = F32.round(F64.div(ONE, F64.sqrt((0, d_qk, 0))))
    return F32.round(F64.mul(scale, LOG2E))


def score(q, k):
    """x of a key, for a query that has been scaled."""
    x = ZERO
    chains = 1 if len(q) <= ONE_CHAIN else 2
    for first in range(0, len(q), PIECE):
        for i in range(first, min(first + chains, len(q))):
            s = ZERO
            for a, b in zip(q[i:first + PIECE:chains], k[i:first + PIECE:chains]):
                s = F32.fma(a, b, s)
            x = F32.add(x, s)
    return x


def pieces(start, end, size):
    """(from, to) of each part of start <= position < end that lies within one multiple of size."""
    while start < end:
        stop = min(end, start - start % size + size)
        yield start, stop
        start = stop


def value_sums(e, v, d_v):
    """p of a block: the products of its weights and values, summed."""
    p = [ZERO] * d_v
    for weight_of_key, value in zip(e, v):
        p = [F32.fma(weight_of_key, value[c], p[c]) for c in range(d_v)]
    return p


def with_block(state, M, position, e, v):
    """The state relative to M, with a block's weights and values; its first key's position."""
    r, p = shift(state.M, M), value_sums(e, v, len(state.o))
    o = [F32.fma(a, r, b) for a, b in zip(state.o, p)]
    padded = [ZERO] * (position % LANES) + e   # so that key and lane agree
    return State(M, F64.add(F64.mul(state.l, r), block_sum(padded)), o)


def chunk_is_cold(x):
    """Whether a chunk with these scores is cold."""
    return is_cold(largest(x), MINUS_INF, HOT_ATTENTION)


def chunk_state(start, x, v, d_v):
    """The closed state of a chunk of visible keys from a position on: scores x, values v."""
    cold = chunk_is_cold(x)
    M = rint(largest(x)) if cold else negative(HOT_ATTENTION)
    state = State(M, ZERO, [ZERO] * d_v)
    for first, last in pieces(start, start + len(x), BLOCK):
        keys = slice(first - start, last - start)
        if cold:
            e = [cold_weight(a, M) for a in x[keys]]
        else:
            T = largest(x[keys])
            if less(F64.add(M, HEADROOM), T):
                M = rint(T)
            e = [weight(a, None, None, ONE, ZERO, M) for a in x[keys]]
        state = with_block(state, M, first, e, v[keys])
    if state.l == NAN:
        return state._replace(M=ZERO)
    return state if state.l[1] else state._replace(M=MINUS_INF)


def fold(a, b):
    """Two states as one."""
    M = largest((a.M, b.M))
    r, s = shift(a.M, M), shift(b.M, M)
    l = F64.add(F64.mul(a.l, r), F64.mul(b.l, s))
    return State(M, l, [F32.add(F32.mul(x, r), F32.mul(y, s)) for x, y in zip(a.o, b.o)])


def attention_row(q, keys, values, d_v, pos0, scale):
    """The State of a query over its visible keys, and a function that gives e of each."""
    ch = attention_scale(scale, len(q))
    state, cold = State(MINUS_INF, ZERO, [ZERO] * d_v), False
    if ch[2] is None:                          # scale not finite
        return state._replace(l=NAN if keys else ZERO), None
    scaled_q = [F32.mul(a, ch) for a in q]
    x = [score(scaled_q, k) for k in keys]
    for first, last in pieces(pos0, pos0 + len(x), CHUNK):
        part = slice(first - pos0, last - pos0)
        cold = cold or chunk_is_cold(x[part])
        state = fold(state, chunk_state(first, x[part], values[part], d_v))

    def weights():
        if cold:
            return [cold_weight(a, state.M) for a in x]
        return [weight(a, None, None, ONE, ZERO, state.M) for a in x]
    return state, weights


def attention_outputs(state, weights, visible, kv_len):
    """out and LSE of a query, and its weights unless the argument is None."""
    hidden, e = [ZERO] * (kv_len - visible), None
    lse = lse_of(state)
    if state.l == NAN or state.l[1] == 0:
        same = NAN if state.l == NAN else ZERO
        return [same] * len(state.o), lse, [same] * visible + hidden
    inv, lo = inverse(state.l)
    if weights:
        e = [F32.mul(a, inv) for a in weights()] + hidden
    return [output(a, inv, lo) for a in state.o], lse, e


def inverse(l):
    """1 / l in two floats."""
    quotient = F64.div(ONE, l)
    inv = F32.round(quotient)
    return inv, F32.round(F64.sub(quotient, inv))


def output(o, inv, lo):
    """out in a column."""
    infinite = o in (INF, MINUS_INF)
    return F32.fma(o, inv, ZERO if infinite else F32.fma(o, lo, ZERO))


# ---- golden.md, The draws ----

MASK = (1 << 64) - 1


def splitmix64(state):
    """The draws from a state on."""
    while True:
        state = (state + 0x9e3779b97f4a7c15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
        z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
        yield z ^ (z >> 31)


# ---- Values ----

def scaled(kind, w, e):
    k = w >> (64 - kind.digits)
    if k >> (kind.digits - 1):
        k -= 1 << kind.digits
    return (int(k < 0), abs(k), e - kind.digits + 1)


def raw(kind, w):
    return w >> (64 - kind.width)


def tiny(kind, w):
    low = 1 << (kind.digits - 1)
    return kind.decode(raw(kind, w) & (kind.sign | low | low - 1))


def huge(kind, w):
    low = 1 << (kind.digits - 1)
    return kind.decode((raw(kind, w) | kind.sign >> 1) & ~low)


def largest_of(kind, sign):
    return kind.decode(sign * kind.sign | kind.infinity - 1)


def odd(kind, p):
    return (NAN, INF, MINUS_INF, largest_of(kind, 0))[(p >> 32) & 3]


# ---- The hash ----

def fnv1a(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001b3) & MASK
    return h


def hash_of_all(hashes):
    """The hash over the hashes of all cases."""
    return fnv1a(b"".join(h.to_bytes(8, "little") for h in hashes))


def element(kind, a):
    """The bytes of a number."""
    return kind.encode(a).to_bytes(kind.width // 8, "little")


# ---- golden.md, Softmax: the cases ----

COLUMNS = [c for counts, times in (
    (range(64), 9), ((64, 65), 9), ((127, 128, 129), 9), ((33,), 61), ((255, 256, 257), 5),
    ((1023, 1024, 1025), 3), ((2049,), 2)) for c in counts for _ in range(times)]
TYPES = (F32, F16, BF16)
FAMILIES = ("plain", "wide", "tiny", "huge", "equal", "mixed", "poison")
BIASES = (None, ("plain", F32), ("mixed", F16), ("plain", BF16), None, ("mixed", F32),
          ("plain", F16), ("mixed", BF16), ("hidden", F32), ("odd", F16), ("shared", F32))
SCALES = [F32.decode(bits) for bits in (
    0x00000000, 0x3f800000, 0x3e000000, 0x3db504f3, 0xbf800000, 0x40800000, 0x3dcccccd,
    0x44800000, 0x3f800001, 0x80000000, 0x3a83126f, 0xc0490fdb, 0x7149f2ca, 0x7fc00000,
    0x7f800000, 0x00000001)]


class SoftmaxCase:
    """What follows from the number of a case."""

    def __init__(self, i):
        self.number, self.cols = i, COLUMNS[i]
        long = self.cols > 130
        self.rows = 1 if long or i % 17 < 9 else 2 if i % 17 < 14 else 3
        self.x_type, self.y_type = TYPES[i % 9 // 3], TYPES[i % 3]
        self.family = FAMILIES[i % 2 if long else i % 7]
        self.bias = BIASES[i % 11]
        self.log, self.has_y, self.has_lse = i % 5 in (2, 3), i % 5 != 4, i % 5 in (1, 3, 4)
        self.scale = SCALES[i % 13] if SCALES[i % 13][1] else ONE
        self.counts, self.row_scale = not long and i & 1, not long and i & 4


# ---- Softmax: the draws ----

def drawn_rows(case):
    """(x, bias, scale) of each row: of the visible columns, bias None if there is none."""
    draw, shared = splitmix64(case.number), None
    for row in range(case.rows):
        v, s, p = next(draw), next(draw), next(draw)
        pairs = [(next(draw), next(draw)) for _ in range(case.cols)]
        x = [x_value(case, j, p, w) for j, (w, _) in enumerate(pairs)]
        bias = shared
        if case.bias and shared is None:
            bias = [bias_value(case, row, j, p, u) for j, (_, u) in enumerate(pairs)]
            if case.bias[0] == "shared":
                shared = bias
        visible = v % (case.cols + 1) if case.counts else case.cols
        scale = SCALES[s & 15] if case.row_scale else case.scale
        yield x[:visible], bias and bias[:visible], scale


# ---- Softmax: the values ----

def plain(kind, w):
    return scaled(kind, w, 3)


def wide(kind, w):
    return scaled(kind, w, 7)


EDGES = {F32: 0xc7317217, F16: 0xf98b, BF16: 0xc731}


def edge(kind, u):
    return kind.decode(EDGES[kind] + ((u >> 3) & 1))


def x_value(case, j, p, w):
    """x in column j."""
    kind, family = case.x_type, case.family
    if family == "wide":
        return wide(kind, w)
    if family == "tiny":
        return tiny(kind, w)
    if family == "huge":
        return huge(kind, w)
    if family == "equal":
        return plain(kind, p) if (p >> 32) & 3 else MINUS_INF
    if family == "mixed" and w & 7 < 4:
        return (ZERO, MINUS_ZERO, MINUS_INF, kind.decode(1))[w & 7]
    if family == "poison" and j == p % case.cols:
        return odd(kind, p)
    return plain(kind, w)


def bias_value(case, row, j, p, u):
    """The bias in column j."""
    family, kind = case.bias
    if family == "mixed" and u & 7 < 6:
        return (MINUS_INF, largest_of(kind, 1), (1, 8192, 0), MINUS_ZERO, edge(kind, u),
                wide(kind, u))[u & 7]
    if family == "hidden" and row == 0:
        return MINUS_INF
    if family == "odd" and j == p % case.cols:
        return odd(kind, p)
    return plain(kind, u)


def softmax_hash(i):
    """The hash of softmax case i."""
    case, y_bytes, lse_bytes = SoftmaxCase(i), bytearray(), bytearray()
    for x, bias, scale in drawn_rows(case):
        r = compute_row(x, bias, scale)
        y = log_softmax_row(r, case.cols) if case.log else softmax_row(r, case.cols)
        for v in y if case.has_y else ():
            y_bytes += element(case.y_type, v)
        if case.has_lse:
            lse_bytes += element(F32, lse_of(r))
    return fnv1a(y_bytes + lse_bytes)


# ---- Attention: the cases ----

KINDS = (                                      # (first, how many) of each size
    (110, ((1, 2), (1, 2), (1, 3), (0, 5), (0, 35), (1, 18), (1, 18), (0, 20))),
    (22, ((1, 1), (1, 1), (1, 16), (1, 6), (17, 24), (1, 4), (1, 4), (0, 20))),
    (22, ((1, 1), (1, 1), (1, 3), (1, 2), (1, 20), (1, 250), (1, 140), (0, 20))),
    (11, ((1, 1), (1, 1), (1, 3), (1, 2), (1, 20), (48, 2), (1, 8), (0, 20))),
    (66, ((1, 1), (1, 2), (1, 2), (1, 2), (1, 150), (1, 9), (1, 9), (90, 300))),
    (66, ((1, 1), (1, 2), (1, 3), (1, 3), (1, 86), (1, 6), (1, 6), (920, 108))),
    (55, ((1, 1), (1, 2), (1, 4), (1, 4), (3, 5), (1, 4), (1, 16), (1021, 3))),
    (11, ((1, 1), (1, 1), (1, 2), (1, 3), (20, 40), (1, 4), (1, 4), (2**40 - 20, 20))),
    (22, ((1, 1), (1, 1), (1, 2), (1, 1), (900, 1300), (1, 2), (1, 2), (0, 1024))))
KIND_OF = [kind for times, kind in KINDS for _ in range(times)]
ATTENTION_FAMILIES = ("plain", "wide", "cold", "mixed", "equal", "minus", "poison", "tiny", "steps",
                      "vast", "zeros")
ATTENTION_SCALES = [F32.decode(bits) for bits in (
    0x00000000, 0x3f800000, 0x00000000, 0xbf800000, 0x00000000, 0x3e000000, 0x80000000,
    0x7fc00000, 0x3dcccccd, 0x00000000, 0xc0490fdb, 0x40800000, 0x00000000, 0x7f7fffff,
    0x3a83126f, 0x00000000, 0x44800000)]


class AttentionCase:
    """What follows from the number of a case, and its inputs by batch, head, row and column."""

    def __init__(self, i):
        draw = splitmix64((1 << 32) + i)
        (self.batch, self.kv_heads, self.group, self.q_len, self.kv_len, self.d_qk, self.d_v,
         self.pos0) = (first + next(draw) % count for first, count in KIND_OF[i])
        self.q_pos = self.pos0 - 6 + next(draw) % (self.kv_len + 9)
        self.q_heads = self.kv_heads * self.group
        self.family = ATTENTION_FAMILIES[i % 11]
        self.causal = i % 3
        self.scale = ATTENTION_SCALES[i % 17]
        if self.family in ("mixed", "tiny", "steps"):
            self.scale = ONE
        self.has_lse, self.has_weights = i & 1, i & 2 or self.family == "mixed"
        self.q = [[drawn_queries(self, draw) for _ in range(self.q_heads)]
                  for _ in range(self.batch)]
        self.kv = [[drawn_keys(self, draw) for _ in range(self.kv_heads)]
                   for _ in range(self.batch)]

    def visible(self, query):
        """How many keys a query sees: the first ones."""
        if self.causal == 0:
            return self.kv_len
        position = self.q_pos if self.causal == 2 else self.pos0 + self.kv_len - self.q_len
        return max(0, min(self.kv_len, position + query + 1 - self.pos0))


# ---- Attention: the draws ----

def drawn_queries(case, draw):
    """The queries of a head."""
    return [[q_value(case.family, c, next(draw)) for c in range(case.d_qk)]
            for _ in range(case.q_len)]


def drawn_keys(case, draw):
    """The keys and the values of a head."""
    p, keys, values, first = next(draw), [], [], None
    for j in range(case.kv_len):
        w = [next(draw) for _ in range(case.d_qk)]
        first = first or w
        keys.append([k_value(case.family, case.pos0 + j, p, c, w[c], first[c])
                     for c in range(case.d_qk)])
        values.append([v_value(case.family, case.pos0 + j, p, next(draw))
                       for _ in range(case.d_v)])
    if case.family == "poison" and keys:
        row = (values if (p >> 34) & 1 else keys)[p % case.kv_len]
        row[(p >> 40) % len(row)] = odd(F32, p)
    return keys, values


# ---- Attention: the values ----

Q_REACH = {"wide": 3, "poison": 3, "cold": 11, "equal": 9, "tiny": 127, "vast": 60}
K_REACH = {"wide": 3, "poison": 3, "cold": 11, "steps": -4, "vast": 66}


def nearly_zero(w):
    if w & 7 < 4:
        return F32.decode((0x00000000, 0x80000000, 0x00000001, 0x807fffff)[w & 7])
    return tiny(F32, w) if w & 7 < 6 else scaled(F32, w, 1)


def level(position, p):
    block = position // 128
    return 87 * ((p >> block % 32) & 1) + (((p >> 32) >> block % 29) & 3)


def mixed_value(position, p, w):
    if (position // 1024 + (p >> 35)) % 2 == 0:
        far = 2**(18, 20, 21, 23)[(p >> 39) & 3] + (w >> 60)
        return (1 - ((p >> 36) & 1), far, 0)
    return scaled(F32, w, 1) if (p >> 37) & 3 else MINUS_INF


def q_value(family, c, w):
    """q in column c."""
    if family == "zeros":
        return nearly_zero(w)
    if c == 0 and family in ("mixed", "minus", "steps"):
        return (0, 128 + (w & 3), -7) if family == "steps" else ONE
    return scaled(F32, w, Q_REACH.get(family, 1))


def k_value(family, position, p, c, w, first):
    """k in column c of the key at a position; first is what the first key drew there."""
    if family == "zeros":
        return nearly_zero(w)
    if family == "tiny":
        return tiny(F32, w)
    if family == "equal":
        return scaled(F32, first, 9) if c else scaled(F32, w, -5)
    if family == "mixed" and c == 0:
        return mixed_value(position, p, w)
    if family == "steps" and c == 0:
        return (0, level(position, p), 0)
    if family == "minus" and c == 0 and (position // 128 % 3 == 2 or w & 1):
        return MINUS_INF
    return scaled(F32, w, K_REACH.get(family, 1))


def v_value(family, position, p, w):
    """An element of v."""
    if family == "zeros":
        return nearly_zero(w)
    if family == "tiny":
        return F32.decode(raw(F32, w) & (F32.sign | (1 << 23) - 1))
    if family == "steps" and level(position, p) < 87:
        return huge(F32, w)
    return scaled(F32, w, 1)


def attention_hash(i):
    """The hash of attention case i."""
    case, written = AttentionCase(i), ([], [], [])
    for b, h, query in itertools.product(*map(range, (case.batch, case.q_heads, case.q_len))):
        keys, values = case.kv[b][h // case.group]
        n = case.visible(query)
        state, weights = attention_row(case.q[b][h][query], keys[:n], values[:n], case.d_v,
                                       case.pos0, case.scale)
        out, lse, e = attention_outputs(state, case.has_weights and weights, n, case.kv_len)
        written[0].extend(out)
        written[1].extend([lse] if case.has_lse else [])
        written[2].extend(e if case.has_weights else [])
    return fnv1a(b"".join(element(F32, a) for part in written for a in part))


# ---- The run ----

SHOWN = 5                                      # differences printed, of each operation
OPERATIONS = {"softmax": (softmax_hash, len(COLUMNS)), "attention": (attention_hash, len(KIND_OF))}


def expected_hashes(path):
    """{case number or "all": (hash as text, name)} from NAME.inc."""
    line = re.compile(r"0x([0-9a-f]{16}), /\* (\w+) ?(.*) \*/")
    with open(path, encoding="ascii") as file:
        found = [m.groups() for m in map(line.match, file) if m]
    return {int(n) if n.isdigit() else n: (h, name) for h, n, name in found}


def arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    inc = os.path.join(here, "..", "..", "golden")
    parser = argparse.ArgumentParser(description="docs/arithmetic.md against the golden hashes")
    parser.add_argument("--op", choices=list(OPERATIONS))
    parser.add_argument("--inc", default=inc, metavar="DIR")
    parser.add_argument("--cases", default=":", metavar="A:B")
    parser.add_argument("--every", default=1, type=int, metavar="N")
    args = parser.parse_args()
    if not re.fullmatch(r"\d*:\d*", args.cases) or args.every < 1:
        parser.error("--cases takes A:B, --every a number from 1 on")
    return args


def check(op, args):
    """How many cases of an operation passed, and how many hashes are wrong."""
    case_hash, count = OPERATIONS[op]
    expected = expected_hashes(os.path.join(args.inc, f"{op}.inc"))
    part = slice(*(int(n) if n else None for n in args.cases.split(":")), args.every)
    numbers = range(count)[part]
    got = {i: case_hash(i) for i in numbers}
    if len(numbers) == count:
        got["all"] = hash_of_all(got.values())
    wrong = [i for i in got if expected.get(i, ("",))[0] != f"{got[i]:016x}"]
    for i in wrong[:SHOWN]:
        print("{} case {}: expected {} ({}), got {:016x}".format(
            op, i, *expected.get(i, ("nothing", "not listed")), got[i]))
    return sum(i not in wrong for i in numbers), len(wrong)


def main():
    args = arguments()
    results = [check(op, args) for op in OPERATIONS if args.op in (None, op)]
    passed, failed = map(sum, zip(*results))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
