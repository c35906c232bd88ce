"""docs/golden.md: the draws, the values made of them, and the hash."""

from floats import INF, MINUS_INF, NAN

# ---- The draws ----

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
