"""The studio's panels on mechanisms, on robots of thousands of terms, with twenty pages open: in a real browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import emdeg
from tests.example_robots import robot_files
from tests.reports.browser import CHROMIUM, Page
from tests.studio.pages import IDLE, choose, drag, enter, key, press, switch, text, visit

pytestmark = [
    pytest.mark.studio,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]
PANELS = ("equations", "numbers", "table", "code", "motion", "share")
LARGE = (("z1_description/urdf/z1.urdf", True), ("xarm_description/urdf/xarm7.urdf", False))
"""Files of example-robot-data; whether the work of minutes is done, too: short models, the report."""


def column(browser: Page, table: str, cell: int) -> list[float]:
    """The numbers of one column of a table's body."""
    rows = f"document.querySelectorAll('{table}')[0].rows"
    return browser.value(f"Array.from({rows}).map((r) => +r.cells[{cell}].textContent)")


def values(browser: Page) -> list[float]:
    return browser.value("Array.from(document.querySelectorAll('#joints input')).map((i) => +i.value)")


def test_a_jacobian_is_shaded_here_and_leads_to_the_table(browser: Page, url: str) -> None:
    visit(browser, url)
    choose(browser, "part", "J")
    browser.wait("document.querySelectorAll('#part-body .t[data-kind]').length > 2")
    shades = "Array.from(document.querySelectorAll('#part-body .t')).map((t) => t.dataset.kind).join()"
    drag(browser, 0, 0.0)
    drag(browser, 1, 0.0)
    browser.wait(f"{shades}.includes('s5')")  # sines vanish
    before = browser.value(shades)
    drag(browser, 0, 1.0)
    browser.wait(f"{shades} !== {json.dumps(before)}")
    term = "document.querySelector('#part-body .t[data-constant=a1]')"
    browser.value(f"{term}.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}))")
    assert "a1 = 1 m" in browser.value(f"{term}.title")
    browser.value(f"{term}.click()")
    assert browser.value("document.querySelectorAll('#part-body .t.chosen').length") == 2
    browser.value("document.querySelector('#constant button').click()")
    assert browser.value("document.activeElement.dataset.path") == "q2.a"
    assert not browser.value("document.getElementById('table-panel').hidden")


def test_kanes_equations_are_shown_as_mathematics(browser: Page, url: str) -> None:
    visit(browser, url)
    choose(browser, "part", "kane")
    browser.wait("document.querySelectorAll('#part-body math').length > 20")
    assert "Equations of motion" in text(browser, "part-body")
    words = browser.value("Array.from(document.querySelectorAll('#part-body mtext')).map((t) => t.textContent)")
    assert not [word for word in words if word.lstrip("-(").startswith("Z")]
    assert text(browser, "problem") == ""


def test_kanes_terms_are_shaded_here_and_over_the_workspace_and_lead_to_the_table(browser: Page, url: str) -> None:
    visit(browser, url)
    drag(browser, 0, 0.3)
    drag(browser, 1, 0.5)
    choose(browser, "part", "kane")
    browser.wait("document.querySelectorAll('#part-body .t').length > 40")
    show = "document.querySelector('#part-body [id=eq-R1]').scrollIntoView()"
    browser.value(show)
    right = "Array.from(document.querySelectorAll('#part-body [id=eq-R1] .t'))"
    shades = f"{right}.map((t) => t.dataset.kind).join()"
    browser.wait(f"/s\\d/.test({shades})")
    browser.value(f"{right}.forEach((t) => t.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }})))")
    told = browser.value(f"{right}.map((t) => t.title)")
    assert all(one.startswith("value here ") and " N m" in one for one in told)
    efforts = [float(one.split()[2]) for one in told if "Z" not in one]
    assert sum(float(one.split()[2]) for one in told) == pytest.approx(0, abs=2e-2)  # nothing is accelerated
    assert efforts == pytest.approx(emdeg.gravity(emdeg.load("planar2r"), values(browser))[:1], rel=1e-3)  # at rest
    before = browser.value(shades)
    press(browser, "tab-numbers")
    browser.value(
        "(() => { const i = document.querySelectorAll('#live input')[2]; i.value = 40;"
        " i.dispatchEvent(new Event('input', { bubbles: true })); i.dispatchEvent(new Event('change')); })()"
    )
    press(browser, "tab-equations")
    browser.value(show)
    browser.wait(f"{shades} !== {json.dumps(before)}")  # speeds matter, too
    choose(browser, "shading", "most")
    browser.wait(f"{right}.every((t) => t.dataset.kind === t.dataset.most)")
    browser.value("document.querySelector('#part-body .t[data-constant~=m2]').click()")
    assert browser.value("document.querySelectorAll('#part-body .t.chosen').length") >= 2
    buttons = "Array.from(document.querySelectorAll('#constant button'))"
    browser.value(f"{buttons}.find((b) => b.textContent === 'link2.mass').click()")
    assert browser.value("document.activeElement.dataset.path") == "link2.mass"
    assert browser.said == []


