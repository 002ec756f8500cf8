"""The page's scenario and the page's Python do what the page says."""

import re
from pathlib import Path

import numpy as np

import emdeg
from emdeg.simulation import perform, summary
from emdeg.simulation.scenarios.scenario import read_scenario

PAGE = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text()


def test_the_pages_scenario_runs():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    plan = read_scenario(text, "simulation.md", None, emdeg.load("puma560"))
    result = summary(perform(plan))
    assert result["trajectories"] == 100
    assert not result["warnings"]


def test_the_pages_python_runs():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope: dict = {}
    exec(compile(text, "simulation.md", "exec"), scope)
    assert scope["motion"].q.shape == (101, 6)
    assert np.max(np.abs(scope["motion"].q[-1] - scope["way"](2.0)[0])) < 1e-8
