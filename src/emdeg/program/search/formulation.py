"""One way among many to write a robot's mechanics down, as inert data; and the program that it gives.

Every choice here leaves the function as it is and changes what it costs. To add a kind of choice: a field of
`Formulation`, its options in `options`, and its effect in `_prepared` or in a method of `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emdeg.algebra.exact import Exact
from emdeg.mechanics import composite_body, coriolis, coriolis_composite
from emdeg.mechanics.coefficients import Coefficients
from emdeg.mechanics.extended_body_rates import extended_body_coefficients
from emdeg.mechanics.lagrange import lagrange_coefficients
from emdeg.mechanics.linear import Scalar
from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, mechanism
from emdeg.mechanics.moments import MOMENTS
from emdeg.mechanics.newton_euler import efforts, motion
from emdeg.mechanics.regauge import Axial, drives_in_links, handed_over, slid, slide_choices
from emdeg.mechanics.turning import Joints, turn_choices, turned_back
from emdeg.program.build import open_trace
from emdeg.program.functions import FUNCTIONS, solved
from emdeg.program.ir import Program
from emdeg.program.trace import Tracer
from emdeg.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Formulation:
    """Choices per link, and the method of the function.

    `back`: by which joints' angle a link's frame is turned back. `slide`: how far a frame is moved along its axis.
    `axial`, `keep_mass`: what a link hands to its parent. `moment`: how its Euler equation is written. `closed`: the
    first so many links contribute by closed form, the others by recursion. `method`: which algorithm.
    """

    back: tuple[Joints, ...]
    slide: tuple[Exact, ...]
    axial: tuple[Axial, ...]
    keep_mass: tuple[bool, ...]
    moment: tuple[str, ...]
    closed: int = 0
    method: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The mechanism as a formulation has it, in the tracer's scalars."""

    mech: Mechanism
    frame: Frames
    formulation: Formulation
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()

    @property
    def rest(self) -> list[Scalar]:
        return [self.mech.zero] * self.mech.n


Method = Callable[[Written], Mapping[str, Any]]


def plain_formulation(robot: Robot, function: str) -> Formulation:
    """What the plain program uses: body-fixed frames as given, YY, MZ and M handed over."""
    n = robot.n
    return Formulation(
        ((),) * n, (Exact(),) * n, ("yy",) * n, (False,) * n, ("euler",) * n, 0, next(iter(METHODS[function]))
    )


@dataclass(frozen=True, slots=True)
class Option:
    """One thing a formulation may choose: field `name` (at link `place`) = `value`."""

    name: str
    place: int | None
    value: Any = field(hash=False)

    def applied(self, to: Formulation) -> Formulation:
        if self.place is None:
            return replace(to, **{self.name: self.value})
        values = list(getattr(to, self.name))
        values[self.place] = self.value
        return replace(to, **{self.name: tuple(values)})

    def is_in(self, formulation: Formulation) -> bool:
        chosen = getattr(formulation, self.name)
        return bool((chosen if self.place is None else chosen[self.place]) == self.value)


def options(robot: Robot, function: str) -> list[Option]:
    """Every single choice open for this robot and function."""
    found: list[Option] = []
    joints = range(robot.n)
    turns = turn_choices(mechanism(robot, Tracer(sorted(robot.symbols))))
    found += [Option("back", i, joints_) for i in joints for joints_ in turns[i]]
    found += [Option("slide", i, length) for i, lengths in enumerate(slide_choices(robot)) for length in lengths]
    for i in joints:
        if robot.joints[i].kind == "revolute":
            found += [Option("axial", i, value) for value in ("yy", "xx", "mean")]
            found += [Option("keep_mass", i, value) for value in (False, True)]
    methods = METHODS[function]
    if any(name == "recursion" for name in methods) or function == "forward_dynamics":
        found += [Option("moment", i, value) for i in joints for value in MOMENTS]
    if function == "inverse_dynamics":
        found += [Option("closed", None, k) for k in range(min(robot.n, 4))]
    serial = robot.is_serial
    found += [Option("method", None, name) for name in methods if serial or name not in SERIAL_ONLY]
    return found


def write(robot: Robot, function: str, formulation: Formulation) -> Program:
    """The function traced as the formulation says; not simplified."""
    trace = open_trace(robot, [function])
    mech = drives_in_links(robot, mechanism(robot, trace.tracer))
    mech = handed_over(slid(mech, formulation.slide), formulation.axial, formulation.keep_mass)

    def pair_of(joints: Joints):
        angle = trace.q[joints[0]]
        for joint in joints[1:]:
            angle = angle + trace.q[joint]
        return trace.tracer.sincos_of(angle)

    turned, frame = turned_back(mech, trace.position, formulation.back, pair_of)
    written = Written(turned, frame, formulation, **trace.rates)
    return trace.tracer.program(function, METHODS[function][formulation.method](written))


