"""What rounding makes of a result near a singular pose of closed loops: found out by computing it again, a hair away.

Whatever follows from the closure equations is divided by their Jacobian: rates once, accelerations twice, every
derivative by q once more, so an error grows with a power of 1 / (the distance from a singular pose). How much of it is
left in the result no power tells: at a dead point the result grows along, in a parallelogram's flat place it stays what
it is and the error alone grows. So the power says where to look, and a second and a third run with q moved by its last
digits, all roundings being others then, say what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.dynamics.mechanism import Position
from emdeg.dynamics.state import Again
from emdeg.errors import ClosureError
from emdeg.loops.newton import size_of
from emdeg.loops.singularities import FIRST, SECOND, Conditions, conditions
from emdeg.loops.state import NumericLoopState

MOST = 1e-6
"""The share of an output's largest entry that rounding may make."""
WHOLLY = 0.1
"""A value that changes by so much of itself may be nothing but rounding."""
GROWTH = 32.0
"""Rounding may grow by this over the distance with each division by the equations; 5 to 20 were measured."""
EPSILON = float(np.finfo(np.float64).eps)
RUNS = 2
"""How often a result is computed again."""


def need_steady(
    s: NumericLoopState, order: int, arrays: Mapping[str, ArrayLike], values: Sequence[Array], again: Again
) -> None:
    """ClosureError where rounding makes more than `MOST` of any of the values that the arrays gave at the state `s`."""
    if not s.is_divided:
        return
    given = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
    shape = np.broadcast_shapes(*(array.shape[:-1] for array in given.values()))
    near = np.broadcast_to(_is_near(s, order), shape)
    if not near.any():
        return
    given = {name: np.broadcast_to(array, (*shape, array.shape[-1]))[near] for name, array in given.items()}
    q, found = given["q"], [value[near] for value in values]
    turning = np.array([s.tree.revolute[k] for k in s.link.coordinates])
    last_digit = EPSILON * np.maximum(np.abs(q), np.where(turning, 1.0, size_of(s.link)))
    rng, share = np.random.default_rng(0), np.zeros(len(q))
    for _ in range(RUNS):
        try:
            others = again({**given, "q": q + last_digit * rng.uniform(-2, 2, q.shape)})
        except ClosureError:  # a hair away the loops are open, or nothing is determined
            others = [np.full_like(value, np.inf) for value in found]
        share = np.maximum(share, _changed(found, others))
    worst = int(np.argmax(share))
    if share[worst] > MOST:
        place = tuple(np.argwhere(near)[worst])
        one = [_at(place, shape, part) for part in s.position]
        raise _refusal(conditions(s.link, one), q[worst], float(share[worst]))


def _is_near(s: NumericLoopState, order: int) -> NDArray[np.bool_]:
    """Whether rounding may show: values are divided by the equations twice, as accelerations are, each slope once."""
    distance = np.minimum(s.conditions.first, s.conditions.second)
    return EPSILON * (GROWTH / np.maximum(distance, EPSILON)) ** (2 + order) > MOST


def _changed(values: Sequence[Array], others: Sequence[Array]) -> Array:
    """(states,): the largest change of any output, over its largest entry.

    One that is small beside the others and changes wholly is zero but for rounding: its change counts beside them.
    """
    rows = len(values[0])
    sizes = [np.abs(value).reshape(rows, -1).max(axis=1, initial=0.0) for value in values]
    together = MOST * np.max(sizes, axis=0)
    with np.errstate(all="ignore"):
        change = [np.abs(b - a).reshape(rows, -1).max(axis=1, initial=0.0) for a, b in zip(values, others)]
        least = [np.where(c > WHOLLY * size, together, 0.0) for c, size in zip(change, sizes)]
        shares = [np.where(c > 0, c / np.maximum(size, low), c) for c, size, low in zip(change, sizes, least)]
    return np.nan_to_num(np.max(shares, axis=0), nan=np.inf, posinf=np.inf)


def _at(place: tuple[int, ...], shape: tuple[int, ...], part: Position) -> Position:
    """A joint's position in one of the states."""
    if isinstance(part, tuple):
        sine, cosine = (np.broadcast_to(x, shape)[place] for x in part)
        return sine, cosine
    return np.broadcast_to(part, shape)[place]


def _refusal(found: Conditions, q: Array, share: float) -> ClosureError:
    first = float(found.first) <= float(found.second)
    size, loop, rule = (found.first, found.by_first, FIRST) if first else (found.second, found.by_second, SECOND)
    at, much = ", ".join(f"{x:.9g}" for x in q), "all" if share >= 1 else f"{share:.1g}"
    return ClosureError(
        loop, f"the pose is singular: {rule}, {size:.2g} away; rounding makes {much} of the result at {at}"
    )
