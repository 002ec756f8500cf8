"""Upper bounds of a quadratic form over a box: max of g.t + t.H t / 2 over |t_k| <= r_k, for many boxes at once.

The exact maximum is hard to find where H couples the variables; three bounds are cheap. `apart` takes the couplings at
their worst, each by itself. `together` moves them into the squares (Gershgorin). `within_ellipsoid` is weak duality:
for every diagonal D >= 0 with D - H positive definite, t.D t <= r.D r inside the box, so the form is at most
r.D r / 2 + g.(D - H)^-1 g / 2. Near an interior maximum only the last is small to third order, whatever the couplings.
"""

from __future__ import annotations

import numpy as np

from emdeg.algebra import Array

STEPS = 9


def highest(g: Array, H: Array, r: Array) -> Array:
    """The lesser of `apart` and `together` (boxes)."""
    diagonal = np.einsum("pii->pi", H)
    across = np.abs(H)
    np.einsum("pii->pi", across)[:] = 0.0
    coupling = np.einsum("pij,pj->pi", across, r)
    apart = separable(g, diagonal, r).sum(axis=1) + 0.5 * (coupling * r).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = diagonal + np.where(r > 0, coupling / r, 0.0)
    return np.minimum(apart, separable(g, spread, r).sum(axis=1))


def separable(g: Array, h: Array, r: Array) -> Array:
    """max of g t + h t^2 / 2 over |t| <= r, entry by entry."""
    edge = np.abs(g) * r + 0.5 * h * r * r
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = -0.5 * g * g / h
    inside = (h < 0) & (np.abs(g) < -h * r)
    return np.where(inside, peak, edge)


def within_ellipsoid(g: Array, H: Array, r: Array) -> Array:
    """The least dual bound over D = mu W / r^2 (boxes), for W = 1 and for W that follows |g| r."""
    scaled = H * r[:, :, None] * r[:, None, :]
    slope = g * r
    size = np.abs(slope)
    largest = size.max(axis=1, keepdims=True)
    follow = np.maximum(size / np.where(largest > 0, largest, 1.0), 0.1)
    return np.minimum(_ball(slope, scaled, np.ones_like(slope)), _ball(slope, scaled, follow))


def _ball(g: Array, H: Array, weight: Array) -> Array:
    """A bound of g.s + s.H s / 2 over sum of W s^2 <= sum of W."""
    root = 1 / np.sqrt(weight)
    eigenvalues, vectors = np.linalg.eigh(H * root[:, :, None] * root[:, None, :])
    square = np.einsum("pij,pi->pj", vectors, g * root) ** 2
    whole = weight.sum(axis=1)
    size = np.abs(eigenvalues).max(axis=1)
    # mu must exceed every eigenvalue by more than their rounding; beyond `far` the bound rises again.
    least = np.maximum(eigenvalues[:, -1], 0.0) + 1e-9 * size + 1e-300
    far = np.sqrt(square.sum(axis=1) / whole)
    near = np.maximum(1e-5 * far, 1e-300)
    for _ in range(STEPS):
        step = np.sqrt(near * far)
        rising = (square / (least[:, None] + step[:, None] - eigenvalues) ** 2).sum(axis=1) < whole
        far, near = np.where(rising, step, far), np.where(rising, near, step)
    bounds = [
        0.5 * mu * whole + 0.5 * (square / (mu[:, None] - eigenvalues)).sum(axis=1) for mu in (least, least + far)
    ]
    # The eigenvalues' own rounding, a few units of their size, acts on s.s <= sum of W / least W.
    slack = 1e-13 * size * whole / weight.min(axis=1)
    return np.minimum(*bounds) * (1 + 1e-8) + slack
