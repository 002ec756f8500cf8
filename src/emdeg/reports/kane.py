"""Kane's equations of a setup for reading: speeds, velocities, partial velocities, forces, equations.

Kinematics is written in closed form; forces and equations as straight-line code in intermediate quantities Z, as
Kane and Levinson print them. The result is plain data, one string a formula, in text or LaTeX.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from emdeg.algebra import Generator, Quotient, TrigPoly, name_latex
from emdeg.equations.speeds.inverse import SpeedInverse, speed_inverse
from emdeg.equations.speeds.matrix import Letters, letters
from emdeg.errors import RobotError
from emdeg.mechanics.kane import (
    AngularVelocity,
    LinearForm,
    PointVelocity,
    Rate,
    Setup,
    Speed,
    known_angular_velocities,
    speed_values,
    velocities,
)
from emdeg.mechanics.vectors import add, cross
from emdeg.programs.ir import Slot
from emdeg.programs.kane import kane_parts
from emdeg.reports.straight_line import Style, straight_line
from emdeg.robot.model import Robot

Format = Literal["text", "latex"]
Part = Literal["velocities", "partials", "forces", "equations"]
LONGEST = 20
"""Terms in the determinants that formulas may be divided by."""
PARTS: tuple[Part, ...] = ("velocities", "partials", "forces", "equations")


@dataclass(frozen=True, slots=True)
class _Written:
    """A setup in letters: the kinematic equations and how formulas are written."""

    robot: Robot
    setup: Setup
    kinematics: SpeedInverse
    of: Letters
    format: Format
    explicit: tuple[list[list[Quotient]], list[Quotient]] | None = None
    """(W, -W B): qd = W u - W B in the report's letters; None where it has no closed form of sensible length."""

    def text(self, formula: TrigPoly | Quotient) -> str:
        if self.format == "latex":
            return _latex_ratio(formula)
        if isinstance(formula, TrigPoly) or formula.is_formula:
            return str(formula)
        over, under = formula.numerator, formula.denominator
        above = f"({over})" if len(over) > 1 else str(over)
        plain = len(under) == 1 and len(under.generators) == 1 and under.total_degree == 1
        return f"{above}/{under}" if plain else f"{above}/({under})"

    @property
    def names(self) -> tuple[str, ...]:
        return self.setup.names or tuple(f"u{i + 1}" for i in range(len(self.of.free)))

    def name(self, name: str) -> str:
        return name_latex(name) if self.format == "latex" else name

    def rate(self, letter: int) -> str:
        return rf"\dot{{q}}_{{{letter}}}" if self.format == "latex" else f"qd{letter}"


def describe(robot: Robot, setup: Setup, show: Sequence[Part] = (), format: Format = "text") -> dict[str, Any]:
    """The setup as plain data: speeds and kinematic equations always, the rest as asked for."""
    used = letters(robot, setup).names
    taken = {f"{prefix}{k}" for k in used for prefix in ("q", "qd", "qdd")} | set(robot.symbols)
    if clash := [name for name in setup.names if name in taken]:
        raise RobotError(f"the speed {clash[0]} has the name of a joint or of a symbol: rename it", body=robot.name)
    kinematics = speed_inverse(robot, setup)
    names = setup.names or tuple(f"u{i + 1}" for i in range(len(setup.speeds)))
    to = _Written(robot, setup, kinematics, letters(robot, setup, names, rates=True), format)
    to = replace(to, explicit=_explicit(to))
    result: dict[str, Any] = {
        "robot": robot.name,
        "title": setup.title,
        "letters": {f"q{letter}": name for letter, name in to.of.names.items()},
        "speeds": _speeds(to),
        "rates": _rates(to),
        "determinant": _determinant(to),
        "singular": [one.where for one in kinematics.singular],
    }
    if "velocities" in show or "partials" in show:
        bodies = _bodies(to)
        if "velocities" in show:
            result["velocities"] = [body["velocities"] for body in bodies]
        if "partials" in show:
            result["partials"] = [body["partials"] for body in bodies]
    if "forces" in show or "equations" in show:
        result |= _dynamics(to, show)
    return result


def _determinant(to: _Written) -> str:
    det = to.kinematics.det
    if det is None:
        return "too many terms"
    return to.text(det) if len(det) <= 60 else f"{len(det)} terms"


def definition(speed: Speed, robot: Robot) -> str:
    """A speed in words."""
    if isinstance(speed, Rate):
        return f"rate of {robot.joints[speed.joint].name}"
    if isinstance(speed, LinearForm):
        parts = [f"({c}) rate of {robot.joints[k].name}" for k, c in speed.coefficients]
        return " + ".join(parts + ([str(speed.constant)] if speed.constant else []))
    along = "(" + ", ".join(str(v) for v in speed.direction) + f") of {speed.frame.name}"
    if isinstance(speed, AngularVelocity):
        return f"angular velocity of {speed.body.name} along {along}"
    assert isinstance(speed, PointVelocity)
    point = "(" + ", ".join(str(v) for v in speed.point) + ")"
    return f"velocity of the point {point} of {speed.body.name} along {along}"


