"""Accelerations by Walker and Orin's four methods (1982), over any scalar that divides.

All of them call Luh, Walker and Paul's recursion. The first three form M and solve: (1) a column a run, all joints;
(2) the same for the links from the column's joint outwards alone, M being symmetric; (3) composite bodies. (4) forms
no M: conjugate directions, one run each, which end after n steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.dynamics.formulations.composite_body import mass_matrix as composite_mass_matrix
from emdeg.dynamics.formulations.luh_walker_paul import efforts_by_luh_walker_paul
from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass, path
from emdeg.dynamics.spatial import Scalar, Spatial, total, zeros

Matrix = list[list[Scalar]]


def columns(mech: Mechanism, frame: Frames) -> Matrix:
    """M by method 1: each column from a run at that joint's unit acceleration, the rest still, gravity off."""
    n, zero = mech.n, mech.zero
    units = [[mech.one if k == j else zero for k in range(n)] for j in range(n)]
    found = [efforts_by_luh_walker_paul(mech, frame, [zero] * n, unit, gravity=False) for unit in units]
    return [[found[j][i] for j in range(n)] for i in range(n)]


def half_columns(mech: Mechanism, frame: Frames) -> Matrix:
    """M by method 2: joint j accelerates what hangs on it; only the efforts of the joints from j outwards are taken."""
    n, X, S = mech.n, frame.X, mech.S
    M = zeros(mech.zero, n, n)
    for j in range(n):
        beyond = [j in path(mech, i) for i in range(n)]

        def step(i: int, a: Spatial, j: int = j, beyond: Sequence[bool] = beyond) -> Spatial:
            return (S[i] * mech.one if i == j else X[i] @ a) if beyond[i] else mech.still

        a = forward_pass(mech, mech.still, step)
        own = [mech.inertia[i] @ a[i] if beyond[i] else mech.still for i in range(n)]
        f = backward_pass(
            mech, own, lambda i, f, j=j, beyond=beyond: X[i].T @ f if beyond[i] and i != j else mech.still
        )
        for i in range(j, n):
            if beyond[i]:
                M[i][j] = M[j][i] = S[i].dot(f[i])
        M[j][j] = M[j][j] + mech.drive[j]
    return M


def composites(mech: Mechanism, frame: Frames) -> Matrix:
    """M by method 3."""
    return composite_mass_matrix(mech, frame)


def bias(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The efforts that hold the joints' speeds."""
    return efforts_by_luh_walker_paul(mech, frame, qd, [mech.zero] * mech.n)


def conjugate_directions(
    product: Callable[[Sequence[Scalar]], Sequence[Scalar]], right: Sequence[Scalar], steps: int
) -> list[Scalar]:
    """x with M x = right by method 4, given d -> M d; exact after as many steps as there are unknowns."""
    x: list[Scalar] = []
    r, d = list(right), list(right)
    square = _dot(r, r)
    for step in range(steps):
        Md = product(d)
        alpha = square / _dot(d, Md)  # type: ignore[operator]
        x = [a + alpha * b for a, b in zip(x, d)] if x else [alpha * b for b in d]
        if step + 1 < steps:
            r = [a - alpha * b for a, b in zip(r, Md)]
            before, square = square, _dot(r, r)
            beta = square / before  # type: ignore[operator]
            d = [a + beta * b for a, b in zip(r, d)]
    return x


def accelerations_without_matrix(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> list[Scalar]:
    """qdd by method 4."""
    rest = [mech.zero] * mech.n
    right = [t - h for t, h in zip(tau, bias(mech, frame, qd))]

    def product(d: Sequence[Scalar]) -> Sequence[Scalar]:
        return efforts_by_luh_walker_paul(mech, frame, rest, d, gravity=False)

    return conjugate_directions(product, right, mech.n)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return total([x * y for x, y in zip(a, b)])
