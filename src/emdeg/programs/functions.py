"""The functions of a model as traces: for each name its inputs, and its outputs from the mechanics.

Every function is written over any algebra, so the same text yields a program (over `Tracer`) and, run in another
formulation, the residues that prove it (`emdeg.programs.reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.errors import CannotJoin
from emdeg.mechanics.formulations import composite_body, coriolis, differentiation, kinematics
from emdeg.mechanics.mechanism import Frames, Mechanism, Position, frames
from emdeg.mechanics.parameters.regressor import regressor
from emdeg.mechanics.variants.link_frame_recursion import link_frame_recursion
from emdeg.mechanics.vectors import Scalar


@dataclass(frozen=True, slots=True)
class State:
    """What a function may read: the mechanism and the joint variables in its algebra."""

    mech: Mechanism
    position: Sequence[Position]
    qd: Sequence[Scalar] = ()
    qdd: Sequence[Scalar] = ()
    tau: Sequence[Scalar] = ()

    @property
    def frame(self) -> Frames:
        return frames(self.mech, self.position)

    @property
    def rest(self) -> list[Scalar]:
        return [self.mech.zero] * self.mech.n


Outputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """`inputs` beyond q, in order; `outputs` computes them. `efforts`: whether base parameters serve it."""

    inputs: tuple[str, ...]
    outputs: Callable[[State], Outputs]
    efforts: bool = True


def joined(results: Outputs, found: Outputs, names: Sequence[str], inputs: Collection[str]) -> dict[str, Any]:
    """The outputs of one more function beside those of the others; CannotJoin where a name would mean two things."""
    for name in found:
        if name in results:
            raise CannotJoin(f"{' and '.join(names)} cannot be one program: two have an output {name}")
        if name in inputs:
            raise CannotJoin(f"{' and '.join(names)} cannot be one program: {name} is input and output")
    return {**results, **found}


def _inverse_dynamics(state: State) -> Outputs:
    return {"tau": link_frame_recursion(state.mech, state.frame, state.qd, state.qdd)}


def _bias(state: State) -> Outputs:
    return {"h": link_frame_recursion(state.mech, state.frame, state.qd, state.rest)}


def _gravity(state: State) -> Outputs:
    return {"g": link_frame_recursion(state.mech, state.frame, state.rest, state.rest)}


def _mass_matrix(state: State) -> Outputs:
    return {"M": composite_body.mass_matrix(state.mech, state.frame)}


def _coriolis_matrix(state: State) -> Outputs:
    return {"C": coriolis.coriolis_matrix(state.mech, state.frame, state.qd)}


def _elements(state: State) -> Outputs:
    mech, frame, n = state.mech, state.frame, state.mech.n
    M = composite_body.mass_matrix(mech, frame)
    # C_ij(q, e_k) = beta_ijk: the Christoffel symbols are the Coriolis matrix at unit rates.
    beta = [coriolis.coriolis_matrix(mech, frame, unit_rates(mech, k)) for k in range(n)]
    return {**packed(M, beta), **_gravity(state)}


def packed(M: Sequence[Sequence[Any]], beta: Sequence[Sequence[Sequence[Any]]]) -> dict[str, list[Any]]:
    """The elements' M, b and c from M and beta[k][i][j] = beta_ijk, symmetric in j and k."""
    n = len(M)
    return {
        "M": [M[i][j] for i in range(n) for j in range(i, n)],
        "b": [beta[k][i][j] * 2 for i in range(n) for j in range(n) for k in range(j + 1, n)],
        "c": [beta[j][i][j] for i in range(n) for j in range(n)],
    }


def _forward_dynamics(state: State) -> Outputs:
    mech, frame = state.mech, state.frame
    h = link_frame_recursion(mech, frame, state.qd, state.rest)
    M = composite_body.mass_matrix(mech, frame)
    return {"qdd": solved(M, [t - b for t, b in zip(state.tau, h)], mech.one)}


