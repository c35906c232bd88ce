#!/usr/bin/env python3
"""Libraries without some ISAs and operations, built by Meson and by CMake, give the golden hashes and say what they
lack; a name that does not exist stops the configuration: test_options.py MACHINE GOLDEN.c...

MACHINE is the CPU family. The compiler is told -ffast-math, which must not reach the library.
"""

import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests/lib"), os.path.join(ROOT, "tools")]

import counted  # noqa: E402
import isas  # noqa: E402
import user  # noqa: E402

MACHINE, GOLDEN = sys.argv[1], sys.argv[2:]
VECTOR = next((isa.name for isa in isas.read() if isa.family == MACHINE), "scalar")
SMALL = {"meson": ("meson", "ninja"), "cmake": ("cmake", "make")}


def options(build, isa_names, ops):
    if build == "meson":
        return [f"-Disas={isa_names}", f"-Dops={ops}"]
    return [f"-DROOTDK_ISAS={isa_names}", f"-DROOTDK_OPS={ops}"]


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.user = user.User("-O1 -ffast-math")
        cls.objects = cls.user.directory("objects")
        cls.user.run(cls.objects, ["cc", "-c", "-std=c11", "-O1", f"-I{ROOT}", f"-I{ROOT}/include",
                                   f"-I{os.path.dirname(GOLDEN[0])}",
                                   os.path.join(ROOT, "tests/embed/left_out.c"), *GOLDEN])

    @classmethod
    def tearDownClass(cls):
        cls.user.close()

    def configure(self, build, directory, isa_names, ops):
        reason = user.missing(*SMALL[build])
        if reason:
            self.skipTest(reason)
        if build == "meson":
            start = ["meson", "setup", directory, ROOT, "-Dtests=disabled", "-Dtool=false"]
        else:
            start = ["cmake", "-S", ROOT, "-B", directory]
        self.user.run(self.user.scratch, start + options(build, isa_names, ops))

    def library_works(self, build, isa_names, ops):
        directory = self.user.directory(f"{build}-{isa_names}-{ops}")
        self.configure(build, directory, isa_names, ops)
        self.user.run(directory, ["ninja"] if build == "meson" else ["make"])
        program = os.path.join(directory, "left_out")
        objects = [os.path.join(self.objects, name) for name in sorted(os.listdir(self.objects))]
        self.user.run(directory, ["cc", *objects, "librootdk.a", "-lm", "-o", program])
        print(self.user.run(directory, [program, f"scalar,{isa_names}", ops]))
        subprocess.run(["sh", os.path.join(ROOT, "tests/api/symbols.sh"), "nm",
                        os.path.join(ROOT, "include/rootdk/rootdk.h"), "librootdk.so", "librootdk.a"],
                       cwd=directory, check=True)

    def test_meson_scalar_softmax(self):
        self.library_works("meson", "scalar", "softmax")

    def test_meson_vector_attention(self):
        self.library_works("meson", VECTOR, "attention")

    def test_cmake_vector_softmax(self):
        self.library_works("cmake", VECTOR, "softmax")

    def test_cmake_scalar_attention(self):
        self.library_works("cmake", "scalar", "attention")

    def refused(self, build, isa_names, ops, why):
        directory = self.user.directory(f"refused-{build}-{isa_names}-{ops}")
        with self.assertRaisesRegex(user.Failed, why):
            self.configure(build, directory, isa_names, ops)

    def test_misspelt_names_are_refused(self):
        for build in SMALL:
            with self.subTest(build):
                self.refused(build, "scalar,avx3", "all", 'there is no "avx3"')
                self.refused(build, "all", "softmx", 'there is no "softmx"')

    def test_misspelt_options_are_refused(self):
        if user.missing(*SMALL["cmake"]):
            self.skipTest(user.missing(*SMALL["cmake"]))
        with self.assertRaisesRegex(user.Failed, "no option ROOTDK_ISA;"):
            self.user.run(self.user.scratch, ["cmake", "-S", ROOT, "-B", "refused-option", "-DROOTDK_ISA=scalar"])

    def test_no_name_is_refused(self):
        for build in SMALL:
            with self.subTest(build):
                self.refused(build, "all", "", "names nothing")


if __name__ == "__main__":
    sys.exit(counted.main())
