"""Programs of Kane's equations for any setup: torques from motion, ud from torques, X ud = right-hand side, its parts.

Inputs, in order: q of the free joints; u, ud or tau as the function needs; where motions are prescribed their p, pd
and pdd (joints first, then the base's axes); `loads`, three components for each load without a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from emdeg.algebra import FieldScalar
from emdeg.algebra.linear import Rows, congruent, solve_symmetric, times, transposed
from emdeg.dynamics import Mechanism, Scalar, Spatial, Vec3
from emdeg.dynamics.formulations import mass_matrix, rnea_link_frame
from emdeg.dynamics.kane import (
    Setup,
    System,
    external_wrenches,
    inertia_coefficients,
    joint_actions,
    known_angular_velocities,
    loop_system,
    speed_rates,
    speed_values,
    system,
    velocities,
)
from emdeg.dynamics.parameters import regrouped_mechanism
from emdeg.dynamics.variants import Axial, inertia_handed_inwards
from emdeg.equations.speeds import SpeedInverse, solver, speed_inverse
from emdeg.programs.ir import Dependence, Program, count
from emdeg.programs.kane.closed import LoopKane
from emdeg.programs.kane.inputs import INPUTS, Function, KaneInputs
from emdeg.programs.simplification import merge_equal, retrace, simplify
from emdeg.programs.trace import Tracer
from emdeg.robot import Robot

METHODS: dict[Function, tuple[str, ...]] = {
    "torques": ("recursion",),
    "accelerations": ("joint accelerations", "congruence", "partial velocities"),
    "equations": ("congruence", "partial velocities"),
    "rates": ("substitution",),
    "speeds": ("recursion",),
}
"""The ways to each function's outputs; a program takes the one with the fewest operations."""


