"""Rescale a program's values (nondimensionalization), so that as many constant factors as possible become one.

If one length occurs often, all lengths are expressed in units of it: it is then 1, and nothing is multiplied by it.
Which values can be rescaled follows from the program. Every value has an exponent, the logarithm of its scale factor.
Terms of a sum have equal exponents, a product has the sum of its factors' exponents, inputs, outputs, sines and roots
have none; a constant factor may have any. These are linear equations; their free variables are chosen one after the
other, each such that the most products lose their constant factor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import rational_of
from emdeg.algebra.linear import null_space_modulo
from emdeg.programs.ir import Kind, Program, live
from emdeg.programs.simplification import prune, retraced
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.values import constants

Row = NDArray[np.int64]
_PRIME = (1 << 31) - 1
"""The equations are solved modulo it. What comes out is checked exactly."""
_HIGHEST = 8
"""The largest power of a unit that a number may have."""
_FARTHEST = 1 << 24
"""How much larger or smaller a number may become: values stay what single precision can hold."""
_PARTS = 12
"""The largest denominator of an exponent that is understood."""


def in_units(program: Program) -> Program:
    """The program with its values rescaled so that fewer products have a constant factor; itself if none would."""
    program = prune(program)
    free = _Free(program)
    chosen = free.chosen()
    if all(factor == 1 for factor in chosen):
        return program
    return _written(program, free, chosen)


class _Free:
    """The products with a constant factor, and how each factor may change."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbers = constants(program)
        needed = live(program)
        self.values = [i for i in range(program.size) if needed[i] and i not in self.numbers]
        found = [i for i in self.values if program.ops[i].kind in (Kind.MUL, Kind.DIV) and self._numbers_of(i)]
        self.products = {value: place for place, value in enumerate(found)}
        """Values that are a product with a number, or a quotient, each with its place in rows."""
        self.rows = _solutions(self._equations(), len(self.products))

    def _numbers_of(self, value: int) -> list[int]:
        """The places of its arguments that are numbers."""
        return [place for place, arg in enumerate(self.program.ops[value].args) if arg in self.numbers]

    def _equations(self) -> list[Row]:
        """The linear equations of the factors' exponents: combinations that must be zero."""
        none = np.zeros(len(self.products), np.int64)
        exponent: dict[int, Row] = {}
        vanish: dict[bytes, Row] = {}

        def equal(a: Row, b: Row) -> None:
            if a is not b:
                difference = (a - b) % _PRIME
                vanish.setdefault(difference.tobytes(), difference)

        for value in self.values:
            op = self.program.ops[value]
            of = [exponent.get(arg, none) for arg in op.args]
            own = none
            if op.kind in (Kind.ADD, Kind.SUB, Kind.NEG):
                own, *others = [exponent[arg] for arg in op.args if arg in exponent]
                for other in others:
                    equal(own, other)
            elif op.kind in (Kind.MUL, Kind.DIV):
                own = of[0] + of[1] if op.kind is Kind.MUL else of[0] - of[1]
                if value in self.products:
                    own[self.products[value]] += 1
                own %= _PRIME
            else:
                for other in of:
                    equal(other, none)
            exponent[value] = own
        for root in self.program.roots():
            if root in exponent:
                equal(exponent[root], none)
        return [row for row in vanish.values() if row.any()]

    def chosen(self) -> list[Fraction]:
        """The scale chosen for each constant factor."""
        rows = list(self.rows)
        factors = [Fraction(1)] * len(rows)
        numbers = {place: number for value, place in self.products.items() if (number := self._number(value))}
        while True:
            tally = Counter(
                (rows[place], number * factors[place]) for place, number in numbers.items() if any(rows[place])
            )
            for (row, number), _ in tally.most_common():
                unit = _settled_by(row, rows)
                if unit is None:
                    continue
                power = [int(powers[unit] / row[unit]) for powers in rows]
                tried = [factor / number**k for factor, k in zip(factors, power)]
                if all(1 / _FARTHEST <= factor <= _FARTHEST for factor in tried):
                    factors = tried
                    rows = [tuple(a - k * b for a, b in zip(powers, row)) for powers, k in zip(rows, power)]
                    break
            else:
                return factors

    def _number(self, value: int) -> Fraction | None:
        """The absolute value of the value's constant factor if it is rational."""
        op, place = self.program.ops[value], self._numbers_of(value)[0]
        number = self.program.ops[op.args[place]]
        if number.kind is not Kind.NUMBER or (op.kind is Kind.DIV and place == 0):
            return None
        return 1 / abs(number.number) if op.kind is Kind.DIV else abs(number.number)

    def scaled(self, value: int, args: Sequence[Traced], factor: Fraction, tracer: Tracer) -> list[Traced]:
        """The arguments of a product with its number so many times larger."""
        place = self._numbers_of(value)[0]
        divides = place == 1 and self.program.ops[value].kind is Kind.DIV
        found = list(args)
        found[place] = found[place] * tracer.number(1 / factor if divides else factor)
        return found


Powers = tuple[Fraction, ...]
"""Exponents of the units that are still free."""


def _settled_by(row: Powers, rows: Sequence[Powers]) -> int | None:
    """A unit that makes the factor with these exponents one while all exponents stay integers."""
    for unit, power in enumerate(row):
        if abs(power) == 1 and all(abs(other[unit]) <= _HIGHEST and other[unit].denominator == 1 for other in rows):
            return unit
    return None


def _solutions(equations: Sequence[Row], many: int) -> list[Powers]:
    """For each constant factor, its exponents in a basis of independent units."""
    basis = null_space_modulo([row.tolist() for row in equations], many, _PRIME)
    return [tuple(_rational(vector.get(place, 0)) for vector in basis) for place in range(many)]


def _rational(residue: int) -> Fraction:
    """The number of small numerator and denominator with this residue; else one that is too large to be taken."""
    found = rational_of(residue, _PRIME, _HIGHEST * _PARTS, _PARTS)
    return found if found is not None and abs(found) <= _HIGHEST else Fraction(_PRIME)


def _written(program: Program, free: _Free, chosen: Sequence[Fraction]) -> Program:
    """The program with its constant factors scaled; the program itself where that would change a result."""
    tracer = Tracer.like(program)
    times: dict[int, Fraction] = {}
    """How much larger each value is written than it is."""
    written: list[Traced] = []
    for value, op in enumerate(program.ops):
        args, own = [written[arg] for arg in op.args], Fraction(1)
        of = [times.get(arg, Fraction(1)) for arg in op.args]
        if op.kind in (Kind.ADD, Kind.SUB, Kind.NEG):
            scales = {times[arg] for arg in op.args if arg in times}
            if len(scales) > 1:
                return program
            own = scales.pop() if scales else own
            args = [one if arg in times else one * tracer.number(own) for arg, one in zip(op.args, args)]
        elif op.kind in (Kind.MUL, Kind.DIV):
            own = of[0] * of[1] if op.kind is Kind.MUL else of[0] / of[1]
            if value in free.products:
                factor = chosen[free.products[value]]
                own *= factor
                args = free.scaled(value, args, factor, tracer)
        elif any(scale != 1 for scale in of):
            return program
        written.append(tracer.apply(op, args))
        if value not in free.numbers:
            times[value] = own
    if any(times.get(root, 1) != 1 for root in program.roots()):
        return program
    return retraced(program, tracer, written)
