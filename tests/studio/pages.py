"""A page of the studio used as a person does: visited, clicked, typed into, dragged."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.reports.browser import Page

ROOT = Path(__file__).parents[2]
ROBOTS = ROOT / "tests" / "data" / "robots"


READY = "!!document.documentElement && document.documentElement.dataset.ready === '1'"
IDLE = "document.getElementById('status').textContent === '' && document.querySelectorAll('#equations-body .t').length"


def visit(browser: Page, url: str, width: int = 1600, height: int = 1000) -> Page:
    browser.said.clear()
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
    browser.wait(READY)
    browser.wait(IDLE)
    return browser


def press(browser: Page, name: str) -> None:
    browser.value(f"document.getElementById({name!r}).click()")


def text(browser: Page, name: str) -> str:
    return browser.value(f"document.getElementById({name!r}).textContent")


def upload(browser: Page, path: Path) -> None:
    before = text(browser, "robot-kind")
    content, name = json.dumps(path.read_text()), json.dumps(path.name)
    browser.value(
        f"(() => {{ const d = new DataTransfer(); d.items.add(new File([{content}], {name}));"
        " const i = document.getElementById('upload'); i.files = d.files; i.dispatchEvent(new Event('change')); })()"
    )
    browser.wait(
        f"document.getElementById('robot-kind').textContent !== {json.dumps(before)}"
        " || !document.getElementById('problem').hidden"
    )


def enter(browser: Page, place: list[Any], entry: str) -> None:
    """Type into a cell of the table as a person does."""
    wanted = json.dumps(json.dumps(place, separators=(",", ":")))
    find = f"Array.from(document.querySelectorAll('#tables input')).find((i) => i.dataset.place === {wanted})"
    browser.value(f"{find}.focus(), {find}.select()")
    browser.call("Input.insertText", text=entry)
    key(browser, "Tab")


def key(browser: Page, name: str) -> None:
    codes = {
        "Tab": 9,
        "Enter": 13,
        "ArrowRight": 39,
        "ArrowLeft": 37,
        "ArrowUp": 38,
        "ArrowDown": 40,
        "End": 35,
        "Home": 36,
        " ": 32,
    }
    for kind in ("keyDown", "keyUp"):
        extra = {"text": {"Enter": "\r", " ": " "}[name]} if name in ("Enter", " ") and kind == "keyDown" else {}
        browser.call(
            "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes[name], **extra
        )


def drag(browser: Page, joint: int, value: float) -> None:
    browser.value(
        f"(() => {{ const i = document.querySelectorAll('#joints input')[{joint}]; i.value = {value};"
        " i.dispatchEvent(new Event('input')); })()"
    )


def status(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as problem:
        problem.close()
        return problem.code


def choose(browser: Page, name: str, value: str) -> None:
    """Take an option of a list."""
    browser.value(
        f"(() => {{ const s = document.getElementById({name!r}); s.value = {json.dumps(value)};"
        " s.dispatchEvent(new Event('change')); })()"
    )


def switch(browser: Page, robot: str) -> None:
    """Open another robot of the library or the folder, and wait for its page."""
    browser.value("document.getElementById('robot-kind').textContent = ''")
    choose(browser, "robot", robot)
    browser.wait("document.getElementById('robot-kind').textContent || !document.getElementById('problem').hidden")
    browser.wait("document.getElementById('status').textContent === ''")
