#!/usr/bin/env python3
"""The bench's page, drawn from a sample: what is in it, and that no report breaks it.

The last line is `N passed, N failed, N skipped`.
"""

import copy
import html.parser
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "bench", "page")
sys.path[:0] = [HERE, PAGE, os.path.join(HERE, "..")]
sys.dont_write_bytecode = True
import bars  # noqa: E402
import counted  # noqa: E402
import data  # noqa: E402
import page  # noqa: E402
import plots  # noqa: E402
import sample  # noqa: E402

PLOTS = ("roofline", "softmax", "decode", "accuracy")
NASTY = "<b a=\"1\" c='2'>&amp; \x00\x1b</b></title></svg><script>"
VOID = {"meta"}


class Balance(html.parser.HTMLParser):
    """Notes tags that are not closed in the order in which they were opened."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.counts = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID and tag != "wbr":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def parsed(text):
    reader = Balance()
    reader.feed(text)
    reader.close()
    return reader


def drawings(text):
    """Every drawing, parsed as XML: a mistake in one raises."""
    return [xml.fromstring(svg) for svg in re.findall(r"<svg\b.*?</svg>", text, re.DOTALL)]


def section(text, name):
    """From a section's tag to the next section."""
    return re.search(rf'<section id="{name}".*?(?=<section|</main>)', text, re.DOTALL).group(0)


def dots(text):
    return [e for svg in drawings(text) for e in svg.iter() if "dot" in e.get("class", "").split()]


def words(text):
    """What a reader sees of it."""
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


def without_code(text):
    return re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)


