"""The significance rule of Armstrong, Khatib and Burdick, section 3.

Within each equation the terms are dropped that are less than 1% of its greatest, or less than 0.1% of the largest
constant term applicable to the same joint. A term is a constant times its function of the configuration; its size is
the largest it becomes over the box. The constant of a joint is the part of M_ii that does not change; an expression
that serves several joints, because entries of other rows are multiples of it, is judged by the smallest of theirs.
Gravity has another unit: there the first test alone applies. A constant whose tolerance is at least its value is not
known to be there at all, and goes unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import TrigPoly
from emdeg.bounds import Variable, basis, formula_vector
from emdeg.equations import Expansion, LumpedModel, Term, indices
from emdeg.robot import Workspace

SIGNIFICANCE, JOINT_SIGNIFICANCE = 0.01, 0.001
"""The paper's thresholds."""


@dataclass(frozen=True)
class Dropped:
    """A term that was dropped, and why: its size and the threshold it stays below."""

    entry: str
    constant: str
    size: float
    threshold: float
    rule: str


@lru_cache(maxsize=4096)
def largest_value(function: TrigPoly, where: Workspace) -> float:
    """The largest |function| over the box's positions, by search from many points: a size, not a proof."""
    if function.is_number:
        return abs(float(function.number))
    f = formula_vector([function], where.box)
    tables = [basis(v, d, np.cos, np.sin, _many(v)) for v, d in zip(f.variables, f.degrees)]
    # Each variable in turn where the function is largest in it: at once right for a product of functions of one each.
    points = np.array([v.middle for v in f.variables]) + _spread(f.dimension) * [v.half for v in f.variables]
    best = np.argsort(-np.abs(f.values(points)[:, 0]))[:STARTS]
    rows = [basis(v, d, np.cos, np.sin, x) for v, d, x in zip(f.variables, f.degrees, points[best].T)]
    return max(_climbed(f.coefficients[..., 0], tables, [row[k] for row in rows]) for k in range(len(best)))


STARTS = 3
SWEEPS = 4


@lru_cache(maxsize=16)
def _spread(dimension: int) -> NDArray:
    return np.random.default_rng(0).uniform(-1, 1, (512, dimension))


def _many(variable: Variable) -> NDArray:
    """Many values of a variable, the quarters of the circle among them."""
    x = variable.middle + variable.half * np.linspace(-1, 1, 361)
    if not variable.is_angle:
        return x
    return np.concatenate([x, np.arange(np.ceil(4 * x[0] / np.pi), np.floor(4 * x[-1] / np.pi) + 1) * (np.pi / 4)])


def _climbed(coefficients: NDArray, tables: Sequence[NDArray], at: list[NDArray]) -> float:
    best = 0.0
    for _ in range(SWEEPS):
        before = best
        for k, table in enumerate(tables):
            left = coefficients
            for other in reversed(at[k + 1 :]):
                left = left @ other
            for other in at[:k]:
                left = other @ left.reshape(len(other), -1)
            values = np.abs(table @ left.ravel())
            top = int(values.argmax())
            best, at[k] = float(values[top]), table[top]
        if best <= before * (1 + 1e-9):
            break
    return best


def sizes(full: LumpedModel, where: Workspace) -> dict[Term, float]:
    """Every term's largest value over the box."""
    found: dict[Term, float] = {}
    for (entry, constant), function in full.functions.items():
        lead = function.leading_coefficient
        size = largest_value(function / lead, where) * abs(float(lead))
        found[entry, constant] = size * abs(float(full.values[constant]))
    return found


def joint_constants(full: LumpedModel) -> dict[int, float]:
    """The configuration-independent part of M_ii, by joint."""
    constants: dict[int, float] = {}
    for (entry, constant), function in full.functions.items():
        letter, of = indices(entry)
        if letter == "M" and of[0] == of[1] and function.is_number:
            constants[of[0]] = constants.get(of[0], 0.0) + float(full.values[constant] * function.number)
    return constants


def uncertain(full: LumpedModel) -> set[str]:
    """The constants whose tolerance is at least their magnitude: what was measured does not tell them from zero."""
    given = [(c.name, c.tolerance) for c in full.lumped.constants]
    return {name for name, tolerance in given if tolerance is not None and tolerance >= abs(full.values[name])}


def significant(
    full: LumpedModel,
    where: Workspace,
    *,
    significance: float = SIGNIFICANCE,
    joint_significance: float = JOINT_SIGNIFICANCE,
    neglect: Collection[str] = (),
    keep_uncertain: bool = False,
) -> tuple[LumpedModel, tuple[Dropped, ...]]:
    """The model without its insignificant terms, and what was dropped; `neglect` names constants to drop everywhere.

    `keep_uncertain`: constants too that their tolerances do not tell from zero.
    """
    if unknown := set(neglect) - set(full.values):
        raise ValueError(f"there is no constant {', '.join(sorted(unknown))}; there are {', '.join(full.values)}")
    unknown = set() if keep_uncertain else uncertain(full)
    size = sizes(full, where)
    constants = joint_constants(full)
    rows = _served_joints(full)
    kept: set[Term] = set()
    dropped: list[Dropped] = []
    judged_first: dict[tuple, str] = {}
    for entry, terms in full.lumped.expansions.items():
        letter, _ = indices(entry)
        if not terms:
            continue
        # A multiple of an earlier entry is that entry over again, and keeps the same terms.
        leader = judged_first.setdefault(_direction(terms), entry)
        if leader != entry:
            kept.update((entry, c) for c, _ in terms if (leader, c) in kept)
            dropped += [replace(d, entry=entry) for d in dropped if d.entry == leader]
            continue
        still = _constant_part(full, entry)
        greatest = max([size[entry, c] for c, _ in terms] + [still], default=0.0)
        mine = [constants[j] for j in rows.get(entry, ()) if j in constants]
        tests: Mapping[str, float] = {
            "equation": significance * greatest,
            "joint": joint_significance * min(mine) if mine and letter != "g" else 0.0,
        }
        for c, f in terms:
            judged = still if f.is_number else size[entry, c]
            failed = [rule for rule, threshold in tests.items() if judged < threshold]
            if c in neglect:
                dropped.append(Dropped(entry, c, size[entry, c], float("inf"), "neglected"))
            elif c in unknown:
                dropped.append(Dropped(entry, c, size[entry, c], float("inf"), "uncertain"))
            elif failed:
                dropped.append(Dropped(entry, c, size[entry, c], tests[failed[0]], failed[0]))
            else:
                kept.add((entry, c))
    return full.keeping(kept), tuple(dropped)


def _served_joints(full: LumpedModel) -> dict[str, tuple[int, ...]]:
    """Entry -> the joints whose rows use it or a multiple of it: its own first."""
    groups: dict[tuple, set[int]] = {}
    keys: dict[str, tuple] = {}
    for name, terms in full.lumped.expansions.items():
        if terms:
            keys[name] = _direction(terms)
            groups.setdefault(keys[name], set()).add(indices(name)[1][0])
    return {name: tuple(sorted(groups[key], key=lambda j: j != indices(name)[1][0])) for name, key in keys.items()}


def _direction(terms: Expansion) -> tuple:
    """An entry's summands up to a common factor."""
    lead = terms[0][1].leading_coefficient
    return tuple((c, f / lead) for c, f in terms)


def _constant_part(full: LumpedModel, entry: str) -> float:
    """The sum of an entry's configuration-independent summands: one term, whatever constants make it up."""
    parts = [full.values[c] * f.number for c, f in full.lumped.expansions[entry] if f.is_number]
    return abs(float(np.sum([float(p) for p in parts]))) if parts else 0.0
