"""Mechanisms with closed loops over doubles: the functions of a model, for one state or an array of states.

q (..., n) are the independent coordinates, tau (..., n) the efforts of the driven joints; M, C and g are those of
M qdd + C qd + g = J^T tau, J = `drive_jacobian`. Everything else is as in `emdeg.mechanics.numeric`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.algebra.linear import times, transposed
from emdeg.algebra.scalar import Floats
from emdeg.errors import ClosureError, RobotError, StateError
from emdeg.mechanics.formulations import kinematics
from emdeg.mechanics.formulations.friction import friction as joint_friction
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.mechanics.loops.closure import Plan, solve
from emdeg.mechanics.loops.linkage import Linkage, linkage, loops_of, world_frames
from emdeg.mechanics.loops.mobility import Mobility, check, mobility
from emdeg.mechanics.loops.newton import follow, newton, positions_of
from emdeg.mechanics.loops.plan import find_plan
from emdeg.mechanics.mechanism import frames, in_base
from emdeg.mechanics.state import checked_arrays
from emdeg.robot.massless import massless
from emdeg.robot.model import Robot

REACHED = 1e-13
"""A radicand above minus this is zero with rounding."""
SINGULAR = 1e-9
"""A pose counts as singular if the smallest singular value of its equations, each scaled to one, is below this."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A robot's loops, looked at once: in doubles, its plan (None: Newton), a closed start, its mobility."""

    link: Linkage
    plan: Plan | None
    start: Array
    mobility: Mobility


@lru_cache(maxsize=32)
def ready(robot: Robot) -> Ready:
    """What evaluation needs; RobotError or ClosureError for a description that cannot move as it says."""
    loops = loops_of(robot)
    if robot.symbols:
        raise RobotError(
            f"it has symbols without a number: {', '.join(sorted(robot.symbols)[:6])}; give them values "
            "(--set NAME=VALUE, or emdeg.substitute) to evaluate it",
            body=robot.name,
        )
    link = linkage(robot, Floats())
    given = np.array([float(v) for v in loops.start])
    try:
        start = newton(link, given, link.dependent)
    except ClosureError:
        start = newton(link, given, range(link.n))
    plan = find_plan(link, loops, start)
    found = mobility(robot, link, start, plan)
    check(robot, link, found, start)
    return Ready(linkage(robot, Floats(), found.rows), plan, start, found)


def closing(robot: Robot) -> Ready:
    """How the loops close, which is a matter of geometry: masses, inertias, loads and gravity may be symbols."""
    return ready(massless(robot) if robot.symbols else robot)


@dataclass(frozen=True, slots=True)
class State:
    """A checked state: every joint's position, the arrays asked for as lists of scalars, the leading shape."""

    ready: Ready
    position: list[Any]
    given: list[list[Any]]
    shape: tuple[int, ...]

    @property
    def link(self) -> Linkage:
        return self.ready.link


def _state(robot: Robot, **arrays: ArrayLike) -> State:
    found = ready(robot)
    n = len(found.link.coordinates)

    def entry(name: str) -> str:
        return f"{'driven joint' if name == 'tau' else 'independent coordinate'} of {robot.name}"

    checked, shape = checked_arrays(arrays, n, entry)
    lists = [[array[..., k] for k in range(n)] for array in checked]
    return State(found, positions(found, checked[0]), lists, shape)


def positions(found: Ready, q: Array) -> list[Any]:
    """Every joint's position with the coordinates at q (..., n)."""
    link = found.link
    if found.plan is None:
        return positions_of(link, follow(link, found.start, q))
    full = np.zeros((*q.shape[:-1], link.n))
    full[..., list(link.coordinates)] = q
    at = positions_of(link, full)
    return solve(link, found.plan, {k: at[k] for k in link.coordinates}, reach_root)


def reach_root(radicand: Any, loop: str) -> Any:
    """The root, ClosureError where there is none: rods and links are too short or too long."""
    values = np.asarray(radicand)
    if not np.all(values >= -REACHED):
        count = int(np.count_nonzero(~(values >= -REACHED)))
        where = "the pose" if values.ndim == 0 else f"{count} of {values.size} poses"
        raise ClosureError(loop, f"{where} cannot be reached: the loop does not close there")
    return np.sqrt(np.maximum(values, 0.0))


def joint_positions(robot: Robot, q: ArrayLike) -> Array:
    """(..., joints of the tree) [rad, m]: where every joint is, angles in (-pi, pi]."""
    s = _state(robot, q=q)
    given = np.asarray(q, dtype=np.float64)
    values = [np.arctan2(*at) if revolute else at for at, revolute in zip(s.position, s.link.tree.revolute)]
    for i, k in enumerate(s.link.coordinates):
        values[k] = given[..., i]
    return np.stack([np.broadcast_to(v, s.shape) for v in values], -1)


def _motion(s: State, qd: list[Any]) -> closed_loop.Motion:
    require_regular(s)
    return closed_loop.motion(s.link, s.position, qd)


