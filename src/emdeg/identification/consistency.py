"""Bodies that can exist: full inertial parameters whose base parameters are the identified ones, nearest to the file's.

A body exists if its pseudo-inertia, the 4 x 4 matrix of its moments of order zero, one and two, is positive definite
(Wensing, Kim and Slotine); a rod, if its mass and its moments about its first end are those of masses along it. In a
mechanism with closed loops a link without mass is no body, but a way to say how another moves: it has none. First the
base parameters come as near to the identified ones as such bodies allow, in the metric of their covariance; then, no
further away than that, the bodies come as near to the file's as they can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.functions import regressor
from emdeg.dynamics.parameters import COLUMNS, parameters
from emdeg.errors import BadRequest, RobotError
from emdeg.identification.identifying import Identification
from emdeg.robot import Robot, geometry

WIDTH = len(COLUMNS)
SIZE = 0.1
"""[m] of a body whose file says nothing."""
LIGHTEST = 1e-5
"""Of a body's size: the least eigenvalue of its pseudo-inertia."""
SLACK = 0.01
"""Squared standard deviations by which the base parameters may give way to be nearer to the file."""


@dataclass(frozen=True)
class Bodies(Shown):
    """Every link's XX..M and its drive's Ia, then every rod's (n, 11), and the factor of their covariance (11 n, k).

    `distance` is how far their base parameters are from the identified ones, in standard deviations.
    """

    values: Array
    factor: Array
    distance: float


def consistent_bodies(found: Identification) -> Bodies:
    """The bodies nearest to the file's that have the identified base parameters as nearly as bodies can."""
    robot = found.robot
    cvxpy = _cvxpy()
    n = robot.n + len(robot.rods)
    start = np.zeros(WIDTH * n) if robot.symbols else np.array([float(v) for v in parameters(robot)])
    massless = massless_links(robot)
    size = _sizes(start.reshape(n, WIDTH))
    told = found.fit.told[: len(found.base)]
    G = grouping_matrix(found)[told]
    spread = found.covariance[np.ix_(told, told)]
    root = np.linalg.cholesky(spread + 1e-14 * np.diag(np.diag(spread)))
    A = np.linalg.solve(root, G * size)
    b = np.linalg.solve(root, found.values[told])
    x = cvxpy.Variable(WIDTH * n)
    bodies = []
    for k in range(n):
        own = x[WIDTH * k : WIDTH * (k + 1)]
        if k >= robot.n:
            bodies += _rod(cvxpy, own, float(robot.rods[k - robot.n].length) * _ratio(size, k))
        elif k in massless:
            bodies += [own[: WIDTH - 1] == 0, own[WIDTH - 1] >= 0]
        else:
            bodies += [_pseudo_inertia(cvxpy, own) >> LIGHTEST * np.eye(4), own[WIDTH - 1] >= 0]
    away = cvxpy.norm(A @ x - b)
    first = _solved(cvxpy, cvxpy.Problem(cvxpy.Minimize(away), bodies), robot)
    reach = float(np.sqrt(first**2 + SLACK))
    nearest = cvxpy.norm(x - start / size)
    _solved(cvxpy, cvxpy.Problem(cvxpy.Minimize(nearest), [*bodies, away <= reach]), robot)
    values = np.asarray(x.value) * size
    # To first order the bodies follow the base parameters by the shortest way, in the sizes of the file's.
    back = size[:, None] * np.linalg.pinv(G * size)
    factor = back @ root
    factor[np.abs(factor) < 1e-12 * size[:, None]] = 0.0
    return Bodies(values.reshape(n, WIDTH), factor, float(np.linalg.norm(A @ np.asarray(x.value) - b)))


def massless_links(robot: Robot) -> tuple[int, ...]:
    """Links of closed loops that have no mass in their file: they carry a coordinate, no body."""
    if robot.is_tree or robot.symbols:
        return ()
    return tuple(k for k, link in enumerate(robot.links) if not any(map(float, link.inertia.parameters)))


