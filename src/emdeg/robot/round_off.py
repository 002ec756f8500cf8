"""What only round-off put into a file: moments that differ in their last digit, products of inertia of 1e-19.

In exact arithmetic such a difference is a number like any other: a last link that is round no longer is, and its angle
stays in the equations. Differences of the size of a double's round-off are taken away on reading, and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from emdeg.algebra import ZERO, Exact
from emdeg.robot.assembly import Draft
from emdeg.robot.model import Inertia, Stated, Vector
from emdeg.robot.normal_form import Body

NOISE = Fraction(1, 10**14)
"""Of the largest number of its kind: some sixty roundings of a double."""
_MOMENTS, _PRODUCTS = (0, 3, 5), (1, 2, 4)


def without_round_off(draft: Draft) -> Draft:
    """The draft without differences that are round-off, and a note for each body that had some."""
    longest = max((abs(x) for body in draft.bodies for x in _lengths(body)), default=Fraction(0))
    bodies, notes = [], []
    for body in draft.bodies:
        clean, found = _placed(body, longest)
        clean, more = _cleaned(clean)
        bodies.append(clean)
        if found or more:
            notes.append(f"{body.name}: round-off was taken away: {', '.join((*found, *more))}")
    return replace(draft, bodies=tuple(bodies), notes=(*draft.notes, *notes)) if notes else draft


def _lengths(body: Body) -> list[Fraction]:
    own = body.pose.p if body.row is None else (body.row.a, body.row.d, body.row.b)
    return [value.number for value in own if value.is_number]


def _placed(body: Body, longest: Fraction) -> tuple[Body, list[str]]:
    """The body with lengths of zero where they are zero but for round-off."""
    if body.row is None:
        x, y, z = body.pose.p
        place, found = _zeros((x, y, z), "xyz", longest)
        return replace(body, pose=replace(body.pose, p=_vector(place))), found
    row, names = body.row, ("a", "d", "b")
    values, found = _zeros((row.a, row.d, row.b), names, longest)
    return replace(body, row=replace(row, **dict(zip(names, values)))), found


def _cleaned(body: Body) -> tuple[Body, list[str]]:
    """The body with its inertia cleaned as the file states it."""
    stated = body.stated
    if stated is not None and stated.com is not None:
        tensor, found = _tensor(stated.tensor, "I{}" if stated.about == "com" else "{}")
        com, more = _zeros(stated.com, [f"com.{axis}" for axis in "xyz"])
        if not (found or more):
            return body, []
        new = replace(stated, com=_vector(com), tensor=tensor)
        return replace(body, stated=new, inertia=_inertia(new)), found + more
    tensor, found = _tensor(body.inertia.tensor, "{}")
    moments, more = _zeros(body.inertia.first_moment, ("MX", "MY", "MZ"))
    if not (found or more):
        return body, []
    return replace(body, inertia=Inertia(body.inertia.mass, _vector(moments), tensor)), found + more


def _inertia(stated: Stated) -> Inertia:
    assert stated.com is not None
    if stated.about == "com":
        return Inertia.about_mass_center(stated.mass, stated.com, stated.tensor)
    x, y, z = (stated.mass * r for r in stated.com)
    return Inertia(stated.mass, (x, y, z), stated.tensor)


def _vector(values: Sequence[Exact]) -> Vector:
    x, y, z = values
    return x, y, z


def _zeros(
    values: Sequence[Exact], names: Sequence[str], largest: Fraction | None = None
) -> tuple[tuple[Exact, ...], list[str]]:
    """The numbers, zero where they are nothing beside the largest; what was done."""
    size = max((abs(v.number) for v in values if v.is_number), default=Fraction(0)) if largest is None else largest
    small = [bool(v) and v.is_number and abs(v.number) <= NOISE * size for v in values]
    found = [f"{name} = 0 for {float(v):.2g}" for name, v, tiny in zip(names, values, small) if tiny]
    return tuple(ZERO if tiny else v for v, tiny in zip(values, small)), found


def _tensor(tensor: tuple[Exact, ...], pattern: str) -> tuple[tuple[Exact, ...], list[str]]:
    """The tensor with equal moments where they differ by round-off, and without products that are it."""
    if not all(value.is_number for value in tensor):
        return tensor, []
    letters = ("xx", "xy", "xz", "yy", "yz", "zz")
    names = [pattern.format(one if pattern != "{}" else one.upper()) for one in letters]
    size = max(abs(tensor[k].number) for k in _MOMENTS)
    new, found = list(tensor), []
    for k in _PRODUCTS:
        if new[k] and abs(new[k].number) <= NOISE * size:
            found.append(f"{names[k]} = 0 for {float(new[k]):.2g}")
            new[k] = ZERO
    for i, k in ((0, 3), (3, 5), (0, 5)):
        if new[i] != new[k] and abs(new[i].number - new[k].number) <= NOISE * size:
            found.append(f"{names[i]} = {names[k]}, which differed by {float(new[i] - new[k]):.2g}")
            new[i] = new[k] = min(new[i], new[k], key=lambda value: value.number.denominator)
    return tuple(new), found
