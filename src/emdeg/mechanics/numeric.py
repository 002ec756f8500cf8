"""The mechanics over doubles: the functions of a model, for one state or an array of states.

Every function takes a robot without symbols and arrays whose last axis runs over the joints, `(..., n)`; leading
axes are states and broadcast. SI units, radians; torques are positive along the joint's axis and act on the outer
link. Drive inertia is included, friction is not. Of a robot with closed loops q are the independent coordinates and
tau the driven joints' efforts; see `emdeg.mechanics.loops.numeric`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.algebra.scalar import Floats
from emdeg.errors import RobotError, singular_mass_matrix
from emdeg.mechanics.formulations import (
    articulated_body,
    composite_body,
    coriolis,
    differentiation,
    energy,
    kinematics,
)
from emdeg.mechanics.mechanism import Frames, Mechanism, frames, in_base, mechanism
from emdeg.mechanics.parameters import regressor as regressor_
from emdeg.mechanics.state import checked_arrays
from emdeg.mechanics.variants.link_frame_recursion import link_frame_recursion
from emdeg.mechanics.variants.rotors import mass_matrix_with_rotors, newton_euler_with_rotors
from emdeg.robot.model import Robot


def _closing_loops(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for a robot with closed loops the one of the same name in `closed_numeric`."""

    @wraps(function)
    def run(robot: Robot, *args: Any, **options: Any) -> Any:
        if robot.loops is None:
            return function(robot, *args, **options)
        from emdeg.mechanics.loops import numeric as closed_numeric

        other = getattr(closed_numeric, function.__name__, None)
        if other is None:
            raise RobotError(f"{function.__name__} is not known for closed loops", body=robot.name)
        return other(robot, *args, **options)

    return run


@_closing_loops
def inverse_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """tau (..., n) [N m, N]: the joint efforts of the motion q, qd, qdd."""
    mech, (q_, qd_, qdd_), shape = _prepared(robot, {"q": q, "qd": qd, "qdd": qdd})
    _need_rotors(mech, robot, gyroscopic)
    efforts = newton_euler_with_rotors if gyroscopic else link_frame_recursion
    tau = efforts(mech, _frames(mech, q_), qd_, qdd_)
    return _stacked(tau, shape)


@_closing_loops
def forward_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """qdd (..., n) [rad/s^2, m/s^2]: the accelerations that the joint efforts tau cause."""
    if gyroscopic:
        M = mass_matrix(robot, q, gyroscopic=True)
        rest = np.asarray(tau, float) - bias(robot, q, qd, gyroscopic=True)
        return np.asarray(np.linalg.solve(M, rest[..., None])[..., 0], dtype=np.float64)
    mech, (q_, qd_, tau_), shape = _prepared(robot, {"q": q, "qd": qd, "tau": tau})
    with np.errstate(divide="raise", invalid="raise"):
        try:
            qdd = articulated_body.forward_dynamics(mech, _frames(mech, q_), qd_, tau_)
        except (ZeroDivisionError, FloatingPointError):
            raise singular_mass_matrix(robot.name) from None
    return _stacked(qdd, shape)


