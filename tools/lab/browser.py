#!/usr/bin/env python3
"""Opens the bench's page in Chromium, as on a phone and on a desk, light and dark, and looks at it.

usage: browser.py CHROMIUM PAGE.html DIR

Leaves a picture of each view in DIR, and of the top of the page alone, as README.md has it. The last line is
`N passed, N failed, N skipped`. Chromium is spoken to through the pipe of its DevTools protocol: JSON with a zero byte after each message, on its file descriptors 3
and 4.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

VIEWS = [(name, width, height, scheme) for name, width, height in (("phone", 390, 844), ("desktop", 1280, 900))
         for scheme in ("light", "dark")]
SECONDS = 60  # for an answer
TALLEST, TOP = 16000, 1680  # pixels of a picture

# Pairs of a check and its fault, "" if there is none. An element that scrolls inside its own box may be wider
# than the window.
LOOK = r"""
(() => {
    const wide = document.documentElement.clientWidth, found = [];
    const all = (selector) => Array.from(document.querySelectorAll(selector));
    const name = (e) => e.tagName + "." + (e.getAttribute("class") || "") + " " + e.textContent.slice(0, 40);
    const check = (what, bad) => found.push([what, bad.slice(0, 5).map(name).join("; ")]);
    const empty = (e) => { const b = e.getBoundingClientRect(); return !(b.width > 0 && b.height > 0); };
    const flat = (e) => { const b = e.getBBox(); return !(b.width > 0 && b.height > 0); };
    const outside = (e) => { const b = e.getBoundingClientRect();
        return b.width > 0 && !e.closest(".scroll table") && (b.left < -0.5 || b.right > wide + 0.5); };
    const small = (e) => e.firstChild && e.firstChild.nodeType === 3 && e.firstChild.data.trim() &&
        !e.closest("script, style, title") && parseFloat(getComputedStyle(e).fontSize) < 12;
    for (const id of ["roofline", "softmax", "decode", "accuracy"]) {
        const areas = all("#" + id + " .area");
        found.push([id + " is there", areas.length ? "" : "no drawing"]);
        check(id + " is drawn", areas.filter((e) => empty(e) || flat(e)));
        found.push([id + " has dots", all("#" + id + " .dot").length ? "" : "none"]);
        check(id + ": dots are drawn", all("#" + id + " .dot").filter(empty));
    }
    found.push(["bars are there", all(".bar").length ? "" : "none"]);
    check("bars are drawn", all(".bar").filter(empty));
    check("tables are drawn", all("table").filter(empty));
    check("nothing is wider than the window", all("body *").filter(outside));
    found.push(["no sideways scrolling", document.documentElement.scrollWidth > wide ? "page is wider" : ""]);
    check("no text below 12 px", all("body *").filter(small));
    const dot = document.querySelector("#roofline .dot"), tip = document.querySelector(".tip");
    dot.scrollIntoView({block: "center", behavior: "instant"});
    dot.dispatchEvent(new Event("pointerover", {bubbles: true}));
    found.push(["a dot tells its work", tip && !tip.hidden && tip.textContent.length > 10 ? "" : "no tip"]);
    check("the tip is in the window", [tip].filter((e) => empty(e) || outside(e)));
    document.body.dispatchEvent(new Event("pointerover", {bubbles: true}));
    found.push(["the tip goes", tip.hidden ? "" : "it stays"]);
    window.scrollTo({top: 0, behavior: "instant"});
    return found;
})()
"""


class Browser:
    """Chromium, and its messages."""

    def __init__(self, program, profile):
        command_read, self.write_end = os.pipe()
        self.read_end, answer_write = os.pipe()
        # Above 9, so that putting them in place as 3 and 4 overwrites neither.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (command_read, answer_write)]
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--hide-scrollbars", "--user-data-dir=" + profile,
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)))
        for end in ends + [command_read, answer_write]:
            os.close(end)
        self.text, self.id, self.session, self.events = b"", 0, None, []

    def message(self, deadline):
        while b"\0" not in self.text:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.read_end, 1 << 16) if ready else b""
            if not part:
                raise OSError("Chromium does not answer")
            self.text += part
        line, self.text = self.text.split(b"\0", 1)
        return json.loads(line.decode("utf-8"))

    def ask(self, method, **params):
        """The answer to a call. What arrives before it is an event."""
        self.id += 1
        call = {"id": self.id, "method": method, "params": params}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.write_end, json.dumps(call).encode("utf-8") + b"\0")
        while True:
            answer = self.message(time.monotonic() + SECONDS)
            if answer.get("id") != self.id:
                self.events.append(answer)
            elif "error" in answer:
                raise OSError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def wait_for(self, method):
        deadline = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message(deadline))

    def open_tab(self):
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(part + ".enable")

    def close(self):
        os.close(self.write_end)  # Chromium ends with its pipe
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def errors_in(events):
    """The errors of the page's script."""
    found = []
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            found.append(details.get("exception", {}).get("description") or details.get("text", "exception"))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            found.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            found.append(str(params["args"]))
    return found


def requests_in(events, page):
    urls = [event["params"]["request"]["url"] for event in events
            if event.get("method") == "Network.requestWillBeSent"]
    return [url for url in urls if url.split("#")[0] != page]


def picture(browser, width, path, tallest):
    size = browser.ask("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": width, "height": min(size["height"], tallest), "scale": 1}
    shot = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    with open(path, "wb") as file:
        file.write(base64.b64decode(shot["data"]))


def view(browser, page, width, height, scheme, path):
    """Pairs of a check and its fault, "" if there is none."""
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                mobile=width < 500)
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events = []
    browser.ask("Page.navigate", url=page)
    browser.wait_for("Page.loadEventFired")
    looked = browser.ask("Runtime.evaluate", expression=LOOK, returnByValue=True)
    if "exceptionDetails" in looked:
        return [("looking at it", str(looked["exceptionDetails"])[:400])]
    found = looked["result"]["value"]
    back = browser.ask("Runtime.evaluate", expression="getComputedStyle(document.body).backgroundColor",
                       returnByValue=True)["result"]["value"]
    is_dark = sum(map(int, back[back.index("(") + 1:-1].split(",")[:3])) < 384
    found.append(("its background is " + scheme, "" if is_dark == (scheme == "dark") else back))
    picture(browser, width, path + ".png", TALLEST)
    picture(browser, width, path + "-top.png", TOP)
    found.append(("no error in its script", "; ".join(errors_in(browser.events))))
    found.append(("nothing asked of the network", "; ".join(requests_in(browser.events, page))))
    return found


def main():
    program, page, directory = sys.argv[1:]
    url = "file://" + os.path.abspath(page)
    profile = tempfile.mkdtemp(prefix="profile-", dir=directory)
    browser = Browser(program, os.path.abspath(profile))
    passed = failed = 0
    try:
        browser.open_tab()
        for name, width, height, scheme in VIEWS:
            path = os.path.join(directory, f"{name}-{scheme}")
            for what, wrong in view(browser, url, width, height, scheme, path):
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"FAIL: {name}, {scheme}: {what}: {wrong}")
    except OSError as problem:
        print(f"FAIL: {problem}")
        failed += 1
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
