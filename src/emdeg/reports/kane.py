"""Kane's equations of a setup for reading: speeds, velocities, partial velocities, forces, equations, as formulas.

Kinematics is in closed form; forces and equations are straight-line code in intermediate quantities Z, as Kane and
Levinson print them. `kane_document` makes a document of what `describe` finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, cast

from emdeg.algebra import Generator, Quotient, Scalar, TrigPoly, verbatim_latex
from emdeg.codegen import Language, Summand, listings
from emdeg.documents import Combination, Label, Written, WrittenSum, WrittenTerm, label, mathml
from emdeg.dynamics import add, cross
from emdeg.dynamics.kane import (
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
from emdeg.equations.reading import own_letter
from emdeg.equations.speeds import SpeedAlgebra, SpeedInverse, speed_algebra, speed_inverse
from emdeg.errors import RobotError
from emdeg.programs import Program
from emdeg.programs.kane import kane_parts
from emdeg.robot import Robot

Part = Literal["velocities", "partials", "forces", "equations"]
PARTS: tuple[Part, ...] = ("velocities", "partials", "forces", "equations")
LONGEST = 20
"""Terms in the determinants that formulas may be divided by."""
LONGEST_DETERMINANT = 60
"""Terms of the determinant that is printed."""
LONGEST_STEP = 72
"""Characters of an expression that may stand inside another."""

_SIGN = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?|[A-Za-z]\w*|[-+*/()]", re.ASCII)
_WORDS = frozenset({"sqrt", "sin", "cos", "sign", "exp", "tanh"})
_OPERATORS = {"*": "&#x2062;", "-": "&#x2212;"}

Vector = tuple[Combination, ...]


@dataclass(frozen=True, slots=True)
class DescribedSpeed:
    """A generalized speed: its name, what it is in words, and its formula in the rates."""

    name: Label
    words: str
    formula: Combination


@dataclass(frozen=True, slots=True)
class Velocities:
    """A body's angular velocity and the velocity of a point of it [rad/s, m/s], in its own axes.

    `implicit` as it is built up, speeds where they are known; `explicit` in the speeds alone, and `partials`, its
    coefficients and what is left, (name of the speed or t, vector): None where the rates have no closed form.
    """

    implicit: Vector
    explicit: Vector | None
    partials: tuple[tuple[Label, Vector], ...] | None


@dataclass(frozen=True, slots=True)
class BodyMotion:
    """How a body moves; `point` says whose velocity `v` is."""

    body: str
    point: str
    omega: Velocities
    v: Velocities


@dataclass(frozen=True, slots=True)
class Dynamics:
    """X ud = right with right = T tau + G + E - H, all in the quantities Z; matrices row by row."""

    steps: tuple[tuple[Label, Written], ...]
    X: tuple[tuple[Written, ...], ...]
    T: tuple[tuple[Written, ...], ...]
    H: tuple[Written, ...]
    G: tuple[Written, ...]
    E: tuple[Written, ...]
    right: tuple[Written, ...]
    program: Program
    """What it was written from: the places of terms are of its values."""
    symbols: tuple[str, ...] = ()
    """The robot's own, and the speeds' names: what no entry may look like."""


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that is known of a setup; what was not asked for is empty or None."""

    robot: str
    title: str
    letters: tuple[tuple[Label, str], ...]
    """(q1, ... as they stand in formulas, the joint's name in the file)"""
    speeds: tuple[DescribedSpeed, ...]
    rates: tuple[tuple[Label, str, Combination | None], ...]
    """(rate, joint, its formula in the speeds; None where it has no closed form of sensible length)"""
    determinant: TrigPoly | str
    """det A, or in words why it is not printed."""
    singular: tuple[str, ...]
    bodies: tuple[BodyMotion, ...] = ()
    dynamics: Dynamics | None = None
    show: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class _Letters:
    """A setup in letters, and its kinematic equations."""

    robot: Robot
    setup: Setup
    kinematics: SpeedInverse
    of: SpeedAlgebra
    explicit: tuple[list[list[Quotient]], list[Quotient]] | None = None
    """(W, -W B): qd = W u - W B in the description's letters; None where it has no closed form of sensible length."""

    @property
    def names(self) -> tuple[str, ...]:
        return self.setup.names or tuple(f"u{i + 1}" for i in range(len(self.of.free)))

    def linear(self, coefficients: Sequence[Quotient], rest: Quotient) -> Combination:
        """sum coefficient u + rest."""
        return Combination(tuple((c, label(name)) for c, name in zip(coefficients, self.names)), rest)