def grouping_matrix(found: Identification) -> Array:
    """(p, 11 n) base parameters = this times all parameters."""
    robot = found.robot
    shape = geometry(robot) if robot.is_tree else robot
    rng = np.random.default_rng(560)
    count = 4 * len(found.base) // robot.freedoms + 10
    q, qd, qdd = rng.uniform(-1, 1, size=(3, count, robot.freedoms)) * np.array([3.0, 2.0, 5.0])[:, None, None]
    if not robot.is_tree:  # loops close where the robot was
        been = found.logs[0].q
        q = been[np.linspace(0, len(been) - 1, count).astype(int)]
    Y = regressor(shape, q, qd, qdd)
    whole = Y.reshape(count * Y.shape[1], -1)
    base = Y[..., [column.place for column in found.base.kept]].reshape(len(whole), -1)
    G, *_ = np.linalg.lstsq(base, whole, rcond=None)
    G[np.abs(G) < 1e-12] = 0.0
    return np.asarray(G, dtype=np.float64)


def _sizes(bodies: Array) -> Array:
    """What one unit of each parameter is: a body's mass, its mass times a length, times that length squared."""
    found = []
    whole = max(float(np.sum(np.abs(bodies[:, 9]))), 0.0)
    for body in bodies:
        m = max(float(body[9]), 0.02 * whole) or 1.0
        length = max(SIZE, float(np.sqrt(max(0.0, np.trace(_tensor(body)) / 2 / m))))
        found += [m * length**2] * 6 + [m * length] * 3 + [m, max(m * length**2, float(body[10]))]
    return np.array(found)


def _tensor(body: Array) -> Array:
    xx, xy, xz, yy, yz, zz = body[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _ratio(size: Array, body: int) -> float:
    """The unit of a body's mass over that of its first moment [1/m]."""
    own = size[WIDTH * body : WIDTH * (body + 1)]
    return float(own[COLUMNS.index("M")] / own[COLUMNS.index("MX")])


def _rod(cvxpy: Any, body: Any, length: float) -> list[Any]:
    """Masses along a rod: ZZ and MX about its first end and M, all else nothing; its length in the body's own unit."""
    zz, mx, m = (body[COLUMNS.index(name)] for name in ("ZZ", "MX", "M"))
    others = [k for k, name in enumerate(COLUMNS) if name not in ("ZZ", "MX", "M")]
    moments = cvxpy.bmat([[zz, mx], [mx, m]])
    return [moments >> LIGHTEST * np.eye(2), body[others] == 0, mx >= 0, mx <= length * m]


def _pseudo_inertia(cvxpy: Any, body: Any) -> Any:
    """[[tr(J)/2 - J, m r], [m r', m]]."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = (body[k] for k in range(10))
    return cvxpy.bmat(
        [
            [(yy + zz - xx) / 2, -xy, -xz, mx],
            [-xy, (xx + zz - yy) / 2, -yz, my],
            [-xz, -yz, (xx + yy - zz) / 2, mz],
            [mx, my, mz, m],
        ]
    )


def _cvxpy() -> Any:
    try:
        import clarabel  # noqa: F401
        import cvxpy
    except ImportError:
        raise BadRequest(
            "a robot file needs bodies that can exist, which cvxpy and clarabel find: pip install 'emdeg[identify]'; "
            "without --out the base parameters are found all the same"
        ) from None
    return cvxpy


def _solved(cvxpy: Any, problem: Any, robot: Robot) -> float:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is inaccurate is looked at below
        try:
            problem.solve(solver=cvxpy.CLARABEL)
        except cvxpy.error.SolverError as problem_:
            raise RobotError(f"no bodies were found for its base parameters: {problem_}", body=robot.name) from None
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise RobotError(f"no bodies were found for its base parameters: {problem.status}", body=robot.name)
    return float(problem.value)
