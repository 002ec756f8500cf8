"""The README's example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_readmes_example_runs(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    namespace: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), namespace)  # our own text, not a robot's
    assert capsys.readouterr().out.splitlines()[-1] == "True"
