"""Animations in a real browser: they move from the first frame on, and a phone can show them."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.simulation import animate
from tests.reports.browser import CHROMIUM, page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

INK = "Array.from(pen.getImageData(0, 0, canvas.width, canvas.height).data).filter((v, k) => k % 4 === 3 && v).length"


@pytest.mark.parametrize("name", ["planar2r", "delta"])
def test_the_page_moves_and_fits_a_phone(name, tmp_path):
    robot = emdeg.load(name)
    t = np.linspace(0, 2, 21)
    start = np.array([0.0, 0.0, -0.45]) if name == "delta" else np.zeros(2)
    path = tmp_path / "motion.html"
    animate(robot, t, start + 0.05 * t[:, None], path, "</script><script>window.ran = 1</script>")
    with page(tmp_path / "profile") as browser:
        browser.open(path, 390)
        # A browser may give the first frame a time before the script's.
        assert browser.value("tick(start - 20), frame") == 0
        assert browser.value(INK) > 2000
        assert browser.value("tick(start + 1000), data.times[frame]") == pytest.approx(1.0, abs=0.1)
        again = "slider.value = 10, slider.oninput(), button.onclick(), tick(performance.now()), data.times[frame]"
        assert browser.value(again) == pytest.approx(0.4, abs=0.1)
        assert browser.value("document.documentElement.scrollWidth") <= 390
        assert browser.value("window.ran === undefined")
        assert browser.said == []
