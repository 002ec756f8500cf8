"""The page in a real browser: nothing foreign runs, mathematics is set, the slider and the picture work."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import emdeg
from emdeg.reports import report
from tests.reports.browser import CHROMIUM, Page, page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

HOSTILE = (
    "</script><script>window.ran=1</script>",
    "<img src=x onerror=window.ran=2>",
    '" onmouseover=window.ran=3 x="',
    "'; window.ran=4; //",
    "<svg onload=window.ran=5>",
    "]]><!--&lt;b&gt;",
    "javascript:window.ran=6",
    "\\u003cscript\\u003ewindow.ran=7\\u003c/script\\u003e",
)

ROBOT = """schema = 1
name = "hostile"
convention = "modified"
title = {title}
source = {source}
[[link]]
name = {link1}
joint = {{ name = {joint1}, type = "revolute", alpha = 0, a = 0, d = 0, source = {note} }}
inertia = {{ about = "com", mass = 1, com = [0.2, 0, 0], Ixx = 0.01, Iyy = 0.02, Izz = 0.02 }}
[[link]]
name = {link2}
joint = {{ name = {joint2}, type = "revolute", alpha = 0, a = 0.4, d = 0 }}
inertia = {{ about = "com", mass = 0.01, com = [0.1, 0, 0], Ixx = 1e-4, Iyy = 1e-4, Izz = 1e-4 }}
"""


def hostile_file(folder: Path) -> Path:
    """A robot whose every name is an attack."""
    quoted = [
        f'"{name.translate(str.maketrans({chr(92): chr(92) * 2, chr(34): chr(92) + chr(34)}))}"' for name in HOSTILE
    ]
    keys = ("", "title", "source", "link1", "joint1", "note", "link2", "joint2")
    path = folder / "hostile.toml"
    path.write_text(ROBOT.format(**dict(zip(keys, quoted))), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages under test, made once."""
    folder = tmp_path_factory.mktemp("reports")
    hostile = replace(emdeg.load(hostile_file(folder)), name=HOSTILE[0])
    robots = {
        "planar2r": emdeg.load("planar2r"),
        "delta": emdeg.load("delta"),
        "hostile": hostile,
    }
    words = {"hostile": ["<script>window.ran=8</script>.toml"]}
    return {
        name: report(robot, folder / name, words=words.get(name, [name]), stem=name).files[0]
        for name, robot in robots.items()
    }


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    with page(tmp_path_factory.mktemp("profile")) as one:
        yield one


def quiet(browser: Page, path: Path) -> bool:
    """Nothing was said since the page opened, and nothing but the page itself was asked for."""
    own = [path.resolve().as_uri()]
    return not browser.said and [url for url in browser.requests if not url.startswith("data:")] == own


def opened(browser: Page, path: Path, width: int = 1200) -> Page:
    browser.said.clear()
    browser.requests.clear()
    browser.open(path, width)
    return browser


def ink(browser: Page) -> np.ndarray:
    """The colours of the canvas, pixels that are not transparent only."""
    browser.drawn()
    packed = browser.value("document.getElementById('canvas').toDataURL()").partition(",")[2]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(packed))).convert("RGBA")).reshape(-1, 4)
    return pixels[pixels[:, 3] > 0][:, :3]


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("name", ["planar2r", "delta"])
def test_page_is_quiet_and_fits(browser: Page, reports: dict[str, Path], name: str, width: int) -> None:
    opened(browser, reports[name], width)
    assert quiet(browser, reports[name]), (browser.said, browser.requests)
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_mathematics_is_typeset(browser: Page, reports: dict[str, Path]) -> None:
    """A subscript stands lower than its letter only where the browser sets MathML."""
    opened(browser, reports["planar2r"])
    assert browser.value("document.querySelectorAll('math').length") > 20
    lower = browser.value(
        "(() => { const m = document.querySelector('.entry msub'), [a, b] = m.children;"
        " return b.getBoundingClientRect().bottom - a.getBoundingClientRect().bottom; })()"
    )
    assert lower > 1


def test_picture_shows_links_and_axes_and_turns(browser: Page, reports: dict[str, Path]) -> None:
    for name in ("planar2r", "delta"):
        opened(browser, reports[name])
        before = ink(browser)
        assert len(before) > 2000
        for axis in ((0xD5, 0x5E, 0x00), (0x00, 0x9E, 0x73), (0x00, 0x72, 0xB2)):
            near = np.abs(before.astype(int) - axis).max(axis=1) < 30
            assert near.sum() > 10, (name, axis)
        where = browser.value("(() => { const r = canvas.getBoundingClientRect(); return [r.x + 100, r.y + 100]; })()")
        for kind, dx in (("mousePressed", 0), ("mouseMoved", 80), ("mouseReleased", 80)):
            browser.call(
                "Input.dispatchMouseEvent", type=kind, x=where[0] + dx, y=where[1], button="left", clickCount=1
            )
        after = ink(browser)
        assert len(before) != len(after) or (before != after).any()
        assert quiet(browser, reports[name])


