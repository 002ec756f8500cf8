"""Restricted models: some joints held as a load, velocity terms left out (Bejczy, sections IV and V)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import cos, pi, sin, tan

from emdeg.algebra import Angle, TrigPoly
from emdeg.documents import Shown, line
from emdeg.equations import Model, entry_name
from emdeg.errors import RobotError


@dataclass(frozen=True)
class Restricted(Shown):
    """The equations of the moving joints alone; held joints and what they carry are part of the load."""

    model: Model
    moving: tuple[int, ...]
    """The moving joints' numbers, in order."""
    held: Mapping[int, float]
    """Joint number -> where it is held [rad, m]."""
    entries: Mapping[str, TrigPoly]
    """M12, g2, ... (and b, c if kept) by the full model's names, zeros included."""
    velocity: bool
    """Whether Coriolis and centrifugal terms are kept."""

    def equations(self) -> list[str]:
        """One line a moving joint: tau1 = (...) qdd1 + ... + (...), long numbers to a double's digits."""
        lines = []
        text = {name: line(formula) for name, formula in self.entries.items() if formula}
        for i in self.moving:
            parts = []
            for j in self.moving:
                if formula := text.get(entry_name("M", *sorted((i, j)))):
                    parts.append(f"({formula})*qdd{j}")
            if self.velocity:
                for j in self.moving:
                    if formula := text.get(entry_name("c", i, j)):
                        parts.append(f"({formula})*qd{j}^2")
                    for k in self.moving:
                        if k > j and (formula := text.get(entry_name("b", i, j, k))):
                            parts.append(f"({formula})*qd{j}*qd{k}")
            if formula := text.get(entry_name("g", i)):
                parts.append(f"({formula})")
            lines.append(f"tau{i} = " + (" + ".join(parts) or "0"))
        return lines

    @property
    def terms(self) -> int:
        """The number of terms of all formulas kept."""
        return sum(len(formula) for formula in self.entries.values())


def restrict(model: Model, held: Mapping[int, float | Angle], *, velocity: bool = False) -> Restricted:
    """`model` with joints held at values [rad, m, or an exact Angle]; velocity terms only on request."""
    for joint in held:
        if not 1 <= joint <= model.n:
            raise RobotError(f"there is no joint number {joint}; it has {model.n}", body=model.robot.name)
    moving = tuple(i for i in range(1, model.n + 1) if i not in held)
    if not moving:
        raise RobotError("every joint is held: nothing is left to move", body=model.robot.name)
    values = {
        joint: _exact_angle(value) if model.robot.joints[joint - 1].kind == "revolute" else Fraction(float(value))
        for joint, value in held.items()
    }
    wanted = {entry_name("M", i, j) for i in moving for j in moving if i <= j} | {entry_name("g", i) for i in moving}
    if velocity:
        wanted |= {entry_name("c", i, j) for i in moving for j in moving}
        wanted |= {entry_name("b", i, j, k) for i in moving for j in moving for k in moving if j < k}
    parts = ("M", "b", "c", "g") if velocity else ("M", "g")
    entries = {
        name: formula.substitute(values)  # type: ignore[arg-type]
        for name, formula in model.entries(parts).items()
        if name in wanted
    }
    return Restricted(model, moving, {j: float(v) for j, v in held.items()}, entries, velocity)


def _exact_angle(value: float | Angle) -> Angle | tuple[Fraction, Fraction]:
    """A quarter turn as it is; any other angle as the rational point of the circle nearest in doubles."""
    quarters = float(value) / (pi / 2)
    if abs(quarters - round(quarters)) < 1e-12:
        return Angle(Fraction(round(quarters), 2))
    angle = float(value)
    # tan(angle/2) parametrises the circle rationally; beyond a quarter turn the half turn is taken off first.
    flip = cos(angle) < 0
    half = Fraction(tan(0.5 * (angle - pi if flip else angle)))
    s, c = 2 * half / (1 + half * half), (1 - half * half) / (1 + half * half)
    s, c = (-s, -c) if flip else (s, c)
    assert abs(float(s) - sin(angle)) < 1e-12
    return s, c