@_closing_loops
def mass_matrix(robot: Robot, q: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """M (..., n, n) [kg m^2, kg m, kg], symmetric."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    _need_rotors(mech, robot, gyroscopic)
    build = mass_matrix_with_rotors if gyroscopic else composite_body.mass_matrix
    return _stacked(build(mech, _frames(mech, q_)), shape)


@_closing_loops
def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """C (..., n, n) from Christoffel symbols: C qd are the Coriolis and centrifugal efforts, M-dot - 2C is skew."""
    mech, (q_, qd_), shape = _prepared(robot, {"q": q, "qd": qd})
    _need_rotors(mech, robot, gyroscopic)
    if gyroscopic:
        position = _positions(mech, q_)
        return _stacked(differentiation.christoffel_matrix(mech, position, qd_, mass_matrix_with_rotors), shape)
    return _stacked(coriolis.coriolis_matrix(mech, _frames(mech, q_), qd_), shape)


@_closing_loops
def bias(robot: Robot, q: ArrayLike, qd: ArrayLike, *, gyroscopic: bool = False) -> Array:
    """h (..., n) [N m, N] = C qd + g: the efforts that hold the joints' speeds."""
    mech, (q_, qd_), shape = _prepared(robot, {"q": q, "qd": qd})
    _need_rotors(mech, robot, gyroscopic)
    rest = [0.0] * mech.n
    efforts = newton_euler_with_rotors if gyroscopic else link_frame_recursion
    return _stacked(efforts(mech, _frames(mech, q_), qd_, rest), shape)


@_closing_loops
def gravity(robot: Robot, q: ArrayLike) -> Array:
    """g (..., n) [N m, N] = dV/dq: the efforts that hold the robot still."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    rest = [0.0] * mech.n
    return _stacked(link_frame_recursion(mech, _frames(mech, q_), rest, rest), shape)


@_closing_loops
def kinetic_energy(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """T (...) [J], drives included."""
    mech, (q_, qd_), shape = _prepared(robot, {"q": q, "qd": qd})
    return _stacked(energy.kinetic_energy(mech, _frames(mech, q_), qd_), shape)


@_closing_loops
def potential_energy(robot: Robot, q: ArrayLike) -> Array:
    """V (...) [J] of gravity, zero for masses at the base frame's origin."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    return _stacked(energy.potential_energy(mech, _frames(mech, q_)), shape)


@_closing_loops
def momentum(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """(..., 6): linear momentum [kg m/s], then angular about the base frame's origin [kg m^2/s], base axes."""
    mech, (q_, qd_), shape = _prepared(robot, {"q": q, "qd": qd})
    linear, angular = energy.momentum(mech, _frames(mech, q_), qd_)
    return _stacked((*linear, *angular), shape)


def elements(robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """(M, b, c, g): M's upper triangle row by row; b_ijk for i, then j < k; c_ij row by row; g.

    tau_i = sum M_ij qdd_j + sum_{j<k} b_ijk qd_j qd_k + sum c_ij qd_j^2 + g_i (Armstrong et al., eqs. 1, 4-6).
    """
    M = mass_matrix(robot, q)
    n = len(robot.coordinates)
    q_ = np.asarray(q, float)[..., None, :]
    beta = np.moveaxis(coriolis_matrix(robot, q_, np.eye(n)), -3, -1)  # C_ij(q, e_k) = beta_ijk
    upper, pairs = np.triu_indices(n), np.triu_indices(n, 1)
    b = 2 * beta[..., pairs[0], pairs[1]]
    c = beta[..., np.arange(n), np.arange(n)]
    flat = (*M.shape[:-2], -1)
    return M[..., upper[0], upper[1]], b.reshape(flat), c.reshape(flat), gravity(robot, q)


@_closing_loops
def forward_kinematics(robot: Robot, q: ArrayLike) -> Array:
    """T (..., 4, 4): the tool in the base frame."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    R, p = kinematics.tool_pose(mech, _frames(mech, q_))
    return _stacked(kinematics.homogeneous(R, p, 0.0, 1.0), shape)


@_closing_loops
def link_transforms(robot: Robot, q: ArrayLike) -> Array:
    """(..., n, 4, 4): every link's frame in the base frame."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    world = in_base(mech, _frames(mech, q_))
    return _stacked([kinematics.homogeneous(R, p, 0.0, 1.0) for R, p in zip(world.R, world.p)], shape)


@_closing_loops
def jacobian(robot: Robot, q: ArrayLike) -> Array:
    """J (..., 6, n) at the tool, base axes, linear rows first."""
    mech, (q_,), shape = _prepared(robot, {"q": q})
    return _stacked(kinematics.jacobian(mech, _frames(mech, q_)), shape)


@_closing_loops
def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """J-dot (..., 6, n): the time derivative of `jacobian` along qd."""
    mech, (q_, qd_), shape = _prepared(robot, {"q": q, "qd": qd})
    return _stacked(kinematics.jacobian_rate(mech, _frames(mech, q_), qd_), shape)


@_closing_loops
def regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Y (..., n, 11 n) with tau = Y pi; per link XX XY XZ YY YZ ZZ MX MY MZ M, then its drive's inertia Ia."""
    mech, (q_, qd_, qdd_), shape = _prepared(robot, {"q": q, "qd": qd, "qdd": qdd})
    return _stacked(regressor_.regressor(mech, _frames(mech, q_), qd_, qdd_), shape)


@_closing_loops
def inverse_dynamics_derivatives(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> tuple[Array, Array]:
    """(dtau/dq, dtau/dqd), each (..., n, n), exact to rounding."""
    mech, (q_, qd_, qdd_), shape = _prepared(robot, {"q": q, "qd": qd, "qdd": qdd})
    by_q, by_qd = differentiation.inverse_dynamics_derivatives(
        mech, _positions(mech, q_), qd_, qdd_, link_frame_recursion
    )
    return _stacked(by_q, shape), _stacked(by_qd, shape)


def forward_dynamics_derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """(qdd, dqdd/dq, dqdd/dqd, dqdd/dtau): the accelerations (..., n) and their derivatives, each (..., n, n)."""
    qdd = forward_dynamics(robot, q, qd, tau)
    by_q, by_qd = inverse_dynamics_derivatives(robot, q, qd, qdd)
    M = np.broadcast_to(mass_matrix(robot, q), by_q.shape)
    # tau(q, qd, qdd(q, qd, tau)) = tau, differentiated.
    solutions = (-np.linalg.solve(M, by_q), -np.linalg.solve(M, by_qd), np.linalg.inv(M))
    a, b, c = (np.asarray(solution, np.float64) for solution in solutions)
    return qdd, a, b, c


@lru_cache(maxsize=64)
def _mechanism(robot: Robot) -> Mechanism:
    if robot.symbols:
        names = sorted(robot.symbols)
        some = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        raise RobotError(
            f"it has symbols without a number: {some}; "
            "give them values (--set NAME=VALUE, or emdeg.substitute) to evaluate it",
            body=robot.name,
        )
    return mechanism(robot, Floats())


def _prepared(robot: Robot, arrays: dict[str, ArrayLike]) -> tuple[Mechanism, list[list[Any]], tuple[int, ...]]:
    """The mechanism, each array as a list of n scalars (floats, or arrays of one shape), and that shape."""
    mech = _mechanism(robot)
    checked, shape = checked_arrays(arrays, mech.n, lambda name: f"joint of {robot.name}")
    if shape == ():
        return mech, [[float(v) for v in array] for array in checked], shape
    return mech, [[array[..., k] for k in range(mech.n)] for array in checked], shape


def _positions(mech: Mechanism, q: Sequence[Any]) -> list[Any]:
    """Each joint's sine and cosine, or displacement."""
    plain = not q or isinstance(q[0], float)
    return [
        ((float(np.sin(v)), float(np.cos(v))) if plain else (np.sin(v), np.cos(v))) if revolute else v
        for v, revolute in zip(q, mech.revolute)
    ]


def _frames(mech: Mechanism, q: Sequence[Any]) -> Frames:
    return frames(mech, _positions(mech, q))


def _stacked(values: Any, shape: tuple[int, ...]) -> Array:
    """Nested lists of scalars as one array, the states' axes first."""
    if not isinstance(values, (list, tuple)):
        return np.array(np.broadcast_to(values, shape), dtype=np.float64)
    if shape == ():
        return np.array(values, dtype=np.float64)
    parts = [_stacked(value, shape) for value in values]
    return np.stack(parts, axis=len(shape))


def _need_rotors(mech: Mechanism, robot: Robot, gyroscopic: bool) -> None:
    if gyroscopic and all(rotor is None for rotor in mech.rotor):
        raise RobotError("it has no gear ratios, so the rotors' gyroscopic terms are not known", body=robot.name)


FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "inverse_dynamics": (("q", "qd", "qdd"), inverse_dynamics),
    "forward_dynamics": (("q", "qd", "tau"), forward_dynamics),
    "mass_matrix": (("q",), mass_matrix),
    "coriolis_matrix": (("q", "qd"), coriolis_matrix),
    "bias": (("q", "qd"), bias),
    "gravity": (("q",), gravity),
    "elements": (("q",), elements),
    "forward_kinematics": (("q",), forward_kinematics),
    "link_transforms": (("q",), link_transforms),
    "jacobian": (("q",), jacobian),
    "jacobian_rate": (("q", "qd"), jacobian_rate),
    "regressor": (("q", "qd", "qdd"), regressor),
    "inverse_dynamics_derivatives": (("q", "qd", "qdd"), inverse_dynamics_derivatives),
    "forward_dynamics_derivatives": (("q", "qd", "tau"), forward_dynamics_derivatives),
    "kinetic_energy": (("q", "qd"), kinetic_energy),
    "potential_energy": (("q",), potential_energy),
    "momentum": (("q", "qd"), momentum),
}
"""Name -> (its arguments, the function). What `emdeg eval` offers."""
