#!/usr/bin/env python3
"""A report as the bench writes it, with numbers that are made up but plausible, and always the same.

usage: sample.py OUT.json

It has every group, every ISA, peers of both processes, a noisy record, fields that are null and an absent
peer.
"""

import json
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import isas  # noqa: E402

SCALAR, *VECTORS = isas.titles()
FMA = {isa: 9.18e10 + 2.1e10 * i for i, isa in enumerate(VECTORS)}  # FLOP/s
READ = {"memory": 3.52e10, "cache": 7.1e10}  # B/s
MEMCPY = {"memory": 1.1e10, "cache": 3.8e10}  # of x

# name, group, heads, heads of keys, queries, keys, d, causal, where K and V are, from
ATTENTION = [
    ("BERT-base n=128", "model", 12, 12, 128, 128, 64, False, "cache", "Devlin et al. 2018"),
    ("ViT-B/16 n=197", "model", 12, 12, 197, 197, 64, False, "cache", "Dosovitskiy et al. 2020"),
    ("Whisper-base encoder n=1500", "model", 8, 8, 1500, 1500, 64, False, "cache", "Radford et al. 2022"),
    ("Llama 3 8B prefill n=2048", "model", 32, 8, 2048, 2048, 128, True, "cache", "Grattafiori et al. 2024"),
    ("Llama 3 8B decode nk=4096", "model", 32, 8, 1, 4096, 128, False, "memory", "Grattafiori et al. 2024"),
    ("DeepSeek MLA decode nk=4096", "model", 128, 1, 1, 4096, 544, False, "cache", "DeepSeek-AI 2024"),
    ("few d=128 nq=2 nk=2048", "few", 8, 8, 2, 2048, 128, False, "cache", "two queries"),
    ("few d=128 nq=32 nk=2048", "few", 8, 8, 32, 2048, 128, False, "cache", "speculative decoding"),
    ("growth d=64 n=2048", "growth", 1, 1, 2048, 2048, 64, False, "cache", "one head"),
    ("growth d=64 n=32768", "growth", 1, 1, 32768, 32768, 64, False, "cache", "one head"),
] + [
    (f"{group} d={d} n={n}", group, 8, 8, n, n, d, group == "causal", "cache", "a square of queries and keys")
    for group in ("full", "causal") for d in (64, 128) for n in (128, 512, 2048)
] + [
    (f"Llama 3 8B decode n={n}", "layers", 32, 8, 1, n, 128, False, "memory", "a step of generation")
    for n in (512, 1024)
] + [
    (f"decode d=128 nk={nk}", "decode", 32, 8, 1, nk, 128, False, where, "GQA of 32 over 8")
    for nk, where in ((1024, "cache"), (8192, "memory"), (32768, "memory"))
] + [
    (f"Llama 3 8B decode n={n}", "layers", 32, 8, 1, n, 128, False, "memory", "a step of generation")
    for n in (512, 1024)
]
SOFTMAX = [  # rows, columns, type, what else
    (4096, 64, "f32", ""), (1024, 197, "f32", ""), (1024, 1024, "f32", ""), (64, 32768, "f32", ""),
    (16, 1048576, "f32", ""), (1024, 1024, "f32", " log"), (1024, 1024, "f32", " bias"),
    (1024, 1024, "f16", ""), (1024, 1024, "bf16", ""),
]

# by, version, how, share of the FMA peak, of a read and of memcpy, error in ULP (softmax, attention)
OURS = [("rootdk", "0.1.0", isa, .84 - .02 * i, .68 + .03 * i, .30 + .04 * i, 2.3, .6)
        for i, isa in enumerate(VECTORS)] + [("rootdk", "0.1.0", SCALAR, .02, .05, .005, 2.3, .6)]
PEERS = {
    "bench": [("oneDNN", "3.5", "matmul + softmax + matmul", .62, .37, .22, 3.1, 1.4),
              ("XNNPACK", "2024", "", .55, .41, .27, 46.0, 3.0),
              ("OpenBLAS", "0.3.21", "two calls of sgemm", .48, .33, None, None, None)],
    "peers": [("ONNX Runtime", "1.19.2", "MultiHeadAttention", .58, .30, .17, 5.2, 1.7),
              ("PyTorch", "2.5.1", "scaled_dot_product_attention", .66, .44, .20, 3.9, 1.2),
              ("PyTorch", "2.5.1", "matmul + softmax + matmul", .51, .29, None, None, 1.6),
              ("numpy", "1.26.4", "matmul and exp", .21, .12, .04, 88.0, 4.0)],
}