def _speeds(to: _Written) -> list[dict[str, str]]:
    sys = to.of.system(to.robot, to.setup)
    algebra = to.of.algebra
    qd = sys.all_joints([algebra.rate(k) for k in to.of.free], [algebra.rate(k) for k in to.of.given])
    return [
        {"name": to.name(name), "is": definition(speed, to.robot), "formula": to.text(value)}
        for name, speed, value in zip(to.names, to.setup.speeds, speed_values(sys, qd))
    ]


def _rates(to: _Written) -> list[dict[str, str]]:
    """The kinematic equations solved, by substitution where they are triangular (Kane and Levinson (8)-(11))."""
    explicit = to.explicit
    found = []
    for k, letter in enumerate(to.of.free):
        entry = {"rate": to.rate(letter), "joint": to.of.names[letter]}
        if explicit is not None:
            coefficients, rest = explicit
            entry["formula"] = _linear(to, [coefficients[k][r] for r in range(len(to.names))], rest[k])
        else:
            entry["formula"] = "straight-line solution"
        found.append(entry)
    return found


def _explicit(to: _Written) -> tuple[list[list[Quotient]], list[Quotient]] | None:
    algebra, blocks = to.of.algebra, to.kinematics.blocks
    if any(block.inverse is None for block in blocks) or sum(len(block.det or ()) - 1 for block in blocks) > LONGEST:
        return None
    W = [[_moved(entry, to) for entry in row] for row in to.kinematics.matrix]
    sys = to.of.system(to.robot, to.setup)
    zeros = [algebra.zero] * len(to.of.free)
    B = speed_values(sys, sys.all_joints(zeros, [algebra.rate(k) for k in to.of.given]))
    rest = []
    for row in W:
        total = Quotient(algebra.zero)
        for entry, b in zip(row, B):
            if entry and b:
                total = total - entry * Quotient(b)
        rest.append(total)
    return W, rest


def _moved(ratio: Quotient, to: _Written) -> Quotient:
    """A ratio of the kinematic equations' algebra in the report's, which has more letters."""
    algebra = to.of.algebra
    numerator, denominator = (
        part.map(algebra.generator, algebra.number) for part in (ratio.numerator, ratio.denominator)
    )
    return Quotient(numerator, denominator)


def _linear(to: _Written, coefficients: Sequence[Quotient], rest: Quotient) -> str:
    """sum coefficient u + rest."""
    parts = [f"{_factor(to, c)}{to.name(name)}" for c, name in zip(coefficients, to.names) if c]
    if rest:
        parts.append(to.text(rest))
    return " + ".join(parts).replace("+ -", "- ") or "0"


def _latex_ratio(formula: TrigPoly | Quotient) -> str:
    """A single negative numerator's sign stands before the fraction."""
    if isinstance(formula, Quotient) and not formula.is_formula and len(formula.numerator) == 1:
        negative = next(formula.numerator.terms())[0] < 0
        return "-" + (-formula).latex if negative else formula.latex
    return formula.latex


def _factor(to: _Written, value: Quotient) -> str:
    if value == 1:
        return ""
    if value == -1:
        return "-"
    text = to.text(value)
    times = r"\," if to.format == "latex" else "*"
    if len(value.numerator) > 1 and value.is_formula:
        text = rf"\left({text}\right)" if to.format == "latex" else f"({text})"
    return text + times


def _bodies(to: _Written) -> list[dict[str, Any]]:
    """Each body's angular velocity and the velocity of its mass centre, in its own axes, and their partials."""
    algebra = to.of.algebra
    sys = to.of.system(to.robot, to.setup)
    free, given = [algebra.rate(k) for k in to.of.free], [algebra.rate(k) for k in to.of.given]
    qd = sys.all_joints(free, given)
    known = known_angular_velocities(sys, [algebra.symbol(name) for name in to.names])
    implicit, plain = velocities(sys, qd, known), velocities(sys, qd)
    explicit = to.explicit
    found = []
    for i, link in enumerate(to.robot.links):
        at = sys.offset + i
        point, where = _centre(to.robot, i)
        arm = (algebra.number(point[0]), algebra.number(point[1]), algebra.number(point[2]))
        v_implicit = add(implicit[at].v, cross(implicit[at].w, arm))
        v_plain = add(plain[at].v, cross(plain[at].w, arm))
        entry: dict[str, Any] = {"body": link.name, "point": where}
        shown: dict[str, Any] = entry | {
            "omega": {"implicit": [to.text(x) for x in implicit[at].w]},
            "v": {"implicit": [to.text(x) for x in v_implicit]},
        }
        partials = dict(entry)
        for key, vector in (("omega", plain[at].w), ("v", v_plain)):
            if explicit is None:
                shown[key]["explicit"] = None
                partials[key] = None
                continue
            split = [_by_speed(component, to, *explicit) for component in vector]
            shown[key]["explicit"] = [_linear(to, coefficients, rest) for coefficients, rest in split]
            partials[key] = {
                to.name(name): [to.text(split[axis][0][r]) for axis in range(3)] for r, name in enumerate(to.names)
            } | {"t": [to.text(split[axis][1]) for axis in range(3)]}
        found.append({"velocities": shown, "partials": partials})
    return found


