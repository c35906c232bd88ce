#!/usr/bin/env python3
"""Every link between the docs leads somewhere: links.py SOURCE_ROOT

Of each Markdown text in git: relative links and pictures must name a file or folder that git has, and an anchor a
heading. Of every other text in git: a page of docs/ that it mentions must be there. Nothing is asked of the network.
The last line is `N passed, N failed, N skipped`, counted by links.
"""

import collections
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|srcset|href)=\"([^\"\s]+)[^\"]*\"")
MENTION = re.compile(r"\bdocs/[\w./-]*\.md\b")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def names_in_git(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], stdout=subprocess.PIPE, check=False)
    return [name for name in git.stdout.decode().split("\0") if name]


def read(root, name):
    """The text of a file; "" if it is no text."""
    try:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            return file.read()
    except (UnicodeDecodeError, OSError):
        return ""


def without_code(text):
    """Its lines; those of fenced code are empty."""
    in_code = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        yield "" if fence or in_code else line
        in_code ^= fence


def without_inline_code(line):
    return re.sub(r"`[^`]*`", "", line)


def anchors(text):
    """The names that GitHub gives to headings."""
    seen, found = collections.Counter(), set()
    for line in without_code(text):
        heading = re.match(r"#+\s+(.*?)\s*#*$", line)
        if heading:
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


class Docs:
    """What links may lead to."""

    def __init__(self, root):
        self.root, self.names = root, names_in_git(root)
        self.there = set(self.names) | {"."}
        for name in self.names:
            while os.path.dirname(name):
                name = os.path.dirname(name)
                self.there.add(name)
        self.anchors = {name: anchors(read(root, name)) for name in self.names if name.endswith(".md")}

    def fault(self, page, target):
        """What is wrong with a link of that page, "" if nothing is."""
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if path not in self.there:
            return "there is no such file"
        if anchor and anchor not in self.anchors.get(path, ()):
            return "there is no such heading"
        return ""

    def links(self):
        """(page, line, target, fault) of each link and mention."""
        for name in self.names:
            if name.endswith(".md"):
                for number, line in enumerate(without_code(read(self.root, name)), 1):
                    for pair in LINK.findall(without_inline_code(line)):
                        target = pair[0] or pair[1]
                        if not ELSEWHERE.match(target):
                            yield name, number, target, self.fault(name, target)
            else:
                for number, line in enumerate(read(self.root, name).split("\n"), 1):
                    for target in MENTION.findall(line):
                        yield name, number, target, "" if target in self.there else "there is no such file"


def main():
    docs = Docs(sys.argv[1])
    if not docs.names:
        print(f"SKIP: git lists nothing in {sys.argv[1]}")
        sys.exit(77)
    links = list(docs.links())
    faults = [link for link in links if link[3]]
    for page, number, target, fault in faults:
        print(f"{page}:{number}: {target}: {fault}")
    print(f"{len(links) - len(faults)} passed, {len(faults)} failed, 0 skipped")
    sys.exit(1 if faults or not links else 0)


main()
