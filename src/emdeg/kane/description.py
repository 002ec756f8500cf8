"""Kane's equations of a setup for reading: speeds, velocities, partial velocities, forces, equations, as formulas.

Kinematics is in closed form; forces and equations are straight-line code in intermediate quantities Z, as Kane and
Levinson print them. `kane_document` makes a document of what `describe` finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, cast

from emdeg.algebra import Generator, Quotient, Scalar, TrigPoly, verbatim_latex
from emdeg.codegen import Language, Summand, listings
from emdeg.documents import Combination, Label, Written, WrittenSum, WrittenTerm, label, mathml
from emdeg.dynamics import add, cross
from emdeg.equations.reading import own_letter
from emdeg.errors import RobotError
from emdeg.kane.inverse import speed_inverse
from emdeg.kane.motion import known_angular_velocities, speed_values, velocities
from emdeg.kane.program import kane_parts
from emdeg.kane.setup import AngularVelocity, LinearForm, PointVelocity, Rate, Setup, Speed
from emdeg.kane.speeds import SpeedAlgebra, speed_algebra
from emdeg.programs import Program
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

    `implicit` as it is built up, speeds where they are known; `explicit` in the speeds alone: None where the rates have
    no closed form.
    """

    implicit: Vector
    explicit: Vector | None

    @property
    def partials(self) -> list[tuple[Label, Vector]] | None:
        """The coefficients of each speed and what is left: (name of the speed or t, vector)."""
        if self.explicit is None:
            return None
        columns = zip(*(component.terms for component in self.explicit))
        found = [(column[0][1], tuple(_alone(cast(Quotient, c)) for c, _ in column)) for column in columns]
        return [*found, (Label("t"), tuple(_alone(cast(Quotient, one.rest)) for one in self.explicit))]


@dataclass(frozen=True, slots=True)
class BodyMotion:
    """How a body moves; `point` is the point that has the velocity `v`."""

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
    of: SpeedAlgebra
    """The algebra of the formulas, and which joint each of its numbers is."""
    speeds: tuple[DescribedSpeed, ...]
    rates: tuple[tuple[Label, str, Combination | None], ...]
    """(rate, joint, its formula in the speeds; None where it has no closed form of sensible length)"""
    determinant: TrigPoly | str
    """det A, or in words why it is not printed."""
    singular: tuple[str, ...]
    bodies: tuple[BodyMotion, ...] = ()
    dynamics: Dynamics | None = None
    show: tuple[Part, ...] = ()


class _Formulas:
    """A setup in symbols: its speeds and velocities, and the rates in the speeds."""

    def __init__(self, robot: Robot, setup: Setup) -> None:
        self.robot, self.setup, self.names = robot, setup, setup.names_of(robot)
        self.of = speed_algebra(robot, setup, self.names, rates=True)
        self.algebra = self.of.algebra
        kinematics = speed_inverse(robot, setup, self.of)
        if kinematics is None:
            raise RobotError("with closed loops there are programs of its equations, no formulas", body=robot.name)
        self.kinematics = kinematics
        self.sys = self.of.system(robot, setup)
        self.given = [self.algebra.rate(k) for k in self.of.given]
        self.xd = self.sys.scattered([self.algebra.rate(k) for k in self.of.free], self.given)
        self.qd = self.sys.joint_rates(self.xd)

    @cached_property
    def explicit(self) -> tuple[Sequence[Sequence[Quotient]], list[Quotient]] | None:
        """(W, -W B): xd = W u - W B; None where it has no closed form of sensible length."""
        blocks = self.kinematics.blocks
        if any(one.inverse is None for one in blocks) or sum(len(one.det or ()) - 1 for one in blocks) > LONGEST:
            return None
        still = self.sys.joint_rates(self.sys.scattered([], self.given))
        B = [-Quotient(b) for b in _formulas(speed_values(self.sys, still))]
        W, zero = self.kinematics.matrix, Quotient(self.algebra.zero)
        return W, [_inner(row, B, zero) for row in W]

    def linear(self, coefficients: Sequence[Quotient], rest: Quotient) -> Combination:
        """sum coefficient u + rest."""
        return Combination(tuple((c, label(name)) for c, name in zip(coefficients, self.names)), rest)

    def by_speed(self, component: TrigPoly) -> Combination:
        """A component that is linear in the rates, in the speeds."""
        assert self.explicit is not None
        W, rest = self.explicit
        derivatives = [Quotient(component.derivative_by(Generator("rate", k))) for k in self.of.free]
        still = component.substitute({Generator("rate", k): Fraction(0) for k in self.of.free})
        zero = Quotient(self.algebra.zero)
        coefficients = [_inner(derivatives, column, zero) for column in zip(*W)]
        return self.linear(coefficients, _inner(derivatives, rest, Quotient(still)))


