"""What docs/sweeps.md shows is what runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from emdeg.sweeps import read_study
from emdeg.sweeps.measures import ANALYSES, WHOLE
from emdeg.sweeps.study import STATISTICS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")


def test_the_study_shown_is_the_example(tmp_path):
    _, shown = re.findall(r"```toml\n(.*?)```", TEXT, re.S)
    (tmp_path / "payload_study.toml").write_text(shown)
    example = read_study(ROOT / "examples" / "payload_study.toml")[0]
    assert read_study(tmp_path / "payload_study.toml")[0] == replace(example, title="")


def test_every_analysis_and_statistic_is_described():
    for name in (*ANALYSES, WHOLE, *STATISTICS):
        assert f"`{name}`" in TEXT
