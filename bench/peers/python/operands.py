"""The operands of a work, built once; every library that can reads the same buffers."""

import os

import numpy

LINE = 64  # bytes of a cache line
LEAST_CACHE, MOST_COPIES = 64 << 20, 512 << 20  # bytes


def aligned(shape, dtype=numpy.float32):
    """At a cache line, as bench/inputs.c has it."""
    count = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    raw = numpy.empty(count + LINE, numpy.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start:start + count].view(dtype).reshape(shape)


def copy_of(array):
    made = aligned(array.shape, array.dtype)
    made[...] = array
    return made


def address(array):
    return array.ctypes.data


def span(array):
    return array.ctypes.data, array.nbytes


def last_level_cache():
    """Bytes; a guess where the system does not say, or says so little that it is not to be believed."""
    try:
        return max(os.sysconf("SC_LEVEL3_CACHE_SIZE"), LEAST_CACHE)
    except (AttributeError, OSError, ValueError):
        return LEAST_CACHE


def copies_of(work):
    """So many that what a cache keeps of one is gone when its turn comes again."""
    return -(-min(4 * last_level_cache(), MOST_COPIES) // work.bytes) if work.is_from_memory else 1


class AttentionOperands:
    """[head][position][d]; k and v are lists of copies."""

    def __init__(self, work, random):
        def normal(heads, rows, d):
            return copy_of(random.standard_normal((heads, rows, d), numpy.float32))
        self.work = work
        self.q = normal(work.heads, work.queries, work.d_qk)
        k = normal(work.kv_heads, work.keys, work.d_qk)
        v = normal(work.kv_heads, work.keys, work.d_v)
        more = copies_of(work) - 1
        self.k = [k] + [copy_of(k) for _ in range(more)]
        self.v = [v] + [copy_of(v) for _ in range(more)]
        self.out = aligned((work.heads, work.queries, work.d_v))

    def mask(self):
        """True where a query sees a key, bottom-right."""
        work = self.work
        return numpy.tri(work.queries, work.keys, work.keys - work.queries, dtype=bool)

    def bias(self):
        """The mask as something to add to the scores."""
        return numpy.where(self.mask(), numpy.float32(0), numpy.float32(-numpy.inf))

    def moved(self):
        """What a plain read goes over, for each copy."""
        return [[span(k), span(v)] for k, v in zip(self.k, self.v)]


# bf16 is no type of numpy: its bits are the upper half of a float's.
def to_bf16(values):
    bits = values.view(numpy.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bf16(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


class SoftmaxOperands:
    """x and y as [row][column]; bias is f32 or None."""

    def __init__(self, work, random):
        shape = work.rows, work.cols
        x = random.standard_normal(shape, numpy.float32)
        self.work = work
        self.x = copy_of({"f32": lambda: x, "f16": lambda: x.astype(numpy.float16),
                          "bf16": lambda: to_bf16(x)}[work.dtype]())
        self.y = aligned(shape, self.x.dtype)
        self.bias = copy_of(random.standard_normal(shape, numpy.float32)) if work.bias else None

    def wide(self, array):
        """Elements of x or y as numbers."""
        return from_bf16(array) if self.work.dtype == "bf16" else array.astype(numpy.float32)

    def moved(self):
        return [[span(self.x)]]


def operands_of(work, seed=1):
    kind = AttentionOperands if work.op == "attention" else SoftmaxOperands
    return kind(work, numpy.random.default_rng(seed))
