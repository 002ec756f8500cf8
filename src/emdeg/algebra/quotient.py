"""Quotients of formulas: the entries of an inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from emdeg.algebra import TrigPoly
from emdeg.algebra.cancel import cancel
from emdeg.writing.notebook import Shown


@dataclass(frozen=True, slots=True)
class Quotient(Shown):
    """numerator / denominator, without common polynomial factors; see `quotient`.

    The denominator keeps the scale it had, so that the entries of an inverse show the determinant as it is.
    """

    numerator: TrigPoly
    denominator: TrigPoly

    def evaluate(self, q: Any, parameters: Mapping[str, Any] | None = None) -> np.ndarray:
        """Its value at q (..., n) in doubles; infinite or NaN where the denominator vanishes."""
        top = self.numerator.evaluate(q, parameters=parameters)
        with np.errstate(divide="ignore", invalid="ignore"):
            return top / self.denominator.evaluate(q, parameters=parameters)

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __len__(self) -> int:
        """The number of terms above and below the line."""
        return len(self.numerator) + len(self.denominator)

    def to_sympy(self) -> Any:
        """The SymPy expression."""
        return self.numerator.to_sympy() / self.denominator.to_sympy()

    def __str__(self) -> str:
        if self.denominator == 1:
            return str(self.numerator)
        return f"({self.numerator})/({self.denominator})"

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    @property
    def latex(self) -> str:
        """LaTeX of the fraction."""
        if self.denominator == 1:
            return self.numerator.latex
        return rf"\frac{{{self.numerator.latex}}}{{{self.denominator.latex}}}"


def quotient(numerator: TrigPoly, denominator: TrigPoly) -> Quotient:
    """numerator / denominator in lowest terms; ZeroDivisionError if the denominator is the zero formula."""
    return Quotient(*cancel(numerator, denominator))
