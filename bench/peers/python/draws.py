"""The inputs of error.py, and the exact result."""

import math

import cells
import numpy

QUERIES, HEADS, DRAWS = 64, 4, 8
SEED = 20


def scale_of(d):
    """The float nearest to 1 / sqrt(d): every library is given it, and the exact result has it."""
    return numpy.float32(1 / math.sqrt(d))


class Draw:
    """q, k and v of one draw, [head][position][d], all N(0,1).

    One key is made heavy along u, a random direction of each head: a * u is added to every query, b * u is the heavy
    key's part along u, and no other key has one. b = sqrt(d), so that a is the heavy key's logit, but for a part that
    is N(0,1).
    """

    def __init__(self, d, keys, number):
        random = numpy.random.default_rng([SEED, d, keys, number])

        def normal(rows):
            return random.standard_normal((HEADS, rows, d), numpy.float32)
        self.q, self.k, self.v = normal(QUERIES), normal(keys), normal(keys)
        u = random.standard_normal((HEADS, 1, d))
        self.u = (u / numpy.linalg.norm(u, axis=2, keepdims=True)).astype(numpy.float32)

    def keys_without_u(self):
        return self.k - self.k @ self.u.transpose(0, 2, 1) * self.u

    def queries(self, cell):
        if not cell.share:
            return self.q
        return self.q + numpy.float32(cells.heavy_logit(cell.share, cell.keys)) * self.u

    def heavy_part(self, cell):
        """Of the heavy key."""
        return numpy.float32(math.sqrt(cell.d)) * self.u[:, 0]


def attention_of_head(q, k, v, scale):
    scores = (q.astype(numpy.float64) * float(scale)) @ k.T
    scores -= scores.max(axis=1, keepdims=True)
    weights = numpy.exp(scores, out=scores)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ v, weights


def attention(q, k, v, scale, at=0):
    """In double: the output, and the weights of key `at`. k and v are in double already."""
    heads = [attention_of_head(*head, scale) for head in zip(q, k, v)]
    return numpy.stack([out for out, _ in heads]), numpy.stack([weights[:, at] for _, weights in heads])


def mean_square(out, exact):
    return float(numpy.mean((out - exact) ** 2))
