"""numpy: the loops that one writes without a library of attention, over its matmul and exp."""

import math

import numpy

NAME = "numpy"


def version():
    return numpy.__version__


def normalise_in_place(scores):
    """Of the last axis. exp(scores - max), and one over the sums."""
    numpy.subtract(scores, scores.max(axis=-1, keepdims=True), out=scores)
    numpy.exp(scores, out=scores)
    return 1 / scores.sum(axis=-1, keepdims=True)


def attention(work, operands, _):
    # Heads that share keys are rows of one product. The scores and the scaled queries have their buffers
    # beforehand, and the division comes last, where there is least to divide.
    grouped = work.grouped()
    q = operands.q.reshape(grouped.heads, grouped.queries, work.d_qk)
    out = operands.out.reshape(grouped.heads, grouped.queries, work.d_v)
    scores = numpy.empty((grouped.heads, grouped.queries, work.keys), numpy.float32)
    by_head = scores.reshape(work.heads, work.queries, work.keys)
    bias = None if work.sees_all else operands.bias()
    scale = numpy.float32(1 / math.sqrt(work.d_qk))
    scaled = numpy.empty_like(q)

    def call_of(k, v):
        turned = k.transpose(0, 2, 1)

        def call():
            numpy.multiply(q, scale, out=scaled)
            numpy.matmul(scaled, turned, out=scores)
            if bias is not None:
                numpy.add(by_head, bias, out=by_head)
            factor = normalise_in_place(scores)
            numpy.matmul(scores, v, out=out)
            numpy.multiply(out, factor, out=out)
        return call
    return [call_of(k, v) for k, v in zip(operands.k, operands.v)], lambda: operands.out


def softmax(work, operands, _):
    x, y, bias = operands.x, operands.y, operands.bias

    def logits():
        if bias is None:
            numpy.subtract(x, x.max(axis=-1, keepdims=True), out=y)
        else:
            numpy.add(x, bias, out=y)
            numpy.subtract(y, y.max(axis=-1, keepdims=True), out=y)

    def plain():
        logits()
        numpy.exp(y, out=y)
        numpy.multiply(y, 1 / y.sum(axis=-1, keepdims=True), out=y)

    def log():
        logits()
        numpy.subtract(y, numpy.log(numpy.exp(y).sum(axis=-1, keepdims=True)), out=y)
    return [log if work.log else plain], lambda: y


def ways(work):
    if work.op == "attention":
        return [("matmul + exp + matmul", attention)]
    return [("exp", softmax)] if work.dtype == "f32" else []  # its f16 is emulated, bf16 it has none