def _recursion(w: Written, qd: Sequence[Scalar], qdd: Sequence[Scalar], mech: Mechanism | None = None) -> list[Scalar]:
    mech = mech or w.mech
    moments = [MOMENTS[name] for name in w.formulation.moment]
    return list(efforts(mech, w.frame, motion(mech, w.frame, qd, qdd), qd, qdd, moments=moments).tau)


def _inverse_dynamics(w: Written) -> Mapping[str, Any]:
    first = w.formulation.closed
    if not first:
        return {"tau": _recursion(w, w.qd, w.qdd)}
    tau = _recursion(w, w.qd, w.qdd, _without(w.mech, range(first)))
    model = lagrange_coefficients(*_inner(w.mech, w.frame, first))
    for i in range(first):
        tau[i] = tau[i] + model.g[i]
        for j in range(first):
            tau[i] = tau[i] + model.M[i][j] * w.qdd[j] + model.c(i, j) * (w.qd[j] * w.qd[j])
            for k in range(j + 1, first):
                tau[i] = tau[i] + model.b(i, j, k) * (w.qd[j] * w.qd[k])
    return {"tau": tau}


def _without(mech: Mechanism, links: Sequence[int]) -> Mechanism:
    """The mechanism with these links' inertias and drives set to nothing."""
    zero = mech.zero
    nothing = BodyInertia(zero, (zero,) * 3, ((zero,) * 3,) * 3)
    bodies = tuple(nothing if i in links else body for i, body in enumerate(mech.inertia))
    drives = tuple(zero if i in links else drive for i, drive in enumerate(mech.drive))
    return replace(mech, inertia=bodies, drive=drives)


def _inner(mech: Mechanism, frame: Frames, n: int) -> tuple[Mechanism, Frames]:
    """The first n links alone (parents come first, so they are a tree of their own)."""
    parts = {name: getattr(mech, name)[:n] for name in ("parent", "revolute", "step", "inertia", "drive", "rotor")}
    return replace(mech, **parts, tool_link=min(mech.tool_link, n - 1)), Frames(frame.R[:n], frame.p[:n])


def _bias(w: Written) -> Mapping[str, Any]:
    return {"h": _recursion(w, w.qd, w.rest)}


def _gravity(w: Written) -> Mapping[str, Any]:
    return {"g": _recursion(w, w.rest, w.rest)}


def _composite(w: Written) -> Mapping[str, Any]:
    return {"M": composite_body.mass_matrix(w.mech, w.frame)}


def _forward_dynamics(w: Written) -> Mapping[str, Any]:
    M = composite_body.mass_matrix(w.mech, w.frame)
    h = _recursion(w, w.qd, w.rest)
    return {"qdd": solved(M, [t - b for t, b in zip(w.tau, h)], w.mech.one)}


def _from_christoffel(coefficients: Callable[[Mechanism, Frames], Coefficients]) -> Method:
    def method(w: Written) -> Mapping[str, Any]:
        model, n = coefficients(w.mech, w.frame), w.mech.n
        C = [[w.mech.zero] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    C[i][j] = C[i][j] + model.beta[i][j][k] * w.qd[k]
        return {"C": C}

    return method


def _elements(coefficients: Callable[[Mechanism, Frames], Coefficients]) -> Method:
    def method(w: Written) -> Mapping[str, Any]:
        model, n = coefficients(w.mech, w.frame), w.mech.n
        return {
            "M": [model.M[i][j] for i in range(n) for j in range(i, n)],
            "b": [model.b(i, j, k) for i in range(n) for j in range(n) for k in range(j + 1, n)],
            "c": [model.c(i, j) for i in range(n) for j in range(n)],
            "g": list(model.g),
        }

    return method


SERIAL_ONLY = ("extended bodies",)

METHODS: dict[str, dict[str, Method]] = {
    "inverse_dynamics": {"recursion": _inverse_dynamics},
    "bias": {"recursion": _bias},
    "gravity": {"recursion": _gravity},
    "mass_matrix": {
        "composite bodies": _composite,
        "Lagrange": lambda w: {"M": [list(row) for row in lagrange_coefficients(w.mech, w.frame).M]},
    },
    "forward_dynamics": {"composite bodies": _forward_dynamics},
    "coriolis_matrix": {
        "composite bodies": lambda w: {"C": coriolis_composite.coriolis_matrix(w.mech, w.frame, w.qd)},
        "body by body": lambda w: {"C": coriolis.coriolis_matrix(w.mech, w.frame, w.qd)},
        "Lagrange": _from_christoffel(lagrange_coefficients),
    },
    "elements": {
        "Lagrange": _elements(lagrange_coefficients),
        "extended bodies": _elements(extended_body_coefficients),
    },
}
"""Function -> its methods. Functions that are not here have one formulation, the plain one."""

assert METHODS.keys() <= FUNCTIONS.keys()
