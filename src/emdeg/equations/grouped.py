"""A base parameter's combination of inertial parameters, as a formula that can write itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from emdeg.algebra.quotient import Quotient
from emdeg.mechanics.parameters.base import Column, Combination


@dataclass(frozen=True, slots=True)
class Grouped:
    """A kept parameter and, with their factors, those that are grouped into it."""

    column: Column
    parts: Combination

    def __str__(self) -> str:
        return self._sum(str, str, "*", "({})".format)

    @property
    def latex(self) -> str:
        return self._sum(_name_latex, lambda ratio: ratio.latex, r"\,", r"\left({}\right)".format)

    def to_sympy(self) -> Any:
        """The SymPy expression, the parameters as symbols."""
        import sympy

        total: Any = sympy.Symbol(str(self.column), real=True)
        for other, ratio in self.parts:
            factor = ratio.numerator.to_sympy() / ratio.denominator.to_sympy()
            total += factor * sympy.Symbol(str(other), real=True)
        return total

    def _sum(
        self,
        name: Callable[[Column], str],
        factor: Callable[[Quotient], str],
        times: str,
        bracketed: Callable[[str], str],
    ) -> str:
        text = name(self.column)
        for other, ratio in self.parts:
            written, sign = factor(ratio), "+"
            if ratio.is_formula and len(ratio.numerator) == 1:
                if written.startswith("-"):
                    sign, written = "-", written[1:]
            else:
                written = bracketed(written)
            text += f" {sign} {name(other)}" if written == "1" else f" {sign} {written}{times}{name(other)}"
        return text


def _name_latex(column: Column) -> str:
    return rf"\mathrm{{{column.name}}}_{{{column.link + 1}}}"