def _by_speed(
    component: TrigPoly, to: _Written, W: list[list[Quotient]], rest: list[Quotient]
) -> tuple[list[Quotient], Quotient]:
    """A component that is linear in the rates, as coefficients of the speeds and a remainder."""
    algebra = to.of.algebra
    zero = Quotient(algebra.zero)
    slopes = [Quotient(component.derivative_by(Generator("rate", k))) for k in to.of.free]
    found = []
    for r in range(len(to.names)):
        total = zero
        for k, slope in enumerate(slopes):
            if slope and W[k][r]:
                total = total + slope * W[k][r]
        found.append(total)
    last = Quotient(component.substitute({Generator("rate", k): Fraction(0) for k in to.of.free}))
    for slope, b in zip(slopes, rest):
        if slope and b:
            last = last + slope * b
    return found, last


def _centre(robot: Robot, i: int) -> tuple[tuple[Fraction, Fraction, Fraction], str]:
    """A body's mass centre in its frame where that is known in numbers, else its frame's origin."""
    inertia = robot.links[i].inertia
    if inertia.mass.is_number and inertia.mass and all(v.is_number for v in inertia.first_moment):
        x, y, z = (v.number / inertia.mass.number for v in inertia.first_moment)
        return (x, y, z), "mass centre"
    return (Fraction(0), Fraction(0), Fraction(0)), "origin"


def _dynamics(to: _Written, show: Sequence[Part]) -> dict[str, Any]:
    program = kane_parts(to.robot, to.setup, to.kinematics)
    lines = straight_line(program, _style(to))
    n = len(to.names)
    matrix = {key: [lines.outputs[key][r * n : (r + 1) * n] for r in range(n)] for key in ("X", "T")}
    result: dict[str, Any] = {"Z": [{"name": name, "value": value} for name, value in lines.intermediates]}
    if "forces" in show:
        result["forces"] = {
            "meaning": "K*_r = -sum X_rs ud_s - H_r; K_r = sum T_rk tau_k + G_r (gravity) + E_r (other forces)",
            "X": [list(row) for row in matrix["X"]],
            "H": list(lines.outputs["H"]),
            "T": [list(row) for row in matrix["T"]],
            "G": list(lines.outputs["G"]),
            "E": list(lines.outputs["E"]),
        }
    if "equations" in show:
        result["equations"] = {"X": [list(row) for row in matrix["X"]], "rhs": list(lines.outputs["rhs"])}
    return result


def _style(to: _Written) -> Style:
    latex = to.format == "latex"
    free, given, names = to.of.free, to.of.given, to.names
    symbols = sorted(to.robot.symbols)

    def letter(slot: Slot) -> str:
        name, i = slot
        if name == "q":
            return f"q_{{{free[i]}}}" if latex else f"q{free[i]}"
        if name == "u":
            return to.name(names[i])
        if name == "tau":
            return rf"\tau_{{{free[i]}}}" if latex else f"tau{free[i]}"
        if name in ("p", "pd", "pdd"):
            dots = {"p": "q", "pd": r"\dot{q}", "pdd": r"\ddot{q}"}[name]
            return f"{dots}_{{{given[i]}}}" if latex else f"q{name[1:]}{given[i]}"
        if name == "parameters" and i < len(symbols):
            return to.name(symbols[i])
        return f"f_{{{i + 1}}}" if latex else f"f{i + 1}"

    def wave(kind: str, angle: str) -> str:
        number = angle.removeprefix("q").strip("_{}")
        if angle.startswith("q") and number.isdigit():
            return f"{kind}_{{{number}}}" if latex else f"{kind}{number}"
        word = "sin" if kind == "s" else "cos"
        return rf"\{word}({angle})" if latex else f"{word}({angle})"

    return Style(
        letter,
        wave,
        (lambda k: f"Z_{{{k}}}") if latex else (lambda k: f"Z{k}"),
        _decimal,
        r"\, " if latex else "*",
        (lambda a, b: rf"\frac{{{a}}}{{{b}}}") if latex else None,
        (lambda a: rf"\sqrt{{{a}}}") if latex else "sqrt({})".format,
    )


def _decimal(value: Fraction) -> str:
    """A number as short as it is exact, else to twelve digits."""
    short = f"{float(value):.12g}"
    return short if "e" not in short else f"{float(value):.12f}".rstrip("0") if abs(value) > 1e-9 else short