def test_screenshot_has_the_picture(browser: Page, reports: dict[str, Path]) -> None:
    opened(browser, reports["planar2r"])
    box = browser.value("(() => { const r = canvas.getBoundingClientRect(); return [r.x, r.y, r.right, r.bottom]; })()")
    picture = np.asarray(Image.open(io.BytesIO(browser.picture())).convert("RGB").crop([round(v) for v in box])).astype(
        int
    )
    dark = (picture.max(axis=2) < 180).sum()
    assert dark > 500


def test_slider_hides_terms_and_tells_the_price(browser: Page, reports: dict[str, Path]) -> None:
    opened(browser, reports["hostile"])
    levels = browser.value("JSON.parse(document.getElementById('level-data').textContent)")
    last = len(levels) - 1
    gone = "document.querySelectorAll('.t.gone').length"
    assert browser.value(gone) == 0
    browser.value(f"level.value = {last}; level.dispatchEvent(new Event('input'))")
    assert browser.value(gone) == browser.value("document.querySelectorAll('.t[data-goes]').length") > 0
    sizes = "Array.from(e.querySelectorAll('.l')).map((t) => parseFloat(t.title))"
    left = browser.value(f"Array.from(document.querySelectorAll('.left')).map((e) => {sizes})")
    assert sum(map(len, left)) == browser.value(gone)
    assert all(one == sorted(one, reverse=True) for one in left)
    shown = browser.value("document.getElementById('level-text').textContent")
    assert f"{levels[last]['terms']} of {levels[0]['terms']} terms" in shown
    assert "certified below" in shown
    hidden = browser.value("getComputedStyle(document.querySelector('.t.gone')).display")
    assert hidden == "none"
    for k, level in enumerate(levels):
        browser.value(f"level.value = {k}; level.dispatchEvent(new Event('input'))")
        named = browser.value("document.getElementById('level-name').textContent")
        assert named == (f"{100 * level['threshold']:g} % of the greatest" if k else "nothing")
        if level["terms"] < levels[0]["terms"]:
            told = browser.value("document.getElementById('level-text').textContent")
            stated = float(told.partition("certified below ")[2].partition(" %")[0]) / 100
            assert level["certified"] <= stated <= 1.1 * level["certified"]
    browser.value("level.value = 0; level.dispatchEvent(new Event('input'))")
    assert browser.value(gone) == 0
    assert browser.value("document.querySelectorAll('.left').length") == 0
    assert quiet(browser, reports["hostile"])


@pytest.mark.parametrize("name", ["planar2r", "delta"])
def test_numbers_under_the_sliders_are_the_mechanics(browser: Page, reports: dict[str, Path], name: str) -> None:
    """M, g and the effort that the page computes at a state are those of the reference, to the digits shown."""
    robot = emdeg.load(name)
    opened(browser, reports[name])
    browser.wait("!document.getElementById('live-box').hidden")
    if name == "planar2r":
        for k, value in enumerate((0.4, -1.1)):
            browser.value(
                f"(() => {{ const i = document.querySelectorAll('#joints input')[{k + 1}]; i.value = {value};"
                " i.dispatchEvent(new Event('input')); })()"
            )
    browser.value(
        "document.querySelectorAll('#live input').forEach((i, k) => { i.value = 0.3 + 0.2 * k;"
        " i.dispatchEvent(new Event('input')); })"
    )
    n = robot.freedoms
    shown = [[float(v) for v in row] for row in browser.value(_CELLS)]
    q = [float(v) for v in browser.value(_POSITIONS)]
    rates = np.array([0.3 + 0.2 * k for k in range(2 * n)])
    qd, qdd = rates[0::2], rates[1::2]
    M, g = np.asarray(emdeg.mass_matrix(robot, q)), np.asarray(emdeg.gravity(robot, q))
    tau = np.asarray(emdeg.inverse_dynamics(robot, q, qd, qdd))
    own = robot.driven == robot.coordinates
    told_g = [row[1] for row in shown[:n]]
    told_tau = [row[2] for row in shown[:n]] if own else [row[0] for row in shown[n : 2 * n]]
    told_M = shown[n if own else 2 * n :]
    scale = 2e-3  # a position is shown with four digits, and so is what is computed of it
    np.testing.assert_allclose(told_g, g, rtol=scale, atol=scale * abs(g).max())
    np.testing.assert_allclose(told_tau, tau, rtol=scale, atol=scale * abs(tau).max())
    np.testing.assert_allclose(told_M, M, rtol=scale, atol=scale * abs(M).max())
    assert quiet(browser, reports[name])


_CELLS = (
    "Array.from(document.querySelectorAll('#live tbody tr')).map((r) => Array.from(r.querySelectorAll('td.n'))"
    ".map((c) => c.textContent))"
)
_POSITIONS = (
    "Array.from(document.querySelectorAll('#live tbody')).slice(0, 1).flatMap((b) => Array.from(b.rows)"
    ".map((r) => r.cells[1].textContent))"
)


def test_code_is_shown_where_it_is_saved_from(browser: Page, reports: dict[str, Path]) -> None:
    opened(browser, reports["planar2r"])
    assert browser.value("document.querySelectorAll('.files details').length") == 8
    browser.value("document.querySelector('.files details').open = true")
    browser.wait("document.querySelector('.files pre').textContent.length > 0")
    assert "void planar2r_inverse_dynamics(" in browser.value("document.querySelector('.files pre').textContent")