class OfTheSample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = sample.sample()
        cls.records = cls.report["records"]
        cls.text = page.render(cls.report)

    def test_sample_has_everything(self):
        def values(key):
            return {r[key] for r in self.records}
        self.assertEqual(values("group"), set(bars.GROUPS))
        self.assertEqual({r["how"] for r in self.records if r["by"] == "rootdk"}, set(data.ISAS))
        for process in data.PROCESSES:
            self.assertTrue({r["by"] for r in self.records if r["process"] == process} - {"rootdk"})
        self.assertIn(True, values("noisy"))
        self.assertIn(None, values("fraction_of_limit"))
        self.assertIn(None, values("error_ulp"))
        self.assertTrue(self.report["absent"])
        self.assertEqual(self.report, sample.sample())

    def test_tags_are_balanced(self):
        reader = parsed(self.text)
        self.assertEqual((reader.open, reader.wrong), ([], []))

    def test_drawings_are_xml(self):
        self.assertGreater(len(drawings(self.text)), 2 * len(PLOTS))

    def test_needs_nothing_else(self):
        self.assertNotRegex(self.text, r"https?:|//[a-z]+\.|@import|url\(|<link|<img|<iframe|\bsrc=")
        for target in re.findall(r'href="([^"]*)"', self.text):
            self.assertTrue(target.startswith("#"), target)
            self.assertIn(f'id="{target[1:]}"', self.text)

    def test_fits_a_phone(self):
        self.assertIn('name="viewport" content="width=device-width', self.text)

    def test_sections_are_in_order(self):
        names = re.findall(r'<section id="(\w+)"', self.text)
        self.assertEqual(names, ["headlines", "roofline", "works", "softmax", "decode", "accuracy", "errors",
                                 "records"])

    def test_head_tells_what_was_measured(self):
        head = words(self.text[self.text.index("<header"):self.text.index("</header>")])
        for key in ("cpu", "compiler", "library", "date", "command"):
            self.assertIn(self.report[key], head)
        for peer in self.report["absent"]:
            self.assertIn(f"{peer['peer']}: {peer['reason']}", head)
        self.assertIn("oneDNN 3.5", head)

    def test_headlines_come_from_the_records(self):
        ours = [r for r in self.records if r["by"] == "rootdk" and r["process"] == "bench"]
        calm = [r for r in ours if not r["noisy"]]
        fma = max(r["fractions"].get("fma", 0) for r in calm if r["op"] == "attention" and r["nq"] > 1)
        read = max(r["fractions"].get("read", 0) for r in calm if r["group"] == "layers")
        memcpy = max(r["fractions"]["memcpy"] for r in calm if r["op"] == "softmax" and r["dtype"] == "f32"
                     and not r["work"].endswith(("log", "bias")))
        worst = max(r["error_ulp"] for r in ours if r["op"] == "softmax")
        figures = re.findall(r'class="figure">([^<]*)<', section(self.text, "headlines"))
        self.assertEqual(figures, [f"{100 * fma:.1f} %", f"{100 * read:.1f} %", f"{1 / memcpy:.2f}×",
                                   f"{worst:.2f} ULP"])

    def test_layers_are_the_headline_of_decode(self):
        """Whatever else is closer to a plain read: one layer again and again, some sequences at once."""
        report = copy.deepcopy(self.report)
        ours = [r for r in report["records"] if r["by"] == "rootdk" and r["process"] == "bench" and r.get("nq") == 1]
        again = next(r for r in ours if not r["layers"])
        again["fractions"] = {"read": 0.998}
        batch = next(r for r in ours if r["layers"])
        batch.update(batch=8, fractions={"read": 0.999})
        text = section(page.render(report), "headlines")
        self.assertIn("best decode, layer after layer", text)
        self.assertNotRegex(text, r"99\.[89] %")
        report["records"] = [r for r in report["records"] if r["group"] != "layers"]
        self.assertIn("99.8 %", section(page.render(report), "headlines"))

    def test_sequences_of_a_batch_are_told(self):
        record = next(r for r in self.records if r["group"] == "layers")
        self.assertNotIn("sequences", bars.detail(record))
        self.assertIn("8 sequences, 32 heads over 8", bars.detail(dict(record, batch=8)))

    def test_a_noisy_record_is_no_headline(self):
        report = copy.deepcopy(self.report)
        best = next(r for r in report["records"] if r["by"] == "rootdk" and r["op"] == "attention" and r["nq"] > 1)
        best["fractions"] = {"fma": 0.999}
        self.assertIn("99.9 %", section(page.render(report), "headlines"))
        best["noisy"] = True
        self.assertNotIn("99.9 %", section(page.render(report), "headlines"))

    def test_roofline_has_a_dot_for_every_record(self):
        found = dots(section(self.text, "roofline"))
        self.assertEqual(len(found), len(self.records))
        ours = [e for e in found if "ours" in e.get("class").split()]
        self.assertEqual(len(ours), sum(r["by"] == "rootdk" for r in self.records))
        for dot in found:
            self.assertIn(":", dot.find("title").text)

    def test_roofline_places_dots(self):
        """The position of a dot, from its flop, bytes and time alone."""
        x = plots.decades("", [1, 100], 1, 1)
        self.assertEqual([x.at(v) for v in (1, 10, 100)], [0, 50, 100])
        record = {"work": "w", "by": "rootdk", "how": "avx2", "flop": 8e9, "bytes": 1e9, "best": 2}
        self.assertEqual((plots.intensity(record), plots.gflops(record)), (8, 4))

    def test_dots_are_in_order(self):
        """More FLOP per byte is further right, more FLOP/s higher."""
        record = {"by": "rootdk", "how": "avx2", "flop": 8e9, "bytes": 1e9, "best": 2}
        text = page.render({"records": [dict(record, work="a"), dict(record, work="b", bytes=1e8, best=1)]})
        places = {dot.find("title").text[0]: [float(dot.get(key).rstrip("%")) for key in ("cx", "cy")]
                  for dot in dots(section(text, "roofline"))}
        self.assertLess(places["a"][0], places["b"][0])
        self.assertGreater(places["a"][1], places["b"][1])

    def test_no_dot_is_outside(self):
        for name in PLOTS:
            for dot in dots(section(self.text, name)):
                for key in ("cx", "cy") if dot.tag == "circle" else ("x", "y"):
                    self.assertTrue(0 <= float(dot.get(key).rstrip("%")) <= 100, (name, dot.attrib))

    def test_roofs_and_slopes(self):
        text = section(self.text, "roofline")
        kinds = {"roof": "fma", "slope": "read"}
        for css, kind in kinds.items():
            drawn = [e for svg in drawings(text) for e in svg.iter("line")
                     if css in e.get("class").split() and "beyond" not in e.get("class")]
            self.assertEqual(len(drawn), sum(limit["limit"] == kind for limit in self.report["limits"]), kind)

    def test_other_plots_have_their_records(self):
        def count(test):
            return sum(bool(test(r)) for r in self.records)
        soft = count(lambda r: r["op"] == "softmax" and r["work"].endswith("f32"))
        decode = count(lambda r: r["group"] in ("layers", "decode", "model") and r.get("nq") == 1)
        errors = count(lambda r: r["op"] == "softmax" and r["error_ulp"] is not None and r["fraction_of_limit"])
        for name, expected in (("softmax", soft), ("decode", decode), ("accuracy", errors)):
            self.assertEqual(len(dots(section(self.text, name))), expected, name)

    def test_every_record_has_a_bar_and_a_row(self):
        self.assertEqual(section(self.text, "works").count('<svg class="bar"'), len(self.records))
        rows = section(self.text, "records").count("<tr>")
        self.assertEqual(rows, len(self.records) + 1)

    def test_bars_are_as_long_as_their_share(self):
        lengths = sorted(re.findall(r'class="fill [^"]*" width="([\d.]+)%"', section(self.text, "works")))
        shares = sorted(f"{100 * (r['fraction_of_limit'] or 0):.1f}" for r in self.records)
        self.assertEqual(lengths, shares)

    def test_noisy_records_are_marked(self):
        noisy = sum(r["noisy"] for r in self.records)
        self.assertEqual(section(self.text, "works").count(">noisy<"), noisy)
        self.assertEqual(section(self.text, "records").count(">noisy<"), noisy)

    def test_processes_are_kept_apart(self):
        for name in PLOTS:
            self.assertEqual(section(self.text, name).count('class="panel"'), 2, name)
        one = dict(self.report, records=[r for r in self.records if r["process"] == "bench"])
        text = page.render(one)
        for name in PLOTS:
            self.assertEqual(section(text, name).count('class="panel"'), 1, name)
        self.assertNotIn("make bench-peers<", text)

    def test_ratios_are_of_one_process(self):
        def record(process, by, best):
            return {"process": process, "by": by, "best": best, "work": "w", "how": "", "dtype": "f32", "threads": 1}
        records = [record("bench", "rootdk", 1.0), record("bench", "oneDNN", 2.0), record("peers", "rootdk", 4.0),
                   record("peers", "PyTorch", 20.0), record("other", "numpy", 5.0)]
        self.assertEqual([bars.against_ours(r, records) for r in records], [None, 2, None, 5, None])

    def test_errors_are_all_there(self):
        text = section(self.text, "errors")
        works = {r["work"] for r in self.records if r["error_ulp"] is not None}
        self.assertEqual(text.count("<tr>"), len(works) + 2)