class Kane:
    """One setup of a robot at a state, over any scalar that divides; each quantity is computed when asked for."""

    def __init__(
        self, sys: System, kinematics: SpeedInverse, inputs: KaneInputs, sqrt: Callable[[Any], FieldScalar]
    ) -> None:
        self.sys, self.given, self.sqrt = sys, inputs, sqrt
        self.zero, self.one = sys.mech.zero, sys.mech.one
        self.solver = solver(kinematics, sys)
        self.still = [self.zero] * len(sys.free)
        self.det: Scalar | None = None if kinematics.is_constant else self.solver.det

    def rates(self) -> list[Scalar]:
        """qd of every joint of the mechanism from u (Kane and Levinson (8)-(12))."""
        sys = self.sys
        B = speed_values(sys, sys.all_joints(self.still, self.given.pd))
        free = self.solver.rates([u - b for u, b in zip(self.given.u, B)])
        return sys.all_joints(free, self.given.pd)

    def moves(self, qd: Sequence[Scalar]) -> tuple[Spatial, ...]:
        return velocities(self.sys, qd, known_angular_velocities(self.sys, self.given.u))

    def accelerated(self, qd: Sequence[Scalar], ud: Sequence[Scalar]) -> list[Scalar]:
        """qdd of every joint from ud."""
        sys = self.sys
        at_rest = speed_rates(sys, qd, sys.all_joints(self.still, self.given.pdd), self.moves(qd))
        free = self.solver.rates([a - b for a, b in zip(ud, at_rest)])
        return sys.all_joints(free, self.given.pdd)

    def turning(self, ud: Sequence[Scalar]) -> dict[int, tuple[Vec3, Vec3]]:
        omega, omegad = known_angular_velocities(self.sys, self.given.u), known_angular_velocities(self.sys, ud)
        return {link: (omega[link], omegad[link]) for link in omega}

    def needed(
        self, qd: Sequence[Scalar], qdd: Sequence[Scalar], turning: Mapping[int, tuple[Vec3, Vec3]] | None = None
    ) -> list[Scalar]:
        """The efforts the drives of all joints must give for a motion: Newton-Euler less what else acts."""
        mech, frame = self.sys.mech, self.sys.frame
        moves = rnea_link_frame.motion(mech, frame, qd, qdd, known=turning)
        forces = rnea_link_frame.inertia_forces(mech, moves)
        forces = rnea_link_frame.less_external(forces, self.external(qd))
        tau = rnea_link_frame.joint_torques(mech, frame, forces, qdd)
        return [t - a for t, a in zip(tau, self.actions(qd))]

    def external(self, qd: Sequence[Scalar]) -> dict[int, Spatial]:
        return external_wrenches(self.sys, self.moves(qd), self.given.loads, self.sqrt)

    def actions(self, qd: Sequence[Scalar]) -> list[Scalar]:
        sys = self.sys
        of_free, of_given = self.given.variables[: len(sys.free)], self.given.variables[len(sys.free) :]
        return joint_actions(sys, sys.all_joints(of_free, of_given), qd, self.sqrt)

    def torques(self, method: str = "recursion") -> dict[str, Any]:
        sys = self.sys
        qd = self.rates()
        tau = self.needed(qd, self.accelerated(qd, self.given.ud), self.turning(self.given.ud))
        found: dict[str, Any] = {"tau": [tau[k] for k in sys.free]}
        held = [tau[k] for k in sys.given if k >= sys.offset]
        return found | ({"held": held} if held else {}) | self._guard()

    def equations(self, method: str) -> dict[str, Any]:
        """X and the right-hand side (Kane and Levinson (117)-(123), X with the sign that makes it positive)."""
        X, rhs, _ = self.terms(method)
        return {"X": X, "rhs": rhs}

    def terms(self, method: str) -> tuple[list[list[Scalar]], list[Scalar], list[Scalar]]:
        """X, the right-hand side and qd of every joint."""
        sys = self.sys
        W = self.solver.columns()
        if method == "congruence":
            M = mass_matrix(sys.mech, sys.frame)
            X = congruent([[M[i][j] for j in sys.free] for i in sys.free], W, self.zero)
        else:
            X = inertia_coefficients(sys, W)
        qd = self.rates()
        rest = self.needed(qd, self.accelerated(qd, self.still), self.turning(self.still))
        return X, times(transposed(W), [t - rest[k] for t, k in zip(self.given.tau, sys.free)], self.zero), qd

    def parts(self, method: str) -> dict[str, Any]:
        """X, H, T, G, E and rhs, with K*_r = -sum X_rs ud_s - H_r and K_r = sum T_rk tau_k + G_r + E_r.

        H: inertia forces without ud; T: how the drives' efforts enter; G: gravity; E: loads, springs, dampers and
        friction. rhs = K - H, so that X ud = rhs.
        """
        sys, mech, frame = self.sys, self.sys.mech, self.sys.frame
        X, rhs, qd = self.terms(method)
        W = self.solver.columns()
        still = [self.zero] * mech.n

        def generalized(tau: Sequence[Scalar]) -> list[Scalar]:
            return times(transposed(W), [tau[k] for k in sys.free], self.zero)

        qdd = self.accelerated(qd, self.still)
        moves = rnea_link_frame.motion(mech, frame, qd, qdd, known=self.turning(self.still), gravity=False)
        forces = rnea_link_frame.inertia_forces(mech, moves)
        H = generalized(rnea_link_frame.joint_torques(mech, frame, forces, qdd))
        G = [-g for g in generalized(rnea_link_frame.rnea_link_frame(mech, frame, still, still))]
        outer = rnea_link_frame.less_external([mech.still] * mech.n, self.external(qd))
        held = rnea_link_frame.joint_torques(mech, frame, outer, still)
        E = generalized([a - t for a, t in zip(self.actions(qd), held)])
        return {"X": X, "H": H, "T": transposed(W), "G": G, "E": E, "rhs": rhs}

    def accelerations(self, method: str) -> dict[str, Any]:
        sys = self.sys
        if method == "joint accelerations":
            qd = self.rates()
            M = mass_matrix(sys.mech, sys.frame)
            rest = self.needed(qd, sys.all_joints(self.still, self.given.pdd))
            right = [t - rest[k] for t, k in zip(self.given.tau, sys.free)]
            of_free = cast(Rows, [[M[i][j] for j in sys.free] for i in sys.free])
            qdd = solve_symmetric(of_free, right, self.one)
            ud = speed_rates(sys, qd, sys.all_joints(qdd, self.given.pdd), self.moves(qd))
        else:
            X, rhs, qd = self.terms(method)
            ud = solve_symmetric(cast(Rows, X), rhs, self.one)
        return {"qd": [qd[k] for k in sys.free], "ud": ud} | self._guard()

    def joint_rates(self, method: str = "substitution") -> dict[str, Any]:
        qd = self.rates()
        return {"qd": [qd[k] for k in self.sys.free]} | self._guard()

    def speeds(self, method: str = "recursion") -> dict[str, Any]:
        sys, given = self.sys, self.given
        qd, qdd = sys.all_joints(given.qd, given.pd), sys.all_joints(given.qdd, given.pdd)
        move = velocities(sys, qd)
        return {"u": speed_values(sys, qd, move), "ud": speed_rates(sys, qd, qdd, move)}

    def _guard(self) -> dict[str, Any]:
        """det A, which is near zero where the speeds are about to fail."""
        return {} if self.det is None else {"det": [self.det]}

    def outputs(self, function: Function, method: str) -> dict[str, Any]:
        way: dict[Function, Callable[[str], dict[str, Any]]] = {
            "torques": self.torques,
            "accelerations": self.accelerations,
            "equations": self.equations,
            "rates": self.joint_rates,
            "speeds": self.speeds,
        }
        return way[function](method)