def describe(robot: Robot, setup: Setup, show: Sequence[Part] = ()) -> Description:
    """The setup in formulas: speeds and kinematic equations always, the rest as asked for."""
    used = speed_algebra(robot, setup).names
    taken = {f"{prefix}{k}" for k in used for prefix in ("q", "qd", "qdd")} | set(robot.symbols)
    if clash := [name for name in setup.names if name in taken]:
        raise RobotError(f"the speed {clash[0]} has the name of a joint or of a symbol: rename it", body=robot.name)
    kinematics = speed_inverse(robot, setup)
    names = setup.names or tuple(f"u{i + 1}" for i in range(len(setup.speeds)))
    to = _Letters(robot, setup, kinematics, speed_algebra(robot, setup, names, rates=True))
    to = replace(to, explicit=_explicit(to))
    return Description(
        robot.name,
        setup.title,
        tuple((Label("q", str(letter)), name) for letter, name in to.of.names.items()),
        _speeds(to),
        _rates(to),
        _determinant(kinematics.det),
        tuple(one.where for one in kinematics.singular),
        _bodies(to) if "velocities" in show or "partials" in show else (),
        _dynamics(to) if "forces" in show or "equations" in show else None,
        tuple(show),
    )


def _determinant(det: TrigPoly | None) -> TrigPoly | str:
    if det is None:
        return "too many terms"
    return det if len(det) <= LONGEST_DETERMINANT else f"{len(det)} terms"


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


def _alone(formula: TrigPoly | Quotient) -> Combination:
    return Combination((), formula if isinstance(formula, Quotient) else Quotient(formula))


def _formulas(values: Sequence[Scalar]) -> Sequence[TrigPoly]:
    """What the mechanics gave over the description's algebra."""
    return cast("Sequence[TrigPoly]", values)


def _speeds(to: _Letters) -> tuple[DescribedSpeed, ...]:
    sys = to.of.system(to.robot, to.setup)
    algebra = to.of.algebra
    qd = sys.all_joints([algebra.rate(k) for k in to.of.free], [algebra.rate(k) for k in to.of.given])
    return tuple(
        DescribedSpeed(label(name), definition(speed, to.robot), _alone(value))
        for name, speed, value in zip(to.names, to.setup.speeds, _formulas(speed_values(sys, qd)))
    )


def _rates(to: _Letters) -> tuple[tuple[Label, str, Combination | None], ...]:
    """The kinematic equations solved, by substitution where they are triangular (Kane and Levinson (8)-(11))."""
    formulas: list[Combination | None] = [None] * len(to.of.free)
    if to.explicit is not None:
        formulas = [to.linear(row, rest) for row, rest in zip(*to.explicit)]
    return tuple(
        (Label("q", str(letter), dots=1), to.of.names[letter], formula) for letter, formula in zip(to.of.free, formulas)
    )


def _explicit(to: _Letters) -> tuple[list[list[Quotient]], list[Quotient]] | None:
    algebra, blocks = to.of.algebra, to.kinematics.blocks
    if any(block.inverse is None for block in blocks) or sum(len(block.det or ()) - 1 for block in blocks) > LONGEST:
        return None
    W = [[_moved(entry, to) for entry in row] for row in to.kinematics.matrix]
    sys = to.of.system(to.robot, to.setup)
    zeros = [algebra.zero] * len(to.of.free)
    B = _formulas(speed_values(sys, sys.all_joints(zeros, [algebra.rate(k) for k in to.of.given])))
    rest = []
    for row in W:
        total = Quotient(algebra.zero)
        for entry, b in zip(row, B):
            if entry and b:
                total = total - entry * Quotient(b)
        rest.append(total)
    return W, rest


def _moved(ratio: Quotient, to: _Letters) -> Quotient:
    """A ratio of the kinematic equations' algebra in the description's, which has more letters."""
    algebra = to.of.algebra
    numerator, denominator = (
        part.map(algebra.generator, algebra.number) for part in (ratio.numerator, ratio.denominator)
    )
    return Quotient(numerator, denominator)


def _bodies(to: _Letters) -> tuple[BodyMotion, ...]:
    """Each body's angular velocity and the velocity of its mass centre, and their partials."""
    algebra = to.of.algebra
    sys = to.of.system(to.robot, to.setup)
    free, given = [algebra.rate(k) for k in to.of.free], [algebra.rate(k) for k in to.of.given]
    qd = sys.all_joints(free, given)
    known = known_angular_velocities(sys, [algebra.symbol(name) for name in to.names])
    implicit, plain = velocities(sys, qd, known), velocities(sys, qd)
    found = []
    for i, link in enumerate(to.robot.links):
        at = sys.offset + i
        point, where = _centre(to.robot, i)
        arm = (algebra.number(point[0]), algebra.number(point[1]), algebra.number(point[2]))
        v_implicit = add(implicit[at].v, cross(implicit[at].w, arm))
        v_plain = add(plain[at].v, cross(plain[at].w, arm))
        omega = _velocities(_formulas(implicit[at].w), _formulas(plain[at].w), to)
        v = _velocities(_formulas(v_implicit), _formulas(v_plain), to)
        found.append(BodyMotion(link.name, where, omega, v))
    return tuple(found)


