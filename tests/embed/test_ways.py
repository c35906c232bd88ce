#!/usr/bin/env python3
"""Every way of docs/embedding.md into another build, as a user goes it: test_ways.py [--figures FILE [PART...]]

The blocks of the page are run as they stand, each from an empty directory, and the program must print what it should.
With --figures FILE gets what tools/tables.py puts into the page: commands, seconds and lines of each way, and sizes.
A PART is a piece of the name of a test below, or "sizes"; what FILE has of other parts stays.
Otherwise the library is built with -O1, which compiles soonest.
"""

import json
import os
import platform
import re
import sys
import time
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests/lib")]

import counted  # noqa: E402
import sizes  # noqa: E402
import user  # noqa: E402

FIGURES = sys.argv[2] if sys.argv[1:2] == ["--figures"] else None
PARTS = sys.argv[3:]
FLAGS = "" if FIGURES else "-O1"
EXAMPLE = os.path.join(ROOT, "examples/prefill.c")
EXPECTED = os.path.join(ROOT, "tests/api/examples/prefill.txt")


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def lines(text):
    return sum(1 for line in text.splitlines() if line.strip())


class Ways(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipes = user.recipes()
        cls.untried = set(cls.recipes)
        cls.users, cls.installations, cls.rows = [], {}, []

    @classmethod
    def tearDownClass(cls):
        for each in cls.users:
            each.close()
        if FIGURES:
            keep_figures(cls.rows)

    def setUp(self):
        if PARTS and not any(part in self.id() for part in PARTS):
            self.skipTest("not asked for")

    def user(self, *tools):
        """Somebody new, who has these tools."""
        reason = user.missing("cc", *tools)
        if reason:
            self.skipTest(reason)
        self.users.append(user.User(FLAGS))
        return self.users[-1]

    def start(self, who, name, source="rootdk"):
        """An empty directory with the program, and with the source if it is asked for."""
        directory = who.directory(name)
        user.write(directory, "program.c", read(EXAMPLE))
        if source:
            who.copy_source(os.path.join(directory, source))
        return directory

    def follow(self, who, directory, way, first=""):
        """Writes the way's files, beginning with `first`, and runs its commands.

        Returns the commands' number and seconds, and the files' lines.
        """
        self.untried.discard(way)
        files = dict(self.recipes[way])
        commands = files.pop("commands")
        tarball = os.path.join(who.scratch, "rootdk.tar.gz")
        for name, text in files.items():
            user.write(directory, name, first + text.replace("https://example.org/rootdk.tar.gz", tarball))
        return lines(commands), who.seconds(directory, commands), sum(map(lines, files.values()))

    def works(self, who, directory, expected=EXPECTED):
        programs = [os.path.join(directory, *place) for place in (["build", "program"], ["program"])]
        self.assertEqual(who.run(directory, [next(filter(os.path.exists, programs))]), read(expected))

    def note(self, label, *parts):
        """A row of the table: what all parts of a way add up to."""
        count, seconds, length = map(sum, zip(*parts))
        self.rows.append([label, count, seconds, length])
        print(f"{label}: {count} commands, {seconds:.1f} s, {length} lines")

    def install(self, way, *tools):
        """Installs into somebody's home, once; the user, and the figures of the way."""
        if way not in self.installations:
            who = self.user(*tools)
            self.installations[way] = who, self.follow(who, self.start(who, "installer"), way)
        return self.installations[way]

    # ---- From source ----

    def test_1_add_subdirectory(self):
        who = self.user("cmake", "make")
        directory = self.start(who, "program")
        self.note("CMake, `add_subdirectory`", self.follow(who, directory, "add_subdirectory"))
        self.works(who, directory)

    def test_2_fetch_content(self):
        who = self.user("cmake", "make")
        self.start(who, "web")
        who.run(os.path.join(who.scratch, "web"), ["tar", "-czf", "../rootdk.tar.gz", "rootdk"])
        directory = self.start(who, "program", source=None)
        first = "" if FIGURES else "set(ROOTDK_ISAS scalar)\nset(ROOTDK_OPS attention)\n"
        self.note("CMake, `FetchContent`", self.follow(who, directory, "FetchContent", first))
        self.works(who, directory)
        if first and not user.missing("nm"):
            names = who.run(directory, ["nm", "build/program"])
            self.assertIn("rdk_attention_scalar", names)
            self.assertNotRegex(names, "_avx|_neon|rdk_softmax_scalar", "a project's variables must count")

    def test_5_meson_subproject(self):
        who = self.user("meson", "ninja")
        directory = self.start(who, "program", source="subprojects/rootdk")
        self.note("Meson subproject", self.follow(who, directory, "Meson subproject"))
        self.works(who, directory)
        tests = who.run(directory, ["meson", "introspect", "--tests", "build"])
        self.assertEqual(json.loads(tests), [], "a subproject must add no tests")

    def test_6_by_hand(self):
        """by_hand.py links the program and compares what it prints."""
        who, start = self.user(), time.monotonic()
        script = os.path.join(ROOT, "tests/embed/by_hand.py")
        printed = who.run(who.directory("by-hand"), ["python3", script, ROOT, platform.machine(), EXAMPLE, EXPECTED])
        if printed.startswith("SKIP: "):
            self.skipTest(printed)
        files = int(re.match(r"(\d+) files", printed)[1])
        self.note("by hand", (files + 1, time.monotonic() - start, 0))

    def test_7_one_file(self):
        who = self.user("make")
        directory = self.start(who, "program")
        user.write(directory, "program.c", read(EXAMPLE).replace("<rootdk/rootdk.h>", '"rootdk.h"'))
        self.note("one file, `rootdk.c`", self.follow(who, directory, "one file"))
        self.works(who, directory)

    # ---- Installed ----

    def found_by_cmake(self, way, label, *tools):
        who, installing = self.install(way, "cmake", "make", *tools)
        directory = self.start(who, "program", source=None)
        self.note(label, installing, self.follow(who, directory, "find_package"))
        self.works(who, directory)

    def test_3_find_package_installed_by_cmake(self):
        self.found_by_cmake("install by CMake", "CMake, `find_package`, installed by CMake")

    def test_3_find_package_installed_by_make(self):
        self.found_by_cmake("install by make", "CMake, `find_package`, installed by `make`", "meson", "ninja")

    def test_4_pkg_config(self):
        who, installing = self.install("install by make", "make", "meson", "ninja", "pkg-config")
        directory = self.start(who, "pkg-config", source=None)
        self.note("pkg-config, installed by `make`", installing, self.follow(who, directory, "pkg-config"))
        self.works(who, directory)

    def test_8_both_install_the_same(self):
        by_cmake = self.installed("install by CMake", "cmake", "make")
        by_make = self.installed("install by make", "make", "meson", "ninja")
        self.assertEqual(set(by_make) - set(by_cmake), {"bin/rootdk", "lib/pkgconfig/rootdk.pc"})
        self.assertEqual(set(by_cmake) - set(by_make), set())
        for name, path in by_cmake.items():
            if name.endswith((".h", ".cmake")):
                self.assertEqual(read(path), read(by_make[name]), name)

    def installed(self, way, *tools):
        """{file below the prefix: path}; the directory of libraries is called lib."""
        who, _ = self.install(way, *tools)
        top = os.path.join(who.environment["HOME"], ".local")
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
        return {re.sub(r"^lib64/", "lib/", os.path.relpath(path, top)): path for path in paths}

    def test_8_destdir_and_installed_files(self):
        """Below DESTDIR; C and C++, shared and static, by pkg-config."""
        who, _ = self.install("install by make", "make", "meson", "ninja", "pkg-config")
        root = os.path.join(who.scratch, "root")
        who.run(os.path.join(who.scratch, "installer"),
                ["make", "-C", "rootdk", "install", "PREFIX=/opt/rootdk", f"DESTDIR={root}"])
        print(who.run(who.scratch, ["sh", os.path.join(ROOT, "tests/embed/installed.sh"), root, "/opt/rootdk", ROOT]))

    def test_8_cxx20(self):
        who, _ = self.install("install by make", "make", "meson", "ninja", "cmake", "c++")
        source = os.path.join(ROOT, "tests/embed/cxx20")
        directory = who.directory("cxx20")
        who.run(directory, f'cmake -S {source} -B . -DCMAKE_PREFIX_PATH="$HOME/.local"; cmake --build .')
        for kind in "static", "shared":
            printed = who.run(directory, [os.path.join(directory, f"program_{kind}")])
            self.assertEqual(printed, "ok: 0.419 0.254 0.326\nok: 2.000 4.000\n")

    def test_8_versions(self):
        """What find_package accepts: the version, those before it of the same soname, and ranges around it."""
        who, _ = self.install("install by make", "make", "meson", "ninja", "cmake")
        major, minor, patch = map(int, who.run(ROOT, ["tools/version.sh"]).split("."))
        version, here = f"{major}.{minor}.{patch}", f"{major}.{minor}"
        good = ["", here, version, f"{version} EXACT"]
        bad = [f"{major}.{minor + 1}", f"{major + 1}.0", f"{here}.{patch + 1}", f"{here}.{patch + 1} EXACT"]
        bad += [f"0.{minor - 1}"] if not major and minor else []
        newer = tuple(map(int, re.search(r"version (\d+)\.(\d+)", who.run(ROOT, ["cmake", "--version"])).groups()))
        if newer >= (3, 19):
            good += [f"{here}...<{major}.{minor + 1}", f"0...{version}"]
            bad += [f"0...<{version}", f"{major + 1}...{major + 2}"]
        text = ["cmake_minimum_required(VERSION 3.16)", "project(versions C)"]
        for wanted in good + bad:
            text += [f"find_package(rootdk {wanted} QUIET CONFIG)", f'message("<{wanted}> ${{rootdk_FOUND}}")']
        directory = who.directory("versions")
        user.write(directory, "CMakeLists.txt", "\n".join(text))
        printed = who.run(directory, 'cmake -B build -DCMAKE_PREFIX_PATH="$HOME/.local"')
        found = dict(re.findall(r"^<(.*)> (\w+)$", printed, re.M))
        self.assertEqual(found, {**{v: "1" for v in good}, **{v: "0" for v in bad}})

    def test_9_every_recipe_was_tried(self):
        if not self.untried or user.missing("cmake", "make", "meson", "ninja", "pkg-config"):
            return
        self.fail(f"docs/embedding.md has recipes that no test runs: {self.untried}")


def keep_figures(rows):
    """Puts the rows into the file of figures, in the order of the tests, and sizes if they are asked for."""
    figures = {"ways": []}
    if PARTS and os.path.exists(FIGURES):
        figures = json.loads(read(FIGURES))
    new = {row[0]: row for row in rows}
    kept = [new.pop(row[0], row) for row in figures["ways"]]
    figures["ways"] = kept + list(new.values())
    who = user.User()
    figures["machine"], figures["cores"] = machine(who), len(os.sched_getaffinity(0))
    if not PARTS or "sizes" in PARTS:
        figures.update(sizes.measure(who))
    who.close()
    user.write("", FIGURES, json.dumps(figures, indent=1))


def machine(who):
    """CPU and compiler, in words."""
    cpu = platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        cpu = (re.findall(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.M) or [cpu])[0]
    compiler = "clang" if "__clang__" in who.run(who.scratch, "cc -dM -E -x c /dev/null") else "gcc"
    version = who.run(who.scratch, f"cc {'-dumpversion' if compiler == 'clang' else '-dumpfullversion'}").strip()
    return f"{cpu}, {compiler} {version}"


if __name__ == "__main__":
    sys.exit(counted.main())