def kane_program(
    robot: Robot,
    setup: Setup,
    function: Function,
    *,
    kinematics: SpeedInverse | None = None,
    method: str | None = None,
    base_parameters: bool = True,
    factored: bool = True,
    name: str | None = None,
) -> Program:
    """The program of one function, by `method` or by the one that needs the fewest operations.

    The robot's symbols become the input `parameters`. `base_parameters` regroups the inertias first.
    """
    if function not in INPUTS:
        raise ValueError(f"there is no function {function!r}; there are {', '.join(INPUTS)}")
    if not robot.is_tree:
        traced = traced_loops(robot, setup, INPUTS[function], name or f"kane_{function}", function)
        return simplify(merge_equal(traced)) if factored else retrace(traced)
    kinematics = speed_inverse(robot, setup) if kinematics is None else kinematics
    found = []
    for way in METHODS[function] if method is None else (method,):
        traced = traced_kane(
            robot,
            setup,
            kinematics,
            INPUTS[function],
            name or f"kane_{function}",
            base_parameters,
            lambda kane, way=way: kane.outputs(function, way),
        )
        found.append(simplify(merge_equal(traced)) if factored else retrace(traced))
    return smallest(found)


def kane_parts(robot: Robot, setup: Setup, kinematics: SpeedInverse | None = None) -> Program:
    """One program of X, H, T, G, E and rhs: Kane's equations taken apart, see `Kane.parts`."""
    kinematics = speed_inverse(robot, setup) if kinematics is None else kinematics
    wanted = INPUTS["equations"]
    return smallest(
        simplify(traced_kane(robot, setup, kinematics, wanted, "kane", True, lambda kane, way=way: kane.parts(way)))
        for way in METHODS["equations"]
    )


def smallest(programs: Iterable[Program]) -> Program:
    """The one with the fewest operations."""
    return min(programs, key=lambda program: count(program).total)


