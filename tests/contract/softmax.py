"""docs/arithmetic.md, sections 2 to 6: a row of softmax."""

import collections

from floats import (
    F32, F64, MINUS_INF, NAN, ONE, ZERO, hexadecimal, integer, largest, less, negative, rint)

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
