"""A short program: what came of leaving operations of the smallest exact program out, with its certified errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.bounds import Bounded
from emdeg.documents import Brief, table
from emdeg.programs import Program, count
from emdeg.robot import Robot, Workspace

SHORT_FUNCTIONS = ("inverse_dynamics", "bias", "gravity", "mass_matrix")
OF_EFFORTS = ("inverse_dynamics", "bias", "gravity")
"""Those of them whose outputs are efforts, one a joint."""


@dataclass(frozen=True, repr=False)
class ShortProgram(Brief):
    """A function's program in fewer operations, and how far its outputs can be from the exact ones over a box."""

    robot: Robot
    function: str
    program: Program
    exact: Program
    where: Workspace
    errors: tuple[Bounded, ...]
    """By output, row by row: the certified largest |exact - short|, and the largest found."""
    largest: tuple[float, ...]
    """By output: the largest magnitude found over the box; of a mass matrix's entry that of its two diagonal ones."""
    limits: tuple[float, ...]
    """By output: what the error was to stay below; infinite where a length was asked for."""
    at_most: int | None = None
    why: str = ""
    """Why nothing was left out, where it is the exact program that stands."""
    cut: bool = False
    """Whether the clock ended the search before its work was done: on a faster machine it may find another program."""
    parameters: tuple[Fraction, ...] = ()
    """Of a mechanism with loops: the base parameters with which its inverse dynamics are this program."""

    @property
    def names(self) -> tuple[str, ...]:
        """The outputs' names: the joints', or two of them for an entry of a matrix."""
        joints = [joint.name for joint in (self.robot.coordinates if self.robot.is_tree else self.robot.driven)]
        if len(self.errors) == len(joints):
            return tuple(joints)
        return tuple(f"{one}, {other}" for one in joints for other in joints)

    @property
    def relative(self) -> tuple[float, ...]:
        """By output: the certified error over the largest magnitude."""
        return tuple(e.bound / peak if peak else 0.0 for e, peak in zip(self.errors, self.largest))

    @property
    def missed(self) -> tuple[str, ...]:
        """Every target that was given and is not kept, in words, with what was reached."""
        found = [
            f"{name}: the certified error is {e.bound:.4g}, asked for was {limit:.4g}"
            for name, e, limit in zip(self.names, self.errors, self.limits)
            if e.bound > limit
        ]
        length = count(self.program).total
        if self.at_most is not None and length > self.at_most:
            found.append(f"the shortest found has {length} operations, asked for were {self.at_most}")
        return tuple(found)

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rows = []
        for name, e, peak, limit, part in zip(self.names, self.errors, self.largest, self.limits, self.relative):
            row: dict[str, Any] = {"joint": name, "certified": e.bound, "found": e.value, "ratio": _ratio(e, peak)}
            row |= {"largest_effort": peak, "certified_over_largest": part, "target": _finite(limit)}
            rows.append(row)
        return {
            "robot": self.robot.name,
            "joints": list(self.where.joints),
            "function": self.function,
            "box": self.where.data(),
            "operations": count(self.program).as_dict(),
            "exact_operations": count(self.exact).as_dict(),
            "certified_error": list(self.relative),
            "errors": rows,
            "within_target": not self.missed,
            "missed": list(self.missed),
            "exact": self.program == self.exact,
            "why": self.why,
            "ended_by_clock": self.cut,
        }

    def _repr_html_(self) -> str:
        head = ("output", "error, certified", "error, found", "largest")
        rows = [(row["joint"], row["certified"], row["found"], row["largest_effort"]) for row in self.data()["errors"]]
        return table(f"{self.robot.name}, {self.function}, {count(self.program).total} operations", rows, head)


def _ratio(e: Bounded, peak: float) -> float | None:
    """Certified over found; None where the two differ by what doubles round."""
    return e.ratio if e.bound > 1e-9 * peak and math.isfinite(e.ratio) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
