"""The studio's moving picture in README, and how long a dragged joint takes, from the real page in a real browser.

python tools/studio_pictures.py picture     writes docs/images/studio.webp
python tools/studio_pictures.py frames      prints milliseconds from an input event to its painted frame
python tools/studio_pictures.py busy        the same while a search runs, and while twenty pages are being opened
python tools/studio_pictures.py formulas    prints seconds from a changed entry to its formulas, painted
"""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME))

from tests.reports.browser import Page, page  # noqa: E402

PICTURE = HOME / "docs" / "images" / "studio.webp"
FRAMES, SECONDS, MOST = 36, 6.0, 3_000_000
SIZE = (1280, 760)
READY = "!!document.documentElement && document.documentElement.dataset.ready === '1'"
SHADED = (
    "document.querySelectorAll('.t[data-kind]').length > 10 && document.getElementById('status').textContent === ''"
)
MEASURE = """
  window.took = [];
  document.addEventListener('input', (e) => requestAnimationFrame(() => {
    const after = new MessageChannel();  // its message comes when the frame is painted
    after.port1.onmessage = () => took.push(performance.now() - e.timeStamp);
    after.port2.postMessage(0);
  }), true);
"""


@contextmanager
def studio(robot: str) -> Iterator[Page]:
    """The page of a studio of its own."""
    command = [sys.executable, "-m", "emdeg.cli", "studio", robot, "--no-browser", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "PYTHONPATH": str(HOME / "src")}  # this checkout's page, whatever is installed
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=own)
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["result"]["url"]
            with page(Path(folder) / "profile") as one:
                size = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
                one.call("Emulation.setDeviceMetricsOverride", **size)
                for _ in range(60):
                    one.call("Page.navigate", url=address)
                    if "token" not in one.value("location.href"):
                        break
                one.wait(READY)
                one.wait(SHADED)
                yield one
        finally:
            server.terminate()
            server.wait(20)


def joint(k: int, value: float) -> str:
    return (
        f"(() => {{ const i = document.querySelectorAll('#joints input')[{k}]; i.value = {value};"
        " i.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def picture() -> None:
    """A robot moves, and its terms' shades follow."""
    drawn = []
    with studio("puma560") as one:
        one.value("document.querySelector('#equations-body .entry').scrollIntoView()")
        for k in range(FRAMES):
            turn = 2 * math.pi * k / FRAMES
            for number, (middle, reach, phase) in enumerate(
                ((0.2, 0.9, 0), (-0.8, 0.6, 1), (0.6, 0.8, 2), (0, 1.2, 3))
            ):
                one.value(joint(number, middle + reach * math.sin(turn + phase)))
            one.value("new Promise((done) => setTimeout(() => done(0), 250))")  # the shades come after the picture
            shot = Image.open(io.BytesIO(one.picture())).convert("RGB")
            drawn.append(shot.resize((SIZE[0] * 3 // 4, SIZE[1] * 3 // 4), Image.Resampling.LANCZOS))
    for quality in (70, 50, 35, 20):
        drawn[0].save(
            PICTURE,
            save_all=True,
            append_images=drawn[1:],
            duration=round(1000 * SECONDS / FRAMES),
            loop=0,
            quality=quality,
            method=4,
        )
        if PICTURE.stat().st_size <= MOST:
            break
    print(f"{PICTURE.relative_to(HOME)}: {PICTURE.stat().st_size / 1e6:.2f} MB")


def frames(robot: str = "iiwa14", count: int = 200) -> None:
    """Milliseconds from an input event to its painted frame, a joint dragged: middle and 95 %, by panel."""
    with studio(robot) as one:
        one.value(MEASURE)
        for panel in ("equations", "numbers"):
            print(f"{robot}, {panel}: {dragged(one, panel, count)}")


def dragged(one: Page, panel: str, count: int) -> str:
    """How long painting took after each of so many movements of a joint, in words."""
    one.value(f"document.getElementById('tab-{panel}').click(), took.length = 0")
    for k in range(count):
        one.value(joint(k % 7, math.sin(0.1 * k)))
        one.value("new Promise((done) => setTimeout(() => done(0), 16))")
    one.wait(f"took.length >= {count}")
    took = sorted(one.value("took"))
    return f"middle {took[count // 2]:.1f} ms, 95 % {took[int(0.95 * count)]:.1f} ms ({load()})"


def load() -> str:
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def busy(robot: str = "iiwa14", count: int = 200, pages: int = 20) -> None:
    """The same while the studio searches for a smaller program, and while so many other pages are being opened."""
    with studio(robot) as one:
        one.value(MEASURE)
        one.value("document.getElementById('seconds').value = 600, document.getElementById('search').click()")
        one.wait("!!document.querySelector('#falling svg')")
        print(f"{robot}, a search running: {dragged(one, 'numbers', count)}")
        one.value("document.getElementById('stop').click()")
        one.wait("document.getElementById('proof').textContent.includes('Proved')")
        address = one.value("location.origin")
        for _ in range(pages):
            one.call("Target.createTarget", url=address, background=True)
        print(f"{robot}, {pages} pages being opened: {dragged(one, 'numbers', count)}")


CHANGED = """new Promise((done) => {{
  const body = document.getElementById('equations-body'), was = body.querySelector('.t');
  const cell = Array.from(document.querySelectorAll('#tables input')).find((i) => i.dataset.path === '{path}');
  const began = performance.now();
  cell.value = '{value}'; cell.dispatchEvent(new Event('change'));
  const look = () => {{
    const now = body.querySelector('.t[data-kind]');
    if (now && now !== was) requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
    else requestAnimationFrame(look);
  }};
  look();
}})"""


def formulas(robot: str = "puma560", path: str = "q3.a", count: int = 9) -> None:
    """Seconds from a changed entry of the table to its new formulas, painted: middle and greatest."""
    with studio(robot) as one:
        took = []
        for k in range(count):
            took.append(one.value(CHANGED.format(path=path, value=0.4 + 0.01 * k)) / 1000)
            one.wait(SHADED)
        took.sort()
        print(f"{robot}, {path}: middle {took[count // 2]:.2f} s, greatest {took[-1]:.2f} s ({load()})")


if __name__ == "__main__":
    {"picture": picture, "frames": frames, "busy": busy, "formulas": formulas}[
        sys.argv[1] if len(sys.argv) > 1 else "frames"
    ]()
