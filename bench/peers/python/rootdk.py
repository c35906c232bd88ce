"""rootdk by ctypes: include/rootdk/rootdk.h, as far as the driver needs it. Addresses are integers."""

import collections
import ctypes
import math
import os
import sys
from ctypes import c_float, c_int32, c_int64, c_size_t, c_void_p

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
import isas  # noqa: E402

TYPES = {"f32": 0, "f16": 1, "bf16": 2}
SCALAR = 1
CAUSAL_FROM_POSITION = 2


class SoftmaxDesc(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("isa", c_int32), ("mode", c_int32), ("rows", c_int64), ("cols", c_int64),
        ("x", c_void_p), ("x_stride", c_int64), ("y", c_void_p), ("y_stride", c_int64),
        ("x_type", c_int32), ("y_type", c_int32), ("row_scale", c_void_p), ("scale", c_float),
        ("bias_type", c_int32), ("bias", c_void_p), ("bias_stride", c_int64), ("visible", c_void_p),
        ("lse", c_void_p)]


class View(ctypes.Structure):
    """rdk_view and rdk_const_view."""
    _fields_ = [("data", c_void_p), ("batch_stride", c_int64), ("head_stride", c_int64),
                ("row_stride", c_int64), ("type", c_int32)]


class AttentionDesc(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("isa", c_int32), ("causal", c_int32), ("batch", c_int64),
        ("q_heads", c_int64), ("kv_heads", c_int64), ("q_len", c_int64), ("kv_len", c_int64),
        ("d_qk", c_int64), ("d_v", c_int64), ("q", View), ("k", View), ("v", View), ("out", View),
        ("q_pos", c_int64), ("key_pos0", c_int64), ("scale", c_float), ("lse", View),
        ("weights", View), ("scratch", c_void_p), ("scratch_size", c_size_t)]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.rdk_version.restype = ctypes.c_char_p
        self.c.rdk_isa_name.restype = ctypes.c_char_p
        self.c.rdk_status_string.restype = ctypes.c_char_p
        self.version = self.c.rdk_version().decode()
        self.arithmetic = self.c.rdk_arithmetic_version()
        # Refused if the structs here are not the library's.
        self.softmax(SoftmaxDesc(size=ctypes.sizeof(SoftmaxDesc)))
        self.scratch_size(1, 1)

    def isa_name(self, isa):
        return self.c.rdk_isa_name(isa).decode()

    def isas(self):
        """The vector ISAs of this machine, the best last; scalar where there is none."""
        found = [self.isa_of(name) for name in isas.titles()]
        return [isa for isa in found if isa != SCALAR and not self.c.rdk_isa_available(isa)] or [SCALAR]

    def isa_of(self, name):
        isa = c_int32()
        self.expect_ok(self.c.rdk_isa_from_name(name.encode(), ctypes.byref(isa)))
        return isa.value

    def expect_ok(self, status):
        if status:
            raise RuntimeError("rootdk: " + self.c.rdk_status_string(status).decode())

    def softmax(self, desc):
        self.expect_ok(self.c.rdk_softmax(ctypes.byref(desc)))

    def attention(self, desc):
        self.expect_ok(self.c.rdk_attention(ctypes.byref(desc)))

    def scratch_size(self, d_qk, d_v):
        desc = AttentionDesc(size=ctypes.sizeof(AttentionDesc), d_qk=d_qk, d_v=d_v)
        size = c_size_t()
        self.expect_ok(self.c.rdk_attention_scratch(ctypes.byref(desc), ctypes.byref(size)))
        return size.value


# ---- Parts of a work: what one thread does ---------------------------------------------------------

Part = collections.namedtuple("Part", "head heads kv_head kv_heads query queries")
Rows = collections.namedtuple("Rows", "row rows")


def whole(work):
    return Part(0, work.heads, 0, work.kv_heads, 0, work.queries)


def halves(work):
    """Two parts and what was split, or None for a single query of a single head."""
    group = work.heads // work.kv_heads
    if work.kv_heads > 1:
        first = (work.kv_heads + 1) // 2
        return "heads", [Part(0, first * group, 0, first, 0, work.queries),
                         Part(first * group, work.heads - first * group, first, work.kv_heads - first,
                              0, work.queries)]
    if work.heads > 1:
        first = (work.heads + 1) // 2
        return "heads", [Part(0, first, 0, 1, 0, work.queries),
                         Part(first, work.heads - first, 0, 1, 0, work.queries)]
    if work.queries > 1:
        first = split_of_queries(work)
        return "queries", [Part(0, 1, 0, 1, 0, first),
                           Part(0, 1, 0, 1, first, work.queries - first)]
    return None


def split_of_queries(work):
    """Later queries see more keys: the first part has more of them."""
    share = 1 / 2 if work.sees_all or not work.is_square else 1 / math.sqrt(2)
    return min(max(1, round(work.queries * share)), work.queries - 1)


def row_halves(work):
    """As halves(), of softmax."""
    if work.rows < 2:
        return None
    first = (work.rows + 1) // 2
    return "rows", [Rows(0, first), Rows(first, work.rows - first)]


# ---- Descriptors -----------------------------------------------------------------------------------

def view(address, head, rows, row, d):
    """Of [head][row][d] in f32, from a head and a row on."""
    return View(data=address + 4 * d * (head * rows + row), head_stride=rows * d, row_stride=d)


def attention_desc(work, isa, part, q, k, v, out, scratch, scratch_size):
    desc = AttentionDesc(
        size=ctypes.sizeof(AttentionDesc), isa=isa, batch=1, q_heads=part.heads,
        kv_heads=part.kv_heads, q_len=part.queries, kv_len=work.keys, d_qk=work.d_qk, d_v=work.d_v,
        q=view(q, part.head, work.queries, part.query, work.d_qk),
        k=view(k, part.kv_head, work.keys, 0, work.d_qk),
        v=view(v, part.kv_head, work.keys, 0, work.d_v),
        out=view(out, part.head, work.queries, part.query, work.d_v),
        scratch=scratch, scratch_size=scratch_size)
    if work.causal:  # bottom-right, said by positions, since a part may end before the last query
        desc.causal = CAUSAL_FROM_POSITION
        desc.q_pos = work.keys - work.queries + part.query
    return desc


def softmax_desc(work, isa, part, x, y, bias, element):
    """`bias` is an address or 0, `element` the bytes of one of x and y."""
    return SoftmaxDesc(
        size=ctypes.sizeof(SoftmaxDesc), isa=isa, mode=int(work.log), rows=part.rows, cols=work.cols,
        x=x + element * work.cols * part.row, x_stride=work.cols,
        y=y + element * work.cols * part.row, y_stride=work.cols,
        x_type=TYPES[work.dtype], y_type=TYPES[work.dtype],
        bias=bias + 4 * work.cols * part.row if bias else None, bias_stride=work.cols)


def call_of(function, desc):
    """A call without arguments; the descriptor lives as long as it. Its status was RDK_OK when the
    result was checked."""
    pointer = ctypes.byref(desc)

    def call():
        function(pointer)
    return call
