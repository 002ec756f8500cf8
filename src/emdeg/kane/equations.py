"""Kane's equations over any scalar: generalized inertia and active forces by partial velocities.

With u = A xd + B, xd being the rates of the free coordinates, and W the joints' rates per coordinate's, V = W A^-1 are
the partial rates: how every joint follows each speed. Dotted into the torques and forces that the joints need for a
motion, V^T (needed) = V^T (actuators'), they are X ud = right-hand side. Of a chain or a tree W is the identity.

Kane and Levinson take forces at mass centres. Here they are taken at the link frames' origins, which is as good a
point of the body as any and keeps every line linear in a link's ten parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

from emdeg.algebra import FieldScalar
from emdeg.algebra.linear import Matrix, Rows, congruent, solve_symmetric, times, transposed
from emdeg.dynamics.formulations.rnea_link_frame import (
    inertia_forces,
    joint_torques,
    less_external,
    motion,
    rnea_link_frame,
)
from emdeg.dynamics.spatial import Scalar, Spatial, Vec3, zeros
from emdeg.kane.forces import external_wrenches, joint_actions
from emdeg.kane.inverse import Eliminated, SpeedInverse, solver
from emdeg.kane.motion import known_angular_velocities, speed_rates, speed_values, velocities
from emdeg.kane.system import System

Function = Literal["torques", "accelerations", "equations", "rates", "speeds"]
INPUTS: dict[Function, tuple[str, ...]] = {
    "torques": ("u", "ud"),
    "accelerations": ("u", "tau"),
    "equations": ("u", "tau"),
    "rates": ("u",),
    "speeds": ("qd", "qdd"),
}
"""What each function reads besides q, prescribed motions and loads."""
METHODS: dict[Function, tuple[str, ...]] = {
    "torques": ("recursion",),
    "accelerations": ("joint accelerations", "congruence", "partial velocities"),
    "equations": ("congruence", "partial velocities"),
    "rates": ("substitution",),
    "speeds": ("recursion",),
}
"""The ways to each function's outputs; a program takes the one with the fewest operations."""

assert get_args(Function) == tuple(INPUTS) == tuple(METHODS)


@dataclass(frozen=True, slots=True)
class KaneInputs:
    """The scalars a function may read. `variables` are the joints' own, free then prescribed, angles included."""

    u: Sequence[Scalar] = ()
    ud: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    pd: Sequence[Scalar] = ()
    pdd: Sequence[Scalar] = ()
    loads: Sequence[Scalar] = ()
    variables: Sequence[Scalar] = ()


