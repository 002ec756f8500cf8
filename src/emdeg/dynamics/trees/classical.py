"""Functions of chains and trees by formulations as the literature printed them: runs to compare, not the smallest."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from emdeg.algebra.linear import Rows, solve_symmetric
from emdeg.dynamics.formulations import extended_body, izaguirre_paul, walker_orin
from emdeg.dynamics.formulations.coefficients import Coefficients
from emdeg.dynamics.formulations.extended_body_rates import extended_body_coefficients
from emdeg.dynamics.formulations.lagrange_uicker import lagrange_coefficients, uicker_coefficients
from emdeg.dynamics.formulations.luh_walker_paul import efforts_by_luh_walker_paul
from emdeg.dynamics.kane.equations import kane_coefficients, kane_efforts
from emdeg.dynamics.mechanism import Frames, Mechanism
from emdeg.dynamics.spatial import Scalar, total
from emdeg.dynamics.state import Outputs, TreeState

Matrix = list[list[Scalar]]
Run = Callable[[TreeState], Outputs | None]


def _is_chain(s: TreeState) -> bool:
    return all(parent == i - 1 for i, parent in enumerate(s.tree.parent))


def efforts_by_luh_walker_paul_of(s: TreeState) -> Outputs:
    return {"tau": _without_load(s, list(efforts_by_luh_walker_paul(s.tree, s.frame, s.qd, s.qdd)))}


def efforts_by_kane(s: TreeState) -> Outputs:
    return {"tau": _without_load(s, kane_efforts(s.tree, s.frame, s.qd, s.qdd))}


def efforts_by_composite_bodies(s: TreeState) -> Outputs:
    """M qdd + h: M by composite bodies, h by the recursion."""
    M, h = walker_orin.composites(s.tree, s.frame), walker_orin.bias(s.tree, s.frame, s.qd)
    efforts = [total([M[i][j] * s.qdd[j] for j in range(s.n)]) + h[i] for i in range(s.n)]
    return {"tau": _without_load(s, efforts)}


def _without_load(s: TreeState, tau: list[Scalar]) -> list[Scalar]:
    return tau if s.load is None else [t - f for t, f in zip(tau, s.load)]


def efforts_by(coefficients: Callable[[Mechanism, Frames], Coefficients], chains_only: bool = False) -> Run:
    """Armstrong, Khatib and Burdick (1): every coefficient, then M qdd + b [qd qd] + c [qd^2] + g."""

    def run(s: TreeState) -> Outputs | None:
        if chains_only and not _is_chain(s):
            return None
        found, n = coefficients(s.tree, s.frame), s.n
        pairs = [(j, k, s.qd[j] * s.qd[k]) for j in range(n) for k in range(j, n)]
        efforts = []
        for i in range(n):
            parts = [found.M[i][j] * s.qdd[j] for j in range(n)]
            for j, k, product in pairs:
                both = found.beta[i][j][k] if j == k else found.beta[i][j][k] * 2
                parts.append(both * product)
            efforts.append(total([*parts, found.g[i]]))
        return {"tau": _without_load(s, efforts)}

    return run


efforts_by_uicker = efforts_by(uicker_coefficients)
efforts_by_lagrange = efforts_by(lagrange_coefficients)
efforts_by_kane_coefficients = efforts_by(kane_coefficients)
efforts_by_extended_bodies = efforts_by(extended_body_coefficients, chains_only=True)


def mass_matrix_by(matrix: Callable[[Mechanism, Frames], Matrix], chains_only: bool = False) -> Run:
    def run(s: TreeState) -> Outputs | None:
        return None if chains_only and not _is_chain(s) else {"M": matrix(s.tree, s.frame)}

    return run


mass_matrix_by_columns_of_luh_walker_paul = mass_matrix_by(walker_orin.columns)
mass_matrix_by_half_columns = mass_matrix_by(walker_orin.half_columns)
mass_matrix_by_izaguirre_paul = mass_matrix_by(izaguirre_paul.inertial_coefficients)
mass_matrix_by_extended_bodies = mass_matrix_by(extended_body.mass_matrix, chains_only=True)


def mass_matrix_by_uicker(s: TreeState) -> Outputs:
    return {"M": [list(row) for row in uicker_coefficients(s.tree, s.frame).M]}


def mass_matrix_by_kane(s: TreeState) -> Outputs:
    return {"M": [list(row) for row in kane_coefficients(s.tree, s.frame).M]}


def gravity_by_izaguirre_paul(s: TreeState) -> Outputs:
    return {"g": izaguirre_paul.gravitational_coefficients(s.tree, s.frame)}


def accelerations_by(matrix: Callable[[Mechanism, Frames], Matrix]) -> Run:
    """Walker and Orin's methods 1 to 3: M, then M qdd = tau - h."""

    def run(s: TreeState) -> Outputs:
        M, h = matrix(s.tree, s.frame), walker_orin.bias(s.tree, s.frame, s.qd)
        right = [t - b for t, b in zip(_pushed(s), h)]
        return {"qdd": solve_symmetric(cast(Rows, M), right, s.tree.one)}

    return run


accelerations_by_method_1 = accelerations_by(walker_orin.columns)
accelerations_by_method_2 = accelerations_by(walker_orin.half_columns)
accelerations_by_method_3 = accelerations_by(walker_orin.composites)


def accelerations_by_method_4(s: TreeState) -> Outputs:
    return {"qdd": walker_orin.accelerations_without_matrix(s.tree, s.frame, s.qd, _pushed(s))}


def _pushed(s: TreeState) -> list[Scalar]:
    """The drives' efforts and what acts from outside."""
    return list(s.tau) if s.load is None else [t + f for t, f in zip(s.tau, s.load)]