def conditions(s: State) -> tuple[Array, Array, list[str], list[str]]:
    """(first kind, second kind): the smallest singular values, and the loop that is weakest in each.

    Each constraint's row is scaled to length one over all joints.
    """
    link = s.link
    names = [row.name for row in closed_loop.constraints(link, world_frames(link, s.position))]
    Phi = stacked(closed_loop.constraint_jacobian(link, s.position), s.shape)
    Phi = Phi / np.linalg.norm(Phi, axis=-1, keepdims=True)
    values: list[Array] = []
    loops = []
    for joints in (link.dependent, link.passive):
        U, sizes, _ = np.linalg.svd(Phi[..., list(joints)])
        values.append(sizes[..., -1])
        worst = np.unravel_index(int(np.argmin(values[-1])), values[-1].shape)
        loops.append(names[int(np.argmax(np.abs(U[..., -1][worst])))])
    return values[0], values[1], [loops[0]], [loops[1]]


def require_regular(s: State) -> None:
    first, second, by_first, by_second = conditions(s)
    kinds = (
        (first, by_first[0], "the coordinates do not say how the loop moves (a singularity of the first kind)"),
        (second, by_second[0], "the motors cannot hold the loop (a singularity of the second kind)"),
    )
    for size, loop, rule in kinds:
        if float(np.min(size, initial=1.0)) < SINGULAR:
            raise ClosureError(loop, f"the pose is singular: {rule}")


def singularity(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """How far a pose is from either kind of singularity, each (...) in 0 .. 1: zero is singular.

    First kind: the dependent joints' equations lose rank (an arm is stretched; the platform loses a freedom). Second
    kind: the undriven joints' do (the platform moves though the motors stand; forces in the loops have no bound).
    """
    first, second, _, _ = conditions(_state(robot, q=q))
    return first, second


def weak_loops(robot: Robot, q: ArrayLike) -> dict[str, str]:
    """The loop that is nearest to a singularity of the "first" and of the "second" kind at the pose q (n,)."""
    _, _, by_first, by_second = conditions(_state(robot, q=q))
    return {"first": by_first[0], "second": by_second[0]}


def weakest(robot: Robot, q: ArrayLike) -> tuple[str, str, float]:
    """(loop, kind, how far): the loop that is nearest to a singularity at the pose q (n,), or that does not close."""
    try:
        first, second, by_first, by_second = conditions(_state(robot, q=q))
    except ClosureError as problem:
        return problem.loop, "out of reach", 0.0
    kinds = [(float(first), by_first[0], "first kind"), (float(second), by_second[0], "second kind")]
    size, loop, kind = min(kinds)
    return loop, kind, size


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    gyroscopic: bool = False,
    wrench: ArrayLike | None = None,
) -> Array:
    """tau (..., n) [N m, N] of the driven joints; `wrench` (..., 6): force and moment on the tool, base axes."""
    _no_rotors(robot, gyroscopic)
    s = _state(robot, q=q, qd=qd, qdd=qdd)
    move = _motion(s, s.given[1])
    efforts = closed_loop.tree_efforts(
        s.link, s.position, move.qd, closed_loop.accelerations(s.link, move, s.given[1], s.given[2])
    )
    if wrench is not None:
        load = np.einsum("...ik,...i->...k", _tree_jacobian(s), np.asarray(wrench, float))
        efforts = [effort - load[..., k] for k, effort in enumerate(efforts)]
    force = closed_loop.multipliers(s.link, move.Phi, efforts)
    tau = [efforts[k] - sum(row[k] * f for row, f in zip(move.Phi, force)) for k in s.link.driven]
    return stacked(tau, s.shape)


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    gyroscopic: bool = False,
    wrench: ArrayLike | None = None,
) -> Array:
    """qdd (..., n): M^-1 (J^T tau - C qd - g + external force), Asadi and Heydari (43)."""
    _no_rotors(robot, gyroscopic)
    return accelerations(_state(robot, q=q, qd=qd, tau=tau), wrench)


def accelerations(s: State, wrench: ArrayLike | None = None) -> Array:
    """qdd (..., n) of a state that was given q, qd and tau."""
    _, qd, tau = s.given
    move = _motion(s, qd)
    W = stacked(move.W, s.shape)
    drift = times(move.W_rate, qd, 0.0)
    right = -stacked(closed_loop.tree_efforts(s.link, s.position, move.qd, drift), s.shape)
    right[..., list(s.link.driven)] += stacked(tau, s.shape)
    if wrench is not None:
        right = right + np.einsum("...ik,...i->...k", _tree_jacobian(s), np.asarray(wrench, float))
    M = stacked(closed_loop.mass_matrix(s.link, s.position, move.W), s.shape)
    return np.linalg.solve(M, np.einsum("...ki,...k->...i", W, right)[..., None])[..., 0]


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
    qdd = forward_dynamics(robot, q, qd, effort, wrench=wrench)
    return np.concatenate([np.broadcast_to(qd, qdd.shape), qdd], -1)


