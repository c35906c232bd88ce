"""PyTorch: torch.softmax and scaled_dot_product_attention."""

import torch
from torch.nn.functional import scaled_dot_product_attention

NAME = "PyTorch"
SDPA = "scaled_dot_product_attention"

# Nothing is recorded for gradients, as its documents advise for inference. For the whole process: entering it
# in every call would be timed.
torch.inference_mode().__enter__()


def version():
    return torch.__version__


def tensor(array):
    """The same memory."""
    return torch.from_numpy(array)


class Kept:
    """The last result: attention has no way to say where it goes."""
    value = None


def attention_as(shape, operands, threads, **options):
    """Operands seen as [1][head][position][d] of `shape`."""
    torch.set_num_threads(threads)
    kept = Kept()
    q = tensor(operands.q).view(1, shape.heads, shape.queries, shape.d_qk)

    def call_of(k, v):
        def call():
            kept.value = scaled_dot_product_attention(q, k, v, **options)
        return call
    calls = [call_of(tensor(k)[None], tensor(v)[None]) for k, v in zip(operands.k, operands.v)]
    return calls, lambda: kept.value.numpy().reshape(operands.out.shape)


def options_of(work, operands):
    options = {"enable_gqa": True} if work.heads > work.kv_heads else {}
    if work.sees_all:
        return options
    if work.is_square:
        return {"is_causal": True, **options}
    return {"attn_mask": tensor(operands.mask()), **options}  # its is_causal begins at the first query


def attention(work, operands, threads, scale=None):
    return attention_as(work, operands, threads, scale=scale, **options_of(work, operands))


def attention_grouped(work, operands, threads):
    return attention_as(work.grouped(), operands, threads)


def softmax(work, operands, threads):
    torch.set_num_threads(threads)
    x, y = tensor(operands.x), tensor(operands.y)
    if work.dtype == "bf16":
        x, y = x.view(torch.bfloat16), y.view(torch.bfloat16)
    function = torch.log_softmax if work.log else torch.softmax
    bias = tensor(operands.bias) if work.bias else None

    # Into a buffer that is there, as rootdk does.
    def plain():
        function(x, -1, out=y)

    def biased():
        torch.add(x, bias, out=y)
        function(y, -1, out=y)
    return [biased if work.bias else plain], lambda: operands.y


def ways(work):
    if work.op == "softmax":
        name = "log_softmax" if work.log else "softmax"
        return [("add + " + name if work.bias else name, softmax)]
    if work.heads == work.kv_heads:
        return [(SDPA, attention)]
    found = [(SDPA + ", enable_gqa", attention)]
    return found if not work.sees_all else found + [(SDPA + ", groups as queries", attention_grouped)]
