"""The notebooks of examples/ run, and show what is stored in them."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from examples.run_notebooks import differences, executed, notebooks, read

NOTEBOOKS = notebooks()


@pytest.mark.docs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own libraries
def test_a_run_shows_what_is_stored(path):
    assert differences(read(path), executed(path)) == []


def test_another_output_is_a_difference_unless_the_cell_may_vary():
    def notebook(text, tags=()):
        output = SimpleNamespace(get=lambda key, default=None: text if key == "text" else default)
        cell = SimpleNamespace(cell_type="code", metadata={"tags": list(tags)}, outputs=[output])
        return SimpleNamespace(cells=[cell])

    assert differences(notebook("1"), notebook("1")) == []
    assert len(differences(notebook("1"), notebook("2"))) == 1
    assert differences(notebook("1", ["varies"]), notebook("2", ["varies"])) == []


def test_they_are_numbered_without_a_gap():
    assert [int(path.stem[:2]) for path in NOTEBOOKS] == list(range(1, len(NOTEBOOKS) + 1))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_is_small_whole_and_of_no_ones_machine(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert not re.search(r"/(home|work|root|tmp|Users)/", text)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert any(cell["outputs"] for cell in cells)
    assert all(output["output_type"] != "error" for cell in cells for output in cell["outputs"])
