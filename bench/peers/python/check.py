"""Is a result right, and how exact is it."""

import math

import numpy

ROWS = 16  # that are computed again
LEAST_WEIGHT = 1e-6

# How far a peer may be from rootdk: enough for another order of sums and another exp in f32, too little for
# products in bf16. Attention: of the largest |out|. Softmax: of a weight (16 bits: two units of its last place);
# log-softmax: of max(1, |y|).
TOLERANCE = {"f32": 1e-4, "f16": 2.0 ** -9, "bf16": 2.0 ** -6}
TINY = {"f32": 1e-10, "f16": 2.0 ** -23, "bf16": 1e-10}  # weights so small may be flushed

# Bits of a significand after the first, and the exponent of the least normal number.
FORMATS = {"f32": (23, -126), "f16": (10, -14), "bf16": (7, -126)}


def spread(count, most=ROWS):
    """At most so many of 0 .. count - 1, from the first to the last."""
    if count <= most:
        return list(range(count))
    return [i * (count - 1) // (most - 1) for i in range(most)]


def difference(work, expected, got):
    """Why `got` is not rootdk's result, or None."""
    if got.shape != expected.shape:
        return f"gives {got.shape}, not {expected.shape}"
    tolerance, distance = TOLERANCE[work.dtype], numpy.abs(got - expected)
    if work.op == "attention":
        allowed = tolerance * numpy.abs(expected).max()
    elif work.log:
        allowed = tolerance * numpy.maximum(1, numpy.abs(expected))
    else:
        allowed = tolerance * expected + TINY[work.dtype]
    excess = numpy.max(distance / allowed)
    return None if excess <= 1 else f"differs from rootdk {excess:.3g} times as much as it may"


# ---- The oracle, in double precision ---------------------------------------------------------------

def ulp(values, dtype):
    """The last place of each value, in a type."""
    bits, least = FORMATS[dtype]
    exponents = numpy.frexp(values)[1] - 1
    return numpy.exp2((numpy.maximum(exponents, least) - bits).astype(numpy.float64))


def softmax_of(logits):
    """Of one row: the weights and their logarithms."""
    below = logits - logits.max()
    total = math.fsum(numpy.exp(below))
    return numpy.exp(below) / total, below - math.log(total)


def softmax_error(operands, y):
    """Worst error in ULP over weights of 1e-6 and more; of a logarithm in ULP of max(1, |y|)."""
    work, worst = operands.work, 0.0
    for r in spread(work.rows):
        logits = operands.wide(operands.x[r]).astype(numpy.float64)
        if operands.bias is not None:
            logits = logits + operands.bias[r]
        weights, logarithms = softmax_of(logits)
        exact = logarithms if work.log else weights
        unit = ulp(numpy.maximum(1, numpy.abs(exact)) if work.log else exact, work.dtype)
        errors = numpy.abs(y[r] - exact) / unit
        worst = max(worst, errors[weights >= LEAST_WEIGHT].max(initial=0))
    return float(worst)


def sampled_rows(work):
    """Pairs of a head and a query: the queries of the first head are the first, of the last the last."""
    return [divmod(r, work.queries) for r in spread(work.heads * work.queries)]


def attention_row(operands, head, query):
    work = operands.work
    kv_head = head // (work.heads // work.kv_heads)
    seen = work.keys - work.queries + query + 1 if work.causal else work.keys
    k = operands.k[0][kv_head, :seen].astype(numpy.float64)
    v = operands.v[0][kv_head, :seen].astype(numpy.float64)
    weights, _ = softmax_of(k @ operands.q[head, query].astype(numpy.float64) / math.sqrt(work.d_qk))
    return weights @ v


def attention_error(operands, out):
    """Worst |error|, in units of max|v| * 2^-23."""
    unit = max(numpy.abs(v).max() for v in operands.v[:1]) * 2.0 ** -23
    errors = [numpy.abs(out[row] - attention_row(operands, *row)).max()
              for row in sampled_rows(operands.work)]
    return float(max(errors) / unit)


def error_of(operands, result):
    return (attention_error if operands.work.op == "attention" else softmax_error)(operands, result)
