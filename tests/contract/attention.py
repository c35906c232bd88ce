"""docs/arithmetic.md, section 10: a query of attention."""

import collections

from floats import F32, F64, INF, MINUS_INF, NAN, ONE, ZERO, integer, largest, less, negative, rint
from softmax import BLOCK, LANES, LOG2E, block_sum, cold_weight, is_cold, lse_of, weight

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