def test_arrow_keys_lead_from_term_to_term(browser: Page, url: str) -> None:
    visit(browser, url)
    browser.wait("document.querySelectorAll('#equations-body .t[data-kind]').length > 2")
    stops = "Array.from(document.querySelectorAll('#equations-body .t')).filter((t) => t.tabIndex === 0)"
    assert browser.value(f"{stops}.length") == 1
    browser.value(f"{stops}[0].focus()")
    place = "Array.from(document.querySelectorAll('#equations-body .t')).indexOf(document.activeElement)"
    assert browser.value(place) == 0
    key(browser, "ArrowRight")
    key(browser, "ArrowRight")
    assert browser.value(place) == 2
    key(browser, "ArrowLeft")
    assert browser.value(place) == 1
    key(browser, "Enter")
    assert not browser.value("document.getElementById('constant').hidden")
    assert browser.value(f"{stops}.length") == 1


def test_a_map_over_two_joints_shows_the_robots_numbers_and_a_click_goes_there(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-numbers")
    choose(browser, "graph-what", "gravity")
    browser.value("document.getElementById('graph-entry').selectedIndex = 1")  # the first joint
    browser.value("document.getElementById('graph-second').selectedIndex = 2")
    press(browser, "graph")
    browser.wait("!!document.querySelector('#graph-body canvas')")
    told = text(browser, "graph-body")
    q = np.linspace(-np.pi, np.pi, 49)
    grid = np.stack(np.meshgrid(q, q), axis=-1).reshape(-1, 2)
    most = emdeg.gravity(emdeg.load("planar2r"), grid)[:, 0].max()
    assert f"greatest {most:.4g}" in told
    before = values(browser)
    browser.value(
        "(() => { const c = document.querySelector('#graph-body canvas'), b = c.getBoundingClientRect();"
        " c.dispatchEvent(new MouseEvent('click', { clientX: b.left + b.width * 0.75, clientY: b.top + b.height / 4,"
        " bubbles: true })); })()"
    )
    assert values(browser) != before
    assert values(browser) == pytest.approx([np.pi / 2, np.pi / 2], abs=0.1)


def test_maps_dead_points_and_exports_are_used_by_the_keyboard_alone(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-numbers")
    browser.value("document.getElementById('graph-second').selectedIndex = 2")
    browser.value("document.getElementById('graph').focus()")
    key(browser, "Enter")
    browser.wait("!!document.querySelector('#graph-body canvas')")
    key(browser, "Tab")
    canvas = "document.activeElement === document.querySelector('#graph-body canvas')"
    assert browser.value(canvas)
    before = values(browser)
    for name in ("ArrowRight", "ArrowRight", "ArrowUp"):
        key(browser, name)
    step = 2 * np.pi / 48
    assert values(browser) == pytest.approx([before[0] + 2 * step, before[1] + step], abs=0.02)
    browser.value("new Promise((done) => setTimeout(() => done(0), 400))")  # drawn anew, it keeps the focus
    assert browser.value(canvas)
    switch(browser, "fivebar")
    browser.value("document.getElementById('dead').focus()")
    key(browser, " ")
    browser.wait("document.querySelectorAll('#dead-list li').length > 0")
    browser.value("document.querySelector('#dead-list button').focus()")
    before = values(browser)
    key(browser, "Enter")
    assert values(browser) != before
    press(browser, "tab-share")
    browser.value("document.getElementById('tab-share').focus()")
    reached = []
    for _ in range(3):
        key(browser, "Tab")
        reached.append(browser.value("document.activeElement.id"))
    assert "share" in reached
    assert "report" in reached


def test_terms_of_a_mechanism_are_shaded_where_it_stands(browser: Page, url: str) -> None:
    visit(browser, url)
    switch(browser, "fourbar")
    browser.wait("document.querySelectorAll('#equations-body .t').length > 20")
    browser.value("document.querySelectorAll('#equations-body details').forEach((d) => { d.open = true; })")
    browser.value("Array.from(document.querySelectorAll('#equations-body .entry')).pop().scrollIntoView()")
    shades = "Array.from(document.querySelectorAll('#equations-body .t')).map((t) => t.dataset.kind || '').join()"
    browser.wait(f"/s[0-5]$/.test({shades})")
    before = browser.value(shades)
    drag(browser, 0, 2.0)
    browser.wait(f"{shades} !== {json.dumps(before)}")
    last = "Array.from(document.querySelectorAll('#equations-body .t')).pop()"
    browser.value(f"{last}.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}))")
    assert "value here" in browser.value(f"{last}.title")
    assert browser.said == []


def test_another_load_is_compared_as_numbers_and_as_curves(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-numbers")
    press(browser, "remember")
    press(browser, "tab-table")
    enter(browser, ["link", 1, "inertia", "mass"], "3")
    browser.wait("!document.getElementById('undo').disabled")
    browser.wait(IDLE)
    press(browser, "tab-numbers")
    press(browser, "graph")
    browser.wait("document.querySelectorAll('#graph-body [data-line=beside]').length > 0")
    lines = "Array.from(document.querySelectorAll('#graph-body [data-line={}]')).map((p) => p.getAttribute('points'))"
    assert browser.value(lines.format("here")) != browser.value(lines.format("beside"))
    robot = emdeg.load("planar2r")
    shown, at = column(browser, "#beside tbody", 2), column(browser, "#live tbody", 1)
    np.testing.assert_allclose(shown, emdeg.gravity(robot, at), rtol=2e-3, atol=1e-3)


def test_a_mechanism_moves_by_its_coordinates_and_knows_its_dead_points(browser: Page, url: str) -> None:
    visit(browser, url)
    switch(browser, "delta")
    assert len(values(browser)) == 3
    for k, value in enumerate((0.0, 0.0, -0.45)):
        drag(browser, k, value)
    press(browser, "tab-numbers")
    robot, at = emdeg.load("delta"), values(browser)
    wanted = emdeg.inverse_dynamics(robot, at, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(column(browser, "#live .scroll:nth-child(2) tbody", 1), wanted, rtol=2e-3, atol=1e-3)
    press(browser, "dead")
    browser.wait("document.querySelectorAll('#dead-list button').length >= 2")
    told = text(browser, "dead-list")
    assert "z = -0.72 m end of reach" in told
    assert "z = -0.32 m end of reach" in told
    buttons = "Array.from(document.querySelectorAll('#dead-list button'))"
    browser.value(f"{buttons}.find((b) => b.textContent.includes('-0.72')).click()")
    assert values(browser)[2] == pytest.approx(-0.72, abs=0.01)
    drag(browser, 2, -0.8)
    assert not browser.value("document.getElementById('out-of-reach').hidden")
    drag(browser, 2, -0.5)
    assert browser.value("document.getElementById('out-of-reach').hidden")
    press(browser, "dead")
    choose(browser, "part", "expanded G")
    browser.wait("document.querySelectorAll('#part-body math').length > 2")
    assert browser.said == []


def test_the_report_is_exported_as_html_and_latex(browser: Page, url: str) -> None:
    visit(browser, url)
    press(browser, "tab-share")
    browser.value("void (window.kept = [], URL.createObjectURL = (blob) => { kept.push(blob.text()); return '#'; })")
    press(browser, "report")
    browser.wait("!document.getElementById('report-latex').hidden")
    html, latex = browser.value("Promise.all(kept)")
    assert html.startswith("<!DOCTYPE html>")
    assert "planar2r" in html
    assert "\\documentclass" in latex
    assert text(browser, "problem") == ""


def test_a_stopped_search_gives_the_best_program_so_far_with_its_proof(browser: Page, url: str) -> None:
    visit(browser, url)
    switch(browser, "puma560")
    press(browser, "tab-code")
    browser.value("document.getElementById('seconds').value = 600; document.getElementById('proof').textContent = ''")
    press(browser, "search")
    browser.wait("!!document.querySelector('#falling svg')")
    drag(browser, 0, 0.5)  # the page is alive meanwhile
    assert values(browser)[0] == pytest.approx(0.5, abs=0.02)
    press(browser, "stop")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")
    assert "best so far" in text(browser, "proof") or "Found" in text(browser, "proof")
    assert text(browser, "problem") == ""


def test_twenty_pages_do_not_starve_each_other(browser: Page, url: str) -> None:
    visit(browser, url)
    own, session = browser._session, url.partition("?")[0]
    browser._session = None
    pages = [browser.call("Target.createTarget", url=session, background=True)["targetId"] for _ in range(20)]
    try:
        browser._session = own
        # While they are made ready, this one answers.
        drag(browser, 0, 0.4)
        press(browser, "emit")
        browser.wait("document.getElementById('proof').textContent.includes('Proved')")
        for target in pages:
            browser._session = None
            attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            browser._session = attached
            browser.wait("!!document.documentElement && document.documentElement.dataset.ready === '1'")
            assert text(browser, "robot-kind").startswith("planar2r")
            drag(browser, 1, 0.3)
            assert values(browser)[1] == pytest.approx(0.3, abs=0.02)
    finally:
        for target in pages:
            browser._session = None
            browser.call("Target.closeTarget", targetId=target)
        browser._session = own


def test_speeds_stay_what_they_are_while_terms_are_shaded(browser: Page, url: str) -> None:
    visit(browser, url)
    for part in ("J", "kane"):
        choose(browser, "part", part)
        browser.wait("document.querySelectorAll('#part-body .t[data-kind]').length > 2")
        drag(browser, 1, 0.7)
    browser.value("new Promise((done) => setTimeout(() => done(0), 400))")
    press(browser, "tab-numbers")
    motion = browser.value("Array.from(document.querySelectorAll('#live input')).map((i) => +i.value)")
    assert motion == [0, 0, 0, 0]
    np.testing.assert_allclose(
        column(browser, "#live tbody", 5), emdeg.gravity(emdeg.load("planar2r"), values(browser)), rtol=2e-3
    )


def test_singularity_measures_and_couplings_are_what_numpy_finds(browser: Page, url: str) -> None:
    visit(browser, url)
    random = np.random.default_rng(7)
    for rows, columns in ((6, 7), (6, 6), (6, 4), (3, 3)):
        J = random.uniform(-1, 1, (rows, columns))
        J[-1] = J[0] if rows == columns == 6 else J[-1]  # singular
        found = browser.value(f"measures.singular({J.reshape(-1).tolist()}, {rows}, {columns})")
        np.testing.assert_allclose(found, np.linalg.svd(J, compute_uv=False), atol=1e-7)
    drag(browser, 1, 0.7)
    press(browser, "tab-numbers")
    M = emdeg.mass_matrix(emdeg.load("planar2r"), values(browser))
    shown = browser.value("Array.from(document.querySelectorAll('#measures .scroll td')).map((c) => c.textContent)")
    assert float(shown[1]) == pytest.approx(M[0, 1] / M[0, 0], rel=1e-3)
    assert float(shown[2]) == pytest.approx(M[0, 1] / M[1, 1], rel=1e-3)


@pytest.mark.slow
@pytest.mark.skipif(not robot_files(), reason="the package example-robot-data is not installed")
@pytest.mark.parametrize(("name", "whole"), LARGE)
def test_every_panel_works_on_a_urdf_of_thousands_of_terms(
    browser: Page, url: str, folder: Path, name: str, whole: bool
) -> None:
    source = robot_files()[name]
    file = source.name
    shutil.copy(source, folder / file)
    if not (folder / source.parts[-3]).exists():
        shutil.copytree(source.parents[1] / "meshes", folder / source.parts[-3] / "meshes")
    visit(browser, url)
    switch(browser, file)
    assert text(browser, "problem") == ""
    assert not browser.value("document.getElementById('mesh-box').hidden")
    browser.wait("document.querySelectorAll('#equations-body .t').length > 1500")
    assert browser.value("document.getElementById('no-levels').hidden")
    assert not browser.value("document.getElementById('thresholds').hidden")
    browser.value("document.querySelector('#equations-body details.entry').open = true")
    browser.wait("document.querySelectorAll('#equations-body .t[data-kind]').length > 10")
    browser.value("document.querySelector('.t[data-kind]').click()")
    assert "It is made of" in text(browser, "constant")
    choose(browser, "part", "J")
    browser.wait("document.querySelectorAll('#part-body .t').length > 50")
    press(browser, "tab-numbers")
    robot = emdeg.load(folder / file)
    at = values(browser)
    g = column(browser, "#live tbody", 4)
    np.testing.assert_allclose(g, emdeg.gravity(robot, at), rtol=2e-3, atol=2e-3 * max(map(abs, g)))
    browser.value("document.getElementById('graph-second').selectedIndex = 3")
    press(browser, "graph")
    browser.wait("!!document.querySelector('#graph-body canvas')")
    press(browser, "tab-table")
    enter(browser, ["gravity", 2], "-9.8")
    browser.wait("!document.getElementById('undo').disabled")
    browser.wait("document.getElementById('status').textContent === ''")
    press(browser, "emit")
    browser.wait("document.getElementById('proof').textContent.includes('Proved')")
    choose(browser, "controller", "computed torque, exact and short model" if whole else "computed torque")
    press(browser, "simulate")
    browser.wait("document.querySelectorAll('#curves svg').length > 8 || !document.getElementById('problem').hidden")
    assert ("with the short one" in text(browser, "outcome")) is whole
    for width in (400, 1600):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        for tab in PANELS:
            press(browser, f"tab-{tab}")
            assert browser.value("document.documentElement.scrollWidth") <= width, (tab, width)
    if whole:
        press(browser, "tab-equations")
        press(browser, "thresholds")
        done = "!document.getElementById('threshold-bar').hidden || !document.getElementById('problem').hidden"
        browser.wait(done, 900)  # its budget
        level = "document.getElementById('level')"
        browser.value(f"void ({level}.value = 3, {level}.dispatchEvent(new Event('input')))")
        gone, terms = (
            browser.value(f"document.querySelectorAll('#equations-body .t{x}').length") for x in (".gone", "")
        )
        assert terms > gone > 500
        assert "certified below" in text(browser, "level-text")
        press(browser, "report")
        done = "!document.getElementById('report-latex').hidden || !document.getElementById('problem').hidden"
        browser.wait(done, 900)
    assert text(browser, "problem") == ""
    assert browser.said == []
