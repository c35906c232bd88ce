"""The works of bench/shapes.ini: their sizes, and what one call of them takes."""

import collections
import configparser

BYTES = {"f32": 4, "f16": 2, "bf16": 2}
MOST_SCORES = 2 << 30  # bytes: peers that keep all scores at once would need too much memory
FMAS_PER_WEIGHT = 9  # of rootdk's softmax (docs/arithmetic.md); a peer may need fewer


class Attention(collections.namedtuple(
        "Attention", "name group source heads kv_heads queries keys d_qk d_v causal memory peers batch layers", defaults=(1, 0))):
    op, dtype = "attention", "f32"

    @property
    def is_from_memory(self):
        """Whether no call finds in a cache what the one before it read: each layer of a model has K and V of its own."""
        return self.memory or self.layers > 0

    @property
    def sees_all(self):
        """Whether every query sees every key; the last one does, causal or not."""
        return not self.causal or self.queries == 1

    @property
    def is_square(self):
        """Where all libraries mean the same by "causal": else the first or the last query may be
        the one beside a corner."""
        return self.queries == self.keys

    @property
    def flop(self):
        pairs = self.queries * self.keys
        if not self.sees_all:
            pairs -= self.queries ** 2 / 2
        return 2.0 * self.heads * pairs * (self.d_qk + self.d_v)

    @property
    def bytes(self):
        """Of K and V."""
        return 4 * self.kv_heads * self.keys * (self.d_qk + self.d_v)

    @property
    def is_too_large(self):
        return 4 * self.heads * self.queries * self.keys > MOST_SCORES

    def grouped(self):
        """The same work with the queries of all heads that share keys as those of one head. The
        operands stay where they are. What "causal" says of one query holds for them all; of more it
        would say something else."""
        return self._replace(heads=self.kv_heads, queries=self.queries * self.heads // self.kv_heads,
                             causal=not self.sees_all)

    def fields(self):
        return {"q_heads": self.heads, "kv_heads": self.kv_heads, "nq": self.queries, "nk": self.keys,
                "d_qk": self.d_qk, "d_v": self.d_v, "causal": self.causal, "batch": self.batch,
                "layers": self.layers}


class Softmax(collections.namedtuple(
        "Softmax", "name group source rows cols dtype log bias peers")):
    op = "softmax"
    is_too_large = False

    @property
    def flop(self):
        """As rootdk computes it: a weight, and unless it stays a logarithm its normalisation."""
        return 2.0 * self.rows * self.cols * (FMAS_PER_WEIGHT + (not self.log))

    @property
    def bytes(self):
        """Of x read and y written."""
        return 2 * self.rows * self.cols * BYTES[self.dtype]

    def fields(self):
        return {"rows": self.rows, "cols": self.cols, "log": self.log, "bias": self.bias}


def attention_of(name, section):
    heads, d = section.getint("heads"), section.getint("d", fallback=None)
    return Attention(
        name, section.get("group"), section.get("from", ""), heads, section.getint("kv_heads", heads),
        section.getint("queries"), section.getint("keys"), section.getint("d_qk", d),
        section.getint("d_v", d), section.getboolean("causal", False),
        section.getboolean("memory", False), section.getboolean("peers", True),
        section.getint("batch", 1), section.getint("layers", 0))


def softmax_of(name, section):
    dtype = section.get("dtype", "f32")
    if dtype not in BYTES:
        raise ValueError(f"{name}: no type is called {dtype}")
    return Softmax(
        name, section.get("group"), section.get("from", ""), section.getint("rows"), section.getint("cols"),
        dtype, section.getboolean("log", False), section.getboolean("bias", False),
        section.getboolean("peers", True))


MAKERS = {"attention": attention_of, "softmax": softmax_of}


def work_of(name, section):
    if section.get("op") not in MAKERS:
        raise ValueError(f"{name}: op is neither attention nor softmax")
    work = MAKERS[section["op"]](name, section)
    if None in work:
        raise ValueError(f"{name}: no {work._fields[work.index(None)]}")
    return work


def read(file):
    """All works of an open file, in its order."""
    parser = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",))
    parser.read_file(file)
    return [work_of(name, parser[name]) for name in parser.sections()]


def left_out(work):
    """Why a work is not for peers, or None."""
    if not work.peers:
        return "rootdk alone"
    if work.op == "attention" and work.batch > 1:
        return "more than one sequence"
    if work.is_too_large:
        return "its scores are above 2 GB"
    return None
