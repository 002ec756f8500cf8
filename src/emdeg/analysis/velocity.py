"""Coriolis and centrifugal terms against inertia and gravity, at unit speeds.

b_ijk / M_ii and c_ij / M_ii are the accelerations whose own inertia torque equals the term's when the joints involved
move at 1 rad/s (1 m/s). A term is at most the sum of its Fourier amplitudes; those whose sum, over the least M_ii,
stays below the largest ratio attained need no search, the others are bounded by branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Generator, TrigPoly
from emdeg.analysis.shared_time import search_each
from emdeg.bounds import Bounded, SearchLimits, attained_ratio, largest_ratio, tensor
from emdeg.documents import Shown
from emdeg.equations import Model, entry_name
from emdeg.robot import Workspace

SAMPLES = 2048


@dataclass(frozen=True)
class VelocityTerm(Shown):
    """The largest Coriolis or centrifugal term of a joint over the workspace, at unit speeds."""

    joint: str
    number: int
    term: str
    """Its name, b123 or c21; empty where the joint has none."""
    against_inertia: Bounded
    """|term| / M_ii where it is largest [rad/s^2, m/s^2]; no velocity term of the joint exceeds the bound."""
    peak: float
    """The largest |term| that climbs reach [N m, N]."""
    against_gravity: float | None
    """`peak` over the joint's largest gravity load that climbs reach; None where gravity does not load it."""
    peak_at: Mapping[Generator | int, float]
    """Where `peak` is reached {joint's number: position}."""

    @property
    def speed(self) -> float | None:
        """The speed [rad/s, m/s] of all joints involved at which the term equals the largest gravity load."""
        return 1 / math.sqrt(self.against_gravity) if self.against_gravity else None


def velocity_terms(
    model: Model, where: Workspace, floors: Mapping[int, float], *, gap: float = 1e-3, seconds: float = 10.0
) -> list[VelocityTerm]:
    """For each joint its largest velocity term; `floors` are lower bounds of M_ii {joint's number: it}, if positive."""
    q = where.sample(SAMPLES, seed=5)
    numbers = model.numbers
    terms = {i: _terms(model, i) for i in range(1, model.n + 1)}
    own = {i: model.M[i - 1][i - 1].evaluate(q, parameters=numbers) for i in terms}
    sizes = {
        (i, name): np.abs(np.broadcast_to(formula.evaluate(q, parameters=numbers), len(q)))
        for i in terms
        for name, formula in terms[i].items()
    }
    reached = {i: max((float((sizes[i, name] / own[i]).max()) for name in terms[i]), default=0.0) for i in terms}
    ceilings = {(i, name): _amplitude(terms[i][name], model, where) / floors[i] for i, name in sizes if i in floors}

    def search(key: tuple[int, str], effort: SearchLimits) -> Bounded:
        i, name = key
        return largest_ratio(
            terms[i][name],
            model.M[i - 1][i - 1],
            where.box,
            floor=floors[i],
            ceiling=ceilings[key],
            known=reached[i],
            gap=gap,
            parameters=numbers,
            effort=SearchLimits(seconds=effort.seconds / 2),
        )

    def sampled(key: tuple[int, str]) -> float:
        return float((sizes[key] / own[key[0]]).max())

    # First each joint's largest on the samples; then those of the others that could be larger.
    tops = [max((key for key in ceilings if key[0] == i), key=sampled) for i in {key[0] for key in ceilings}]
    found = search_each(tops, search, 0.4 * seconds, lambda one: one.gap <= gap)
    reached = {i: max([reached[i], *(found[key].value for key in tops if key[0] == i)]) for i in reached}
    open_ = sorted((key for key in ceilings if key not in found and ceilings[key] > reached[key[0]]), key=sampled)
    limits = {id_: reached[id_] * (1 + gap) for id_ in reached}
    rest = search_each(
        [(i, name, limits[i]) for i, name in open_],
        lambda key, effort: (search(key[:2], effort), key[2]),
        0.6 * seconds,
        lambda pair: pair[0].bound <= pair[1] or pair[0].gap <= gap,
    )
    found |= {key[:2]: one for key, (one, _) in rest.items()}
    rows = []
    for i in terms:
        mine = {name: found[i, name] for name in terms[i] if (i, name) in found}
        rows.append(_row(model, where, i, mine, {name: sizes[i, name] for name in terms[i]}, own[i], i in floors, q))
    return rows


def _row(
    model: Model,
    where: Workspace,
    i: int,
    searched: Mapping[str, Bounded],
    sizes: Mapping[str, np.ndarray],
    own: np.ndarray,
    bounded: bool,
    q: np.ndarray,
) -> VelocityTerm:
    joint = where.joints[i - 1]
    if not sizes:
        return VelocityTerm(joint, i, "", Bounded(0.0, 0.0, {}), 0.0, None, {})
    sampled = {name: float((size / own).max()) for name, size in sizes.items()}
    value = {name: max(sampled[name], searched[name].value if name in searched else 0.0) for name in sizes}
    term = max(value, key=lambda name: value[name])
    at: Mapping[Generator | int, float]
    if term in searched and searched[term].value >= sampled[term]:
        at = searched[term].at
    else:
        at = dict(enumerate(q[int(np.argmax(sizes[term] / own))].tolist(), 1))
    # Terms that were not searched are bounded by their amplitudes, below the largest ratio attained.
    bound = max([value[term], *(one.bound for one in searched.values())]) if bounded else math.inf
    one = model.algebra.number(1)
    peak = attained_ratio(model.entries(["b", "c"])[term], one, where.box, model.numbers)
    load = attained_ratio(model.g[i - 1], one, where.box, model.numbers).value if model.g[i - 1] else 0.0
    share = peak.value / load if load else None
    return VelocityTerm(joint, i, term, Bounded(value[term], bound, at), peak.value, share, peak.at)


def _terms(model: Model, i: int) -> dict[str, TrigPoly]:
    """The joint's velocity terms that are not zero."""
    entries = model.entries(["b", "c"])
    n = model.n
    names = [entry_name("c", i, j) for j in range(1, n + 1)]
    names += [entry_name("b", i, j, k) for j in range(1, n + 1) for k in range(j + 1, n + 1)]
    return {name: entries[name] for name in names if entries[name]}


def _amplitude(formula: TrigPoly, model: Model, where: Workspace) -> float:
    """An upper bound of |formula|: the sum of its Fourier amplitudes."""
    f = tensor(formula, where.box, model.numbers)
    return float(f.amplitudes.sum()) * (1 + 1e-9) + f.rounding
