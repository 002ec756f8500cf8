"""What programs of mechanisms with closed loops are verified against: virtual work, body by body.

The loops are closed over the field by the same steps, and it is checked that every constraint then holds exactly:
the point lies on the constraint variety. Dynamics come from virtual work, which shares nothing with
the formulations that programs are traced from but the constraints' Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from emdeg.algebra.dual import Dual, derivative
from emdeg.algebra.linear import solve_system, transposed
from emdeg.algebra.prime_field import PrimeField
from emdeg.errors import OffTheVariety
from emdeg.mechanics.formulations import kinematics
from emdeg.mechanics.formulations.virtual_work import virtual_work
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.mechanics.loops.closure import root_count, solve
from emdeg.mechanics.loops.linkage import constraints, linkage, world_frames
from emdeg.mechanics.loops.mobility import field_coordinates
from emdeg.mechanics.loops.numeric import closing
from emdeg.mechanics.mechanism import frames
from emdeg.mechanics.vectors import Scalar, total
from emdeg.programs.degree import degree_bound
from emdeg.programs.inward_pose import jacobian_of_pose, pose_from_tool
from emdeg.programs.ir import Program
from emdeg.programs.loop_functions import LOOP_FUNCTIONS, LoopState, traced_state
from emdeg.programs.residues import evaluate_residues
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot


@lru_cache(maxsize=8)
def _closure(robot: Robot) -> Program:
    """q -> every joint's position: shows at once whether all roots exist at a point."""
    tracer = Tracer(sorted(robot.symbols))
    position: list[Any] = traced_state(robot, tracer, ["gravity"]).position()
    parts = [part for at in position for part in (at if isinstance(at, tuple) else (at,))]
    return tracer.program("closure", {"joints": parts})


def field_state(robot: Robot, field: PrimeField) -> LoopState:
    """A random state over the field, every loop closed; ZeroDivisionError where a root or quotient fails."""
    looked = closing(robot)
    assert looked.plan is not None
    evaluate_residues(_closure(robot), field)
    link = linkage(robot, field, looked.mobility.rows)
    n = range(len(link.coordinates))
    known = field_coordinates(link, field)
    q = [field.displacement(i) for i in n]
    state = LoopState(
        link,
        looked.plan,
        lambda value, _: field.sqrt(value),
        q,
        known,
        [field.rate(i) for i in n],
        [field.acceleration(i) for i in n],
        [field.random(f"tau {i}") for i in n],
    )
    for row in constraints(link, world_frames(link, state.position())):
        if row.value:
            raise OffTheVariety(f"{row.name} stays open")
    return state


def reference_outputs(robot: Robot, names: Sequence[str], field: PrimeField) -> Mapping[str, Any]:
    """The functions' outputs over the field."""
    return _outputs(field_state(robot, field), names)


