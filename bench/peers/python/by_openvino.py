"""OpenVINO: Softmax and ScaledDotProductAttention on its CPU plugin.

The operator stands alone, and so the plugin takes it apart into products and a softmax. In a model that keeps its keys
as a state it has a kernel for steps of generation; a state grows with every call, so that none can be measured like
the others, by the same call again and again.
"""

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

        def call():
            request.infer(share_outputs=True)  # without a copy of them
        call.arrays = arrays  # kept: the request knows only addresses
        return call
    return [call_of(arrays) for arrays in copies]


def parameters_of(arrays):
    return [ops.parameter(array.shape, array.dtype.type) for array in arrays]


def attention_as(shape, operands, threads, scale=None):
    # Its operator knows no groups of heads, but broadcasts: each head of keys is one of a batch, and the heads of
    # queries that share it are heads there. Nothing is repeated in memory.
    batch, heads = (1, shape.heads) if shape.heads == shape.kv_heads else (
        shape.kv_heads, shape.heads // shape.kv_heads)
    q = operands.q.reshape(batch, heads, shape.queries, shape.d_qk)
    out = operands.out.reshape(batch, heads, shape.queries, shape.d_v)
    # Its causal begins at the first query, so that other shapes need a mask.
    extra = [] if shape.sees_all or shape.is_square else [operands.mask()[None, None]]
    copies = [[q, k.reshape(batch, -1, shape.keys, shape.d_qk), v.reshape(batch, -1, shape.keys, shape.d_v),
               *extra] for k, v in zip(operands.k, operands.v)]
    parameters = parameters_of(copies[0])
    causal = not shape.sees_all and shape.is_square
    factor = None if scale is None else ops.constant(numpy.float32(scale))
    result = ops.scaled_dot_product_attention(*parameters, scale=factor, causal=causal)
    return calls_of(result, parameters, copies, out, threads), lambda: operands.out


def attention(work, operands, threads, scale=None):
    return attention_as(work, operands, threads, scale)


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
    if work.heads == work.kv_heads:
        return [(SDPA, attention)]
    found = [(SDPA + ", groups as a batch", attention)]
    return found if not work.sees_all else found + [(SDPA + ", groups as queries", attention_grouped)]
