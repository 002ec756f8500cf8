"""The functions of a mechanism with closed loops as traces: q are its independent coordinates.

The loops are closed in the program itself, by the analytic steps that `mechanics.loops.closure` plans: square roots
in place of arc functions. Where a cheaper formulation serves a class of mechanisms, both are traced and the one with
fewer operations stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import Array
from emdeg.algebra.linear import product, solve_system, times, transposed
from emdeg.errors import RobotError
from emdeg.mechanics.formulations import kinematics
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.mechanics.loops import rod_legs
from emdeg.mechanics.loops.closure import Plan, Root, solve
from emdeg.mechanics.loops.linkage import Linkage, linkage
from emdeg.mechanics.loops.numeric import closing
from emdeg.mechanics.mechanism import Position, frames
from emdeg.mechanics.vectors import Scalar
from emdeg.programs.count import count
from emdeg.programs.functions import joined, packed
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.simplify import retrace, simplify
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot

Outputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoopState:
    """What a function may read: the linkage, its plan, the coordinates and their rates in its algebra."""

    link: Linkage
    plan: Plan
    root: Root
    q: Sequence[Scalar]
    known: Mapping[int, Position]
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()

    def position(self) -> list[Position]:
        return solve(self.link, self.plan, self.known, self.root)

    def rate_map(self, position: Sequence[Position]) -> closed_loop.Matrix:
        return closed_loop.velocity_map(self.link, closed_loop.constraint_jacobian(self.link, position))


def _inverse_dynamics(s: LoopState) -> Outputs:
    return {"tau": closed_loop.inverse_dynamics(s.link, s.position(), s.qd, s.qdd)}


def _inverse_dynamics_by_legs(s: LoopState) -> Outputs | None:
    legs = rod_legs.legs_of(s.link, s.plan)
    if legs is None:
        return None
    return {"tau": rod_legs.inverse_dynamics(s.link, legs, s.q, s.qd, s.qdd, s.root)}


def _efforts_at_rest_of_coordinates(s: LoopState, position: Sequence[Position]) -> tuple[Any, list[Scalar]]:
    """(motion, the efforts C qd + g of every joint of the tree)."""
    move = closed_loop.motion(s.link, position, s.qd)
    drift = times(move.W_rate, s.qd, s.link.tree.zero)
    return move, closed_loop.tree_efforts(s.link, position, move.qd, drift)


def _bias(s: LoopState) -> Outputs:
    move, efforts = _efforts_at_rest_of_coordinates(s, s.position())
    return {"h": times(transposed(move.W), efforts, s.link.tree.zero)}


def _forward_dynamics(s: LoopState) -> Outputs:
    position, zero = s.position(), s.link.tree.zero
    move, efforts = _efforts_at_rest_of_coordinates(s, position)
    left = [-e for e in efforts]
    for k, t in zip(s.link.driven, s.tau):
        left[k] = left[k] + t
    right = times(transposed(move.W), left, zero)
    M = closed_loop.mass_matrix(s.link, position, move.W)
    return {"qdd": [x[0] for x in solve_system(M, [[f] for f in right], s.link.algebra)]}


def _gravity(s: LoopState) -> Outputs:
    position = s.position()
    g = closed_loop.tree_gravity(s.link, position)
    return {"g": times(transposed(s.rate_map(position)), g, s.link.tree.zero)}


def _mass_matrix(s: LoopState) -> Outputs:
    position = s.position()
    return {"M": closed_loop.mass_matrix(s.link, position, s.rate_map(position))}


def _coriolis_matrix(s: LoopState) -> Outputs:
    return {"C": closed_loop.model(s.link, s.position(), s.qd).C}


def _elements(s: LoopState) -> Outputs:
    """C_ij(q, e_k) = beta_ijk: the Christoffel symbols are the Coriolis matrix at unit rates."""
    n, position = len(s.q), s.position()
    M = closed_loop.mass_matrix(s.link, position, s.rate_map(position))
    beta = [closed_loop.model(s.link, position, _unit(s, k)).C for k in range(n)]
    return {**packed(M, beta), **_gravity(s)}


def _unit(s: LoopState, k: int) -> list[Scalar]:
    return [s.link.tree.one if i == k else s.link.tree.zero for i in range(len(s.q))]


def _forward_kinematics(s: LoopState) -> Outputs:
    mech = s.link.tree
    R, p = kinematics.tool_pose(mech, frames(mech, s.position()))
    return {"T": kinematics.homogeneous(R, p, mech.zero, mech.one)}


def _jacobian(s: LoopState) -> Outputs:
    position, mech = s.position(), s.link.tree
    J = kinematics.jacobian(mech, frames(mech, position))
    return {"J": product(J, s.rate_map(position), mech.zero)}


def _drive_jacobian(s: LoopState) -> Outputs:
    W = s.rate_map(s.position())
    return {"J_drive": [W[k] for k in s.link.driven]}


Formulation = Callable[[LoopState], Outputs | None]
LOOP_FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[Formulation, ...]]] = {
    "inverse_dynamics": (("qd", "qdd"), (_inverse_dynamics, _inverse_dynamics_by_legs)),
    "forward_dynamics": (("qd", "tau"), (_forward_dynamics,)),
    "mass_matrix": ((), (_mass_matrix,)),
    "coriolis_matrix": (("qd",), (_coriolis_matrix,)),
    "bias": (("qd",), (_bias,)),
    "gravity": ((), (_gravity,)),
    "elements": ((), (_elements,)),
    "forward_kinematics": ((), (_forward_kinematics,)),
    "jacobian": ((), (_jacobian,)),
    "drive_jacobian": ((), (_drive_jacobian,)),
}
"""Name -> (inputs beyond q, the formulations that yield it)."""


def closed_place(robot: Robot) -> Array | None:
    """Coordinates near which the robot's loops close; None for a robot without loops."""
    if robot.loops is None:
        return None
    return closing(robot).start[list(robot.loops.coordinates)]


