"""How large the degree of what a program computes can be: it decides what a random check is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from emdeg.programs.ir import Kind, Program
from emdeg.programs.residues import angle_atoms

Degrees = Mapping[object, int]
"""The degree in each independent variable."""


@dataclass(frozen=True, slots=True)
class Rational:
    """The numerator's degrees, and the denominator as a product: a divisor's index -> its exponent."""

    over: Degrees
    under: Degrees


def degree_bound(*programs: Program) -> int:
    """A bound on the degree of (f - g)'s numerator in the random variables, f and g any outputs of these.

    A sine and a cosine of one angle are quotients of degree two in the parameter of the circle; a square root
    doubles the degree, since the norm of what contains it is a product of two conjugates, and doubles it once
    more because only points where the root exists are drawn.
    """
    worst = [_program_bound(program) for program in programs]
    roots = sum(op.kind is Kind.SQRT for program in programs for op in program.ops)
    return sum(worst) * 4 ** min(roots, 30)


def _program_bound(program: Program) -> int:
    """Over a common denominator: a divisor that two terms share counts once in their sum."""
    known: list[Rational] = []
    divisor: dict[object, Degrees] = {}

    def size(product: Degrees) -> Degrees:
        return _total(_times(divisor[index], power) for index, power in product.items())

    for op in program.ops:
        args = [known[arg] for arg in op.args]
        match op.kind:
            case Kind.NUMBER | Kind.ANGLE:
                value = Rational({}, {})
            case Kind.INPUT:
                value = Rational({op.slot: 1}, {})
            case Kind.SIN | Kind.COS:
                atoms = angle_atoms(program, op.args[0])
                # (1 + t^2) to the same power clears every sine and cosine of an atom: one variable, degree 2.
                value = Rational({("circle", atom): 2 * abs(n) for atom, n in atoms.items()}, {})
            case Kind.ADD | Kind.SUB:
                a, b = args
                if a.under == b.under:
                    value = Rational(_most(a.over, b.over), a.under)
                else:
                    common = _most(a.under, b.under)
                    over = (_sum(x.over, size(_less(common, x.under))) for x in args)
                    value = Rational(_most(*over), common)
            case Kind.MUL:
                a, b = args
                value = Rational(_sum(a.over, b.over), _sum(a.under, b.under))
            case Kind.DIV:
                a, b = args
                index = op.args[1]
                divisor[index] = b.over
                by: Degrees = {index: 1} if b.over else {}
                value = Rational(_sum(a.over, size(_less(b.under, a.under))), _sum(_less(a.under, b.under), by))
            case _:
                value = args[0]
        known.append(value)
    return max(
        (sum(known[root].over.values()) + sum(size(known[root].under).values()) for root in program.roots()),
        default=0,
    )


def _sum(a: Degrees, b: Degrees) -> Degrees:
    if not a or not b:
        return a or b
    return {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}


def _total(parts: Iterable[Degrees]) -> Degrees:
    found: Degrees = {}
    for part in parts:
        found = _sum(found, part)
    return found


def _times(a: Degrees, factor: int) -> Degrees:
    return a if factor == 1 else {key: factor * value for key, value in a.items()}


def _less(a: Degrees, b: Degrees) -> Degrees:
    """What of a is left beyond b."""
    return {key: value - b.get(key, 0) for key, value in a.items() if value > b.get(key, 0)}


def _most(a: Degrees, b: Degrees) -> Degrees:
    if not a or not b:
        return a or b
    return {key: max(a.get(key, 0), b.get(key, 0)) for key in {**a, **b}}