def mass_matrix(robot: Robot, q: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """M (..., n, n) in the independent coordinates."""
    _no_rotors(robot, gyroscopic)
    s = _state(robot, q=q)
    require_regular(s)
    W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
    return stacked(closed_loop.mass_matrix(s.link, s.position, W), s.shape)


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """C (..., n, n) from the Christoffel symbols of M(q): M-dot - 2C is skew."""
    _no_rotors(robot, gyroscopic)
    return reduced_model(robot, q, qd)["C"]


def bias(robot: Robot, q: ArrayLike, qd: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """h (..., n) = C qd + g, in the independent coordinates."""
    _no_rotors(robot, gyroscopic)
    s = _state(robot, q=q, qd=qd)
    move = _motion(s, s.given[1])
    drift = times(move.W_rate, s.given[1], 0.0)
    efforts = closed_loop.tree_efforts(s.link, s.position, move.qd, drift)
    return stacked(times(transposed(move.W), efforts, 0.0), s.shape)


def gravity(robot: Robot, q: ArrayLike) -> Array:
    """g (..., n) = dV/dq, in the independent coordinates."""
    s = _state(robot, q=q)
    require_regular(s)
    W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
    g = closed_loop.tree_gravity(s.link, s.position)
    return stacked(times(transposed(W), g, 0.0), s.shape)


def reduced_model(robot: Robot, q: ArrayLike, qd: ArrayLike, *, route: str = "reduction") -> dict[str, Array]:
    """M, C, G, J, J_rate; `route` "reduction" of the tree's model, or "virtual_work" body by body, with its own C."""
    from emdeg.mechanics.formulations.virtual_work import virtual_work

    s = _state(robot, q=q, qd=qd)
    require_regular(s)
    build = {"reduction": closed_loop.model, "virtual_work": virtual_work}[route]
    model = build(s.link, s.position, s.given[1])
    return {name: stacked(getattr(model, name), s.shape) for name in ("M", "C", "G", "J", "J_rate")}


def drive_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """J (..., n, n): the driven joints' rates are J qd (Asadi and Heydari (9))."""
    s = _state(robot, q=q)
    require_regular(s)
    W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
    return stacked([W[k] for k in s.link.driven], s.shape)


def drive_friction(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """(..., n): the efforts that overcome the driven joints' friction (viscous, Coulomb, Stribeck)."""
    rates = np.einsum("...ij,...j->...i", drive_jacobian(robot, q), np.asarray(qd, float))
    driven = loops_of(robot).driven
    full = np.zeros((*rates.shape[:-1], robot.n))
    full[..., list(driven)] = rates
    return joint_friction(robot, full)[..., list(driven)]


def kinetic_energy(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """T (...) [J], drives included."""
    v = np.asarray(qd, dtype=np.float64)
    return 0.5 * np.einsum("...i,...ij,...j->...", v, mass_matrix(robot, q), v)


def potential_energy(robot: Robot, q: ArrayLike) -> Array:
    """V (...) [J] of gravity, zero for masses at the base frame's origin."""
    s = _state(robot, q=q)
    return stacked(closed_loop.potential_energy(s.link, s.position), s.shape)


def forward_kinematics(robot: Robot, q: ArrayLike) -> Array:
    """T (..., 4, 4): the tool in the base frame."""
    s = _state(robot, q=q)
    R, p = kinematics.tool_pose(s.link.tree, frames(s.link.tree, s.position))
    return stacked(kinematics.homogeneous(R, p, 0.0, 1.0), s.shape)


def link_transforms(robot: Robot, q: ArrayLike) -> Array:
    """(..., links, 4, 4): every link's frame in the base frame."""
    s = _state(robot, q=q)
    world = in_base(s.link.tree, frames(s.link.tree, s.position))
    return stacked([kinematics.homogeneous(R, p, 0.0, 1.0) for R, p in zip(world.R, world.p)], s.shape)


def _tree_jacobian(s: State) -> Array:
    return stacked(kinematics.jacobian(s.link.tree, frames(s.link.tree, s.position)), s.shape)


def jacobian(robot: Robot, q: ArrayLike) -> Array:
    """J (..., 6, n) of the tool in the independent coordinates, base axes, linear rows first."""
    s = _state(robot, q=q)
    require_regular(s)
    W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
    return _tree_jacobian(s) @ stacked(W, s.shape)


def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """J-dot (..., 6, n): the time derivative of `jacobian` along qd."""
    s = _state(robot, q=q, qd=qd)
    move = _motion(s, s.given[1])
    tree = frames(s.link.tree, s.position)
    rate = stacked(kinematics.jacobian_rate(s.link.tree, tree, move.qd), s.shape)
    return rate @ stacked(move.W, s.shape) + _tree_jacobian(s) @ stacked(move.W_rate, s.shape)


def _no_rotors(robot: Robot, gyroscopic: bool) -> None:
    if gyroscopic:
        raise RobotError("the rotors' gyroscopic terms are not known for closed loops", body=robot.name)


def stacked(values: Any, shape: tuple[int, ...]) -> Array:
    """Nested lists of scalars as one array, the states' axes first."""
    if not isinstance(values, (list, tuple)):
        return np.array(np.broadcast_to(values, shape), dtype=np.float64)
    return np.stack([stacked(value, shape) for value in values], axis=len(shape))