def loop_program(robot: Robot, names: Sequence[str], *, factored: bool, name: str) -> Program:
    """The program of functions of a robot with closed loops; of several formulations the smallest."""
    return min(loop_programs(robot, names, factored=factored, name=name), key=lambda program: count(program).total)


def loop_programs(robot: Robot, names: Sequence[str], *, factored: bool, name: str) -> list[Program]:
    """One for each formulation that serves the robot."""
    return [
        program
        for which in range(max(len(LOOP_FUNCTIONS[wanted][1]) for wanted in names))
        if (program := _traced(robot, names, which, factored, name)) is not None
    ]


def traced_state(robot: Robot, tracer: Tracer, names: Sequence[str]) -> LoopState:
    """The state whose coordinates and rates are a program's inputs, as far as the named functions read them."""
    looked = closing(robot)
    if looked.plan is None:
        raise RobotError(
            "its loops do not close analytically, so there is no program in its independent coordinates",
            body=robot.name,
        )
    link = linkage(robot, tracer, looked.mobility.rows)
    n = len(link.coordinates)
    labels = tuple(joint.name for joint in robot.coordinates)
    q = tracer.inputs("q", n, Dependence.CONFIGURATION, labels)
    wanted_inputs = {group for wanted in names for group in LOOP_FUNCTIONS[wanted][0]}
    rates = {
        group: tracer.inputs(group, n, Dependence.RATES) for group in ("qd", "qdd", "tau") if group in wanted_inputs
    }
    known = {k: tracer.sincos_of(x) if link.tree.revolute[k] else x for k, x in zip(link.coordinates, q)}
    return LoopState(link, looked.plan, lambda value, _: tracer.sqrt(value), q, known, **rates)


def _traced(robot: Robot, names: Sequence[str], which: int, factored: bool, name: str) -> Program | None:
    tracer = Tracer(sorted(robot.symbols))
    state = traced_state(robot, tracer, names)
    inputs = {"q", *(group for wanted in names for group in LOOP_FUNCTIONS[wanted][0])}
    results: dict[str, Any] = {}
    for wanted in names:
        formulations = LOOP_FUNCTIONS[wanted][1]
        outputs = formulations[which if which < len(formulations) else 0](state)
        if outputs is None:
            return None
        results = joined(results, outputs, names, inputs)
    traced = tracer.program(name, results)
    return simplify(traced) if factored else retrace(traced)