def _velocities(implicit: Sequence[TrigPoly], plain: Sequence[TrigPoly], to: _Letters) -> Velocities:
    shown = tuple(_alone(x) for x in implicit)
    if to.explicit is None:
        return Velocities(shown, None, None)
    split = [_by_speed(component, to, *to.explicit) for component in plain]
    partials = [
        (label(name), tuple(_alone(coefficients[r]) for coefficients, _ in split)) for r, name in enumerate(to.names)
    ]
    partials.append((Label("t"), tuple(_alone(rest) for _, rest in split)))
    return Velocities(shown, tuple(to.linear(*one) for one in split), tuple(partials))


def _by_speed(
    component: TrigPoly, to: _Letters, W: list[list[Quotient]], rest: list[Quotient]
) -> tuple[list[Quotient], Quotient]:
    """A component that is linear in the rates, as coefficients of the speeds and a remainder."""
    algebra = to.of.algebra
    slopes = [Quotient(component.derivative_by(Generator("rate", k))) for k in to.of.free]
    found = []
    for r in range(len(to.names)):
        total = Quotient(algebra.zero)
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


def _dynamics(to: _Letters) -> Dynamics:
    program = kane_parts(to.robot, to.setup, to.kinematics)
    text, latex = listings(program, [_language(to, latex=False), _language(to, latex=True)])
    n = len(to.names)

    def entries(name: str) -> tuple[Written, ...]:
        sums = text.output_sums[name], latex.output_sums[name]
        return tuple(map(_sum, text.outputs[name], latex.outputs[name], *sums))

    def matrix(name: str) -> tuple[tuple[Written, ...], ...]:
        flat = entries(name)
        return tuple(flat[r * n : (r + 1) * n] for r in range(n))

    steps = tuple(
        (Label(own_letter("Z", [k], to.robot.symbols), str(k)), _sum(*both))
        for k, both in enumerate(zip(text.statements, latex.statements, text.sums, latex.sums), 1)
    )
    taken = (*sorted(to.robot.symbols), *to.names)
    parts = matrix("X"), matrix("T"), entries("H"), entries("G"), entries("E"), entries("rhs")
    return Dynamics(steps, *parts, program, taken)


def _sum(text: str, latex: str, terms: Sequence[Summand], latex_terms: Sequence[Summand]) -> WrittenSum:
    """A formula of the listing with its terms apart."""
    apart = []
    for one, other in zip(terms, latex_terms):
        whole = _written(one.text, other.text)
        apart.append(WrittenTerm(whole.text, whole.latex, whole.mathml, one.value.sign < 0, one.value.value))
    whole = _written(text, latex)
    return WrittenSum(whole.text, whole.latex, whole.mathml, tuple(apart))


def _written(text: str, latex: str) -> Written:
    """A formula of the listing with its MathML, which the text's signs are read for."""
    signs = _SIGN.findall(text)
    if "".join(signs) != text.replace(" ", ""):
        return Written(text, latex)  # a name with signs of its own: it stays text
    return Written(text, latex, f"<mrow>{''.join(map(_sign, signs))}</mrow>")


def _sign(sign: str) -> str:
    if sign[0].isdigit():
        return f"<mn>{sign}</mn>"
    if sign[0].isalpha():
        return f"<mi>{sign}</mi>" if sign in _WORDS else mathml.label(label(sign))
    return f"<mo>{_OPERATORS.get(sign, sign)}</mo>"


def _language(to: _Letters, latex: bool) -> Language:
    """The letters of Kane and Levinson in text or in LaTeX."""
    free, given = to.of.free, to.of.given
    symbols = sorted(to.robot.symbols)

    def shown(name: Label) -> str:
        return name.latex if latex else str(name)

    def element(group: str, i: int) -> str:
        if group == "u":
            return shown(label(to.names[i]))
        if group == "parameters" and i < len(symbols):
            alike = latex and symbols[i] in to.of.algebra.alike
            return verbatim_latex(symbols[i]) if alike else shown(label(symbols[i]))
        if group in ("q", "tau"):
            return shown(Label(group, str(free[i])))
        if group in ("p", "pd", "pdd"):
            return shown(Label("q", str(given[i]), dots=len(group) - 1))
        return shown(Label("f", str(i + 1)))

    def trigonometric(letter: str, angle: str) -> str:
        number = angle.removeprefix("q").strip("_{}")
        if angle.startswith("q") and number.isdigit() and to.of.algebra.short:
            return shown(Label(letter, number))
        word = "sin" if letter == "s" else "cos"
        return rf"\{word}({angle})" if latex else f"{word}({angle})"

    return Language(
        number=_decimal,
        element=element,
        declare=lambda _, value: value,
        sqrt=r"\sqrt{{{}}}".format if latex else "sqrt({})".format,
        temporary=lambda k: shown(Label(own_letter("Z", [k], symbols), str(k))),
        times=r"\, " if latex else "*",
        over=r"\frac{{{}}}{{{}}}".format if latex else None,
        longest=LONGEST_STEP,
        trigonometric=trigonometric,
    )


def _decimal(value: Fraction) -> str:
    """A number as short as it is exact, else to twelve digits."""
    short = f"{float(value):.12g}"
    return short if "e" not in short else f"{float(value):.12f}".rstrip("0") if abs(value) > 1e-9 else short