class OfOtherReports(unittest.TestCase):
    def check(self, report):
        text = page.render(report)
        reader = parsed(text)
        self.assertEqual((reader.open, reader.wrong), ([], []))
        drawings(text)
        return text

    def test_empty(self):
        for report in ({}, {"records": []}, {"records": None, "limits": 7, "absent": "x"}):
            text = self.check(report)
            self.assertIn("no records", text)
            self.assertEqual(dots(text), [])
            for name in PLOTS:
                self.assertIn('class="nothing"', section(text, name))
                self.assertNotIn('class="frame"', section(text, name))

    def test_text_is_escaped(self):
        report = sample.sample()
        for key in ("library", "cpu", "compiler", "date", "command"):
            report[key] = NASTY
        report["absent"] = [{"peer": NASTY, "reason": NASTY}]
        for limit in report["limits"]:
            limit.update({key: NASTY for key in ("where", "isa") if limit.get(key)})
        for i, record in enumerate(report["records"]):
            key = ("work", "group", "op", "from", "by", "version", "how", "dtype", "limit", "process")[i % 10]
            record[key] = NASTY
        text = self.check(report)
        self.assertNotIn("<b a=", text)
        self.assertEqual(text.count("<script>"), 1)
        self.assertEqual(parsed(text).counts.get("b", 0), 0)
        self.assertNotRegex(without_code(text), "[\x00-\x08\x0b-\x1f]")
        self.assertIn("&lt;b a=&quot;1&quot; c=&#x27;2&#x27;&gt;&amp;amp; ", text)

    def test_any_field_may_be_missing(self):
        report = sample.sample()
        report["records"] = report["records"][:6] + report["records"][-6:]
        for key in sorted({k for r in report["records"] for k in r}):
            without = dict(report, records=[{k: v for k, v in r.items() if k != key} for r in report["records"]])
            self.check(without)
        for key in ("process", "limit", "where", "isa", "threads", "best"):
            self.check(dict(report, limits=[{k: v for k, v in x.items() if k != key} for x in report["limits"]]))
        for key in report:
            self.check({k: v for k, v in report.items() if k != key})

    def test_any_field_may_be_odd(self):
        report = sample.sample()
        report["records"] = report["records"][:3] + report["records"][-3:]
        for odd in (None, "", "x", 0, -1, True, float("nan"), float("inf"), [], {}, 1e300, 1e-300):
            for key in sorted({k for r in report["records"] for k in r}):
                self.check(dict(report, records=[dict(r, **{key: odd}) for r in report["records"]]))
            self.check(dict(report, limits=[dict(x, best=odd) for x in report["limits"]]))

    def test_unknown_fields_and_names(self):
        record = dict(sample.sample()["records"][0], by="another", group="another", how="way", color=3)
        text = self.check({"records": [record, "no record", 3], "more": 1})
        self.assertEqual(len(dots(section(text, "roofline"))), 1)
        self.assertIn("another", section(text, "works"))

    def test_numbers(self):
        for value in (True, "1", None, float("nan"), float("inf"), [1]):
            self.assertIsNone(data.number({"key": value}, "key"))
        self.assertEqual(data.number({"key": 0}, "key"), 0)
        self.assertIsNone(data.positive({"key": 0}, "key"))
        self.assertEqual([data.seconds(s) for s in (2, 0.0123, 4.5e-5, 1e-9, None)],
                         ["2.00 s", "12.3 ms", "45.0 µs", "1.00 ns", "–"])

    def test_one_record(self):
        for record in sample.sample()["records"][::40]:
            self.check({"records": [record], "limits": []})


class OfTheProgram(unittest.TestCase):
    def run_in(self, directory, *args):
        return subprocess.run([sys.executable, "-B", os.path.join(PAGE, "page.py"), *args], cwd=directory,
                              stderr=subprocess.PIPE).returncode

    def test_writes_the_page(self):
        with tempfile.TemporaryDirectory() as directory:
            report, out = os.path.join(directory, "r.json"), os.path.join(directory, "r.html")
            subprocess.run([sys.executable, "-B", os.path.join(HERE, "sample.py"), report], check=True)
            self.assertEqual(self.run_in(directory, report, out), 0)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), page.render(sample.sample()))

    def test_refuses_what_is_no_report(self):
        with tempfile.TemporaryDirectory() as directory:
            report, out = os.path.join(directory, "r.json"), os.path.join(directory, "r.html")
            with open(report, "w", encoding="utf-8") as file:
                file.write("[]")
            self.assertNotEqual(self.run_in(directory, report, out), 0)
            self.assertNotEqual(self.run_in(directory, report), 0)
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    sys.exit(counted.main())