def _inner(a: Sequence[Quotient], b: Sequence[Quotient], rest: Quotient) -> Quotient:
    """a . b + rest"""
    for x, y in zip(a, b):
        if x and y:
            rest = rest + x * y
    return rest


def describe(robot: Robot, setup: Setup, show: Sequence[Part] = ()) -> Description:
    """The setup in formulas: speeds and kinematic equations always, the rest as asked for."""
    used = speed_algebra(robot, setup).names
    taken = {f"{prefix}{k}" for k in used for prefix in ("q", "qd", "qdd")} | set(robot.symbols)
    if clash := [name for name in setup.names if name in taken]:
        raise RobotError(f"the speed {clash[0]} has the name of a joint or of a symbol: rename it", body=robot.name)
    to = _Formulas(robot, setup)
    return Description(
        robot.name,
        setup.title,
        to.of,
        tuple(
            DescribedSpeed(label(name), definition(speed, robot), _alone(value))
            for name, speed, value in zip(to.names, setup.speeds, _formulas(speed_values(to.sys, to.qd)))
        ),
        _rates(to),
        _determinant(to.kinematics.det),
        tuple(one.where for one in to.kinematics.singular),
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


def _rates(to: _Formulas) -> tuple[tuple[Label, str, Combination | None], ...]:
    """The kinematic equations solved, by substitution where they are triangular (Kane and Levinson (8)-(11))."""
    formulas: Sequence[Combination | None] = [None] * len(to.of.free)
    if to.explicit is not None:
        formulas = [to.linear(row, rest) for row, rest in zip(*to.explicit)]
    return tuple((Label("q", str(k), dots=1), to.of.names[k], formula) for k, formula in zip(to.of.free, formulas))


def _bodies(to: _Formulas) -> tuple[BodyMotion, ...]:
    """Each body's angular velocity and the velocity of its mass centre, and their partials."""
    sys, algebra = to.sys, to.algebra
    known = known_angular_velocities(sys, [algebra.symbol(name) for name in to.names])
    implicit, plain = velocities(sys, to.qd, known), velocities(sys, to.qd)
    found = []
    for i, link in enumerate(to.robot.links):
        point, where = _centre(to.robot, i)
        arm = (algebra.number(point[0]), algebra.number(point[1]), algebra.number(point[2]))
        built, own = implicit[sys.offset + i], plain[sys.offset + i]
        omega = _velocities(built.w, own.w, to)
        v = _velocities(add(built.v, cross(built.w, arm)), add(own.v, cross(own.w, arm)), to)
        found.append(BodyMotion(link.name, where, omega, v))
    return tuple(found)


def _velocities(implicit: Sequence[Scalar], plain: Sequence[Scalar], to: _Formulas) -> Velocities:
    shown = tuple(map(_alone, _formulas(implicit)))
    return Velocities(shown, None if to.explicit is None else tuple(map(to.by_speed, _formulas(plain))))


def _centre(robot: Robot, i: int) -> tuple[tuple[Fraction, Fraction, Fraction], str]:
    """A body's mass centre in its frame where that is known in numbers, else its frame's origin."""
    inertia = robot.links[i].inertia
    if inertia.mass.is_number and inertia.mass and all(v.is_number for v in inertia.first_moment):
        x, y, z = (v.number / inertia.mass.number for v in inertia.first_moment)
        return (x, y, z), "mass centre"
    return (Fraction(0), Fraction(0), Fraction(0)), "origin"


def _dynamics(to: _Formulas) -> Dynamics:
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


def _language(to: _Formulas, latex: bool) -> Language:
    """The notation of Kane and Levinson in text or in LaTeX."""
    free, given = to.of.free, to.of.given
    symbols = sorted(to.robot.symbols)

    def shown(name: Label) -> str:
        return name.latex if latex else str(name)

    def element(group: str, i: int) -> str:
        if group == "u":
            return shown(label(to.names[i]))
        if group == "parameters" and i < len(symbols):
            alike = latex and symbols[i] in to.algebra.alike
            return verbatim_latex(symbols[i]) if alike else shown(label(symbols[i]))
        if group in ("q", "tau"):
            return shown(Label(group, str(free[i])))
        if group in ("p", "pd", "pdd"):
            return shown(Label("q", str(given[i]), dots=len(group) - 1))
        return shown(Label("f", str(i + 1)))

    def trigonometric(name: str, angle: str) -> str:
        number = angle.removeprefix("q").strip("_{}")
        if angle.startswith("q") and number.isdigit() and to.algebra.short:
            return shown(Label(name, number))
        word = "sin" if name == "s" else "cos"
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
