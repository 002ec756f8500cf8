"""Tests are found by name: src/emdeg/a/b.py in tests/a/test_b.py, a package (or a whole room) in tests/a/test_NAME.py.

A package's or room's test file holds what is true of it as a whole, and stands for those of its modules that have none
of their own. What is about neither is on the list of topics.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
SOURCE, TESTS = HOME / "src" / "emdeg", HOME / "tests"

TOPICS = {
    "cli/test_programs.py": "count, generate and verify, which share their options",
    "equations/test_bejczy.py": "a paper's equations",
    "equations/test_paper_tables.py": "papers' tables",
    "dynamics/test_burdick_recursions.py": "a paper's equations",
    "dynamics/test_example_robots.py": "other programs' answers for real robots",
    "dynamics/test_oracles.py": "other programs' answers for random robots",
    "programs/test_count.py": "how operations are counted: the convention's definition",
    "programs/test_ordering.py": "the order of programs that come with the package: benchmarks/ordering.py",
    "programs/test_loops.py": "programs of mechanisms with closed loops",
    "reports/test_browser.py": "the page in a browser",
    "robot/test_mjcf_grammar.py": "random MJCF against MuJoCo itself",
    "robot/test_standard_dh.py": "one convention through reader and normal form",
    "robot/test_toml_fuzz.py": "whatever text is thrown at the reader",
    "simulation/test_stanford.py": "a paper's figures",
    "sweeps/test_interrupted.py": "ten kills",
}
"""Test file -> what it is about, where that is no module or package of its room."""

OTHERS = {
    "adversary": (),
    "docs": (),
    "golden": (),
    "tools": tuple(path.stem for path in (HOME / "tools").glob("*.py")),
}
"""Folders of tests that belong to no room: who means ill, the documentation's pages, recorded results, the developer's
tools."""


def rooms() -> list[Path]:
    return sorted(path.parent for path in SOURCE.glob("*/__init__.py"))


def names_in(room: Path) -> set[str]:
    """The names of a room, its packages and its modules."""
    below = {path.stem if path.name != "__init__.py" else path.parent.name for path in room.rglob("*.py")}
    return below | {room.name}


def is_public(module: Path) -> bool:
    """Whether it defines a function or class that others may use."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_" for node in body)


def subjects(folder: Path) -> set[str]:
    """What the test files of a folder are named after."""
    return {path.stem.removeprefix("test_") for path in folder.rglob("test_*.py")}


@pytest.mark.parametrize("room", rooms(), ids=lambda room: room.name)
def test_every_test_file_is_named_after_a_module_or_package_of_its_room_or_is_a_topic(room):
    folder = TESTS / room.name
    topics = {Path(topic).stem.removeprefix("test_") for topic in TOPICS if topic.startswith(f"{room.name}/")}
    assert subjects(folder) - names_in(room) - topics == set()
    assert topics <= subjects(folder), "a topic that is gone"
    assert not topics & names_in(room), "a topic that has become a module's"


@pytest.mark.parametrize("room", rooms(), ids=lambda room: room.name)
def test_every_module_with_public_functions_has_a_test_file_of_its_name_or_its_packages(room):
    found = subjects(TESTS / room.name)
    modules = [path for path in room.rglob("*.py") if path.name != "__init__.py" and is_public(path)]
    without = [
        str(path.relative_to(SOURCE))
        for path in modules
        if not {path.stem, *path.relative_to(SOURCE).parent.parts} & found
    ]
    assert without == []


def test_folders_of_tests_are_rooms_or_known():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and list(path.glob("test_*.py"))}
    assert folders <= {room.name for room in rooms()} | set(OTHERS)
    assert subjects(TESTS / "tools") <= set(OTHERS["tools"])


def test_documents_name_test_files_that_exist():
    for page in [HOME / "README.md", *(HOME / "docs").rglob("*.md")]:
        for name in re.findall(r"tests/[a-z_/]+\.py", page.read_text(encoding="utf-8")):
            assert (HOME / name).exists(), f"{page.relative_to(HOME)}: {name}"
