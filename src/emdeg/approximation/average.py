"""Bejczy's simplified state equations: entries judged each by itself, by their average relative error.

An entry of M is compared with its own value, one of gravity with its largest value, over random configurations of the
workspace; the worst difference is certified. Parameters that depend on a load are kept apart: a constant whose formula
contains a load's parameter is named as such, and its values without and with the load stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.algebra import Atom, TrigAlgebra, TrigPoly, count
from emdeg.bounds import CertifiedExtremum, SearchLimits, largest_magnitude
from emdeg.equations import Expansion, LumpedModel, indices
from emdeg.programs import ShortestForms
from emdeg.robot import Workspace

SAMPLES = 20_000
AIM = 0.97
"""The part of a limit that dropping may use: errors are then told over other samples."""


@dataclass(frozen=True)
class EntryDeviation:
    """How wrong a short entry is: relative errors over samples, and the certified largest difference (SI)."""

    entry: str
    average: float
    worst: float
    """Relative, over the samples."""
    certified: CertifiedExtremum
    """Of |short - full|, in the entry's unit."""
    operations: int


def diagonal(full: LumpedModel) -> list[str]:
    """The entries that the simplified state equations cover: the diagonal of M, and gravity."""
    found = []
    for name, terms in full.lumped.expansions.items():
        letter, of = indices(name)
        if terms and ((letter == "M" and of[0] == of[1]) or letter == "g"):
            found.append(name)
    return found


def within_average(
    full: LumpedModel, where: Workspace, average: float, *, worst: float | None = None, entries: Sequence[str] = ()
) -> LumpedModel:
    """Every entry with as few pieces as keep its average relative error below `average` (and its worst below `worst`).

    Off-diagonal entries are left whole unless named in `entries`.
    """
    names = list(entries) or [name for name, terms in full.lumped.expansions.items() if terms]
    q = np.random.default_rng(1).uniform(where.lower, where.upper, (SAMPLES // 4, len(where.lower)))
    expansions: dict[str, Expansion] = dict(full.lumped.expansions)
    means = {}
    for name in names:
        kept, left = _fewest(full, name, q, AIM * average, None if worst is None else AIM * worst)
        expansions[name] = _expansion(kept)
        if left:
            means[name] = left
    return full.with_terms(expansions, means)


Summand = tuple[str, TrigPoly]


def _fewest(
    full: LumpedModel, name: str, q: np.ndarray, average: float, worst: float | None
) -> tuple[list[Summand], Fraction]:
    """Summands dropped while the errors allow it: the one that raises the average least first."""
    kept = _summands(full, name)
    values = {s: (s[1] * full.values[s[0]]).evaluate(q) for s in kept}
    whole = np.sum(list(values.values()), axis=0)
    scale = np.abs(whole) if indices(name)[0] == "M" else np.full(len(q), np.abs(whole).max())
    scale = np.maximum(scale, 1e-9 * np.abs(whole).max())
    still = any(f.is_number for _, f in kept)
    left = Fraction(0)
    error = np.zeros(len(q))
    while True:
        best = None
        for summand in kept:
            constant, function = summand
            if function.is_number or len(kept) == 1:
                continue
            stays = _mean(function) * full.values[constant] if still else Fraction(0)
            tried = error + values[summand] - float(stays)
            relative = np.abs(tried) / scale
            if relative.mean() <= average and (worst is None or relative.max() <= worst):
                score = float(relative.mean())
                if best is None or score < best[0]:
                    best = (score, summand, tried, stays)
        if best is None:
            return kept, left
        _, gone, error, stays = best
        kept.remove(gone)
        left += stays


def _mean(function: TrigPoly) -> Fraction:
    """The mean over whole turns of every angle; 0 where a displacement is left in it."""
    still = function.to_fourier().get((0,) * len(function.algebra.revolute))
    return still[0].number if still is not None and still[0].is_number else Fraction(0)


def _summands(full: LumpedModel, entry: str) -> list[Summand]:
    """(constant, product of sines, cosines and displacements) for each summand of one entry as printed."""
    algebra = full.lumped.algebra
    forms = ShortestForms(algebra, full.lumped.groups)
    return [
        (constant, _product(algebra, atoms) * c)
        for constant, function in full.lumped.expansions[entry]
        for atoms, c in forms(function).items()
    ]


def _product(algebra: TrigAlgebra, atoms: Sequence[Atom]) -> TrigPoly:
    found = algebra.one
    for atom in atoms:
        if atom.kind == "q":
            found = found * algebra.displacement(atom.angle[0][0])
        else:
            s, c = algebra.sum_sincos(dict(atom.angle))
            found = found * (s if atom.kind == "S" else c)
    return found


def _expansion(kept: Sequence[Summand]) -> Expansion:
    found: dict[str, list] = {}
    for constant, function in kept:
        found.setdefault(constant, []).append(function)
    return tuple((c, sum(parts[1:], parts[0])) for c, parts in found.items())


def entry_errors(
    full: LumpedModel, short: LumpedModel, where: Workspace, entries: Sequence[str], seconds: float = 4.0
) -> list[EntryDeviation]:
    """Each entry's relative errors over the workspace, and the certified largest difference."""
    q = np.random.default_rng(2).uniform(where.lower, where.upper, (SAMPLES, len(where.lower)))
    found = []
    for name in entries:
        whole = full.entries[name]
        difference = whole - short.entries[name]
        true = whole.evaluate(q)
        scale = np.abs(true) if indices(name)[0] == "M" else np.full(len(q), np.abs(true).max())
        relative = np.abs(difference.evaluate(q)) / np.maximum(scale, 1e-300)
        certified = largest_magnitude(difference, where.box, gap=0.01, limits=SearchLimits(seconds=seconds))
        found.append(
            EntryDeviation(
                name,
                float(relative.mean()),
                float(relative.max()),
                certified,
                count(short.compact[name].expression).total,
            )
        )
    return found