def test_wheel_over_the_picture_scrolls_the_page(browser: Page, reports: dict[str, Path]) -> None:
    opened(browser, reports["planar2r"])
    browser.value("document.documentElement.style.scrollBehavior = 'auto'")
    x, y = browser.value("(() => { const r = canvas.getBoundingClientRect(); return [r.x + 90, r.y + 90]; })()")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=240)
    browser.wait("scrollY > 100")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_the_light_and_in_the_dark(browser: Page, reports: dict[str, Path], scheme: str) -> None:
    """WCAG's AA; the button turns the page to the other scheme, whatever the system prefers."""
    browser.scheme(scheme)
    try:
        opened(browser, reports["planar2r"])
        assert browser.faint() == []
        ground = "getComputedStyle(document.body).backgroundColor"
        before = browser.value(ground)
        browser.value("theme.click()")
        assert browser.value(ground) != before
        assert browser.faint() == []
    finally:
        browser.scheme("light")


def test_long_names_of_joints_are_shown_whole(browser: Page, tmp_path: Path) -> None:
    names = ("left_shoulder_pan_joint_of_the_robot", "right_gripper_finger_distal_link_joint")
    text = ROBOT.format(title='"t"', source='"s"', link1='"a"', link2='"b"', note='"n"', joint1='"J1"', joint2='"J2"')
    (tmp_path / "long.toml").write_text(text.replace("J1", names[0]).replace("J2", names[1]))
    made = report(emdeg.load(tmp_path / "long.toml"), tmp_path / "out", words=["long.toml"]).files[0]
    opened(browser, made, 400)
    for name in names:
        cut = browser.value(
            "Array.from(document.querySelectorAll('#joints span')).filter((s) => s.textContent === "
            f"{name!r} && s.scrollWidth <= s.clientWidth + 1).length"
        )
        assert cut == 1
        drawn = browser.value(
            f"Array.from(document.querySelectorAll('svg text')).filter((t) => t.textContent.includes({name!r})).length"
        )
        assert drawn >= 4  # inertia, gravity, couplings, efforts
    assert browser.value("document.documentElement.scrollWidth") <= 400


def test_no_figure_is_cut_off(browser: Page, reports: dict[str, Path]) -> None:
    """Every text of a chart lies within the chart."""
    for name in ("planar2r", "delta"):
        opened(browser, reports[name])
        beyond = browser.value(
            "Array.from(document.querySelectorAll('figure svg')).flatMap((svg) => {"
            " const s = svg.getBoundingClientRect();"
            " return Array.from(svg.querySelectorAll('text')).filter((t) => { const r = t.getBoundingClientRect();"
            " return r.width && (r.right > s.right + 2 || r.left < s.left - 2); }).map((t) => t.textContent); })"
        )
        assert beyond == [], name


def test_entries_fold(browser: Page, reports: dict[str, Path]) -> None:
    opened(browser, reports["planar2r"])
    browser.value("document.querySelectorAll('button.none').forEach((b) => b.click())")
    assert browser.value("document.querySelectorAll('details.entry[open]').length") == 0
    browser.value("document.querySelectorAll('button.all').forEach((b) => b.click())")
    assert browser.value("document.querySelectorAll('details.entry:not([open])').length") == 0


def test_hostile_names_run_nothing(browser: Page, reports: dict[str, Path]) -> None:
    """Every name of the robot and the command is an attack; each is shown as it is written and none runs."""
    opened(browser, reports["hostile"])
    assert quiet(browser, reports["hostile"]), (browser.said, browser.requests)
    browser.value(
        "document.querySelectorAll('*').forEach((e) => {"
        " for (const n of ['click', 'mouseover', 'focus', 'error', 'load'])"
        " if (e.tagName !== 'A') e.dispatchEvent(new Event(n)); })"
    )
    assert browser.value("window.ran === undefined")
    assert browser.value("document.querySelectorAll('script:not([type])').length") == 1
    assert browser.value("document.images.length") == 0
    handlers = (
        "Array.from(document.querySelectorAll('*')).some((e) => e.getAttributeNames().some((n) => n.startsWith('on')))"
    )
    assert not browser.value(handlers)
    shown = browser.value("document.body.innerText")
    for name in HOSTILE[:1] + HOSTILE[3:5]:
        assert name in shown, name


def test_policy_refuses_other_scripts(browser: Page, reports: dict[str, Path]) -> None:
    """Even markup that got into the page would not run."""
    opened(browser, reports["planar2r"])
    browser.value(
        "(() => { const s = document.createElement('script');"
        " s.textContent = 'window.ran = 9'; document.body.append(s);"
        " const d = document.createElement('div'); d.innerHTML = '<img src=x onerror=\"window.ran = 10\">';"
        " document.body.append(d); })()"
    )
    browser.value("new Promise((done) => setTimeout(done, 200))")
    assert browser.value("window.ran === undefined")
    assert any("Content Security Policy" in line for line in browser.said)
