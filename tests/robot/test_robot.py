"""Broken documents of every format: each is read or refused with a RobotError, at once, never anything else."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdeg.errors import RobotError
from emdeg.robot import Draft, assemble
from emdeg.robot.mjcf_reader import read_mjcf
from emdeg.robot.toml_reader import read_toml
from emdeg.robot.urdf_reader import read_urdf

FILES = Path(__file__).parents[1] / "data" / "robots"
LIBRARY = resources.files("emdeg.robot.library")

SEEDS: dict[str, list[str]] = {
    "urdf": [file.read_text() for file in sorted(FILES.glob("*.urdf"))],
    "mjcf": [file.read_text() for file in sorted(FILES.glob("*.xml"))],
    "toml": [LIBRARY.joinpath(name).read_text("utf-8") for name in ("puma560.toml", "planar2r.toml", "rx90.toml")],
}
READERS: dict[str, Callable[[str], Draft]] = {
    "urdf": lambda text: read_urdf(text, "fuzz.urdf"),
    "mjcf": lambda text: read_mjcf(text, "fuzz.xml"),
    "toml": lambda text: read_toml(text, "fuzz.toml"),
}
NASTY = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "1e999999999",
    "1,5",
    "",
    " ",
    "0 0 0",
    "&lt;",
    "<",
    ">",
    '"',
    "'",
    "\x00",
    "\ud800",
    "é",
    "𝔸",
    "[",
    "]",
    "{",
    "=",
    "\n",
    "pi",
    "90 deg",
    "true",
    "1/0",
    "1/3",
    "9" * 400,
    "${x}",
    "<a>",
    "</link>",
    "<body>",
    "<joint/>",
    "[[link]]",
    "name",
    "fixed",
    "m2",
    "__class__",
    "a" * 300,
    "1979-05-27",
]
quick = settings(
    max_examples=150,
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def mutated(text: str, seed: int, changes: int) -> str:
    """The text with a few tokens cut, doubled, swapped or replaced."""
    rng = random.Random(seed)
    for _ in range(changes):
        if not text:
            break
        at = rng.randrange(len(text))
        end = min(len(text), at + rng.choice([1, 1, 2, 5, 20, 200]))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + rng.choice(NASTY) + text[at:]
        elif kind == 2:
            text = text[:end] + text[at:]
        elif kind == 3:
            text = text[:at]
        elif kind == 4:  # a value for another: what stands between quotes, or after an equals sign
            start = text.find('"', at) + 1 or text.find("= ", at) + 2
            stop = min((i for i in (text.find('"', start), text.find("\n", start)) if i > 0), default=len(text))
            text = text[:start] + rng.choice(NASTY) + text[stop:]
        else:
            lines = text.split("\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
    return text


def attempt(kind: str, text: str) -> None:
    said = ""
    try:
        robot = assemble(READERS[kind](text))
    except RobotError as problem:
        said = str(problem)
    else:
        assert robot.n >= 1
    assert len(said) < 5000


@pytest.mark.parametrize("kind", READERS)
def test_mutated_documents_are_read_or_refused(kind: str) -> None:
    @quick
    @given(st.sampled_from(SEEDS[kind]), st.integers(0, 2**32), st.integers(1, 8))
    def run(text: str, seed: int, changes: int) -> None:
        attempt(kind, mutated(text, seed, changes))

    run()


@pytest.mark.parametrize("kind", READERS)
def test_single_nasty_values_are_read_or_refused(kind: str) -> None:
    """Every attribute of one document in turn given every nasty value would be long; a random walk is not."""

    @quick
    @given(st.integers(0, 2**32), st.sampled_from(NASTY))
    def run(seed: int, nasty: str) -> None:
        rng = random.Random(seed)
        text = rng.choice(SEEDS[kind])
        quotes = [i for i, c in enumerate(text) if c == '"'][::2]
        start = rng.choice(quotes) + 1
        attempt(kind, text[:start] + nasty + text[text.index('"', start) :])

    run()


@pytest.mark.parametrize("kind", READERS)
@quick
@given(text=st.text(max_size=200))
def test_any_text_at_all_is_read_or_refused(kind: str, text: str) -> None:
    attempt(kind, text)
