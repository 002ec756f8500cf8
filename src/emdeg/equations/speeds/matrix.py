"""The kinematic equations u = A qd + B in formulas: A, its determinant, and where the choice of speeds breaks down."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from emdeg.algebra import Angle, Exact, Generator, TrigAlgebra, TrigPoly
from emdeg.dynamics.kane import LinearForm, PointVelocity, Setup, System, speed_matrix, system
from emdeg.robot import Pose, Robot, massless

Matrix = tuple[tuple[TrigPoly, ...], ...]

MAX_TERMS = 100_000
"""Terms of any formula of the kinematics."""
MAX_FACTORED = 1000
"""Terms of a determinant that is still taken apart into factors."""
MAX_SHOWN = 12
"""Terms of a factor that is still written out where no words for its zeros are known."""


@dataclass(frozen=True, slots=True)
class SpeedAlgebra:
    """The algebra of a setup's configuration and the joint letter of each free and each prescribed variable."""

    algebra: TrigAlgebra
    free: tuple[int, ...]
    given: tuple[int, ...]
    names: dict[int, str]
    """Letter -> the joint's name in the file, or "base x"."""

    def system(self, robot: Robot, setup: Setup) -> System:
        """The robot's geometry, without masses, with its joints as letters."""
        free, given = [self._at(k) for k in self.free], [self._at(k) for k in self.given]
        return system(massless(robot), setup, self.algebra, free, given)

    def _at(self, letter: int) -> Any:
        algebra = self.algebra
        return algebra.joint_sincos(letter) if letter in algebra.revolute else algebra.displacement(letter)


def speed_algebra(robot: Robot, setup: Setup, parameters: Sequence[str] = (), rates: bool = False) -> SpeedAlgebra:
    """Joints called q1, q2, ... keep their number; others are numbered along the chain, the base's axes after them."""
    matches = [re.fullmatch(r"q([1-9][0-9]{0,3})", joint.name) for joint in robot.joints]
    numbers = [int(match[1]) for match in matches if match]
    if len(set(numbers)) != robot.n:
        numbers = list(range(1, robot.n + 1))
    axes = [max(numbers) + 1 + i for i in range(len(setup.base))]
    turning = [k for k, joint in zip(numbers, robot.joints) if joint.kind == "revolute"]
    turning += [k for k, axis in zip(axes, setup.base) if axis in ("yaw", "pitch", "roll")]
    symbols, angles = _constants(robot, setup)
    algebra = TrigAlgebra(
        revolute=sorted(turning),
        prismatic=sorted({*numbers, *axes} - {*turning}),
        parameters=(*symbols, *(name for name in parameters if name not in symbols)),
        constant_angles=angles,
        rates=rates,
        max_terms=MAX_TERMS,
        beside=sorted(robot.symbols),
    )
    named = {k: joint.name for k, joint in zip(numbers, robot.joints)}
    named |= {k: f"base {axis}" for k, axis in zip(axes, setup.base)}
    return SpeedAlgebra(
        algebra,
        tuple(numbers[k] for k in setup.free(robot)),
        (*(numbers[k] for k in setup.prescribed), *axes),
        named,
    )


def _constants(robot: Robot, setup: Setup) -> tuple[tuple[str, ...], tuple[Angle, ...]]:
    """Symbols in lengths and constant angles that the velocities depend on."""
    values: list[Exact] = []
    angles: list[Angle] = []
    formulas: list[str] = []

    def of_pose(pose: Pose) -> None:
        values.extend(pose.xyz)
        angles.extend(pose.rpy)

    of_pose(robot.base)
    for joint in robot.joints:
        place = joint.placement
        values += [place.a, place.b, place.d]
        angles += [place.alpha, place.theta, place.gamma, place.beta]
    for speed in setup.speeds:
        if isinstance(speed, LinearForm):
            parts = [c for _, c in speed.coefficients] + ([speed.constant] if speed.constant else [])
            formulas += [name for part in parts for name in part.names if name in robot.symbols]
        elif hasattr(speed, "body"):
            of_pose(speed.body.pose)  # type: ignore[union-attr]
            of_pose(speed.frame.pose)  # type: ignore[union-attr]
            values.extend(speed.direction)  # type: ignore[union-attr]
            if isinstance(speed, PointVelocity):
                values.extend(speed.point)
    symbols = {name for value in values for name in value.symbols} | set(formulas)
    return tuple(sorted(symbols)), tuple(dict.fromkeys(angles))


def symbolic_speed_matrix(robot: Robot, setup: Setup, of: SpeedAlgebra | None = None) -> Matrix:
    """A (speeds x free joints) in formulas (Kane and Levinson (1))."""
    of = speed_algebra(robot, setup) if of is None else of
    return cast(Matrix, tuple(tuple(row) for row in speed_matrix(of.system(robot, setup))))


