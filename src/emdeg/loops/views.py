"""Views of a mechanism with closed loops, over doubles: every way to close, the named Jacobians, singularities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array, FieldScalar
from emdeg.dynamics.arrays import stacked
from emdeg.dynamics.state import Measure
from emdeg.errors import ClosureError, RobotError, StateError
from emdeg.loops import functions, reduction
from emdeg.loops.closing import reached, ready
from emdeg.loops.kind import ClosedLoops
from emdeg.loops.linkage import Anchor, in_motion, world_frames
from emdeg.loops.newton import evaluated, positions_of
from emdeg.loops.singularities import conditions, scaled_jacobian
from emdeg.loops.state import LoopState
from emdeg.loops.virtual_work import equations_by_virtual_work, point_partials
from emdeg.robot import Joint, Robot


def _state(robot: Robot, **arrays: ArrayLike) -> tuple[LoopState, tuple[int, ...]]:
    return ClosedLoops().numbers(robot, arrays)


def _steady(
    robot: Robot,
    run: Callable[[LoopState, tuple[int, ...]], Sequence[Array]],
    wrench: ArrayLike | None = None,
    **arrays: ArrayLike,
) -> Sequence[Array]:
    """What `run` makes of the states, of the shape that it is told; ClosureError where rounding makes much of it."""
    kind = ClosedLoops()

    def at(given: Mapping[str, ArrayLike]) -> tuple[LoopState, Sequence[Array]]:
        s, shape = kind.numbers(robot, {k: v for k, v in given.items() if k != "wrench"}, wrench=given.get("wrench"))
        return s, run(s, shape)

    def again(given: Mapping[str, Array]) -> list[Array]:
        rows = [at(dict(zip(given, row)))[1] for row in zip(*given.values())]
        return [np.stack(outputs) for outputs in zip(*rows)]

    given = arrays if wrench is None else {**arrays, "wrench": wrench}
    s, values = at(given)
    kind.need_steady(s, 0, given, values, again)
    return values


def joint_positions(robot: Robot, q: ArrayLike) -> Array:
    """(..., joints of the tree) [rad, m]: where every joint is, angles in (-pi, pi]."""
    return ClosedLoops().joint_positions(robot, q)


def singularity(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """How far a pose is from either kind of singularity, each (...) in 0 .. 1: zero is singular.

    First kind: the dependent joints' equations lose rank (an arm is stretched; the platform loses a freedom). Second
    kind: the undriven joints' do (the platform moves though the motors stand; forces in the loops have no bound).
    """
    s, _ = _state(robot, q=q)
    found = conditions(s.link, s.position)
    return found.first, found.second


def weak_loops(robot: Robot, q: ArrayLike) -> dict[str, str]:
    """The loop that is nearest to a singularity of the "first" and of the "second" kind at the pose q (n,)."""
    s, _ = _state(robot, q=q)
    found = conditions(s.link, s.position)
    return {"first": found.by_first, "second": found.by_second}


def weakest(robot: Robot, q: ArrayLike) -> tuple[str, str, float]:
    """(loop, kind, how far): the loop that is nearest to a singularity at the pose q (n,), or that does not close."""
    try:
        s, _ = _state(robot, q=q)
    except ClosureError as problem:
        return problem.loop, "out of reach", 0.0
    return conditions(s.link, s.position).nearest


def state_rate(
    robot: Robot, x: ArrayLike, tau: ArrayLike, *, wrench: ArrayLike | None = None, friction: bool = False
) -> Array:
    """The rate (..., 2n) of the state (q, qd) under the driven joints' efforts: the state-space form (43)."""
    x_ = np.asarray(x, dtype=np.float64)
    n = len(robot.coordinates)
    if x_.ndim == 0 or x_.shape[-1] != 2 * n:
        raise StateError(f"the state has shape {x_.shape}; its last axis must have {2 * n} entries, q and qd")
    q, qd = x_[..., :n], x_[..., n:]
    effort = np.asarray(tau, float) - drive_friction(robot, q, qd) if friction else tau

    def run(s: LoopState, shape: tuple[int, ...]) -> list[Array]:
        return [stacked(functions.forward_dynamics(s)["qdd"], shape)]

    (qdd,) = _steady(robot, run, wrench, q=q, qd=qd, tau=effort)
    return np.concatenate([np.broadcast_to(qd, qdd.shape), qdd], -1)


