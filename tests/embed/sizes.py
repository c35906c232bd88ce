"""How large the shared library is with some ISAs and operations, and how much scratch attention asks for."""

import os
import platform
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools")]

import isas  # noqa: E402
import user  # noqa: E402

OPS = ["softmax,attention", "softmax", "attention"]
DIMS = [(64, 64), (80, 80), (96, 96), (128, 128), (192, 128), (256, 256), (576, 512), (1024, 1024)]

ASK = """#include <rootdk/rootdk.h>
#include <stdio.h>
int main(void) {
    static const int dims[][2] = {DIMS};
    for (unsigned i = 0; i < sizeof dims / sizeof *dims; i++) {
        rdk_attention_desc d = {.size = sizeof d, .d_qk = dims[i][0], .d_v = dims[i][1]};
        size_t bytes;
        if (rdk_attention_scratch(&d, &bytes) != RDK_OK)
            return 1;
        printf("%zu\\n", bytes);
    }
}
"""


def folder(names, ops):
    """Without a comma, which options to a linker must not have."""
    return f"size-{names}-{ops}".replace(",", "+")


def stripped(who, names, ops):
    """Bytes of the shared library of Meson's release build, stripped."""
    build = who.directory(folder(names, ops))
    who.run(build, ["meson", "setup", build, ROOT, f"-Disas={names}", f"-Dops={ops}", "-Ddefault_library=shared",
                    "-Dtests=disabled", "-Dtool=false"])
    who.run(build, ["ninja"])
    who.run(build, ["strip", "-o", "stripped", "librootdk.so"])
    return os.path.getsize(os.path.join(build, "stripped"))


def scratch(who):
    """[d_qk, d_v, bytes]; the library that was built first answers."""
    directory = who.directory("scratch")
    dims = ", ".join(f"{{{d_qk}, {d_v}}}" for d_qk, d_v in DIMS)
    user.write(directory, "ask.c", ASK.replace("DIMS", dims))
    library = os.path.join(who.scratch, folder("all", OPS[0]))
    who.run(directory, ["cc", f"-I{ROOT}/include", "ask.c", f"-L{library}", "-lrootdk", f"-Wl,-rpath,{library}", "-o",
                        "ask"])
    return [[*d, int(bytes)] for d, bytes in zip(DIMS, who.run(directory, "./ask").split())]


def measure(who):
    """Every ISA of this CPU family alone beside scalar, and all; by operations."""
    mine = [isa.name for isa in isas.read() if isa.family == platform.machine()]
    found = [[names, *(stripped(who, names, ops) for ops in OPS)] for names in ["all", *mine, "scalar"]]
    return {"sizes": found, "scratch": scratch(who)}
