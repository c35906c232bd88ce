"""docs/golden.md: the cases of attention, and the hash of each."""

import itertools

from attention import attention_outputs, attention_row
from draws import element, fnv1a, huge, odd, raw, scaled, splitmix64, tiny
from floats import F32, MINUS_INF, ONE

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
