"""What the entries of a model gain when numbers that its form takes for granted are not quite so.

A parameter that is zero has no symbol, and a constant angle is none: they decide the form of the equations. Their
tolerances count all the same: to first order the entries gain d entry / d number times the deviation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from types import MappingProxyType

from emdeg.algebra import Angle, Generator, RationalAngles, TrigAlgebra, TrigPoly
from emdeg.equations.formulas import Formulas, christoffel_symbols, descendants, formulas_of
from emdeg.robot import Drive, Inertia, Robot, algebra_of, opened, stated_tolerances


def zero_slopes(robot: Robot, algebra: TrigAlgebra, parts: Collection[str]) -> Iterator[tuple[str, Formulas]]:
    """(path, d formulas / d number) in `algebra`, for every stated tolerance of a number that is no symbol."""
    for path in stated_tolerances(robot):
        found = opened(robot, [path])
        yield path, _slopes(_concerned(robot, found.robot), robot, found.symbols[path], algebra, parts)


def _slopes(varied: Robot, nominal: Robot, name: str, algebra: TrigAlgebra, parts: Collection[str]) -> Formulas:
    """The derivatives by the symbol `name` of `varied`, at the number it has in `nominal`."""
    own = algebra_of(varied, budget=algebra.max_terms, rational_angles=isinstance(algebra, RationalAngles))
    # A letter for the deviation: it is zero in `nominal`.
    around = type(algebra)(algebra.revolute, algebra.prismatic, (*algebra.parameters, name), algebra.constant_angles)
    d, by = around.symbol(name), Generator("parameter", name)
    images = {g: d for g in own.generators if g == by}
    turned = Angle(symbol=name)
    if turned in own.constant_angles:
        s, c = around.sincos(_angle_at(varied, nominal, name))
        images |= {Generator("sine", turned): s + c * d, Generator("cosine", turned): c - s * d}

    def slope(formula: TrigPoly) -> TrigPoly:
        return algebra.lifted(around.image(formula, images).derivative_by(by).substitute({name: 0}))

    at = formulas_of(varied, own, {"M", "g"}.intersection(parts) | ({"M"} if {"b", "c"}.intersection(parts) else set()))
    n = len(at.M_links)
    half = {(i, j): slope(at.M_links[i][j]) for i in range(n) for j in range(i, n)}
    M = tuple(tuple(half[min(i, j), max(i, j)] for j in range(n)) for i in range(n))
    parents = [link.parent for link in nominal.links]
    beta = christoffel_symbols(M, parents, algebra.zero) if {"b", "c"}.intersection(parts) else {}
    return Formulas(M, tuple(map(slope, at.drives)), MappingProxyType(beta), tuple(map(slope, at.g)))


def _angle_at(varied: Robot, nominal: Robot, name: str) -> Angle:
    """The constant angle in whose place the symbol stands."""
    for link, old in zip(varied.links, nominal.links):
        for field in ("gamma", "alpha", "beta", "theta"):
            if getattr(link.joint.placement, field) == Angle(symbol=name):
                return getattr(old.joint.placement, field)
    raise ValueError(f"there is no angle {name}")


def _concerned(nominal: Robot, varied: Robot) -> Robot:
    """`varied` with those bodies alone whose share of the equations the number changes: the rest has no slope."""
    pairs = list(zip(nominal.links, varied.links))
    moved = [i for i, (old, new) in enumerate(pairs) if old.joint.placement != new.joint.placement]
    bodies = [i for i, (old, new) in enumerate(pairs) if old.inertia != new.inertia]
    driven = [i for i, (old, new) in enumerate(pairs) if old.joint.drive != new.joint.drive]
    if not (moved or bodies or driven):
        return varied
    beyond = descendants([link.parent for link in nominal.links])
    kept = {*bodies, *(k for i in moved for k in (i, *beyond[i]))}
    links = tuple(
        replace(
            link,
            inertia=link.inertia if i in kept else Inertia(),
            stated=None,
            joint=replace(link.joint, drive=link.joint.drive if i in driven else Drive()),
        )
        for i, link in enumerate(varied.links)
    )
    return replace(varied, links=links, payloads=varied.payloads if moved else ())
