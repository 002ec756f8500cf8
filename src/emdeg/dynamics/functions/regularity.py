"""Whether efforts determine accelerations: a mass matrix that is singular, everywhere or at a pose, is found out."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from emdeg.algebra import PrimeField, Residue
from emdeg.algebra.linear import independent_rows, pivots_from_the_tip
from emdeg.dynamics.arrays import stacked
from emdeg.dynamics.formulations import kinematics
from emdeg.dynamics.functions.function import Function
from emdeg.dynamics.mechanism import inward, joint_speeds
from emdeg.dynamics.spatial import Spatial, Vec3
from emdeg.dynamics.state import Inputs, State, kind_of
from emdeg.errors import StateError, singular_mass_matrix
from emdeg.robot import BASE, Robot, remembered

DRAWS = 16
"""Random places that are tried modulo a prime, as often doubled as loops take roots: each exists at every second."""
MOST_ROOTS = 5
"""Of more roots than this no place at which all exist is looked for."""
REGULAR = 2.0**-30
"""A pivot is its diagonal entry less what other joints take; of a smaller share of it a millionth is rounding."""
NOTHING = 2.0**-46
"""A diagonal entry below this share of what all its masses together could make it is nothing but rounding."""


def solves_for_motion(entry: Function) -> bool:
    """Whether a function has no value where the mass matrix is singular."""
    return entry.divides and not entry.square


def need_regular_somewhere(robot: Robot) -> None:
    """RobotError where the mass matrix is singular at every pose."""
    if _is_singular_everywhere(robot):
        raise singular_mass_matrix(robot.name, everywhere=True)


@remembered(64)
def _is_singular_everywhere(robot: Robot) -> bool:
    """Whether M has no full rank at random points modulo random primes: as a formula, but for one chance in 2^50.

    False of closed loops with more roots than can be hoped to exist.
    """
    kind = kind_of(robot)
    if not kind.has_programs(robot) or (roots := kind.roots(robot)) > MOST_ROOTS:
        return False
    wanted = kind.singular_places
    for _ in range(DRAWS << roots):
        field = PrimeField.fresh()
        inputs = Inputs(field, lambda _, place, field=field: field.displacement(place), field.joint_sincos)
        try:
            M = kind.state(robot, inputs).mass_matrix()
        except ZeroDivisionError:  # a root that does not exist there, or a quotient
            continue
        if len(independent_rows([[cast(Residue, x).value for x in row] for row in M], field.prime)) == len(M):
            return False
        wanted -= 1
        if not wanted:
            return True
    return False


def need_regular_there(robot: Robot, s: State, shape: tuple[int, ...]) -> None:
    """RobotError where the mass matrix of a state in doubles is singular up to rounding; `shape` is that of states."""
    M = stacked(s.mass_matrix(), shape)
    diagonal = np.abs(np.diagonal(M, axis1=-2, axis2=-1))
    least = np.maximum(REGULAR * diagonal, NOTHING * stacked(_most(s), shape))
    known = np.isfinite(M).all(axis=(-1, -2))  # what is no number stays none
    if not np.all((np.abs(pivots_from_the_tip(M)) > least)[known]):
        raise singular_mass_matrix(robot.name)


def need_inverse_there(robot: Robot, s: Any, shape: tuple[int, ...]) -> None:
    """StateError where the tool's Jacobian at a state in doubles is singular up to rounding.

    Its rows are scaled to one, for some are lengths, and then its columns.
    """
    J = stacked(kinematics.jacobian(s.tree, s.frame), shape)
    J = J[np.isfinite(J).all(axis=(-1, -2))]
    for axis in (-1, -2):
        J = J / np.maximum(np.abs(J).max(axis=axis, keepdims=True), np.finfo(float).tiny)
    sizes = np.linalg.svd(J, compute_uv=False)
    if not np.all(sizes[..., -1] > REGULAR * sizes[..., 0]):
        raise singular_jacobian(robot.name)


def singular_jacobian(robot: str) -> StateError:
    """What to raise where the tool's Jacobian has no inverse at a pose."""
    return StateError(f"the Jacobian of {robot} is singular there: it has no inverse")


def _most(s: State) -> list[Any]:
    """What all masses beyond each joint could add up to in M's diagonal, whichever way they lie: sums of lengths."""
    mech, frame = s.tree, s.frame
    bodies = [
        (abs(body.m), _length(body.mr), sum(abs(body.J[i][i]) for i in range(3)))  # type: ignore[arg-type]
        for body in mech.inertia
    ]
    for i, parent in inward(mech):
        if parent != BASE:
            (m, mr, J), away, (m0, mr0, J0) = bodies[i], _length(frame.p[i]), bodies[parent]
            bodies[parent] = m0 + m, mr0 + mr + m * away, J0 + J + (2 * mr + m * away) * away
    most = [_seen_along(mech.S[k], *bodies[i]) for i, k in joint_speeds(mech)]
    W = s.rates
    return most if W is None else [mech.nv * sum(row[k] * row[k] * x for row, x in zip(W, most)) for k in range(s.n)]


def _seen_along(S: Spatial, m: Any, mr: Any, J: Any) -> Any:
    """The largest inertia along a motion axis of bodies with this mass, first moment and moment of inertia."""
    w, v = _length(S.w), _length(S.v)
    return w * w * J + 2 * w * v * mr + v * v * m


def _length(v: Vec3) -> Any:
    x, y, z = (cast(Any, part) for part in v)
    return np.sqrt(x * x + y * y + z * z)
