"""rootdk and the machine's limits, which every work is measured with besides the peers."""

import numpy

import check
import limits
import rootdk
from operands import address, aligned, span
from sample import Way


class Machine:
    """The two libraries, and the second thread if there is one."""

    def __init__(self, library, machine_limits, pair):
        self.rootdk, self.limits, self.pair = library, machine_limits, pair
        self.isas = library.isas()

    def split(self, calls):
        """One call of one or two parts."""
        return self.pair.both(*calls) if len(calls) > 1 else calls[0]


# ---- rootdk ----------------------------------------------------------------------------------------

def scratches(machine, work):
    """A buffer for each thread."""
    size = machine.rootdk.scratch_size(work.d_qk, work.d_v)
    return [aligned((size,), numpy.uint8) for _ in range(2 if machine.pair else 1)]


def attention_descs(operands, isa, parts, buffers, copy):
    return [rootdk.attention_desc(operands.work, isa, part, address(operands.q), address(operands.k[copy]),
                                  address(operands.v[copy]), address(operands.out), address(buffer),
                                  buffer.nbytes)
            for part, buffer in zip(parts, buffers)]


def softmax_descs(operands, isa, parts):
    bias = 0 if operands.bias is None else address(operands.bias)
    return [rootdk.softmax_desc(operands.work, isa, part, address(operands.x), address(operands.y), bias,
                                operands.x.itemsize)
            for part in parts]


def parts_of(machine, work):
    """How the work is split, in words, and the parts; None if it cannot be."""
    if work.op == "attention":
        return rootdk.halves(work) if machine.pair else ("", [rootdk.whole(work)])
    return rootdk.row_halves(work) if machine.pair else ("", [rootdk.Rows(0, work.rows)])


def own_way(machine, operands, isa):
    """rootdk on one ISA; None where two threads are wanted and the work has no two parts."""
    work, found = operands.work, parts_of(machine, operands.work)
    if not found:
        return None
    split, parts = found
    how = machine.rootdk.isa_name(isa) + (f", {split} split" if split else "")
    if work.op == "attention":
        buffers = scratches(machine, work)
        function, result = machine.rootdk.c.rdk_attention, operands.out
        descs = [attention_descs(operands, isa, parts, buffers, copy)
                 for copy in range(len(operands.k))]
    else:
        buffers, function, result = [], machine.rootdk.c.rdk_softmax, operands.y
        descs = [softmax_descs(operands, isa, parts)]
    calls = [machine.split([rootdk.call_of(function, desc) for desc in some]) for some in descs]
    for call in calls:
        call.buffers = buffers  # kept: the descriptors know only addresses
    return Way("rootdk", machine.rootdk.version, how, calls, lambda: result, isa=isa)


# ---- The scalar path -------------------------------------------------------------------------------

def scalar_rows(machine, operands):
    """Some rows of the result as the reference has them, by their place in it."""
    work, rows = operands.work, {}
    if work.op == "softmax":
        for r in check.spread(work.rows):
            machine.rootdk.softmax(softmax_descs(operands, rootdk.SCALAR, [rootdk.Rows(r, 1)])[0])
            rows[r] = operands.y[r].copy()
        return rows
    buffers, group = scratches(machine, work), work.heads // work.kv_heads
    for head, query in check.sampled_rows(work):
        part = rootdk.Part(head, 1, head // group, 1, query, 1)
        machine.rootdk.attention(attention_descs(operands, rootdk.SCALAR, [part], buffers, 0)[0])
        rows[head, query] = operands.out[head, query].copy()
    return rows


def has_bits_of(result, rows):
    return all(result[place].tobytes() == row.tobytes() for place, row in rows.items())


# ---- Limits ----------------------------------------------------------------------------------------

GUESS_FLOPS, GUESS_BYTES = 1e11, 5e10  # per second: only for how often a short loop is repeated


def fma_way(machine, isa):
    times = limits.times_for(machine.limits.fma_flop(isa), GUESS_FLOPS)
    calls = [machine.limits.fma(isa, times)] * (2 if machine.pair else 1)
    return Way("limit", "", "fma", [machine.split(calls)], times=times, isa=isa)


def read_call(machine, isa, loop, times, spans):
    """Two threads read the two halves of each span."""
    shares = zip(*map(limits.half_spans, spans)) if machine.pair else [spans]
    return machine.split([machine.limits.read(isa, loop, times, list(share)) for share in shares])


def read_ways(machine, operands):
    copies = operands.moved()
    size = sum(size for _, size in copies[0])
    times = 1 if len(copies) > 1 else limits.times_for(size, GUESS_BYTES)
    for isa in machine.isas:
        for loop in range(machine.limits.reads(isa)):
            calls = [read_call(machine, isa, loop, times, spans) for spans in copies]
            way = Way("limit", "", "read", calls, times=times, isa=isa)
            way.bytes = size
            yield way


def copy_way(machine, operands):
    """memcpy of x to y."""
    times = limits.times_for(operands.x.nbytes, GUESS_BYTES)
    to, whole = address(operands.y), span(operands.x)
    shares = limits.half_spans(whole) if machine.pair else [whole]
    calls = [machine.limits.copy(times, to + share[0] - whole[0], share) for share in shares]
    way = Way("limit", "", "memcpy", [machine.split(calls)], times=times)
    way.bytes = 2 * operands.x.nbytes
    return way


def limit_ways(machine, operands):
    found = [fma_way(machine, isa) for isa in machine.isas if machine.limits.fma_flop(isa)]
    found += read_ways(machine, operands)
    return found + ([copy_way(machine, operands)] if operands.work.op == "softmax" else [])