class KaneEquations:
    """One setup of a robot at a state; each quantity is computed when it is first needed."""

    def __init__(
        self, sys: System, kinematics: SpeedInverse | None, inputs: KaneInputs, sqrt: Callable[[Any], FieldScalar]
    ) -> None:
        """Without `kinematics`, the kinematic equations in formulas, A is eliminated at the state."""
        self.sys, self.given, self.sqrt = sys, inputs, sqrt
        self.mech, self.frame, self.zero = sys.mech, sys.frame, sys.mech.zero
        self.still = [self.zero] * len(sys.free)
        self.solver = Eliminated(sys) if kinematics is None else solver(kinematics, sys)

    @cached_property
    def xd(self) -> list[Scalar]:
        """The coordinates' rates from u (Kane and Levinson (8)-(12))."""
        B = speed_values(self.sys, self.sys.joint_rates(self.sys.scattered(self.still, self.given.pd)))
        return self.sys.scattered(self.solver.rates([u - b for u, b in zip(self.given.u, B)]), self.given.pd)

    @cached_property
    def qd(self) -> list[Scalar]:
        """Every joint's rate."""
        return self.sys.joint_rates(self.xd)

    @cached_property
    def velocities(self) -> tuple[Spatial, ...]:
        """Every link's velocity, speeds where it has them as components."""
        return velocities(self.sys, self.qd, known_angular_velocities(self.sys, self.given.u))

    @cached_property
    def drift(self) -> Sequence[Scalar]:
        return self.sys.state.drift(self.xd)

    @cached_property
    def external(self) -> dict[int, Spatial]:
        return external_wrenches(self.sys, self.velocities, self.given.loads, self.sqrt)

    @cached_property
    def actions(self) -> list[Scalar]:
        n = len(self.sys.free)
        variables = self.sys.variables(self.given.variables[:n], self.given.variables[n:])
        return joint_actions(self.sys, variables, self.qd, self.sqrt)

    @cached_property
    def V(self) -> Matrix:
        """The partial rates, joints x speeds."""
        columns = transposed(self.solver.columns())
        return transposed([self.sys.joint_rates(self.sys.scattered(one, ())) for one in columns])

    def with_rates(self, of_free: Sequence[Scalar]) -> list[Scalar]:
        """Every joint's acceleration from the free coordinates'."""
        linear = self.sys.joint_rates(self.sys.scattered(of_free, self.given.pdd))
        return [a + d for a, d in zip(linear, self.drift)]

    def accelerated(self, ud: Sequence[Scalar]) -> list[Scalar]:
        """Every joint's acceleration from ud."""
        at_rest = speed_rates(self.sys, self.qd, self.with_rates(self.still), self.velocities)
        return self.with_rates(self.solver.rates([a - b for a, b in zip(ud, at_rest)]))

    def turning(self, ud: Sequence[Scalar]) -> dict[int, tuple[Vec3, Vec3]]:
        """The angular velocities and accelerations that are speeds and their rates."""
        omega, omegad = known_angular_velocities(self.sys, self.given.u), known_angular_velocities(self.sys, ud)
        return {link: (omega[link], omegad[link]) for link in omega}

    def needed(self, qdd: Sequence[Scalar], turning: Mapping[int, tuple[Vec3, Vec3]] | None = None) -> list[Scalar]:
        """What the actuators of all joints would have to give for a motion: Newton-Euler less what else acts."""
        forces = inertia_forces(self.mech, motion(self.mech, self.frame, self.qd, qdd, known=turning))
        tau = joint_torques(self.mech, self.frame, less_external(forces, self.external), qdd)
        tau = self.sys.state.with_shared_inertia(tau, self.qd, qdd)
        return [t - a for t, a in zip(tau, self.actions)]

    def torques(self, method: str = "recursion") -> dict[str, Any]:
        sys = self.sys
        left = self.needed(self.accelerated(self.given.ud), self.turning(self.given.ud))
        tau = sys.allocated(sys.generalized(sys.free, left))
        held = sys.given[: len(sys.setup.prescribed)]
        if not held:
            return {"tau": tau} | self._guard()
        for k, t in zip(sys.actuated, tau):
            left[k] = left[k] - t
        return {"tau": tau, "held": sys.generalized(held, left)} | self._guard()

    def equations(self, method: str) -> dict[str, Any] | None:
        """X and the right-hand side (Kane and Levinson (117)-(123), X with the sign that makes it positive)."""
        V = self.V
        if method == "congruence":
            X = congruent(self.sys.state.joint_mass_matrix(), V, self.zero)
        elif self.sys.state.shares_inertia:
            return None
        else:
            X = inertia_coefficients(self.sys, V)
        left = [-e for e in self.needed(self.accelerated(self.still), self.turning(self.still))]
        for k, t in zip(self.sys.actuated, self.given.tau):
            left[k] = left[k] + t
        return {"X": X, "rhs": times(transposed(V), left, self.zero)}

    def parts(self, method: str) -> dict[str, Any] | None:
        """X, H, T, G, E and rhs, with K*_r = -sum X_rs ud_s - H_r and K_r = sum T_rk tau_k + G_r + E_r.

        H: inertia forces without ud; T: how the actuators' torques enter; G: gravity; E: loads, springs, dampers and
        friction. rhs = K - H, so that X ud = rhs.
        """
        found = self.equations(method)
        if found is None or self.sys.state.shares_inertia:
            return None
        mech, frame, still = self.mech, self.frame, [self.zero] * self.mech.n

        def generalized(tau: Sequence[Scalar]) -> list[Scalar]:
            return times(transposed(self.V), tau, self.zero)

        qdd = self.accelerated(self.still)
        moves = motion(mech, frame, self.qd, qdd, known=self.turning(self.still), gravity=False)
        H = generalized(joint_torques(mech, frame, inertia_forces(mech, moves), qdd))
        G = [-g for g in generalized(rnea_link_frame(mech, frame, still, still))]
        held = joint_torques(mech, frame, less_external([mech.still] * mech.n, self.external), still)
        E = generalized([a - t for a, t in zip(self.actions, held)])
        T = transposed([self.V[k] for k in self.sys.actuated])
        return {"X": found["X"], "H": H, "T": T, "G": G, "E": E, "rhs": found["rhs"]}

    def accelerations(self, method: str) -> dict[str, Any] | None:
        sys = self.sys
        if method == "joint accelerations":
            qd, M = self.qd, sys.state.mass_matrix()
            left = [-e for e in self.needed(self.with_rates(self.still))]
            for k, t in zip(sys.actuated, self.given.tau):
                left[k] = left[k] + t
            right = sys.generalized(sys.free, left)
            of_free = cast(Rows, [[M[i][j] for j in sys.free] for i in sys.free])
            xdd = solve_symmetric(of_free, right, self.mech.one)
            ud = speed_rates(sys, qd, self.with_rates(xdd), self.velocities)
        else:
            found = self.equations(method)
            if found is None:
                return None
            ud = solve_symmetric(cast(Rows, found["X"]), found["rhs"], self.mech.one)
        return self._rates() | {"ud": ud} | self._guard()

    def rates(self, method: str = "substitution") -> dict[str, Any]:
        return self._rates() | self._guard()

    def speeds(self, method: str = "recursion") -> dict[str, Any]:
        """u and ud of a motion of the free coordinates."""
        sys, given = self.sys, self.given
        xd = sys.scattered(given.qd, given.pd)
        qd, linear = sys.joint_rates(xd), sys.joint_rates(sys.scattered(given.qdd, given.pdd))
        qdd = [a + d for a, d in zip(linear, sys.state.drift(xd))]
        move = velocities(sys, qd)
        return {"u": speed_values(sys, qd, move), "ud": speed_rates(sys, qd, qdd, move)}

    def _rates(self) -> dict[str, Any]:
        return {"qd": [self.xd[place] for place in self.sys.free]}

    def _guard(self) -> dict[str, Any]:
        """det A, which is near zero where the speeds are about to fail; none where it is a constant."""
        det = self.solver.det
        return {} if det is None else {"det": [det]}

    def outputs(self, function: Function, method: str) -> dict[str, Any] | None:
        """The outputs of a function; None where the method does not serve such a mechanism."""
        return cast("dict[str, Any] | None", getattr(self, function)(method))


def inertia_coefficients(sys: System, V: Matrix) -> Matrix:
    """X, symmetric: the generalized inertia forces are K*_r = - sum X_rs ud_s - (terms without ud).

    Body by body, from its motion with each speed (Kane and Levinson (23), (44)); V says how the joints follow them.
    """
    mech, rates = sys.mech, transposed(V)
    n, zero, one = len(rates), mech.zero, mech.one
    units = [[one if i == r else zero for i in range(n)] for r in range(n)]
    partials = [velocities(sys, qd, known_angular_velocities(sys, u)) for qd, u in zip(rates, units)]
    X = zeros(zero, n, n)
    for s in range(n):
        for i in range(sys.offset, mech.n):
            force = mech.inertia[i] @ partials[s][i]
            for r in range(s + 1):
                X[r][s] = X[r][s] + partials[r][i].dot(force)
        for k, drive in enumerate(mech.drive):
            for r in range(s + 1):
                X[r][s] = X[r][s] + drive * V[k][r] * V[k][s]
        for r in range(s):
            X[s][r] = X[r][s]
    return X
