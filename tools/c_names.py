"""Names in C, as far as tools/amalgamate.py has to know them: which a text defines for its whole file, and new ones for
them. Made for this project's sources, not for any C."""

import re

TOKEN = re.compile(r"""
    (?P<space>[ \t]+|\n) | (?P<comment>/\*.*?\*/|//[^\n]*) | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*) | (?P<name>[A-Za-z_]\w*) | (?P<sign>->|\#\#|\.\.\.|.)""", re.X | re.S)
# A directive with the lines that it goes on in.
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n?", re.M)
DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
UNDEFINED = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)


class Token:
    def __init__(self, kind, text):
        self.kind, self.text = kind, text
        self.member = False # declares a field


def tokens(text, directives=True):
    """All of a text; directives are one token each."""
    out, at = [], 0
    while at < len(text):
        line = DIRECTIVE.match(text, at) if directives and (at == 0 or text[at - 1] == "\n") else None
        match = line or TOKEN.match(text, at)
        out.append(Token("directive" if line else match.lastgroup, match[0]))
        at = match.end()
    return out


def code_of(all_tokens):
    return [t for t in all_tokens if t.kind not in ("space", "comment", "directive")]


def is_macro(text):
    return re.fullmatch(r"[A-Z_][A-Z0-9_]*", text) is not None


def closing(code, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[i].text, 0)
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed after " + " ".join(t.text for t in code[at:at + 9]))


def declarations(all_tokens):
    """What stands in a file one after the other, as lists of tokens: declarations, and functions with their bodies."""
    code, at = code_of(all_tokens), 0
    while at < len(code):
        begin = at
        if is_macro(code[at].text) and at + 1 < len(code) and is_macro(code[at + 1].text):
            at += 1
            continue
        if is_macro(code[at].text) and at + 1 < len(code) and code[at + 1].text == "(":
            end = closing(code, at + 1) + 1
            if end == len(code) or code[end].text not in ("{", ";"): # a macro that declares something by itself
                at = end
                continue
        while code[at].text != ";":
            if code[at].text in "([{" and code[at].kind == "sign":
                body = code[at].text == "{" and code[at - 1].text == ")"
                at = closing(code, at)
                if body:
                    break
            at += 1
        at += 1
        yield code[begin:at]


def enumerators(code, at):
    """The constants of the enum whose { stands at `at`."""
    end = closing(code, at)
    return [code[i].text for i in range(at + 1, end)
            if code[i].kind == "name" and code[i - 1].text in "{," and code[i + 1].text in ",=}"]


def function_name(code):
    """The index of a function's name in its declaration, or None."""
    if code[0].text == "typedef":
        return None
    for i, t in enumerate(code):
        if t.text in ("=", "{", "["):
            return None
        if t.text == "(":
            return i - 1 if i and code[i - 1].kind == "name" else None
    return None


def is_static(code):
    return any(t.text in ("static", "RDK_INLINE") for t in code)


def defined_names(code):
    """What a declaration defines: types, tags, constants, functions, objects."""
    found, flat, i = set(), [], 0
    while i < len(code):
        if code[i].text in ("struct", "union", "enum"):
            if code[i + 1].kind == "name":
                found.add(code[i + 1].text)
            brace = i + 1 + (code[i + 1].kind == "name")
            if code[brace].text == "{" and code[i].text == "enum":
                found.update(enumerators(code, brace))
        if code[i].text == "{":
            i = closing(code, i)
        flat.append(code[i])
        i += 1
    name = function_name(flat)
    if name is not None: # of those with external linkage there are no two
        return found | ({flat[name].text} if is_static(flat[:name]) else set())
    for before, t, after in zip(flat, flat[1:], flat[2:]):
        if t.kind == "name" and after.text in ("=", "[", ";", "(") and (before.kind == "name" or before.text in "*}"):
            found.add(t.text)
            break
    return found


def mark_members(code):
    """Notes which names declare fields of structs."""
    for i, t in enumerate(code):
        if t.text not in ("struct", "union"):
            continue
        brace = i + 1 + (code[i + 1].kind == "name")
        if brace >= len(code) or code[brace].text != "{":
            continue
        depth = 0
        for j in range(brace, closing(code, brace)):
            depth += {"[": 1, "]": -1}.get(code[j].text, 0)
            ends = code[j + 1].text in (";", ",", "[") or (code[j + 1].text == ")" and code[j - 1].text == "*")
            code[j].member = code[j].member or (code[j].kind == "name" and depth == 0 and ends)


def pasted_heads(text):
    """What names begin with that macros paste together: tile_ of tile_##rows."""
    return {m for m in re.findall(r"\b([a-z][a-z0-9_]*_)##", text) if not m.startswith("rdk_")}


def parameters(directive):
    found = re.match(r"[ \t]*#[ \t]*define[ \t]+\w+\(([^)]*)\)", directive)
    return set(re.findall(r"\w+", found[1])) if found else set()


def defined_by_macros(all_tokens):
    """Static names in the bodies of macros."""
    found = set()
    for t in all_tokens:
        if t.kind == "directive":
            names = re.findall(r"\bstatic\b[^;{}=#]*?\b([a-zA-Z]\w*)[\[(]", t.text)
            found |= {n for n in names if not re.search(rf"##{n}\b", t.text)} - parameters(t.text)
    return found


def undefine(text):
    """Lines that end all macros of a text."""
    gone = set(UNDEFINED.findall(text))
    return "".join(f"#undef {m}\n" for m in dict.fromkeys(DEFINED.findall(text)) if m not in gone)


def renamed(all_tokens, new):
    """The text with new(name) for each name that is no field."""
    out, code = [], code_of(all_tokens)
    before = dict(zip(map(id, code[1:]), code))
    after = dict(zip(map(id, code), code[1:]))
    for t in all_tokens:
        if t.kind == "directive":
            head, own = re.match(r"[ \t]*#[ \t]*\w*", t.text)[0], parameters(t.text)
            out.append(head + renamed(tokens(t.text[len(head):], directives=False),
                                      lambda n, own=own: n if n in own else new(n)))
            continue
        previous, following = before.get(id(t)), after.get(id(t))
        field = t.member or (previous is not None and previous.text in (".", "->"))
        # [name] "=r"(...) of an asm statement.
        operand = (previous is not None and previous.text == "[" and following is not None and following.text == "]"
                   and id(following) in after and after[id(following)].kind == "text")
        out.append(new(t.text) if t.kind == "name" and not field and not operand else t.text)
    return "".join(out)


def made_internal(all_tokens, public, word):
    """Puts `word` in front of each function that is neither static nor public, and in place of `static` where a
    function is inline: both may be unused."""
    for code in declarations(all_tokens):
        at = function_name(code)
        if at is None or code[at].text in public or code[0].text == "_Static_assert":
            continue
        if [t.text for t in code[:2]] == ["static", "inline"]:
            code[0].text = word
        elif not is_static(code[:at]):
            code[0].text = f"{word} {code[0].text}"
