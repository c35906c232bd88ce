"""Which peers there are: a module for each, with NAME, version() and ways(work).

A way is what the peer calls it, and a function of the work, its operands and the number of threads. That gives the
calls, one for each copy of the operands, and a function that returns their result.
"""

import importlib

MODULES = {"numpy": "by_numpy", "ONNX Runtime": "by_onnxruntime", "PyTorch": "by_torch",
           "OpenVINO": "by_openvino"}


def last_line(error):
    """The end of an exception's message, in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: ...{lines[-1][-200:] if lines else ''}"


def load(absent, modules=None):
    """The modules of all peers that are there; the others go to `absent`, unless they are."""
    found = []
    for peer, module in (modules or MODULES).items():
        try:
            found.append(importlib.import_module(module))
        except Exception as error:  # whatever a foreign library raises when it is loaded
            if peer not in [entry["peer"] for entry in absent]:
                absent.append({"peer": peer, "reason": "does not load: " + last_line(error)})
    return found
