"""One way among many to write a robot's mechanics down, as inert data; and the program that it gives.

Every choice here leaves the function as it is and changes what it costs. To add a kind of choice: a field of
`Formulation`, its options in `options`, and its effect in `_prepared` or in a method of `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emdeg.algebra.exact import Exact
from emdeg.mechanics.formulations import composite_body, coriolis, coriolis_composite
from emdeg.mechanics.formulations.coefficients import Coefficients
from emdeg.mechanics.formulations.extended_body_rates import extended_body_coefficients
from emdeg.mechanics.formulations.lagrange_uicker import lagrange_coefficients
from emdeg.mechanics.mechanism import Frames, Mechanism, mechanism
from emdeg.mechanics.spatial import BodyInertia
from emdeg.mechanics.variants.frames_that_stay import Joints, turn_choices, turned_back
from emdeg.mechanics.variants.link_frame_recursion import efforts, inertia_forces, motion
from emdeg.mechanics.variants.moments import MOMENTS
from emdeg.mechanics.variants.regrouping import Axial, drives_in_links, handed_over, slid, slide_choices
from emdeg.mechanics.variants.split_inertia import SHARES, Twinned, twinned
from emdeg.mechanics.vectors import Scalar
from emdeg.programs.build import open_trace
from emdeg.programs.functions import FUNCTIONS, solved
from emdeg.programs.ir import Program
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Formulation:
    """Choices per link, and the method of the function.

    `back`: by which joints' angle a link's frame is turned back. `slide`: how far a frame is moved along its axis.
    `axial`, `keep_mass`: what a link hands to its parent. `moment`: how its Euler equation is written. `apart`,
    `apart_back`: what of a link's inertia goes to a twin of it, and how the twin's frame is turned back. `closed`: the
    first so many links contribute by closed form, the others by recursion. `method`: which algorithm, per function.
    """

    back: tuple[Joints, ...]
    slide: tuple[Exact, ...]
    axial: tuple[Axial, ...]
    keep_mass: tuple[bool, ...]
    moment: tuple[str, ...]
    apart: tuple[str, ...]
    apart_back: tuple[Joints, ...]
    closed: int = 0
    method: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """The mechanism as a formulation has it, in the tracer's scalars; `wide` is the same with its twins."""

    mech: Mechanism
    frame: Frames
    wide: Twinned
    wide_frame: Frames
    formulation: Formulation
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()

    @property
    def rest(self) -> list[Scalar]:
        return [self.mech.zero] * self.mech.n


Method = Callable[[Written], Mapping[str, Any]]


def plain_formulation(robot: Robot, functions: Sequence[str]) -> Formulation:
    """What the plain program uses: body-fixed frames as given, YY, MZ and M handed over."""
    n = robot.n
    first = tuple(next(iter(METHODS[function])) for function in functions)
    return Formulation(
        ((),) * n, (Exact(),) * n, ("yy",) * n, (False,) * n, ("Euler",) * n, ("",) * n, ((),) * n, 0, first
    )


def has_formulations(functions: Sequence[str]) -> bool:
    """Whether there is anything to choose: every function has methods."""
    return all(function in METHODS for function in functions)


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


def options(robot: Robot, functions: Sequence[str]) -> list[Option]:
    """Every single choice open for this robot and these functions."""
    found: list[Option] = []
    joints = range(robot.n)
    turns = turn_choices(mechanism(robot, Tracer(sorted(robot.symbols))))
    found += [Option("back", i, joints_) for i in joints for joints_ in turns[i]]
    found += [Option("slide", i, length) for i, lengths in enumerate(slide_choices(robot)) for length in lengths]
    for i in joints:
        if robot.joints[i].kind == "revolute":
            found += [Option("axial", i, value) for value in ("yy", "xx", "mean")]
            found += [Option("keep_mass", i, value) for value in (False, True)]
    if any(function in RECURSIVE for function in functions):
        found += [Option("moment", i, value) for i in joints for value in MOMENTS]
    if any(function in WITH_TWINS for function in functions):
        found += [Option("apart", i, share) for i in joints for share in SHARES]
        found += [Option("apart_back", i, joints_) for i in joints for joints_ in turns[i] if len(turns[i]) > 1]
    if "inverse_dynamics" in functions:
        found += [Option("closed", None, k) for k in range(min(robot.n, 4))]
    for place, function in enumerate(functions):
        names = [name for name in METHODS[function] if robot.is_serial or name not in SERIAL_ONLY]
        found += [Option("method", place, name) for name in names]
    return found


def write(robot: Robot, functions: Sequence[str], formulation: Formulation) -> Program:
    """The functions traced as the formulation says; not simplified."""
    trace = open_trace(robot, functions)
    mech = drives_in_links(robot, mechanism(robot, trace.tracer))
    mech = handed_over(slid(mech, formulation.slide), formulation.axial, formulation.keep_mass)

    def pair_of(joints: Joints):
        angle = trace.q[joints[0]]
        for joint in joints[1:]:
            angle = angle + trace.q[joint]
        return trace.tracer.sincos_of(angle)

    turned, frame = turned_back(mech, trace.position, formulation.back, pair_of)
    wide, wide_frame = Twinned(turned, tuple(range(mech.n))), frame
    if any(formulation.apart):
        split = twinned(mech, formulation.apart)
        back = [*formulation.back, *(formulation.apart_back[j] for j in split.joint[mech.n :])]
        wide_mech, wide_frame = turned_back(split.mech, split.spread(trace.position), back, pair_of, split.joint)
        wide = Twinned(wide_mech, split.joint)
    written = Written(turned, frame, wide, wide_frame, formulation, **trace.rates)
    results: dict[str, Any] = {}
    for function, method in zip(functions, formulation.method):
        results |= METHODS[function][method](written)
    return trace.tracer.program("_".join(functions), results)


def _recursion(w: Written, qd: Sequence[Scalar], qdd: Sequence[Scalar], first: int = 0) -> list[Scalar]:
    """Efforts by Newton and Euler, the first links' own inertias and drives left out."""
    wide, frame = w.wide, w.wide_frame
    mech = _without(wide.mech, [body for body, joint in enumerate(wide.joint) if joint < first]) if first else wide.mech
    moments = wide.spread([MOMENTS[name] for name in w.formulation.moment])
    rates, accelerations = wide.spread(qd), wide.spread(qdd)
    forces = inertia_forces(mech, motion(mech, frame, rates, accelerations), moments)
    return wide.gathered(efforts(mech, frame, forces, accelerations), w.mech.n)


def _inverse_dynamics(w: Written) -> Mapping[str, Any]:
    first = w.formulation.closed
    tau = _recursion(w, w.qd, w.qdd, first)
    if not first:
        return {"tau": tau}
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
    nothing = BodyInertia.nothing(zero)
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


def _mass_matrix(w: Written) -> list[list[Scalar]]:
    """By composite bodies; entries of bodies that share a joint add."""
    wide = composite_body.mass_matrix(w.wide.mech, w.wide_frame)
    rows = [w.wide.gathered(row, w.mech.n) for row in wide]
    return [list(column) for column in zip(*(w.wide.gathered(column, w.mech.n) for column in zip(*rows)))]


def _composite(w: Written) -> Mapping[str, Any]:
    return {"M": _mass_matrix(w)}


def _forward_dynamics(w: Written) -> Mapping[str, Any]:
    M = _mass_matrix(w)
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


RECURSIVE = ("inverse_dynamics", "bias", "gravity", "forward_dynamics")
WITH_TWINS = (*RECURSIVE, "mass_matrix")
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
