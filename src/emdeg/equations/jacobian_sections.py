"""Sections about the tool's Jacobian: its entries, its determinant and its inverse in factors, where it is singular."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import prod

from emdeg.algebra import Quotient, Sum, TrigPoly, scaled
from emdeg.documents import (
    AbbreviatedFormula,
    Equation,
    Factor,
    FactoredFormula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Section,
)
from emdeg.equations.jacobian_inverse import determinant, factors_of, inverse_jacobian
from emdeg.equations.kinematic_sections import Choice, equation, matrix, with_legend
from emdeg.equations.kinematics import FrameName, Matrix
from emdeg.equations.model import Model
from emdeg.equations.reading import abbreviated
from emdeg.equations.singular import singularities
from emdeg.errors import NotInvertible
from emdeg.robot import parallel_joints


def jacobian(model: Model, choice: Choice) -> Section:
    """The tool's Jacobian in base axes and where it is shortest, or in the axes asked for; its determinant."""
    kinematics = model.kinematics
    frame: FrameName = "base" if choice.frame is None else choice.frame
    rows = choice.rows or tuple(range(1, 7))
    for row in rows:
        if not 1 <= row <= 6:
            raise NotInvertible(f"a Jacobian has rows 1 to 6 (1-3 linear, 4-6 angular), not {row}")

    def picked(axes: FrameName) -> Matrix:
        whole = kinematics.jacobian(axes)
        return tuple(whole[row - 1] for row in rows)

    items: list[Item] = [matrix(model, Label("J"), picked(frame))]
    simplest = kinematics.simplest_frame()
    if simplest != "base" and choice.frame is None and choice.rows is None:  # rows are components along the base's axes
        items.append(Paragraph(f"In the axes of frame {simplest}, where it is shortest:"))
        items.append(matrix(model, Label("J", f"_{simplest}"), picked(simplest)))
    if model.n == len(rows):
        items += _Factors(model, determinant(kinematics, choice.rows)).determinant()
    axes = f"axes of {_frame(frame)}"
    which = "" if choice.rows is None else f", rows {', '.join(map(str, rows))} of 6"
    return Section(
        "J", f"Jacobian at the tool: velocity, then angular velocity, {axes}{which}", with_legend(model, items)
    )


def _frame(frame: FrameName) -> str:
    return f"the {frame}" if frame in ("base", "tool") else f"frame {frame}"


def inverse(model: Model, choice: Choice) -> Section:
    """The inverse Jacobian."""
    found = inverse_jacobian(model.kinematics, choice.frame, choice.rows)
    items: list[Item] = [Paragraph(f"Axes of {_frame(found.frame)}; qd = Jinv (v, omega) with v of the tool's origin.")]
    if choice.rows is not None:
        items.append(Paragraph(f"Of (v, omega) only the components {', '.join(map(str, found.rows))}."))
    if found.wrist is not None:
        items.append(
            Paragraph(f"The last three axes meet in the origin of frame {found.wrist.point}: inverted by blocks.")
        )
    entries = tuple(tuple(_in_factors(entry) for entry in row) for row in found.entries)
    factors = _Factors(model, found.determinant, [entry for row in entries for entry in row])
    items += factors.determinant()
    items.append(MatrixEquation(Label("Jinv"), tuple(tuple(map(factors.shown, row)) for row in entries)))
    return Section("Jinv", "Inverse of the Jacobian", with_legend(model, items))


def singular(model: Model, choice: Choice) -> Section:
    """The factors of the Jacobian's determinant: what each is called, and where it vanishes."""
    found = singularities(model.kinematics, choice.rows)
    items: list[Item] = []
    if not found:
        items.append(Paragraph("The Jacobian is regular in every configuration."))
    for k, one in enumerate(found, 1):
        label = Label("sigma", str(k))
        items.append(equation(model, label, one.factor))
        called = f"{one.name} singularity" if one.name else "singularity"
        words = f"{label} = 0: {called}, of {', '.join(f'q{j}' for j in one.joints)}"
        words += f" (it divides the determinant {one.power} times)" if one.power > 1 else ""
        if one.at is not None:
            unit = "rad" if model.kinematics.mechanism.revolute[one.joints[0] - 1] else "m"
            values = ", ".join(f"{value:.6g}" for value in one.at)
            words += f"; at q{one.joints[0]} = {values} {unit}" if one.at else "; never"
        items.append(Paragraph(words + "."))
    rows = "" if choice.rows is None else f", rows {', '.join(map(str, choice.rows))} of 6"
    return Section("singularities", f"Singularities of the Jacobian{rows}", with_legend(model, items))


