"""Which measurement to improve: how each number's tolerance reaches the constants and the efforts, ranked.

Over random states of the workspace, to first order, with the whole spread by Monte-Carlo beside it. A number is known
well enough if, for every joint, its tolerance adds less than a given share to the effort's spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emdeg.algebra import Generator
from emdeg.analysis.figures import save_figure
from emdeg.analysis.tolerance import Tolerances
from emdeg.documents import COLOURS, Shown, name_text, new_figure
from emdeg.equations import lumped_model
from emdeg.errors import RobotError
from emdeg.robot import Robot, Workspace

NEGLIGIBLE = 0.1
"""A tolerance that makes less than this share of a joint's spread changes it by less than half a per cent."""


@dataclass(frozen=True)
class JointSpread(Shown):
    """One joint's effort over the workspace [N m, N], root mean squares over the states."""

    joint: str
    effort: float
    first_order: float
    monte_carlo: float


@dataclass(frozen=True)
class Influence(Shown):
    """One number's tolerance: what it makes of each joint's spread, as shares from 0 to 1 (their squares sum to 1)."""

    path: str
    tolerance: float
    shares: tuple[float, ...]
    without: tuple[float, ...]
    """Each joint's spread [N m, N] were this number known exactly."""

    @property
    def largest(self) -> float:
        return max(self.shares)


@dataclass(frozen=True)
class ConstantSpread(Shown):
    """One lumped constant with its spread, and what makes it: (symbol or path, share), the largest first."""

    name: str
    value: float
    first_order: float
    monte_carlo: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Improvement(Shown):
    """What `improvement_of` finds; `influences` are ranked, the number to measure better first."""

    robot: str
    joints: tuple[JointSpread, ...]
    influences: tuple[Influence, ...]
    constants: tuple[ConstantSpread, ...]
    negligible: float

    @property
    def known_well_enough(self) -> tuple[str, ...]:
        """The numbers that need not be known better than they are."""
        return tuple(one.path for one in self.influences if one.largest < self.negligible)


def improvement_of(
    robot: Robot,
    where: Workspace,
    *,
    states: int = 200,
    draws: int = 1000,
    seed: int = 0,
    negligible: float = NEGLIGIBLE,
) -> Improvement:
    """Every stated tolerance's way to the constants and the efforts."""
    found = Tolerances(lumped_model(robot), draws, seed)
    if not found.stated:
        raise RobotError(
            "its file states no tolerances: write tol or tol_percent beside its numbers, or assume some (--assume)",
            body=robot.name,
        )
    sample = where.sample_states(states, seed)
    value, changes = found.effort_changes(*sample)
    spread = found.efforts(*sample)

    def rms(x: np.ndarray, axis: int) -> np.ndarray:
        return np.sqrt((x**2).mean(axis=axis))

    whole, each = rms(spread.first_order, 0), rms(changes, 1)  # n; numbers x n
    size, drawn = rms(value, 0), rms(spread.monte_carlo, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(whole > 0, each / whole, 0.0)
    without = np.sqrt(np.maximum(whole**2 - each**2, 0.0))
    joints = [JointSpread(joint.name, *map(float, row)) for joint, *row in zip(robot.joints, size, whole, drawn)]
    influences = [
        Influence(path, float(t), tuple(map(float, s)), tuple(map(float, w)))
        for path, t, s, w in zip(found.stated, found.varied.deviation, shares, without)
    ]
    influences.sort(key=lambda one: -one.largest)
    return Improvement(robot.name, tuple(joints), tuple(influences), tuple(_constants(found)), negligible)


def _constants(found: Tolerances) -> list[ConstantSpread]:
    known, spread = found.full.source.known, found.constants()
    at = {name: float(one.value) for name, one in known.items()}
    constants = []
    for c, value, first, drawn in zip(
        found.full.lumped.constants, spread.value, spread.first_order, spread.monte_carlo
    ):
        parts: dict[str, float] = {}
        for name, one in known.items():
            if one.tolerance:
                slope = c.formula.derivative_by(Generator("parameter", name))
                if slope:
                    parts[name] = abs(float(slope.evaluate(parameters=at)) * float(one.tolerance))
        for path, slope in c.zero_slopes.items():
            parts[path] = abs(float(slope.evaluate(parameters=at)) * float(found.stated[path]))
        ranked = sorted(((name, part / first) for name, part in parts.items() if part), key=lambda p: -p[1])
        constants.append(ConstantSpread(c.name, float(value), float(first), float(drawn), tuple(ranked)))
    return constants


def improvement_figure(found: Improvement, folder: Path, most: int = 12) -> list[Path]:
    """Bars per joint: what the most influential numbers make of its variance; the files written."""
    shown = found.influences[:most]
    figure, axes = new_figure(8.0, 0.32 * len(found.joints) + 2.6)
    ax = axes[0, 0]
    names = [name_text(joint.joint) for joint in found.joints]
    left = np.zeros(len(names))
    for k, one in enumerate(shown):
        part = np.array(one.shares) ** 2
        ax.barh(names, part, left=left, color=COLOURS[k % len(COLOURS)], label=name_text(one.path), edgecolor="white")
        left += part
    ax.barh(names, np.maximum(0.0, 1 - left), left=left, color="#dddddd", label="others")
    ax.invert_yaxis()
    ax.set_xlabel("share of the effort's variance")
    figure.legend(loc="outside right upper", fontsize=7)
    header = ["number", "tolerance", *(joint.joint for joint in found.joints)]
    rows = [[one.path, one.tolerance, *one.shares] for one in found.influences]
    return save_figure(figure, folder, "tolerance", header, rows)
