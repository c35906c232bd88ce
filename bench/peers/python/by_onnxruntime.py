"""ONNX Runtime: Softmax, the Attention of opset 23, and its own MultiHeadAttention and GroupQueryAttention."""

import numpy
import onnxruntime
from onnx import TensorProto, helper

NAME = "ONNX Runtime"
OWN = "com.microsoft"
OPSET = 23
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int32": TensorProto.INT32,
         "bool": TensorProto.BOOL}


def version():
    return onnxruntime.__version__


# ---- A model of few nodes, and its calls -------------------------------------------------------------

def value(name, array):
    return helper.make_tensor_value_info(name, TYPES[array.dtype.name], array.shape)


def model_of(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "peer", [value(*item) for item in inputs.items()],
                              [value(*item) for item in outputs.items()])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(
        opsets, ignore_unknown=True))


def session_of(model, threads):
    options = onnxruntime.SessionOptions()  # all optimisations of the graph are on by default
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Its threads wait for work in a loop during a call, as by default, but not after it: they would take the
    # CPU from whatever is measured next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.log_severity_level = 4  # errors come as exceptions, too
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def bind(session, inputs, outputs):
    """Inputs and outputs stay where they are: nothing is copied or allocated around a call."""
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    for name, array in outputs.items():
        binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    return binding


def calls_of(nodes, copies, outputs_of, threads):
    """`copies`: inputs by name, for each copy of the operands; `outputs_of` gives the outputs for one."""
    session = session_of(model_of(nodes, copies[0], outputs_of(copies[0])), threads)

    def call_of(inputs):
        binding, run = bind(session, inputs, outputs_of(inputs)), session.run_with_iobinding

        def call():
            run(binding)
        call.inputs = inputs  # kept: the binding knows only addresses
        return call
    return [call_of(inputs) for inputs in copies]


# ---- Attention -----------------------------------------------------------------------------------------

def by_position(array):
    """[head][position][d] as [1][position][head * d]."""
    heads, rows, d = array.shape
    return numpy.ascontiguousarray(array.transpose(1, 0, 2)).reshape(1, rows, heads * d)


def by_head(array, heads):
    """And back."""
    _, rows, width = array.shape
    return array.reshape(rows, heads, width // heads).transpose(1, 0, 2)


def mask_inputs(work, name, mask):
    """Where "causal" does not say which corner is meant, the mask is an input."""
    return {} if work.sees_all or work.is_square else {name: mask}


def standard_as(shape, operands, threads, **attributes):
    q = operands.q.reshape(1, shape.heads, shape.queries, shape.d_qk)
    out = operands.out.reshape(1, shape.heads, shape.queries, shape.d_v)
    extra = mask_inputs(shape, "mask", operands.mask())
    copies = [{"q": q, "k": k[None], "v": v[None], **extra} for k, v in zip(operands.k, operands.v)]
    node = helper.make_node("Attention", list(copies[0]), ["out"],
                            is_causal=int(not shape.sees_all and shape.is_square), **attributes)
    return calls_of([node], copies, lambda _: {"out": out}, threads), lambda: operands.out


def standard(work, operands, threads, scale=None):
    return standard_as(work, operands, threads, **({} if scale is None else {"scale": scale}))


def standard_grouped(work, operands, threads):
    return standard_as(work.grouped(), operands, threads)


def multi_head_as(shape, operands, threads):
    # q comes by position and so does the result, prepared beforehand. K and V of one size may be given by head,
    # which is what it computes with, so it has none to turn in the call.
    q = by_position(operands.q.reshape(shape.heads, shape.queries, shape.d_qk))
    out = numpy.empty((1, shape.queries, shape.heads * shape.d_v), numpy.float32)
    arranged = by_position if shape.d_qk != shape.d_v else lambda array: array[None]
    extra = mask_inputs(shape, "bias", operands.bias()[None, None])
    copies = [{"q": q, "k": arranged(k), "v": arranged(v), **extra}
              for k, v in zip(operands.k, operands.v)]
    names = ["q", "k", "v"] + (["", "", "bias"] if extra else [])
    node = helper.make_node("MultiHeadAttention", names, ["out"], domain=OWN, num_heads=shape.heads,
                            unidirectional=int(not shape.sees_all and shape.is_square))
    calls = calls_of([node], copies, lambda _: {"out": out}, threads)
    return calls, lambda: by_head(out, shape.heads).reshape(operands.out.shape)


def multi_head(work, operands, threads):
    return multi_head_as(work, operands, threads)


def multi_head_grouped(work, operands, threads):
    return multi_head_as(work.grouped(), operands, threads)


def group_query(work, operands, threads):
    # Always causal. The keys of the queries are new, those before them are in a cache that it adds to in place:
    # past and present are the same memory, as its documents advise. The cache is the operand itself; what is
    # written there is what was there.
    past = work.keys - work.queries
    q = by_position(operands.q)
    out = numpy.empty((1, work.queries, work.heads * work.d_v), numpy.float32)
    fixed = {"last": numpy.full(1, work.keys - 1, numpy.int32),
             "total": numpy.full(1, work.keys, numpy.int32)}
    copies = [{"q": q, "k": by_position(k[:, past:]), "v": by_position(v[:, past:]),
               "past_k": k[None], "past_v": v[None], **fixed}
              for k, v in zip(operands.k, operands.v)]
    node = helper.make_node("GroupQueryAttention", list(copies[0]), ["out", "present_k", "present_v"],
                            domain=OWN, num_heads=work.heads, kv_num_heads=work.kv_heads)

    def outputs_of(inputs):
        return {"out": out, "present_k": inputs["past_k"], "present_v": inputs["past_v"]}
    return calls_of([node], copies, outputs_of, threads), lambda: by_head(out, work.heads)


# ---- Softmax -------------------------------------------------------------------------------------------

def softmax(work, operands, threads):
    inputs, nodes, logits = {"x": operands.x}, [], "x"
    if work.bias:
        inputs["bias"], logits = operands.bias, "logits"
        nodes = [helper.make_node("Add", ["x", "bias"], [logits])]
    op = "LogSoftmax" if work.log else "Softmax"
    nodes += [helper.make_node(op, [logits], ["y"], axis=-1)]
    return calls_of(nodes, [inputs], lambda _: {"y": operands.y}, threads), lambda: operands.y


def softmax_ways(work):
    if work.dtype != "f32":  # the CPU provider has no other
        return []
    return [(("Add + " if work.bias else "") + ("LogSoftmax" if work.log else "Softmax"), softmax)]


def attention_ways(work):
    found = [("Attention", standard)]
    if work.heads == work.kv_heads:
        found.append(("MultiHeadAttention", multi_head))
    elif work.sees_all:
        found += [("Attention, groups as queries", standard_grouped),
                  ("MultiHeadAttention, groups as queries", multi_head_grouped)]
    if (work.causal or work.queries == 1) and work.d_qk == work.d_v:
        found.append(("GroupQueryAttention", group_query))
    return found


def ways(work):
    return attention_ways(work) if work.op == "attention" else softmax_ways(work)
