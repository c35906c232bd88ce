#!/usr/bin/env python3
"""Fills the paragraphs of Markdown files that have too long a line anew: tools/wrap.py FILE...

Tables, code and headings stay as they are, and so do paragraphs whose lines are all short enough.
"""

import re
import sys

COLUMNS = 100
ITEM = re.compile(r"\s*([-*]|\d+\.) +")
FENCE = re.compile(r"\s*```")
# At the beginning of a line these would be a list, a heading, a quotation, a table or a comment. Operators stay beside
# their operands.
NEVER_FIRST = re.compile(r"([-+*/<>]|[<>!]?=|#+|\d+[.)]|\|.*|<!--.*)$")
NEVER_LAST = re.compile(r"([-+*/<>]|[<>!]?=)$")


def is_apart(line):
    """Whether a line outside of code is no text to be filled."""
    return not line.strip() or line.startswith(("#", "|", "<", "    "))


def paragraphs(text):
    """(number of the first line, its lines) of each paragraph and item; other lines come one by one, with None."""
    lines, i, in_code = text.split("\n"), 0, False
    while i < len(lines):
        fence = FENCE.match(lines[i])
        if fence or in_code or is_apart(lines[i]):
            in_code ^= bool(fence)
            yield None, lines[i:i + 1]
            i += 1
            continue
        end = i + 1
        while end < len(lines) and not ends_paragraph(lines[end]):
            end += 1
        yield i + 1, lines[i:end]
        i = end


def ends_paragraph(line):
    return not line.strip() or line.startswith(("#", "|", "<!--")) or bool(FENCE.match(line) or ITEM.match(line))


def too_long(text):
    """Numbers and lengths of lines; one that is a single word cannot be shorter."""
    for first, lines in paragraphs(text):
        for number, line in enumerate(lines, first or 0):
            if first and len(line) > COLUMNS and len(line.split()) > 1:
                yield number, len(line)


def words(text):
    """Code in backquotes is one word."""
    return [re.sub(r"\s+", " ", word) for word in re.findall(r"(?:`[^`]*`|\S)+", text)]


def fill(lines):
    item = ITEM.match(lines[0])
    indent = item[0] if item else re.match(r"\s*", lines[0])[0]
    filled, line = [], []
    for word in words(" ".join([lines[0][len(indent):]] + lines[1:])):
        if line and len(indent) + len(" ".join(line + [word])) > COLUMNS:
            carried = [word]
            while len(line) > 1 and (NEVER_FIRST.match(carried[0]) or NEVER_LAST.match(line[-1])):
                carried.insert(0, line.pop())
            filled.append(indent + " ".join(line))
            indent, line = " " * len(indent), carried
        else:
            line.append(word)
    return filled + [indent + " ".join(line)]


def wrap(text):
    lines = []
    for first, part in paragraphs(text):
        lines += fill(part) if first and any(len(line) > COLUMNS for line in part) else part
    return "\n".join(lines)


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = wrap(before)
        if after != before:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)


if __name__ == "__main__":
    main()
