"""What docs/sweeps.md shows is what runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from emdeg.analysis.sweeps import read_study
from emdeg.analysis.sweeps.measures import ANALYSES, WHOLE
from emdeg.analysis.sweeps.study import STATISTICS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")


def test_the_study_shown_is_the_example(tmp_path):
    (shown,) = re.findall(r"```toml\n(.*?)```", TEXT, re.S)
    (tmp_path / "payload_study.toml").write_text(shown)
    example = read_study(ROOT / "examples" / "payload_study.toml")[0]
    assert read_study(tmp_path / "payload_study.toml")[0] == replace(example, title="")


def test_every_analysis_and_statistic_is_described():
    for name in (*ANALYSES, WHOLE, *STATISTICS):
        assert f"`{name}`" in TEXT


def test_the_python_example_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    monkeypatch.chdir(tmp_path)
    found: dict = {}
    exec(compile(example, "sweeps.md", "exec"), found)  # our own text, not a robot's
    peaks = found["peaks"]
    assert peaks["tau2_max_abs"].shape == (300,)
    # A longer upper arm carries the same weights further out.
    middle = [peaks["tau2_max_abs"][peaks["q3.a"] == a].mean() for a in (0.40, 0.43, 0.46)]
    assert np.all(np.diff(middle) > 0)
