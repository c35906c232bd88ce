"""docs/golden.md: the cases of softmax, and the hash of each."""

from draws import element, fnv1a, huge, largest_of, odd, scaled, splitmix64, tiny
from floats import BF16, F16, F32, MINUS_INF, MINUS_ZERO, ONE, ZERO
from softmax import compute_row, log_softmax_row, lse_of, softmax_row

# ---- Softmax: the cases ----

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