def reduced_model(robot: Robot, q: ArrayLike, qd: ArrayLike, *, route: str = "reduction") -> dict[str, Array]:
    """M, C, G, J, J_rate; `route` "reduction" of the tree's model, or "virtual_work" body by body, with its own C."""
    build = {"reduction": reduction.model, "virtual_work": equations_by_virtual_work}[route]
    names = ("M", "C", "G", "J", "J_rate")

    def run(s: LoopState, shape: tuple[int, ...]) -> list[Array]:
        model = build(s.link, s.position, s.motion(s.qd))
        return [stacked(getattr(model, name), shape) for name in names]

    return dict(zip(names, _steady(robot, run, q=q, qd=qd)))


def drive_friction(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """(..., n): the driven joints' efforts that overcome every joint's friction (viscous, Coulomb, Stribeck)."""

    def run(s: LoopState, shape: tuple[int, ...]) -> list[Array]:
        return [stacked(functions.friction(s)["tau"], shape)]

    return _steady(robot, run, q=q, qd=qd)[0]


def named_jacobians(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None) -> dict[str, Array]:
    """The blocks the model is made of, by name, each (3, n) in base axes but for J.

    "J": the driven joints' rates, (n, n). "J_L:<link>": a link's mass centre. "J_C:<rod>", "J_A:<rod>", "J_K:<rod>": a
    rod's first end, second end and mass centre (Asadi and Heydari (19)-(21), there in the arm's axes). With `qd` their
    rates too, under "Jdot", "Jdot_L:<link>" and so on.
    """
    if np.ndim(q) != 1:
        raise StateError("named_jacobians takes one state")
    names: list[str] = []

    def run(s: LoopState, _: tuple[int, ...]) -> list[Array]:
        blocks = _blocks(robot, s)
        names[:] = blocks
        return [part for pair in blocks.values() for part in pair]

    parts = _steady(robot, run, q=q, qd=np.zeros(len(robot.coordinates)) if qd is None else qd)
    result = dict(zip(names, parts[::2]))
    if qd is not None:
        result |= {name.replace("J", "Jdot", 1): rate for name, rate in zip(names, parts[1::2])}
    return result


def _blocks(robot: Robot, s: LoopState) -> dict[str, tuple[Array, Array]]:
    """Every block by its name, with its rate, of one state."""
    link, position, move = s.link, s.position, s.motion(s.qd)
    world, moving = world_frames(link, position), world_frames(link, in_motion(link.tree, position, move.qd))
    blocks: dict[str, tuple[Array, Array]] = {}
    drives = [stacked([W[k] for k in link.driven], ()) for W in (move.W, move.W_rate)]
    blocks["J"] = (drives[0], drives[1])

    def point(anchor: Anchor) -> tuple[Array, Array]:
        a, ad = point_partials(link, move, world, moving, anchor)
        return np.array(a, dtype=np.float64).T, np.array(ad, dtype=np.float64).T

    for i, body in enumerate(link.bare.inertia):
        mass = cast(FieldScalar, body.m)
        if mass:
            x, y, z = (moment / mass for moment in body.mr)
            blocks[f"J_L:{robot.links[i].name}"] = point(Anchor(i, world.R[i], (x, y, z)))
    for bar in link.bars:
        C, A = point(bar.first), point(bar.second)
        blocks[f"J_C:{bar.name}"], blocks[f"J_A:{bar.name}"] = C, A
        share = cast(float, bar.com)
        blocks[f"J_K:{bar.name}"] = (C[0] + share * (A[0] - C[0]), C[1] + share * (A[1] - C[1]))
    return blocks


def coordinates_of(robot: Robot, joints: ArrayLike, tolerance: float = 1e-8) -> Array:
    """The independent coordinates (..., n) of a configuration of all joints; ClosureError if a loop is open there."""
    found = ready(robot)
    q = np.asarray(joints, dtype=np.float64)
    if q.ndim == 0 or q.shape[-1] != found.link.n:
        raise StateError(f"the joints have shape {q.shape}; their last axis must have {found.link.n} entries")
    names, values, _ = evaluated(replace(found.link, rows=None), q)
    missed = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    if not np.all(missed < tolerance):
        worst = int(np.argmax(np.where(np.isfinite(missed), missed, np.inf)))
        raise ClosureError(names[worst], f"the configuration is off the constraint: open by {missed[worst]:.3g}")
    return q[..., list(found.link.coordinates)]


def closure_error(robot: Robot, joints: ArrayLike) -> float:
    """The largest miss [m, m^2, 1] of any loop's equations at configurations of all joints."""
    found = ready(robot)
    _, values, _ = evaluated(replace(found.link, rows=None), np.asarray(joints, dtype=np.float64))
    return float(np.abs(values).max())


def motor_inertias(robot: Robot, q: ArrayLike) -> Array:
    """(..., n) [kg m^2, kg]: the inertia that each motor feels if it alone accelerates, the others held still."""
    if ready(robot).link.redundant:
        raise RobotError("it has more motors than freedoms: none of them moves while the others stand", body=robot.name)

    def run(s: LoopState, shape: tuple[int, ...]) -> list[Array]:
        inverse, M = np.linalg.inv(stacked(s.driven, shape)), stacked(s.mass_matrix(), shape)
        return [np.einsum("...ji,...jk,...ki->...i", inverse, M, inverse)]

    return _steady(robot, run, q=q)[0]


def reachable(robot: Robot, q: ArrayLike) -> NDArray[np.bool_]:
    """(...): at which poses q (..., n) the loops close in the robot's mode."""
    return reached(ready(robot), np.asarray(q, dtype=np.float64))


def singularity_figures(robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """(first, second, their determinants), each (...): `singularity` and what changes its sign there.

    The determinants are of the closure equations, each scaled to one, by the dependent and by the undriven joints.
    """
    link = ready(robot).link
    position = positions_of(link, joint_positions(robot, q))
    Phi = scaled_jacobian(link, position)
    blocks = [Phi[..., list(columns)] for columns in (link.dependent, link.passive)]
    found = conditions(link, position)
    # Of more motors than freedoms the second is no determinant, but vanishes where one would.
    volume = np.sqrt(np.linalg.det(np.swapaxes(blocks[1], -1, -2) @ blocks[1])) if link.redundant else None
    return found.first, found.second, np.linalg.det(blocks[0]), np.linalg.det(blocks[1]) if volume is None else volume


def singularity_map(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """`singularity` at many poses (states, n), NaN where a pose cannot be reached: a map of the workspace."""
    poses = np.asarray(q, dtype=np.float64)
    first, second = np.full(len(poses), np.nan), np.full(len(poses), np.nan)
    there = reachable(robot, poses)
    if there.any():
        first[there], second[there] = singularity(robot, poses[there])
    return first, second


def _state_rate(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, **options: Any) -> Array:
    return state_rate(robot, np.concatenate(np.broadcast_arrays(q, qd), -1), tau, **options)


def _names(joints: Sequence[Joint]) -> list[str]:
    return [joint.name for joint in joints]


def _state_names(robot: Robot) -> list[str]:
    names = _names(robot.coordinates)
    return [f"{name} {rate}" for rate in ("rate", "acceleration") for name in names]


MEASURES: Mapping[str, Measure] = {
    "joint_positions": Measure(("q",), joint_positions, lambda robot: _names(robot.joints)),
    "motor_inertias": Measure(("q",), motor_inertias, lambda robot: _names(robot.driven)),
    "singularity": Measure(
        ("q",), lambda robot, q: np.stack(singularity(robot, q), -1), lambda _: ["first kind", "second kind"]
    ),
    "state_rate": Measure(("q", "qd", "tau"), _state_rate, _state_names),
}
"""Every joint's position, the motors' inertias, both distances from a singularity, the state-space form."""
