"""Kane's equations taken apart into one program: generalized inertia forces, and active forces by their origin."""

from __future__ import annotations

from typing import Any

from emdeg.algebra.linear import times, transposed
from emdeg.equations.speeds.inverse import SpeedInverse, speed_inverse
from emdeg.mechanics.formulations.newton_euler import Motion, efforts, motion
from emdeg.mechanics.kane.forces import external_wrenches
from emdeg.mechanics.kane.speeds import Setup
from emdeg.programs.count import count
from emdeg.programs.ir import Program
from emdeg.programs.kane.build import METHODS, Kane, traced_kane
from emdeg.programs.simplify import simplify
from emdeg.robot.model import Robot


def kane_parts(robot: Robot, setup: Setup, kinematics: SpeedInverse | None = None) -> Program:
    """X, H, G, E, T and rhs, with K*_r = -sum X_rs ud_s - H_r and K_r = sum T_rk tau_k + G_r + E_r.

    H: inertia forces without ud; T: how the drives' efforts enter; G: gravity; E: loads, springs, dampers and
    friction. rhs = K - H, so that X ud = rhs.
    """
    kinematics = speed_inverse(robot, setup) if kinematics is None else kinematics

    def outputs(kane: Kane, method: str) -> dict[str, Any]:
        X, rhs, qd = kane.terms(method)
        sys, zero = kane.sys, kane.zero
        W = kane.solver.columns()
        still = [zero] * sys.mech.n

        def generalized(tau: Any) -> list[Any]:
            return times(transposed(W), [tau[k] for k in sys.free], zero)

        qdd = kane.accelerated(qd, kane.still)
        move = motion(sys.mech, sys.frame, qd, qdd, gravity=False, turning=kane.turning(kane.still))
        H = generalized(efforts(sys.mech, sys.frame, move, qd, qdd).tau)
        hanging = motion(sys.mech, sys.frame, still, still)
        G = [-g for g in generalized(efforts(sys.mech, sys.frame, hanging, still, still).tau)]
        none = ((zero, zero, zero),) * sys.mech.n
        external = external_wrenches(sys, kane.moves(qd), kane.given.loads, kane.sqrt)
        outer = efforts(sys.mech, sys.frame, Motion(none, none, none), still, still, external=external).tau
        acting = kane.actions(qd)
        E = generalized([a - t for a, t in zip(acting, outer)])
        T = [[W[k][r] for k in range(len(sys.free))] for r in range(len(sys.free))]
        return {"X": X, "H": H, "T": T, "G": G, "E": E, "rhs": rhs}

    found = [
        simplify(traced_kane(robot, setup, kinematics, ("u", "tau"), "kane", True, lambda k, m=method: outputs(k, m)))
        for method in METHODS["equations"]
    ]
    return min(found, key=lambda program: count(program).total)
