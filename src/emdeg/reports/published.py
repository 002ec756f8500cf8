"""Operation counts that others have published, for the robots they belong to; the figures are in `published.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from emdeg.programs import robot_digest
from emdeg.robot import Robot, library_names, load


@dataclass(frozen=True, slots=True)
class Published:
    """A count: multiplications and additions, or the `total` where the source prints no more."""

    function: str
    what: str
    source: str
    mul: int | None = None
    add: int | None = None
    total: int = 0
    exact: bool = True
    """Whether it is of the exact model; an abbreviated one has fewer terms."""
    headline: bool = False
    formulation: str = ""
    """Which of the catalogue's formulations it is a count of."""


def published_counts(robot: Robot) -> tuple[Published, ...]:
    """The figures for this very machine: a file that only bears a library robot's name gets none."""
    text = resources.files("emdeg.reports").joinpath("published.toml").read_text("utf-8")
    found = []
    same: dict[str, bool] = {}
    for figure in tomllib.loads(text)["figure"]:
        for name in figure["robots"]:
            if name not in same:
                same[name] = name in library_names() and robot_digest(load(name)) == robot_digest(robot)
        if any(same[name] for name in figure["robots"]):
            mul, add = figure.get("mul"), figure.get("add")
            total = figure["total"] if mul is None else mul + add
            found.append(
                Published(
                    figure["function"],
                    figure["what"],
                    figure["source"],
                    mul,
                    add,
                    total,
                    figure.get("exact", True),
                    figure.get("headline", False),
                    figure.get("formulation", ""),
                )
            )
    return tuple(found)