def traced_kane(
    robot: Robot,
    setup: Setup,
    kinematics: SpeedInverse,
    wanted: Sequence[str],
    name: str,
    group: bool,
    outputs: Callable[[Kane], Mapping[str, Any]],
) -> Program:
    """The trace of what `outputs` computes from the inputs `wanted`, prescribed motions and loads."""
    tracer, q, p, inputs, at = opened_inputs(robot, setup, wanted, len(setup.free(robot)))
    free = setup.free(robot)
    sys = system(robot, setup, tracer, at[: len(free)], at[len(free) :])
    if group:
        # On a moving base every parameter may matter that a base at rest hides.
        sys = replace(sys, mech=_handed_over(sys.mech) if setup.base else regrouped_mechanism(robot, tracer))
    kane = Kane(sys, kinematics, KaneInputs(variables=(*q, *p), **inputs), tracer.sqrt)
    return tracer.program(name, outputs(kane))


def traced_loops(robot: Robot, setup: Setup, wanted: Sequence[str], name: str, function: Function) -> Program:
    """The trace of a function of a mechanism with closed loops."""
    motors = len(drives_of(robot, setup))
    tracer, q, p, inputs, at = opened_inputs(robot, setup, wanted, motors)
    n = len(q)
    sys = loop_system(robot, setup, tracer, at[:n], at[n:], lambda value, _: tracer.sqrt(value))
    kane = LoopKane(sys, KaneInputs(variables=(*q, *p), **inputs), tracer.sqrt)
    return tracer.program(name, kane.outputs(function))


def drives_of(robot: Robot, setup: Setup) -> tuple[int, ...]:
    """The joints whose efforts are tau: all free ones of a tree; of loops the driven ones that are not prescribed."""
    if robot.loops is None:
        return setup.free(robot)
    return tuple(k for k in robot.loops.driven if k not in setup.prescribed)


def opened_inputs(
    robot: Robot, setup: Setup, wanted: Sequence[str], motors: int
) -> tuple[Tracer, tuple[Any, ...], tuple[Any, ...], dict[str, Any], list[Any]]:
    """(tracer, q, p, the other inputs, positions of free and prescribed variables)."""
    tracer = Tracer(sorted(robot.symbols))
    free = setup.free(robot)
    names = setup.names or tuple(f"u{i + 1}" for i in range(len(free)))
    q = tracer.inputs("q", len(free), Dependence.CONFIGURATION, [robot.joints[k].name for k in free])
    inputs: dict[str, Any] = {}
    for one in wanted:
        labels = names if one in ("u", "ud") else ()
        inputs[one] = tracer.inputs(one, motors if one == "tau" else len(free), Dependence.RATES, labels)
    p: tuple[Any, ...] = ()
    if setup.given_motions:
        labels = [robot.joints[k].name for k in setup.prescribed] + [f"base {axis}" for axis in setup.base]
        p = tracer.inputs("p", setup.given_motions, Dependence.CONFIGURATION, labels)
        inputs["pd"] = tracer.inputs("pd", len(p), Dependence.RATES)
        if len(wanted) > 1:
            inputs["pdd"] = tracer.inputs("pdd", len(p), Dependence.RATES)
    if setup.input_loads and ("tau" in wanted or ("u" in wanted and "ud" in wanted)):
        labels = [f"{load.name} {axis}" for load in setup.input_loads for axis in "xyz"]
        inputs["loads"] = tracer.inputs("loads", len(labels), Dependence.RATES, labels)
    kinds = turning_variables(robot, setup)
    at = [tracer.sincos_of(x) if turns else x for x, turns in zip((*q, *p), kinds)]
    return tracer, q, p, inputs, at


def turning_variables(robot: Robot, setup: Setup) -> list[bool]:
    """Whether each variable, free then prescribed, is an angle."""
    joints = [*setup.free(robot), *setup.prescribed]
    return [robot.joints[k].kind == "revolute" for k in joints] + [a in ("yaw", "pitch", "roll") for a in setup.base]


def _handed_over(mech: Mechanism) -> Mechanism:
    """Base parameters as far as they hold on a moving base: what a joint cannot tell goes to the link before it."""
    axial: tuple[Axial, ...] = ("yy",) * mech.n
    return inertia_handed_inwards(mech, axial, (False,) * mech.n)
