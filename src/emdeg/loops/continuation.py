"""Loops that close numerically, followed along a way: a branch is kept because it is continuous, not for being near.

A step goes along the tangent and is then corrected by Newton's method; it counts only if the correction is small beside
it, if the tangents at both ends agree, and if the closure equations' determinant keeps its sign. Where it does not
keep it however short the step, two branches cross: the way goes straight on, and that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.errors import ClosureError
from emdeg.loops.linkage import Linkage
from emdeg.loops.newton import CLOSED, corrected, evaluated, row_sizes, size_of, turned_seams, whole

Truths = NDArray[np.bool_]

FIRST = 1 / 8
"""The first step, a share of the way; no step is longer than twice this, but on a short way."""
STRIDE = 0.02
"""A way no longer than this (rad, or a share of the mechanism's size) is tried in one step."""
SHORTEST = 1e-4
"""The shortest step, a share of the way: a way that needs shorter ones has come to its end."""
CROSSING = 1e-3
"""Steps shorter than this (rad, or a share of the mechanism's size) may pass a point where branches cross."""
SAME = 1e-6
"""Configurations that are no further apart (rad, or a share of the mechanism's size) are one."""
SOON = 8
"""Newton's steps in a correction: one that needs more began too far away."""
DETOURS = 8
"""Ways by random places near the start, tried where neither the straight one nor one round the other way arrives."""
GUESSES = 256
LOOSE = 1e-7
"""Ways of closing count as apart where the equations' smallest singular value is above this."""


@dataclass(frozen=True, slots=True)
class Marched:
    """Where ways ended: joints (k, n), whether they arrived (k,); (which way, joints (n,)) where branches crossed."""

    q: Array
    arrived: Truths
    crossings: tuple[tuple[int, Array], ...]


def march(link: Linkage, begin: Array, way: Array) -> Marched:
    """Every closed configuration `begin` (k, n) followed while its coordinates move by `way` (k, nu)."""
    own, rest = list(link.coordinates), list(link.dependent)
    scale = _scales(link)
    q, count = np.array(begin, dtype=np.float64), len(begin)
    reach = STRIDE / np.maximum((np.abs(way) / scale[own]).max(axis=-1, initial=0.0), STRIDE)
    done, step, longest = np.zeros(count), np.maximum(reach, FIRST), np.maximum(reach, 2 * FIRST)
    arrived, crossings = np.zeros(count, dtype=bool), []
    W, sign = _tangent(link, q)
    alive = np.asarray(np.isfinite(W).all(axis=(-1, -2)), np.bool_)
    while True:
        now = np.flatnonzero(alive & ~arrived)
        if not len(now):
            return Marched(q, arrived, tuple(crossings))
        share = np.minimum(step[now], 1 - done[now])
        move = way[now] * share[:, None]
        ahead = np.einsum("kij,kj->ki", W[now], move)
        trial = q[now].copy()
        trial[:, own] += move
        trial[:, rest] += ahead
        found, values = corrected(link, trial, rest, SOON)
        W_there, sign_there = _tangent(link, found)
        behind = np.einsum("kij,kj->ki", W_there, move)
        size = (np.abs(move) / scale[own]).max(axis=-1)
        off = (np.abs(found - trial)[:, rest] / scale[rest]).max(axis=-1, initial=0.0)
        length = (np.abs(ahead) / scale[rest]).max(axis=-1, initial=0.0) + size
        bend = (np.abs(ahead - behind) / scale[rest]).max(axis=-1, initial=0.0)
        flips = sign_there != sign[now]
        with np.errstate(invalid="ignore"):
            smooth = (off <= 0.2 * length + 1e-12) & (bend <= 0.5 * length + 1e-9)
            good = smooth & (np.abs(values).max(axis=-1) < CLOSED)
        good &= np.isfinite(W_there).all(axis=(-1, -2)) & (~flips | (size < CROSSING))
        took, failed = now[good], now[~good]
        q[took], W[took], sign[took] = found[good], W_there[good], sign_there[good]
        crossings += [(int(k), q[k].copy()) for k in now[good & flips]]
        done[took] += share[good]
        step[took] = np.minimum(2 * step[took], longest[took])
        arrived |= done >= 1 - 1e-12
        step[failed] /= 2
        alive[failed] = step[failed] >= SHORTEST


def _scales(link: Linkage) -> Array:
    """(n,): what a joint's change is measured in: radians, or the mechanism's size."""
    return np.where(np.array(link.tree.revolute), 1.0, size_of(link))


def _tangent(link: Linkage, q: Array) -> tuple[Array, Array]:
    """(the dependent joints' change per coordinate's (k, nd, nu), the sign of the independent rows' determinant)."""
    own, rest = list(link.coordinates), list(link.dependent)
    every = whole(link)
    _, _, J = evaluated(every, q)
    J = J / row_sizes(every)[:, None]
    W = -(np.linalg.pinv(J[..., rest], rcond=1e-10) @ J[..., own])
    rows = list(link.rows) if link.rows is not None else list(range(J.shape[-2]))
    block = J[..., rows, :][..., rest]
    sign = np.sign(np.linalg.det(block)) if block.shape[-1] == block.shape[-2] else np.ones(len(q))
    return W, sign


def continued(link: Linkage, at: Array, pose: Array, leg: str = "") -> tuple[Array, list[Array]]:
    """(the closed configuration `at` (n,) followed straight to the `pose` (nu,), the poses where ways of closing met).

    ClosureError with the place where the way ends, if it does; `leg` says which part of a path it is.
    """
    own = list(link.coordinates)
    step = march(link, at[None], (pose - at[own])[None])
    if not step.arrived[0]:
        place = ", ".join(f"{x:.6g}" for x in step.q[0, own])
        raise ClosureError(
            (*link.bars, *link.meetings)[0].name,
            f"the path cannot be followed{leg}: it ends at ({place}), where ways of closing meet or reach ends",
        )
    q = step.q[0]
    q[own] = pose
    return q, [there[own] for _, there in step.crossings]


def follow(link: Linkage, start: Array, target: Array) -> Array:
    """q (..., n) with the coordinates at `target` (..., nu), on the branch of the closed configuration `start` (n,).

    A turning coordinate's angle counts modulo a turn, so that poses which are the same have the same answer. The way is
    straight where that leads there, else another one; where none does, the pose's own root with the start's sign, if a
    way leads back from it.
    """
    if not np.isfinite(target).all():
        raise ClosureError((*link.bars, *link.meetings)[0].name, "it stays open where a coordinate is not a number")
    q, arrived = followed(link, start, target)
    for place in np.argwhere(~arrived):
        q[tuple(place)] = _own_root(link, start, target[tuple(place)])
    return q


def _leads_to(link: Linkage, q: Array, start: Array) -> bool:
    """Whether a way leads back from a closed configuration: there may be none, though no other root has its sign."""
    (back,), (arrived,) = followed(link, q, start[None, list(link.coordinates)])
    return bool(arrived) and _apart(back, start, np.array(link.tree.revolute), _scales(link)) < SAME


def followed(link: Linkage, start: Array, target: Array) -> tuple[Array, Truths]:
    """(q (..., n), whether a way led there (...)): NaN where none did."""
    own = list(link.coordinates)
    poses = target.reshape(-1, target.shape[-1])
    turning = np.array(link.tree.revolute)[own]
    way = poses - start[own]
    way = np.where(turning, np.remainder(way + np.pi, 2 * np.pi) - np.pi, way)
    q, arrived = np.full((len(poses), len(start)), np.nan), np.zeros(len(poses), dtype=bool)
    for legs in _ways(link, way, turning):
        left = np.flatnonzero(~arrived)
        if not len(left):
            break
        at, there = np.broadcast_to(start, (len(left), len(start))), np.ones(len(left), dtype=bool)
        for leg in legs:
            found = march(link, at, leg[left])
            at, there = found.q, there & found.arrived
        q[left[there]], arrived[left[there]] = at[there], True
    q[:, own] = poses
    return q.reshape(*target.shape[:-1], len(start)), arrived.reshape(target.shape[:-1])


def _ways(link: Linkage, way: Array, turning: Array) -> Iterator[list[Array]]:
    """Straight on; the other way round by turning coordinates; by way of random places near the start."""
    yield [way]
    for round_ in product((False, True), repeat=min(int(turning.sum()), 3)):
        if any(round_):
            turned = np.zeros(len(turning), dtype=bool)
            turned[np.flatnonzero(turning)[: len(round_)]] = round_
            yield [np.where(turned, way - 2 * np.pi * np.where(way < 0, -1, 1), way)]
    rng = np.random.default_rng(0)
    reach = np.where(turning, 1.0, 0.3 * size_of(link))
    for _ in range(DETOURS if len(turning) > 1 else 0):
        aside = np.broadcast_to(reach * rng.uniform(-1, 1, len(turning)), way.shape)
        yield [aside, way - aside]


def roots_at(link: Linkage, start: Array, pose: Array) -> Array:
    """(roots, n): the ways found in which the loops close with the coordinates at `pose` (nu,), each apart from others.

    Where a pose leaves joints loose, so that ways run into each other, those are not among them.
    """
    own, rest = list(link.coordinates), list(link.dependent)
    rng = np.random.default_rng(0)
    turning = np.array(link.tree.revolute)
    reach = np.where(turning, np.pi, 2 * size_of(link))
    guesses = start + reach * rng.uniform(-1, 1, (GUESSES, link.n))
    guesses[0] = start
    guesses[:, own] = pose
    found, values = corrected(link, guesses, rest)
    closed = found[np.abs(values).max(axis=-1) < CLOSED]
    closed = closed[(_stiffness(link, closed) > LOOSE) & ~turned_seams(link, closed)]
    closed[:, turning] = np.remainder(closed[:, turning] + np.pi, 2 * np.pi) - np.pi
    closed[:, own] = pose
    scale, kept = _scales(link), []
    for q in closed:
        if not any(_apart(q, other, turning, scale) < SAME for other in kept):
            kept.append(q)
    kept.sort(key=lambda q: tuple(np.round(q, 6)))
    return np.array(kept).reshape(len(kept), link.n)


def _stiffness(link: Linkage, q: Array) -> Array:
    """(k,): the smallest singular value of all equations by the dependent joints, over the mechanism's size."""
    every = whole(link)
    J = evaluated(every, q)[2] / row_sizes(every)[:, None]
    return np.asarray(np.linalg.svd(J[..., list(link.dependent)], compute_uv=False)[..., -1], np.float64)


def _apart(a: Array, b: Array, turning: Array, scale: Array) -> float:
    way = a - b
    return float((np.abs(np.where(turning, np.remainder(way + np.pi, 2 * np.pi) - np.pi, way)) / scale).max())


def signs(link: Linkage, q: Array) -> Array:
    """(...): the sign of the determinant of the independent equations by the dependent joints; branches meet at 0."""
    return _tangent(link, q)[1]


def _own_root(link: Linkage, start: Array, pose: Array) -> Array:
    roots = roots_at(link, start, pose)
    loop = (*link.bars, *link.meetings)[0].name
    if not len(roots):
        raise ClosureError(loop, "the pose cannot be reached: the loop does not close there")
    own = roots[signs(link, roots) == signs(link, start[None])[0]]
    if len(own) == 1 and _leads_to(link, own[0], start):
        return own[0]
    raise ClosureError(
        loop,
        f"the pose is not reached from the start without passing a singular one; the loops close there in "
        f"{len(roots)} ways, {len(own)} of them with the start's sign: start on the one that is meant",
    )