def _in_factors(entry: Quotient) -> FactoredFormula:
    """An entry with what is above and below the line as products."""
    above, below = factors_of(entry.numerator), factors_of(entry.denominator)
    return FactoredFormula(above.number / below.number, above.factors, below.factors, entry)


class _Factors:
    """The factors of a section's determinant and entries as they are written: letters, sums, or names of sums."""

    def __init__(self, model: Model, factors: Sequence[TrigPoly], entries: Iterable[FactoredFormula] = ()) -> None:
        number = factors[0].number if factors[0].is_number else Fraction(1)
        powers = Counter(factor for factor in factors if not factor.is_number)
        self._product = FactoredFormula(number, tuple(powers.items()), (), prod(factors, start=model.algebra.one))
        bases = (base for one in (self._product, *entries) for base, _ in (*one.above, *one.below))
        found = dict.fromkeys(base for base in bases if isinstance(base, TrigPoly))
        self._written: dict[TrigPoly, AbbreviatedFormula | TrigPoly] = {}
        if found:
            self._written = dict(zip(found, abbreviated((tuple(found),), parallel_joints(model.robot))[0]))
        sums = [factor for factor in powers if self._terms(factor) > 1]
        alone = number == 1 and sums == list(powers.elements())
        self._name = {factor: Label("detJ", "" if alone else f"_{k}") for k, factor in enumerate(sums, 1)}

    def _terms(self, factor: TrigPoly) -> int:
        """How many terms it has as it is written."""
        written = self._written[factor]
        return len(written.shown.terms if isinstance(written, AbbreviatedFormula) else written)

    def determinant(self) -> list[Item]:
        """det J, sums among its factors by names of their own where it has several."""
        items: list[Item] = [Equation(label, self._written[factor]) for factor, label in self._name.items()]
        if Label("detJ") in self._name.values():
            return items
        items.append(Equation(Label("detJ"), self.shown(self._product)))
        if self._product.above:
            items.append(Paragraph("Where a factor of the determinant vanishes the arm is singular."))
        return items

    def shown(self, formula: FactoredFormula) -> FactoredFormula:
        """The same with every factor as it is written: letters in their order, then sums; numbers in one place."""
        number = formula.number

        def written(some: tuple[Factor, ...], sense: int) -> Iterator[Factor]:
            nonlocal number
            for base, power in sorted(some, key=_place):
                shown, scale = self._shown(base)
                number *= scale ** (sense * power)
                yield shown, power

        above, below = tuple(written(formula.above, 1)), tuple(written(formula.below, -1))
        return FactoredFormula(number, above, below, formula.value)

    def _shown(self, base: TrigPoly | Sum | Label) -> tuple[TrigPoly | Sum | Label, Fraction]:
        """(a factor as it is written, the number that it lost thereby): -C12 gives its sign away."""
        if not isinstance(base, TrigPoly) or base in self._name:
            return self._name[base] if isinstance(base, TrigPoly) else base, Fraction(1)
        written = self._written[base]
        if not isinstance(written, AbbreviatedFormula):
            return base, Fraction(1)
        terms = written.shown.terms
        scale = terms[0].coefficient if len(terms) == 1 else Fraction(1)
        return scaled(written.shown, 1 / scale), scale


def _place(factor: Factor) -> tuple[bool, bool, int]:
    """Where a factor stands in a product: parameters, then other letters, then sums."""
    base, _ = factor
    if not isinstance(base, TrigPoly) or len(base) > 1:
        return True, False, 0
    (letter,) = base.generators
    return False, letter.kind != "parameter", base.algebra.generators.index(letter)