def _outputs(state: LoopState, names: Sequence[str]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name in names:
        results |= LOOP_REFERENCES[name][1](state)
    return results


def reference_degree(robot: Robot, names: Sequence[str]) -> int:
    """A bound on the degree of the reference's outputs, read off its own trace."""
    tracer = Tracer(sorted(robot.symbols))
    results = _outputs(traced_state(robot, tracer, ["inverse_dynamics", "forward_dynamics"]), names)
    return degree_bound(tracer.program("reference", {f"{name}_out": value for name, value in results.items()}))


def reference_roots(robot: Robot) -> int:
    """Every loop is closed for every function, whether or not it needs to be."""
    return root_count(closing(robot).plan or ())


def _combined(s: LoopState, udd: Sequence[Scalar] | None) -> list[Scalar]:
    """M udd + C ud + G."""
    model = virtual_work(s.link, s.position(), s.qd)
    h = [total([c * v for c, v in zip(row, s.qd)]) + g for row, g in zip(model.C, model.G)]
    if udd is None:
        return h
    return [total([m * a for m, a in zip(row, udd)]) + b for row, b in zip(model.M, h)]


def _drives(s: LoopState) -> closed_loop.Matrix:
    W = s.rate_map(s.position())
    return [W[k] for k in s.link.driven]


def _tau(s: LoopState) -> Mapping[str, Any]:
    force = _combined(s, s.qdd)
    Jt = transposed(_drives(s))
    return {"tau": [x[0] for x in solve_system(Jt, [[f] for f in force], s.link.algebra)]}


def _qdd(s: LoopState) -> Mapping[str, Any]:
    model = virtual_work(s.link, s.position(), s.qd)
    h = _combined(s, None)
    push = [total([row[i] * t for row, t in zip(model.J, s.tau)]) for i in range(len(h))]
    right = [[p - b] for p, b in zip(push, h)]
    return {"qdd": [x[0] for x in solve_system(model.M, right, s.link.algebra)]}


def _still(s: LoopState) -> closed_loop.Model:
    return virtual_work(s.link, s.position(), [s.link.tree.zero] * len(s.q))


def _varied(s: LoopState) -> list[Any]:
    """Every joint's position as a function of the coordinates: dual numbers through the closure itself."""
    known: dict[int, Any] = {}
    for i, k in enumerate(s.link.coordinates):
        at: Any = s.known[k]
        one = s.link.tree.one
        known[k] = (
            (Dual(at[0], {i: at[1]}), Dual(at[1], {i: -at[0]})) if s.link.tree.revolute[k] else Dual(at, {i: one})
        )
    return list(solve(s.link, s.plan, known, lambda value, loop: _dual_root(value, loop, s.root)))


def _christoffel(s: LoopState) -> list[list[list[Scalar]]]:
    """beta_ijk from derivatives of M by the coordinates."""
    n, zero = len(s.q), s.link.tree.zero
    half = s.link.algebra.number(Fraction(1, 2))
    M = virtual_work(s.link, _varied(s), [zero] * n).M
    D = [[[derivative(M[i][j], k, zero) for k in range(n)] for j in range(n)] for i in range(n)]
    return [[[half * (D[i][j][k] + D[i][k][j] - D[j][k][i]) for k in range(n)] for j in range(n)] for i in range(n)]


def _coriolis(s: LoopState) -> Mapping[str, Any]:
    return {"C": [[total([b * v for b, v in zip(entry, s.qd)]) for entry in row] for row in _christoffel(s)]}


def _elements(s: LoopState) -> Mapping[str, Any]:
    n, still, beta = len(s.q), _still(s), _christoffel(s)
    return {
        "M": [still.M[i][j] for i in range(n) for j in range(i, n)],
        "b": [beta[i][j][k] + beta[i][k][j] for i in range(n) for j in range(n) for k in range(j + 1, n)],
        "c": [beta[i][j][j] for i in range(n) for j in range(n)],
        "g": still.G,
    }


def _dual_root(value: Any, loop: str, root: Callable[[Any, str], Any]) -> Any:
    if not isinstance(value, Dual):
        return root(value, loop)
    r = root(value.value, loop)
    return Dual(r, {k: x / (r + r) for k, x in value.d.items()})


def _drive_rates(s: LoopState) -> Mapping[str, Any]:
    """How the driven joints follow the coordinates: d(angle) = c ds - s dc."""
    zero, position, rows = s.link.tree.zero, _varied(s), []
    for k in s.link.driven:
        at = position[k]
        if s.link.tree.revolute[k]:
            sine, cosine = (part.value if isinstance(part, Dual) else part for part in at)
            row = [cosine * derivative(at[0], i, zero) - sine * derivative(at[1], i, zero) for i in range(len(s.q))]
        else:
            row = [derivative(at, i, zero) for i in range(len(s.q))]
        rows.append(row)
    return {"J_drive": rows}


def _pose(s: LoopState) -> Mapping[str, Any]:
    mech = s.link.tree
    return {"T": kinematics.homogeneous(*pose_from_tool(mech, frames(mech, s.position())), mech.zero, mech.one)}


def _tool(s: LoopState) -> Mapping[str, Any]:
    mech = s.link.tree
    R, _ = pose_from_tool(mech, frames(mech, s.position()))
    return {"J": jacobian_of_pose(R, pose_from_tool(mech, frames(mech, _varied(s))), len(s.q), mech.zero)}


LOOP_REFERENCES: dict[str, tuple[str, Callable[[LoopState], Mapping[str, Any]]]] = {
    "inverse_dynamics": ("virtual work", _tau),
    "forward_dynamics": ("virtual work", _qdd),
    "mass_matrix": ("virtual work", lambda s: {"M": _still(s).M}),
    "coriolis_matrix": ("derivatives of the mass matrix of virtual work", _coriolis),
    "bias": ("virtual work", lambda s: {"h": _combined(s, None)}),
    "gravity": ("virtual work", lambda s: {"g": _still(s).G}),
    "elements": ("virtual work and derivatives of its mass matrix", _elements),
    "forward_kinematics": ("product of poses from the tool inwards", _pose),
    "jacobian": ("derivatives of the pose through the closure", _tool),
    "drive_jacobian": ("derivatives of the joints' positions through the closure", _drive_rates),
}
assert LOOP_REFERENCES.keys() == LOOP_FUNCTIONS.keys()
