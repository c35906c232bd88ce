#!/usr/bin/env python3
"""Runs the tests of a Meson build in guests of tools/lab/bochs.sh, many in one boot.

guest_tests.py stage BUILD GUESTS [TEST=ARGUMENTS...]
    makes GUESTS/NAME for each guest: its programs, and `run`, which runs them, some with more arguments
guest_tests.py collect BUILD GUESTS
    reads GUESTS/NAME.out of each; writes BUILD/meson-logs/testlog.json in Meson's own form, and prints how
    long each test took in guest time

Tests that are scripts are for the host and left out. RDK_PATH, RDK_CASES and RDK_SEED reach the tests, as under Meson.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

PASSED_ON = ("RDK_PATH", "RDK_CASES", "RDK_SEED")
SHOULD_FAIL = {"verify can fail"}  # Meson's introspection does not tell
RUN = """\
run() {
    echo "@@ begin $1"
    shift
    env "$@"
    printf '\\n@@ end %s %s\\n' $? "$(cut -d ' ' -f 1 /proc/uptime)"
}
"""
MARK = re.compile(r"^@@ (begin|end) (.*)$", re.MULTILINE)


def tests_of(build):
    out = subprocess.run([os.environ.get("MESON", "meson"), "introspect", "--tests", build],
                         stdout=subprocess.PIPE, check=True).stdout
    inside = os.path.abspath(build) + os.sep
    return [test for test in json.loads(out) if os.path.abspath(test["cmd"][0]).startswith(inside)]


def guest_of(test):
    return "attention" if test["name"].startswith("attention") else "others"


def taken_along(word, build, folder):
    """An argument of a test; a file goes into the guest."""
    path = os.path.join(build, word)
    if not os.path.isfile(path):
        return word
    shutil.copy(path, folder)
    return os.path.basename(path)


def line_of(test, program, arguments):
    settings = [f"{key}={value}" for key, value in test["env"].items()]
    words = ["run", test["name"]] + settings + ["./" + program] + arguments
    return " ".join(map(shlex.quote, words)) + "\n"


def stage(build, guests, *arguments):
    lines = {}
    more = dict(argument.split("=", 1) for argument in arguments)
    for test in tests_of(build):
        folder = os.path.join(guests, guest_of(test))
        program = os.path.relpath(test["cmd"][0], build)
        os.makedirs(os.path.dirname(os.path.join(folder, program)), exist_ok=True)
        shutil.copy(test["cmd"][0], os.path.join(folder, program))
        words = [taken_along(word, build, folder) for word in test["cmd"][1:]]
        words += more.get(test["name"], "").split()
        lines.setdefault(folder, [RUN]).append(line_of(test, program, words))
    settings = [f"export {key}={shlex.quote(os.environ[key])}\n" for key in PASSED_ON if key in os.environ]
    for folder in lines:
        with open(os.path.join(folder, "run"), "w", encoding="utf-8") as file:
            file.writelines(settings + lines[folder])


def outcome(name, code):
    if code is None:
        return "ERROR"
    if name in SHOULD_FAIL:
        return "EXPECTEDFAIL" if code else "UNEXPECTEDPASS"
    return "OK" if code == 0 else "FAIL"


def results_in(text):
    """(name, output, exit code, guest seconds) of each test that began."""
    found, begun, since = [], None, 0.0
    for mark in MARK.finditer(text):
        if mark[1] == "begin":
            begun, start = mark[2], mark.end()
        else:
            code, now = mark[2].split()
            found.append((begun, text[start:mark.start()], int(code), float(now) - since))
            begun, since = None, float(now)
    if begun:
        found.append((begun, text[start:], None, 0.0))
    return found


def collect(build, guests):
    results = {}
    for guest in sorted(os.listdir(guests)):
        if guest.endswith(".out"):
            with open(os.path.join(guests, guest), encoding="utf-8", errors="replace") as file:
                results.update({result[0]: result for result in results_in(file.read())})
    with open(os.path.join(build, "meson-logs", "testlog.json"), "w", encoding="utf-8") as file:
        for test in tests_of(build):
            name, output, code, seconds = results.get(test["name"], (test["name"], "did not begin", None, 0.0))
            print(f"{name:24} exit code {code}, {seconds:.2f} s of guest time", flush=True)
            file.write(json.dumps({"name": name, "result": outcome(name, code), "returncode": code,
                                   "stdout": output, "duration": seconds}) + "\n")


def main():
    jobs = {"stage": stage, "collect": collect}
    if len(sys.argv) < 4 or sys.argv[1] not in jobs:
        sys.exit(__doc__)
    jobs[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
