"""Somebody who embeds the library: an empty directory, nothing in the environment but PATH and a fresh HOME."""

import os
import re
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE_PATH = "/usr/local/bin:/usr/bin:/bin"
TOOLS = ("cc", "c++", "make", "ninja", "meson", "cmake", "pkg-config", "python3")


class Failed(Exception):
    """A command that failed, and what it printed."""


def path():
    """The system's programs first, then those that only this PATH has."""
    found = BASE_PATH
    for tool in TOOLS:
        elsewhere = None if shutil.which(tool, path=found) else shutil.which(tool)
        if elsewhere:
            found += ":" + os.path.dirname(elsewhere)
    return found


PATH = path()


def missing(*tools):
    """Why a test is skipped, or None."""
    absent = [tool for tool in tools if not shutil.which(tool, path=PATH)]
    return f"there is no {', '.join(absent)}" if absent else None


def recipes():
    """{way: {file, or "commands": text}} of docs/embedding.md."""
    with open(os.path.join(ROOT, "docs", "embedding.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^<!-- way: ([^,\n]*), ([^\n]*) -->\n```\w+\n(.*?)^```$", file.read(), re.M | re.S)
    found = {}
    for way, name, text in blocks:
        found.setdefault(way, {})[name] = text
    return found


class User:
    def __init__(self, flags=""):
        """`flags` is CFLAGS, the only other variable."""
        self.scratch = tempfile.mkdtemp(prefix="rootdk-user-")
        self.environment = {"PATH": PATH, "HOME": self.directory("home")}
        if flags:
            self.environment["CFLAGS"] = flags

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def directory(self, name):
        made = os.path.join(self.scratch, name)
        os.makedirs(made)
        return made

    def copy_source(self, directory):
        shutil.copytree(ROOT, directory, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))

    def run(self, directory, command, **variables):
        """Runs a command, or lines of shell, and returns what it printed."""
        words = ["sh", "-e", "-c", command] if isinstance(command, str) else command
        done = subprocess.run(words, cwd=directory, env={**self.environment, **variables}, check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Failed(f"{command}\n{done.stdout}\nexit code {done.returncode}")
        return done.stdout

    def seconds(self, directory, command):
        start = time.monotonic()
        self.run(directory, command)
        return time.monotonic() - start


def write(directory, name, text):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(text)