def limits():
    found = []
    for process, scale in (("bench", 1), ("peers", .97)):
        for isa in VECTORS if process == "bench" else VECTORS[:1]:
            found.append({"limit": "fma", "isa": isa, "best": FMA[isa] * scale, "unit": "FLOP/s"})
        for where in READ:
            found.append({"limit": "read", "where": where, "isa": VECTORS[0], "best": READ[where] * scale, "unit": "B/s"})
            found.append({"limit": "memcpy", "where": where, "isa": "", "best": MEMCPY[where] * scale, "unit": "B/s"})
        for limit in found:
            limit.setdefault("process", process)
            limit.setdefault("threads", 1)
    # Two threads, as bench-peers has them: twice the FMAs, a memory that is slow for them, and longer labels.
    more = {"fma": 1.9, "read": .75, "memcpy": .75}
    return found + [dict(limit, threads=2, best=limit["best"] * more[limit["limit"]]) for limit in found
                    if limit["process"] == "peers"]


def attention_works():
    for name, group, heads, kv_heads, nq, nk, d, causal, where, source in ATTENTION:
        flop = 4.0 * heads * nq * nk * d / (2 if causal else 1)
        yield {"work": name, "group": group, "op": "attention", "from": source, "dtype": "f32", "flop": flop,
               "bytes": 8.0 * kv_heads * nk * d, "q_heads": heads, "kv_heads": kv_heads, "nq": nq, "nk": nk,
               "d_qk": d, "d_v": d, "causal": causal, "batch": 1, "layers": 32 if group == "layers" else 0}, where


def softmax_works():
    for rows, cols, dtype, extra in SOFTMAX:
        bytes_of_one = 4 if dtype == "f32" else 2
        yield {"work": f"softmax {rows} x {cols} {dtype}{extra}", "group": "softmax", "op": "softmax",
               "from": "rows of logits", "dtype": dtype, "flop": 20.0 * rows * cols,
               "bytes": 2.0 * bytes_of_one * rows * cols, "rows": rows, "cols": cols}, \
            "memory" if rows * cols > 4e6 else "cache"


def fractions(work, where, who, random_share):
    """(share by limit, seconds of the best call)."""
    _, _, how, of_fma, of_read, of_memcpy, _, _ = who
    peak = FMA.get(how, FMA[VECTORS[0]])
    if work["op"] == "softmax":
        share = min(.9, of_memcpy * random_share * (2 if where == "memory" else 1))
        best = max(work["bytes"] / 2 / (MEMCPY[where] * share), work["flop"] / (.6 * peak)) * (1 + 24 / work["cols"])
        return {"memcpy": work["bytes"] / 2 / MEMCPY[where] / best}, best
    small = 1 - 6 / (work["nq"] + 16)  # few queries do not fill the tiles
    best = max(work["flop"] / (peak * of_fma * small), work["bytes"] / (READ[where] * of_read)) / random_share
    shares = {"fma": work["flop"] / peak / best}
    if work["nq"] <= 2:
        shares["read"] = work["bytes"] / READ[where] / best
    return shares, best


def record(process, work, where, who, draw):
    by, version, how = who[:3]
    if by != "rootdk" and work["op"] == "softmax":
        how = ""
    shares, best = fractions(work, where, who, 1 - .06 * draw.random())
    best *= 1 if process == "bench" else 1 / .97
    limit = max(shares, key=shares.get)
    if how == "scalar" and work["op"] == "attention":  # scalar code has no FMA peak
        shares, limit = {}, None
    error = who[6 if work["op"] == "softmax" else 7]
    if error is not None:  # the same for every ISA
        error = round(error * (.85 + .3 * random.Random(work["work"]).random()), 3)
    found = {"process": process, "by": by, "version": version, "how": how, "threads": 1, "best": best,
             "median": best * (1.01 + .03 * draw.random()), "repeats": 80 if best < .01 else 16, "limit": limit,
             "fraction_of_limit": shares.get(limit), "fractions": shares, "noisy": False, "checked": True,
             "error_ulp": error}
    found.update(work)
    return found


def measured(who, work):
    if work["op"] == "softmax":
        return who[5] is not None and (who[0] == "rootdk" or work["dtype"] == "f32")
    return who[2] != "scalar" or work["flop"] < 1e8


def sample():
    draw = random.Random(1)
    works = list(attention_works()) + list(softmax_works())
    records = []
    for process in ("bench", "peers"):
        ours = OURS if process == "bench" else OURS[:1]
        for work, where in works:
            if process == "peers" and work["group"] not in ("model", "softmax", "layers", "decode"):
                continue
            records += [record(process, work, where, who, draw) for who in ours + PEERS[process]
                        if measured(who, work)]
    records[7]["noisy"] = records[40]["noisy"] = records[50]["disturbed"] = True
    return {"library": "rootdk 0.1.0", "arithmetic": 1, "cpu": "Example CPU (made-up numbers)",
            "os": "Linux 6.1.0 x86_64", "caches": {"L1": 49152, "L2": 1048576, "L3": 32 << 20},
            "compiler": "gcc 12.2.0 -O3", "date": "2026-01-01", "command": "make bench bench-peers",
            "absent": [{"peer": "OpenVINO", "reason": "did not install"}], "limits": limits(), "records": records}


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(sample(), out, indent=1)
