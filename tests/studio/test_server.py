"""The studio in a real browser: every panel used, hostile robots, two browsers, reload, keyboard, widths, schemes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import emdeg
from tests.reports.browser import CHROMIUM, Page, page
from tests.reports.test_browser import HOSTILE, hostile_file
from tests.studio.pages import IDLE, READY, ROBOTS, choose, drag, enter, key, press, status, text, upload, visit

pytestmark = [
    pytest.mark.studio,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


def test_without_the_token_there_is_nothing(url: str) -> None:
    base, _, token = url.partition("?token=")
    for path in ("", "own/studio.js", "_nicegui/", "studio/x/y", "_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        assert status(base + path) == 403
    port = base.rpartition(":")[2].strip("/")
    cookie = f"emdeg_studio_{port}={token}"
    assert status(base + "own/studio.js", Cookie=cookie, Host="evil.example") == 403
    assert status(base + "own/studio.js", Cookie=cookie, Origin="http://evil.example") == 403
    assert status(base + "own/studio.js", Cookie=cookie) == 200


def test_page_is_quiet_loads_nothing_foreign_and_forgets_the_token(browser: Page, url: str) -> None:
    browser.requests.clear()
    visit(browser, url)
    assert browser.said == []
    host = re.match(r"http://[^/]+", url)[0]  # type: ignore[index]
    known = (host, host.replace("http", "ws"), "data:", "blob:", "about:")
    foreign = [one for one in browser.requests if not one.startswith(known)]
    assert foreign == []
    assert "token" not in browser.value("location.href")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_every_panel_fits_and_can_be_read(browser: Page, url: str, width: int, scheme: str) -> None:
    browser.scheme(scheme)
    try:
        visit(browser, url, width)
        for tab in ("equations", "numbers", "table", "code", "motion", "share"):
            press(browser, f"tab-{tab}")
            assert not browser.value(f"document.getElementById('{tab}-panel').hidden")
            if tab == "numbers":
                for button in ("remember", "graph"):
                    press(browser, button)
                browser.wait("document.querySelectorAll('#beside table').length > 0")
            assert browser.value("document.documentElement.scrollWidth") <= width, tab
            assert browser.faint() == [], tab
    finally:
        browser.scheme("light")


def test_numbers_follow_a_joint(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-numbers")
    robot = emdeg.load("planar2r")
    for q in ([0.3, -0.7], [-1.2, 0.4]):
        for k, value in enumerate(q):
            drag(browser, k, value)
        at = [
            float(v)
            for v in browser.value(
                "Array.from(document.querySelectorAll('#live tbody')[0].rows).map((r) => r.cells[1].textContent)"
            )
        ]
        np.testing.assert_allclose(at, q, atol=0.02)
        g = [
            float(v)
            for v in browser.value(
                "Array.from(document.querySelectorAll('#live tbody')[0].rows).map((r) => r.cells[4].textContent)"
            )
        ]
        np.testing.assert_allclose(g, emdeg.gravity(robot, at), rtol=2e-3, atol=1e-3)
    press(browser, "graph")
    browser.wait("document.querySelectorAll('#graph-body polyline').length > 2")
    press(browser, "remember")
    assert "planar2r" in text(browser, "beside")


def test_terms_are_shaded_by_their_size_here_and_lead_to_their_source(browser: Page, url: str) -> None:
    visit(browser, url)
    shades = "Array.from(document.querySelectorAll('.t[data-constant]')).map((t) => t.dataset.kind).join()"
    drag(browser, 1, 0.0)
    browser.wait(f"{shades} !== ''")
    before = browser.value(shades)
    drag(browser, 1, 1.5707)
    browser.wait(f"{shades} !== {before!r}")
    browser.value("document.querySelector('.t[data-constant]').click()")
    assert "It is made of" in text(browser, "constant")
    assert browser.value("document.querySelectorAll('.t.chosen').length") >= 1
    press(browser, "thresholds")
    browser.wait("!document.getElementById('threshold-bar').hidden")
    assert "the exact model" in text(browser, "level-text")


def test_a_changed_length_changes_formulas_and_can_be_undone_and_saved(browser: Page, url: str, folder: Path) -> None:
    visit(browser, url)
    press(browser, "tab-table")
    enter(browser, ["link", 1, "joint", "a"], "0,9")
    browser.wait("!!document.querySelector('.message')")
    assert "a decimal is written with a point" in browser.value("document.querySelector('.message').textContent")
    assert browser.value("document.getElementById('undo').disabled")
    enter(browser, ["link", 1, "joint", "a"], "0.9")
    browser.wait("!document.getElementById('undo').disabled")
    browser.wait(IDLE)
    assert "+joint" in text(browser, "difference")
    assert not browser.value("!!document.querySelector('.message')")
    browser.value("document.getElementById('save-name').value = 'saved.toml'")
    press(browser, "save")
    browser.wait("document.getElementById('status').textContent.includes('saved as')")
    assert float(emdeg.load(folder / "saved.toml").joints[1].placement.a) == 0.9
    press(browser, "save")
    browser.value("document.getElementById('save-name').value = '../evil.toml'")
    press(browser, "save")
    browser.wait("!document.getElementById('problem').hidden")
    assert not (folder.parent / "evil.toml").exists()
    press(browser, "undo")
    browser.wait("document.getElementById('difference').textContent === 'nothing'")
    browser.wait(IDLE)


def test_code_is_emitted_proved_and_searched_for(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-code")
    browser.value("document.getElementById('target').value = 'js'")
    press(browser, "emit")
    browser.wait("document.getElementById('code').textContent.includes('export function')")
    assert "Proved" in text(browser, "proof")
    assert browser.value("document.getElementById('save-certificate').download").endswith(".certificate.json")
    browser.value("document.getElementById('seconds').value = 600; document.getElementById('proof').textContent = ''")
    press(browser, "search")
    browser.wait("!!document.querySelector('#falling svg') || document.getElementById('proof').textContent")
    press(browser, "stop")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")


def test_a_motion_is_simulated_and_scrubbed(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-motion")
    press(browser, "simulate")
    browser.wait("document.querySelectorAll('#curves svg').length > 3")
    assert "tracking error" in text(browser, "outcome")
    values = "Array.from(document.querySelectorAll('#joints input')).map((i) => i.value).join()"
    before = browser.value(values)
    scrub = "const s = document.getElementById('scrub'); s.value = s.max; s.dispatchEvent(new Event('input'));"
    browser.value(f"(() => {{ {scrub} }})()")
    assert browser.value(values) != before
    press(browser, "play")
    browser.wait("document.getElementById('play').textContent === 'play'")


def test_a_page_comes_back_from_its_file_and_after_a_reload(browser: Page, url: str, tmp_path: Path) -> None:
    visit(browser, url)
    press(browser, "tab-numbers")
    browser.value(
        "(() => { const i = document.querySelector('#live input'); i.value = 2.5; i.dispatchEvent(new Event('input'));"
        " document.querySelector('[data-show=ellipsoids]').click(); document.getElementById('take-goal').click(); })()"
    )
    for name, value in (("shading", "most"), ("part", "J"), ("target", "python"), ("graph-what", "mass_matrix")):
        choose(browser, name, value)
    drag(browser, 0, 0.5)
    browser.wait("new Promise((done) => setTimeout(() => done(true), 1200))")
    browser.value("document.documentElement.dataset.ready = ''")
    browser.call("Page.reload")
    browser.wait(READY)
    browser.wait(IDLE)
    assert abs(browser.value("+document.querySelectorAll('#joints input')[0].value") - 0.5) < 0.02
    browser.value("void (URL.createObjectURL = (blob) => { window.shared = blob.text(); return '#'; })")
    press(browser, "share")
    browser.wait("!!window.shared")
    kept = tmp_path / "page.json"
    kept.write_text(browser.value("window.shared"))
    visit(browser, url)
    assert abs(browser.value("+document.querySelectorAll('#joints input')[0].value") - 0.5) > 0.02
    browser.value("document.getElementById('robot-kind').textContent = ''")
    upload(browser, kept)
    browser.wait("Math.abs(+document.querySelectorAll('#joints input')[0].value - 0.5) < 0.02")
    browser.wait("document.querySelectorAll('#part-body .t').length > 2")  # what was beside the equations, too
    assert browser.value("+document.querySelector('#live input').value") == 2.5
    assert not browser.value("document.getElementById('numbers-panel').hidden")
    assert browser.value("document.querySelector('[data-show=ellipsoids]').checked")
    chosen = "['shading', 'part', 'target', 'graph-what'].map((id) => document.getElementById(id).value)"
    assert browser.value(chosen) == ["most", "J", "python", "mass_matrix"]
    assert "to (" in text(browser, "way")


@pytest.mark.parametrize("name", ["two_arms.urdf", "wrist.xml"])
def test_uploaded_robots_have_every_panel(browser: Page, url: str, name: str) -> None:
    visit(browser, url)
    upload(browser, ROBOTS / name)
    assert text(browser, "problem") == ""
    browser.wait("document.getElementById('status').textContent === ''")
    browser.wait(IDLE)
    browser.wait("document.querySelectorAll('.t[data-kind]').length > 10")
    press(browser, "tab-numbers")
    assert browser.value("document.querySelectorAll('#live td.n').length") > 12
    press(browser, "emit")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")
    press(browser, "simulate")
    browser.wait("document.querySelectorAll('#curves svg').length > 3")
    assert text(browser, "problem") == ""
    assert browser.value("document.getElementById('robot').value") == ""  # it is none of the list
    assert browser.said == []


def test_hostile_robots_and_files_run_nothing_and_break_nothing(browser: Page, url: str, tmp_path: Path) -> None:
    visit(browser, url)
    upload(browser, hostile_file(tmp_path))
    browser.wait(IDLE)
    for tab in ("equations", "numbers", "table", "code", "motion", "share"):
        press(browser, f"tab-{tab}")
    press(browser, "emit")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")
    press(browser, "simulate")
    browser.wait("document.querySelectorAll('#curves svg').length > 3")
    assert browser.value("window.ran === undefined")
    shown = text(browser, "joints") + text(browser, "tables")
    assert HOSTILE[4] in shown
    press(browser, "tab-equations")
    for part in ("J", "kane"):
        choose(browser, "part", part)
        browser.wait("document.getElementById('status').textContent === ''")
        browser.wait("document.querySelectorAll('#part-body .t[data-constant]').length > 1")
        pointed = "new PointerEvent('pointerover', { bubbles: true })"
        browser.value(
            "document.querySelectorAll('#part-body .t').forEach((t) => {"
            f" t.dispatchEvent({pointed}); if (t.dataset.constant) t.click(); }})"
        )
        assert "It is made of" in text(browser, "constant")
    browser.value("void (URL.createObjectURL = (blob) => { window.shared = blob.text(); return '#'; })")
    press(browser, "share")
    browser.wait("!!window.shared")
    page = json.loads(browser.value("window.shared"))
    attack = "<img src=x onerror='window.ran = 12'>"
    page["state"] |= {
        "q": [attack] * len(page["state"]["q"]),
        "tab": attack,
        "from": attack,
        "qd": [attack],
        "shown": 3,
    }
    page["state"]["fields"] = dict.fromkeys(page["state"]["fields"], attack)
    (tmp_path / "page.json").write_text(json.dumps(page))
    browser.value("document.getElementById('robot-kind').textContent = ''")
    upload(browser, tmp_path / "page.json")
    browser.wait(IDLE)
    assert all(
        -10 < value < 10 for value in browser.value("Array.from(joints.querySelectorAll('input')).map((i) => +i.value)")
    )
    assert text(browser, "problem") == ""
    kind = text(browser, "robot-kind")
    for name, content in {
        "bomb.urdf": '<!DOCTYPE r [<!ENTITY a "aaaa">]><robot name="&a;"/>',
        "empty.toml": "",
        "noise.xml": "\x00\x01<<<",
        "other.json": '{"format": "emdeg studio 1", "text": 3}',
        "deep.toml": "x = " + "[" * 5000,
        "script.html": "<script>window.ran = 11</script>",
    }.items():
        (tmp_path / name).write_text(content)
        browser.value("document.getElementById('problem').hidden = true")
        upload(browser, tmp_path / name)
        assert text(browser, "problem") != "", name
        assert "fault" not in text(browser, "problem"), text(browser, "problem")
    assert text(browser, "robot-kind") == kind
    assert browser.value("window.ran === undefined")


def test_a_page_cannot_ask_for_what_is_no_verb_or_makes_no_sense(browser: Page, url: str) -> None:
    visit(browser, url)
    browser.value(
        "window.heard = []; (() => { const was = studio.refused;"
        " studio.refused = (id, why) => { heard.push(why); was(id, why); };"
        " for (const [k, [verb, data]] of [['__class__', {}], ['open', { name: '../../etc/passwd' }],"
        " ['open', { name: 7 }], ['edit', {}], ['edit', { place: ['name'], entry: 'x' }], ['motion', {}],"
        " ['part', { part: '__class__' }], ['dead_points', { q: [0, 0], ranges: [[0, 1], [0, 1]] }],"
        " ['save', { file: '/etc/x.toml' }]].entries())"
        " emitEvent('studio', { id: 100000 + k, verb, data }); emitEvent('studio', 'nonsense');"
        " emitEvent('studio', { id: 'x' }); })()"
    )
    browser.wait("heard.length === 9")


def test_two_browsers_have_two_robots(browser: Page, url: str, tmp_path: Path) -> None:
    visit(browser, url)
    with page(tmp_path / "other") as other:
        visit(other, url)
        choose = "const s = document.getElementById('robot'); s.value = 'scara'; s.dispatchEvent(new Event('change'));"
        other.value(f"(() => {{ {choose} }})()")
        other.wait("document.getElementById('robot-kind').textContent.startsWith('scara')")
        other.wait(IDLE)
        assert text(browser, "robot-kind").startswith("planar2r")
        drag(browser, 0, 0.7)
        assert text(other, "robot-kind").startswith("scara")


def test_a_lost_connection_comes_back(browser: Page, url: str) -> None:
    visit(browser, url)
    browser.value("void window.socket.io.engine.close()")
    browser.wait("window.socket.connected")
    press(browser, "tab-code")
    press(browser, "emit")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")


def test_the_keyboard_alone_is_enough(browser: Page, url: str) -> None:
    visit(browser, url)
    browser.value("document.getElementById('tab-equations').focus()")
    for _ in range(3):
        key(browser, "ArrowRight")
    assert browser.value("document.activeElement.id") == "tab-code"
    assert not browser.value("document.getElementById('code-panel').hidden")
    browser.value("document.getElementById('emit').focus()")
    key(browser, "Enter")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")
    browser.value("document.querySelector('#joints input').focus()")
    before = browser.value("+document.querySelector('#joints input').value")
    key(browser, "ArrowRight")
    assert browser.value("+document.querySelector('#joints input').value") > before
    reached: set[str] = set()
    browser.value("document.activeElement.blur()")
    for _ in range(60):
        key(browser, "Tab")
        reached.add(browser.value("document.activeElement.id || document.activeElement.tagName"))
    assert {"robot", "upload", "canvas", "tab-code", "function", "emit", "search"} <= reached


def test_pulling_the_tool_moves_the_joints(browser: Page, url: str) -> None:
    visit(browser, url)
    values = "Array.from(document.querySelectorAll('#joints input')).map((i) => i.value).join()"
    drag(browser, 0, 0.3)
    drag(browser, 1, 0.8)
    browser.value("document.querySelector('[data-show=frames]').click()")  # an axis has the ring's colour
    browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    before = browser.value(values)
    where = browser.value(
        "(() => { const c = document.getElementById('canvas'), b = c.getBoundingClientRect(),"
        " p = c.getContext('2d').getImageData(0, 0, c.width, c.height), hits = [];"
        " for (let y = 0; y < c.height; y++) for (let x = 0; x < c.width; x++) { const k = 4 * (y * c.width + x);"
        " if (Math.abs(p.data[k] - 213) < 8 && Math.abs(p.data[k + 1] - 94) < 8 && p.data[k + 2] < 8"
        " && p.data[k + 3] > 250)"
        " hits.push([x, y]); } const m = hits.reduce((a, h) => [a[0] + h[0], a[1] + h[1]], [0, 0]);"
        " return [b.x + m[0] / hits.length, b.y + m[1] / hits.length, hits.length]; })()"
    )
    assert where[2] > 20
    for kind, move in (("mousePressed", 0), ("mouseMoved", -12), ("mouseMoved", -30), ("mouseReleased", -30)):
        browser.call(
            "Input.dispatchMouseEvent", type=kind, x=where[0] + move, y=where[1], button="left", buttons=1, clickCount=1
        )
    assert browser.value(values) != before
