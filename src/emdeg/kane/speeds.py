"""The kinematic equations u = A xd + B in formulas: A, its determinant, and where the choice of speeds breaks down."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from emdeg.algebra import Angle, Exact, Expression, Generator, TrigAlgebra, TrigPoly
from emdeg.equations.singular import zeros
from emdeg.kane.motion import speed_matrix
from emdeg.kane.setup import TURNS, AngularVelocity, LinearForm, PointVelocity, Setup
from emdeg.kane.system import System, system
from emdeg.robot import Robot, massless

Matrix = tuple[tuple[TrigPoly, ...], ...]

MAX_TERMS = 100_000
"""Terms of any formula of the kinematics."""
MAX_FACTORED = 1000
"""Terms of a determinant that is still taken apart into factors."""
MAX_SHOWN = 12
"""Terms of a factor that is still written out where no words for its zeros are known."""


@dataclass(frozen=True, slots=True)
class SpeedAlgebra:
    """The algebra of a setup's configuration and the number of each free and each prescribed variable in it."""

    algebra: TrigAlgebra
    free: tuple[int, ...]
    given: tuple[int, ...]
    names: dict[int, str]
    """Number -> the joint's name in the file, or "base x"."""

    def system(self, robot: Robot, setup: Setup) -> System:
        """The robot's geometry, without masses, with its joints as symbols."""
        free, given = [self._at(k) for k in self.free], [self._at(k) for k in self.given]
        return system(massless(robot), setup, self.algebra, free, given)

    def _at(self, k: int) -> Any:
        algebra = self.algebra
        return algebra.joint_sincos(k) if k in algebra.revolute else algebra.displacement(k)


def speed_algebra(robot: Robot, setup: Setup, parameters: Sequence[str] = (), rates: bool = False) -> SpeedAlgebra:
    """Joints called q1, q2, ... keep their number; others are numbered along the chain, the base's axes after them."""
    matches = [re.fullmatch(r"q([1-9][0-9]{0,3})", joint.name) for joint in robot.joints]
    numbers = [int(match[1]) for match in matches if match]
    if len(set(numbers)) != robot.n:
        numbers = list(range(1, robot.n + 1))
    axes = [max(numbers) + 1 + i for i in range(len(setup.base))]
    revolute = [k for k, joint in zip(numbers, robot.joints) if joint.kind == "revolute"]
    revolute += [k for k, axis in zip(axes, setup.base) if axis in TURNS]
    symbols, angles = _constants(robot, setup)
    algebra = TrigAlgebra(
        revolute=sorted(revolute),
        prismatic=sorted({*numbers, *axes} - {*revolute}),
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
    found: list[Exact | Angle] = [*robot.base.xyz, *robot.base.rpy]
    for joint in robot.joints:
        place = joint.placement
        found += [place.a, place.b, place.d, place.alpha, place.theta, place.gamma, place.beta]
    formulas: list[Expression] = []
    for speed in setup.speeds:
        match speed:
            case LinearForm():
                formulas += [c for _, c in speed.coefficients] + ([speed.constant] if speed.constant else [])
            case AngularVelocity() | PointVelocity():
                for pose in (speed.body.pose, speed.frame.pose):
                    found += [*pose.xyz, *pose.rpy]
                found += [*speed.direction, *(speed.point if isinstance(speed, PointVelocity) else ())]
    symbols = {name for formula in formulas for name in formula.names if name in robot.symbols}
    symbols |= {name for value in found if not isinstance(value, Angle) for name in value.symbols}
    angles = dict.fromkeys(value for value in found if isinstance(value, Angle))
    return tuple(sorted(symbols)), tuple(angles)


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
    found = ((factor, _where(factor, names)) for factor in _factors(det))
    return tuple(SpeedSingularity(factor, where) for factor, where in found if where is not None)


def _factors(det: TrigPoly) -> Iterator[TrigPoly]:
    if len(det) > MAX_FACTORED:
        yield det
        return
    for poly, _ in det._poly.factor()[1]:
        formula = det.algebra._canonical(poly)
        if not formula.is_number:
            yield formula


def _where(factor: TrigPoly, names: dict[int, str]) -> str | None:
    """In words where a factor is zero; None if it never is."""
    joints = sorted({g.of for g in factor.generators if isinstance(g.of, int)})
    if not joints:
        return None  # constants of the robot alone: taken to be what they are, not zero
    at = zeros(factor)
    if at is None:
        return _single_sine(factor, names) or _vanishing(factor, [names[joint] for joint in joints])
    (joint,) = joints
    if joint in factor.algebra.prismatic:
        return f"{names[joint]} = " + " or ".join(f"{x:g}" for x in at) + " m" if at else None
    angles = sorted({round(math.degrees(x) % 360, 6) % 360 for x in at})
    angles = sorted((x - 360 if x > 180 else x for x in angles), key=abs)
    return f"{names[joint]} = " + " or ".join(f"{x:g}" for x in angles) + " deg" if angles else None


def _vanishing(factor: TrigPoly, names: Sequence[str]) -> str:
    if len(factor) <= MAX_SHOWN:
        return f"{factor} = 0"
    return f"a formula of {len(factor)} terms in {', '.join(names)} vanishes"


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
    text = ""
    for m, joint in zip(index, factor.algebra.revolute):
        if m:
            sign = " - " if m < 0 else " + " if text else ""
            text += sign + ("" if abs(m) == 1 else f"{abs(m)} ") + names[joint]
    return f"{text} = " + ("0 or 180 deg" if b else "90 or -90 deg")


def symbol_values(of: SpeedAlgebra, sys: System) -> Callable[[Generator], Any]:
    """How a formula's symbols are written among the scalars of a system in another algebra."""
    algebra = sys.mech.algebra
    joint = dict(zip((*of.free, *of.given), (sys.coordinates[place] for place in (*sys.free, *sys.given))))

    def symbol(generator: Generator) -> Any:
        if isinstance(generator.of, Angle):
            return algebra.sincos(generator.of)[generator.kind == "cosine"]
        if generator.kind == "parameter":
            return algebra.symbol(str(generator.of))
        at: Any = sys.position[joint[int(generator.of)]]
        if generator.kind == "displacement":
            return at
        return at[generator.kind == "cosine"]

    return symbol
