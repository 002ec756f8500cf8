"""Functions of chains and trees by formulations as the literature printed them: to compare, not the smallest.

They serve robots with revolute and prismatic joints. `FORMULATIONS` is what is registered with the core's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from emdeg.algebra.linear import Rows, solve_symmetric
from emdeg.dynamics import Frames, Mechanism, Outputs, Scalar, TreeState, total
from emdeg.dynamics.formulations import Coefficients, lagrange_coefficients
from emdeg.dynamics.functions import AddedFormulation, Run
from emdeg.dynamics.trees import applied_torques, elements_by
from emdeg.papers.formulations import extended_body, izaguirre_paul, walker_orin
from emdeg.papers.formulations.extended_body_rates import extended_body_coefficients
from emdeg.papers.formulations.luh_walker_paul import efforts_by_luh_walker_paul
from emdeg.papers.formulations.partial_velocities import kane_coefficients, kane_efforts
from emdeg.papers.formulations.uicker import uicker_coefficients

Matrix = list[list[Scalar]]


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


def mass_matrix_by(matrix: Callable[[Mechanism, Frames], Matrix], chains_only: bool = False) -> Run:
    def run(s: TreeState) -> Outputs | None:
        return None if chains_only and not _is_chain(s) else {"M": matrix(s.tree, s.frame)}

    return run


def mass_matrix_by_coefficients(coefficients: Callable[[Mechanism, Frames], Coefficients]) -> Run:
    return lambda s: {"M": [list(row) for row in coefficients(s.tree, s.frame).M]}


def gravity_by_izaguirre_paul(s: TreeState) -> Outputs:
    return {"g": izaguirre_paul.gravitational_coefficients(s.tree, s.frame)}


def accelerations_by(matrix: Callable[[Mechanism, Frames], Matrix]) -> Run:
    """Walker and Orin's methods 1 to 3: M, then M qdd = tau - h."""

    def run(s: TreeState) -> Outputs:
        M, h = matrix(s.tree, s.frame), walker_orin.bias(s.tree, s.frame, s.qd)
        right = [t - b for t, b in zip(applied_torques(s), h)]
        return {"qdd": solve_symmetric(cast(Rows, M), right, s.tree.one)}

    return run


def accelerations_by_method_4(s: TreeState) -> Outputs:
    return {"qdd": walker_orin.accelerations_without_matrix(s.tree, s.frame, s.qd, applied_torques(s))}


def _rows() -> Iterator[AddedFormulation]:
    torques: dict[str, Run] = {
        "Luh-Walker-Paul": efforts_by_luh_walker_paul_of,
        "composite bodies": efforts_by_composite_bodies,
        "Kane": efforts_by_kane,
        "Kane, coefficients": efforts_by(kane_coefficients),
        "Lagrange": efforts_by(lagrange_coefficients),
        "Lagrange-Uicker": efforts_by(uicker_coefficients),
        "extended bodies": efforts_by(extended_body_coefficients, chains_only=True),
    }
    accelerations: dict[str, Run] = {
        "Walker-Orin 1": accelerations_by(walker_orin.columns),
        "Walker-Orin 2": accelerations_by(walker_orin.half_columns),
        "Walker-Orin 3": accelerations_by(walker_orin.composites),
        "Walker-Orin 4": accelerations_by_method_4,
    }
    masses: dict[str, Run] = {
        "Walker-Orin 1": mass_matrix_by(walker_orin.columns),
        "Walker-Orin 2": mass_matrix_by(walker_orin.half_columns),
        "Izaguirre-Paul": mass_matrix_by(izaguirre_paul.inertial_coefficients),
        "Kane": mass_matrix_by_coefficients(kane_coefficients),
        "Lagrange-Uicker": mass_matrix_by_coefficients(uicker_coefficients),
        "extended bodies": mass_matrix_by(extended_body.mass_matrix, chains_only=True),
    }
    for function, runs in (
        ("inverse_dynamics", torques),
        ("forward_dynamics", accelerations),
        ("mass_matrix", masses),
        ("gravity", {"Izaguirre-Paul": gravity_by_izaguirre_paul}),
    ):
        for name, run in runs.items():
            yield AddedFormulation(function, name, _served(run))
    elements = elements_by(extended_body_coefficients, chains_only=True)
    yield AddedFormulation("elements", "extended bodies", elements, after="Lagrange", plain=True, searched=True)


def _served(run: Run) -> Run:
    """The run for robots with revolute and prismatic joints; None for others."""
    return lambda s: run(s) if s.tree.is_elementary else None


FORMULATIONS = tuple(_rows())
