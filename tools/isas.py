"""The list of ISAs in kernels/isas.h for Python, in its order: by way of isas.sh, the only reader of that file."""

import collections
import os
import subprocess

Isa = collections.namedtuple("Isa", "name title family flags emulated")


def read():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "isas.sh")
    lines = subprocess.run([script], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.splitlines()
    return [Isa(*words[:4], words[4] == "1") for words in (line.split(";") for line in lines)]


def titles():
    """{name: title}"""
    return {isa.name: isa.title for isa in read()}
