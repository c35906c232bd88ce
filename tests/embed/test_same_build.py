#!/usr/bin/env python3
"""Meson and CMake compile the same files with the same flags, whatever the project around them asks for:
test_same_build.py

Both are only configured; their compile_commands.json are compared.
"""

import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests/lib")]

import counted  # noqa: E402
import user  # noqa: E402

# Of the build systems themselves, and no matter for the code.
THEIRS = re.compile(r"-D(NDEBUG|_FILE_OFFSET_BITS=.*)$|-fdiagnostics-color.*|-fcolor-diagnostics|-m(arch|tune)=.*")
OURS = re.compile(r"-(f|m|D|std=|Wa,)")
HOSTILE = "-Ofast -ffp-contract=fast -flto"
AARCH64 = "aarch64-linux-gnu-gcc"
PARENT = """cmake_minimum_required(VERSION 3.16)
project(parent C CXX)
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_VISIBILITY_PRESET default)
add_compile_options(-ffast-math)
set(ROOTDK_OPS softmax)
add_subdirectory("${SOURCE}" rootdk)
"""


def strict():
    with open(os.path.join(ROOT, "kernels/flags.txt"), encoding="utf-8") as file:
        return re.search(r"^strict: (.*)$", file.read(), re.M)[1].split()


def commands(directory):
    """{file of the library: its flags in their order}"""
    with open(os.path.join(directory, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if name.startswith(("kernels/", "dispatch/")):
            words = [word.strip("'\"") for word in entry["command"].split()]
            found[name] = [w for w in words if OURS.match(w) and not THEIRS.fullmatch(w)]
    return found


class SameBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.user = user.User()

    @classmethod
    def tearDownClass(cls):
        cls.user.close()

    def setUp(self):
        reason = user.missing("meson", "ninja", "cmake", "make")
        if reason:
            self.skipTest(reason)

    def meson(self, name, *options, **variables):
        directory = self.user.directory(name)
        self.user.run(directory, ["meson", "setup", directory, ROOT, "-Dtests=disabled", "-Dtool=false", *options],
                      **variables)
        return commands(directory)

    def cmake(self, name, *options, source=ROOT, **variables):
        directory = self.user.directory(name)
        self.user.run(directory, ["cmake", "-S", source, "-B", directory, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                                  *options], **variables)
        return commands(directory)

    def same(self, by_meson, by_cmake):
        self.assertEqual(sorted(by_meson), sorted(by_cmake))
        for name, flags in by_meson.items():
            self.assertEqual(sorted(set(flags)), sorted(set(by_cmake[name])), name)
        self.strict_is_last(by_meson)
        self.strict_is_last(by_cmake)
        print(f"{len(by_meson)} files")

    def strict_is_last(self, build):
        for name, flags in build.items():
            last = [f for f in flags if not f.startswith(("-D", "-std="))][-len(strict()):]
            self.assertEqual(last, strict(), name)

    def test_whole_library(self):
        whole = self.meson("meson-whole")
        self.assertGreater(len(whole), 12)
        self.same(whole, self.cmake("cmake-whole"))

    def test_clang(self):
        if user.missing("clang"):
            self.skipTest("there is no clang")
        self.same(self.meson("meson-clang", CC="clang"), self.cmake("cmake-clang", CC="clang"))

    def test_smaller_library(self):
        self.same(self.meson("meson-small", "-Disas=avx2,neon", "-Dops=softmax"),
                  self.cmake("cmake-small", "-DROOTDK_ISAS=avx2,neon", "-DROOTDK_OPS=softmax"))

    def test_another_cpu(self):
        if user.missing(AARCH64):
            self.skipTest(f"there is no {AARCH64}")
        by_meson = self.meson("meson-arm", "--cross-file", os.path.join(ROOT, "tools/cross/aarch64-gcc.ini"))
        self.assertIn("kernels/attention/attention_neon.c", by_meson)
        self.same(by_meson, self.cmake("cmake-arm", "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
                                       f"-DCMAKE_C_COMPILER={AARCH64}"))

    def test_hostile_flags(self):
        """What a user adds comes before, and link-time optimisation does not reach the kernels."""
        parent = self.user.directory("parent")
        user.write(parent, "CMakeLists.txt", PARENT.replace("${SOURCE}", ROOT))
        by_cmake = self.cmake("cmake-hostile", source=parent, CFLAGS=HOSTILE)
        by_meson = self.meson("meson-hostile", "-Db_lto=true", "-Dops=softmax", CFLAGS=HOSTILE)
        self.assertEqual(sorted(by_meson), sorted(by_cmake))
        self.strict_is_last(by_meson)
        self.strict_is_last(by_cmake)
        for build in by_meson, by_cmake:
            for name, flags in build.items():
                self.assertIn("-flto", flags, "the flags must be there at all")
                self.assertIn("-fvisibility=hidden", flags)
                self.assertIn("-fPIC", flags)
                self.assertEqual([f for f in flags if f.startswith("-std=")][-1], "-std=c11")
                if name.startswith("kernels/softmax/"):
                    self.assertEqual([f for f in flags if "lto" in f][-1], "-fno-lto", name)


if __name__ == "__main__":
    sys.exit(counted.main())
