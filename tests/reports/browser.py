"""Headless Chromium for tests: a page opened from a file, looked at and used through the DevTools protocol.

The protocol runs over a pair of pipes (--remote-debugging-pipe), so nothing but the browser itself is needed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
SECONDS = 300.0

_CONTRAST = """(least) => {
  const parse = (c) => { const v = c.match(/[\\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const over = (a, b) => [0, 1, 2].map((k) => a[k] * a[3] + b[k] * (1 - a[3])).concat(1);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, k) => {
    const v = c[k] / 255; return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const ground = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) layers.push(parse(getComputedStyle(p).backgroundColor));
    const page = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((below, layer) => over(layer, below), page);
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (e.closest('svg, script, style, [disabled], [aria-disabled=true], [aria-hidden=true], .disabled')) continue;
    const below = ground(e), ink = over(parse(style.color), below), a = light(ink), b = light(below);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    if (ratio < (large ? 3 : least))
      found.push([node.data.trim().slice(0, 40), +ratio.toFixed(2), style.color, below.join()]);
  }
  return found;
}"""


_LEFT = ("Inspected target navigated", "Cannot find context", "Execution context was destroyed")


class PageLeft(Exception):
    """What was asked of a page was not answered before it gave way to another."""


class Page:
    """One page. `said` holds console messages, uncaught exceptions, refused resources and dialogs."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._calls = 0
        self._session: str | None = None
        self.said: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        mine = self._calls
        message: dict[str, Any] = {"id": mine, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            answer = self._next()
            if answer.get("id") == mine:
                failure = answer.get("error", {}).get("message", "")
                if any(words in failure for words in _LEFT):
                    raise PageLeft(failure)
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
        raise TimeoutError(method)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._from, 1 << 16)
            assert got, "the browser has gone"
            self._rest += got
        first, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(first)
        self._heard(message.get("method", ""), message.get("params", {}))
        return message

    def _heard(self, method: str, data: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.said.append(f"console.{data['type']}: {[a.get('value') for a in data['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.said.append(f"exception: {data['exceptionDetails']}")
        elif method == "Log.entryAdded":
            self.said.append(f"log: {data['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.said.append(f"dialog: {data['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])

    def open(self, path: Path, width: int = 1200, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")
        self.drawn()

    def drawn(self) -> None:
        """Waits until it is there what the page asked for: its scripts draw just before the next frame."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def wait(self, condition: str, seconds: float = SECONDS) -> None:
        end = time.monotonic() + seconds
        while not self._holds(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        try:
            return bool(self.value(condition))
        except PageLeft:  # for the one that is waited for
            return False

    def value(self, expression: str) -> Any:
        """What a JavaScript expression yields, run by the debugger: the page's policy does not apply to it."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def scheme(self, name: str) -> None:
        """What the system prefers: light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def faint(self, least: float = 4.5) -> list[Any]:
        """Texts on the page whose contrast is less than WCAG's AA asks for (3 where they are large)."""
        return self.value(f"({_CONTRAST})({least})")

    def picture(self) -> bytes:
        self.drawn()
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """A page of a browser of its own, which ends with the block."""
    assert CHROMIUM is not None
    read_there, write_here = os.pipe()
    read_here, write_there = os.pipe()
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
    # The browser reads from descriptor 3 and writes to 4.
    start = "import os, sys; r, w, *run = sys.argv[1:]; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execv(run[0], run)"
    here = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (read_there, write_there)]
    browser = subprocess.Popen(
        [sys.executable, "-c", start, *map(str, here), CHROMIUM, *options, "--remote-debugging-pipe"],
        pass_fds=here,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in here:
        os.close(end)
    os.close(read_there)
    os.close(write_there)
    try:
        yield Page(write_here, read_here)
    finally:
        browser.terminate()
        browser.wait(10)
        os.close(write_here)
        os.close(read_here)