def _forward_dynamics_derivatives(state: State) -> Outputs:
    """From tau(q, qd, qdd(q, qd, tau)) = tau: dqdd/dx = -M^-1 dtau/dx at the acceleration found, and M^-1."""
    mech, n = state.mech, state.mech.n
    M = composite_body.mass_matrix(mech, state.frame)
    qdd = _forward_dynamics(state)["qdd"]
    by_q, by_qd = differentiation.inverse_dynamics_derivatives(
        mech, state.position, state.qd, qdd, link_frame_recursion
    )
    return {
        "qdd": qdd,
        "dqdd_dq": _response(M, [[-by_q[i][k] for i in range(n)] for k in range(n)], mech.one),
        "dqdd_dqd": _response(M, [[-by_qd[i][k] for i in range(n)] for k in range(n)], mech.one),
        "dqdd_dtau": _response(M, [unit_rates(mech, k) for k in range(n)], mech.one),
    }


def _response(M: Sequence[Sequence[Scalar]], columns: Sequence[Sequence[Scalar]], one: Scalar) -> list[list[Scalar]]:
    """M^-1 times the matrix with these columns; equal factorisations are one in a trace."""
    solutions = [solved(M, column, one) for column in columns]
    return [[solution[i] for solution in solutions] for i in range(len(M))]


def _forward_kinematics(state: State) -> Outputs:
    R, p = kinematics.tool_pose(state.mech, state.frame)
    return {"T": kinematics.homogeneous(R, p, state.mech.zero, state.mech.one)}


def _jacobian(state: State) -> Outputs:
    return {"J": kinematics.jacobian(state.mech, state.frame)}


def _regressor(state: State) -> Outputs:
    return {"Y": regressor(state.mech, state.frame, state.qd, state.qdd)}


def _derivatives(state: State) -> Outputs:
    by_q, by_qd = differentiation.inverse_dynamics_derivatives(
        state.mech, state.position, state.qd, state.qdd, link_frame_recursion
    )
    return {"dtau_dq": by_q, "dtau_dqd": by_qd}


FUNCTIONS: dict[str, Function] = {
    "inverse_dynamics": Function(("qd", "qdd"), _inverse_dynamics),
    "forward_dynamics": Function(("qd", "tau"), _forward_dynamics),
    "mass_matrix": Function((), _mass_matrix),
    "coriolis_matrix": Function(("qd",), _coriolis_matrix),
    "bias": Function(("qd",), _bias),
    "gravity": Function((), _gravity),
    "elements": Function((), _elements),
    "forward_kinematics": Function((), _forward_kinematics, efforts=False),
    "jacobian": Function((), _jacobian, efforts=False),
    "regressor": Function(("qd", "qdd"), _regressor, efforts=False),
    "inverse_dynamics_derivatives": Function(("qd", "qdd"), _derivatives),
    "forward_dynamics_derivatives": Function(("qd", "tau"), _forward_dynamics_derivatives),
}


def of_base_parameters(outputs: Outputs, places: Sequence[int] | None) -> Outputs:
    """The outputs with only these columns of the regressor Y; all of them where `places` is None."""
    if places is None or "Y" not in outputs:
        return outputs
    return {**outputs, "Y": [[row[place] for place in places] for row in outputs["Y"]]}


def solved(M: Sequence[Sequence[Scalar]], right: Sequence[Scalar], one: Scalar) -> list[Scalar]:
    """x with M x = right, M symmetric and positive definite: M = L^T D L from the tip, where zeros stay zeros.

    Featherstone, 'Efficient factorization of the joint-space inertia matrix for branched kinematic trees', 2005.
    """
    n = len(M)
    A = [list(row) for row in M]
    per_D: list[Scalar] = [one] * n
    L: list[list[Scalar | None]] = [[None] * n for _ in range(n)]
    for k in reversed(range(n)):
        per_D[k] = one / A[k][k]
        for i in reversed(range(k)):
            if not A[k][i]:
                continue
            factor = A[k][i] * per_D[k]
            for j in range(i + 1):
                if A[k][j]:
                    A[i][j] = A[i][j] - factor * A[k][j]
            L[k][i] = factor
    x = list(right)
    for k in reversed(range(n)):  # L^T y = right
        for i in range(k):
            if L[k][i] is not None:
                x[i] = x[i] - L[k][i] * x[k]
    x = [value * inverse for value, inverse in zip(x, per_D)]
    for k in range(n):  # L x = D^-1 y
        for i in range(k):
            if L[k][i] is not None:
                x[k] = x[k] - L[k][i] * x[i]
    return x


def unit_rates(mech: Mechanism, k: int) -> list[Scalar]:
    return [mech.algebra.number(Fraction(int(i == k))) for i in range(mech.n)]
