"""OpenVINO: Softmax and ScaledDotProductAttention on its CPU plugin."""

import numpy
import openvino
from openvino import opset13 as ops

NAME = "OpenVINO"
SDPA = "ScaledDotProductAttention"


def version():
    return openvino.__version__.split("-")[0]


def config(threads):
    return {
        "PERFORMANCE_HINT": "LATENCY",  # one call at a time
        "INFERENCE_PRECISION_HINT": "f32",  # else bf16 or f16 where the CPU has them
        "INFERENCE_NUM_THREADS": threads,
        # The process is pinned already; other libraries run on the same thread.
        "ENABLE_CPU_PINNING": False,
    }


def calls_of(result, parameters, copies, out, threads):
    """A request for each copy of the operands, its tensors set beforehand and in our memory."""
    model = openvino.Model([result], parameters)
    compiled = openvino.Core().compile_model(model, "CPU", config(threads))

    def call_of(arrays):
        request = compiled.create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
        request.set_output_tensor(0, openvino.Tensor(out, shared_memory=True))
        return request.infer
    return [call_of(arrays) for arrays in copies]


def parameters_of(arrays):
    return [ops.parameter(array.shape, array.dtype.type) for array in arrays]


def repeated(node, work, d):
    """Each head of keys or values for all that share it, as exported models say it; the plugin knows
    the pattern."""
    group = work.heads // work.kv_heads
    apart = ops.unsqueeze(node, ops.constant(2, numpy.int64))
    wide = ops.broadcast(apart, ops.constant([1, work.kv_heads, group, work.keys, d], numpy.int64))
    return ops.reshape(wide, ops.constant([1, work.heads, work.keys, d], numpy.int64), False)


def attention_as(shape, operands, threads):
    q = operands.q.reshape(1, shape.heads, shape.queries, shape.d_qk)
    out = operands.out.reshape(1, shape.heads, shape.queries, shape.d_v)
    # Its causal begins at the first query, so that other shapes need a mask.
    extra = [] if shape.sees_all or shape.is_square else [operands.mask()[None, None]]
    copies = [[q, k[None], v[None], *extra] for k, v in zip(operands.k, operands.v)]
    parameters = parameters_of(copies[0])
    query, key, value, *mask = parameters
    if shape.heads > shape.kv_heads:
        key, value = repeated(key, shape, shape.d_qk), repeated(value, shape, shape.d_v)
    causal = not shape.sees_all and shape.is_square
    result = ops.scaled_dot_product_attention(query, key, value, *mask, causal=causal)
    return calls_of(result, parameters, copies, out, threads), lambda: operands.out


def attention(work, operands, threads):
    return attention_as(work, operands, threads)


def attention_grouped(work, operands, threads):
    return attention_as(work.grouped(), operands, threads)


def softmax(work, operands, threads):
    arrays = [operands.x] + ([operands.bias] if work.bias else [])
    parameters = parameters_of(arrays)
    logits = ops.add(*parameters) if work.bias else parameters[0]
    result = (ops.log_softmax if work.log else ops.softmax)(logits, 1)
    return calls_of(result, parameters, [arrays], operands.y, threads), lambda: operands.y


def ways(work):
    if work.op == "softmax":
        name = ("Add + " if work.bias else "") + ("LogSoftmax" if work.log else "Softmax")
        return [(name, softmax)] if work.dtype == "f32" else []
    if work.heads == work.kv_heads or not work.sees_all:
        return [(SDPA, attention)]
    return [(SDPA, attention), (SDPA + ", groups as queries", attention_grouped)]