@dataclass(frozen=True, slots=True)
class SpeedSingularity:
    """A factor of det A, where it vanishes in words, and the factor's value at a configuration."""

    factor: TrigPoly
    where: str

    def __str__(self) -> str:
        return self.where


def singularities(det: TrigPoly, names: dict[int, str]) -> tuple[SpeedSingularity, ...]:
    """Where the speeds cannot be solved for the rates: each factor of det A that can vanish."""
    if not det:
        raise ValueError("the determinant is zero everywhere")
    found = []
    for factor in _factors(det):
        where = _where(factor, names)
        if where is not None:
            found.append(SpeedSingularity(factor, where))
    return tuple(found)


def _factors(det: TrigPoly) -> Iterator[TrigPoly]:
    algebra = det.algebra
    if len(det) > MAX_FACTORED:
        yield det
        return
    _, parts = det._poly.factor()
    for poly, _ in parts:
        formula = algebra._canonical(poly)
        if not formula.is_number:
            yield formula


def _where(factor: TrigPoly, names: dict[int, str]) -> str | None:
    """In words where a factor is zero; None if it never is."""
    joints = {g.of for g in factor.generators if isinstance(g.of, int)}
    if not joints:
        return None  # constants of the robot alone: taken to be what they are, not zero
    free = all(isinstance(g.of, int) for g in factor.generators)
    if len(joints) == 1 and free:
        joint: Any = next(iter(joints))
        name = names[joint]
        if joint in factor.algebra.prismatic:
            return _displacement(factor, joint, name)
        return _angle(factor, joint, name)
    single = _single_sine(factor, names)
    return single or _vanishing(factor, names)


def _vanishing(factor: TrigPoly, names: dict[int, str]) -> str:
    if len(factor) <= MAX_SHOWN:
        return f"{factor} = 0"
    joints = sorted({g.of for g in factor.generators if isinstance(g.of, int)})
    return f"a formula of {len(factor)} terms in {', '.join(names[k] for k in joints)} vanishes"


def _displacement(factor: TrigPoly, joint: int, name: str) -> str:
    letter = Generator("displacement", joint)
    if factor.degree(letter) > 1:
        return _vanishing(factor, {joint: name})
    slope = factor.derivative_by(letter).number
    rest = factor.substitute({joint: Fraction(0)}).number
    return f"{name} = {float(-rest / slope):g} m"


def _angle(factor: TrigPoly, joint: int, name: str) -> str | None:
    """Where a + b cos + d sin is zero, in degrees."""
    s, c = Generator("sine", joint), Generator("cosine", joint)
    coefficients = {(): Fraction(0), (s,): Fraction(0), (c,): Fraction(0)}
    for value, monomial in factor.terms():
        key = tuple(monomial)
        if key not in coefficients or any(power > 1 for power in monomial.values()):
            return _vanishing(factor, {joint: name})
        coefficients[key] = value
    a, b, d = coefficients[()], coefficients[(c,)], coefficients[(s,)]
    if a * a > b * b + d * d:
        return None
    middle, half = math.atan2(d, b), math.acos(max(-1.0, min(1.0, float(-a) / math.hypot(b, d))))
    angles = sorted({round(math.degrees(x) % 360, 6) % 360 for x in (middle + half, middle - half)})
    angles = [x - 360 if x > 180 else x for x in angles]
    return f"{name} = " + " or ".join(f"{x:g}" for x in sorted(angles, key=abs)) + " deg"


def _single_sine(factor: TrigPoly, names: dict[int, str]) -> str | None:
    """sin or cos of a sum of angles, if the factor is nothing else."""
    if any(g.kind not in ("sine", "cosine") or not isinstance(g.of, int) for g in factor.generators):
        return None
    series = factor.to_fourier()
    if len(series) != 1:
        return None
    ((index, (a, b)),) = series.items()
    if bool(a) == bool(b):
        return None
    terms = [(m, names[joint]) for m, joint in zip(index, factor.algebra.revolute) if m]
    text = ""
    for m, name in terms:
        sign = " - " if m < 0 else " + " if text else ""
        text += sign + ("" if abs(m) == 1 else f"{abs(m)} ") + name
    angles = "0 or 180 deg" if b else "90 or -90 deg"
    return f"{text} = {angles}"


def letter_values(of: SpeedAlgebra, sys: System) -> Callable[[Generator], Any]:
    """How a formula's letters are written among the scalars of a system in another algebra."""
    algebra = sys.mech.algebra
    place = dict(zip((*of.free, *of.given), (*sys.free, *sys.given)))

    def letter(generator: Generator) -> Any:
        if isinstance(generator.of, Angle):
            return algebra.sincos(generator.of)[generator.kind == "cosine"]
        if generator.kind == "parameter":
            return algebra.symbol(str(generator.of))
        at = sys.position[place[int(generator.of)]]
        if generator.kind == "displacement":
            return at
        return at[generator.kind == "cosine"]

    return letter
