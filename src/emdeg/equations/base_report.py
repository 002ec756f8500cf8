"""Base parameters and regressors for people and for other programs: plain data, text, LaTeX."""

from __future__ import annotations

from typing import Any

from emdeg.algebra import Quotient
from emdeg.errors import RobotError
from emdeg.mechanics.parameters.base import BaseParameters, Column, Combination, base_values, combination_text
from emdeg.mechanics.parameters.regressor_formulas import Regressor
from emdeg.robot.model import Robot


def base_data(robot: Robot, base: BaseParameters) -> dict[str, Any]:
    """Strings, lists and mappings that JSON can hold; numbers are exact rationals in strings."""
    return {
        "count": len(base),
        "minimal": base.minimal,
        "parameters": [
            {
                "name": str(column),
                "link": robot.links[column.link].name,
                "combination": [["1", str(column)], *([str(k), str(other)] for other, k in parts)],
                "value": value,
            }
            for (column, parts), value in zip(base.grouping.items(), _values(robot, base))
        ],
        "without_effect": [str(column) for column in base.without_effect],
    }


def base_text(robot: Robot, base: BaseParameters) -> str:
    """One line a base parameter, its value behind it, and what has no effect."""
    lines = [f"{len(base)} base parameters of {len(base.columns)}"]
    for (column, parts), value in zip(base.grouping.items(), _values(robot, base)):
        lines.append(combination_text(column, parts) + _number_text(value))
    if base.without_effect:
        lines.append("without effect: " + ", ".join(map(str, base.without_effect)))
    return "\n".join(lines)


def base_latex(base: BaseParameters) -> str:
    """An `align*` environment with one line a grouped parameter."""
    lines = [f"  {_name(column, 'r')} &= {_sum(column, parts)}" for column, parts in base.grouping.items() if parts]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" if lines else ""


def regressor_data(regressor: Regressor) -> dict[str, Any]:
    """Y's columns by name and its entries as strings, row by row."""
    return {
        "columns": [str(column) for column in regressor.columns],
        "Y": [[str(entry) for entry in row] for row in regressor.Y],
    }


def regressor_text(regressor: Regressor) -> str:
    """One line an entry that is not zero."""
    return "\n".join(
        f"Y[{i}, {column}] = {entry}"
        for i, row in enumerate(regressor.Y, 1)
        for column, entry in zip(regressor.columns, row)
        if entry
    )


def regressor_latex(regressor: Regressor) -> str:
    """An `align*` environment with one line an entry that is not zero."""
    lines = [
        f"  Y_{{{i},\\,{_name(column)}}} &= {entry.latex}"
        for i, row in enumerate(regressor.Y, 1)
        for column, entry in zip(regressor.columns, row)
        if entry
    ]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _values(robot: Robot, base: BaseParameters) -> list[str | None]:
    """Each kept parameter's exact value; None where it has none."""
    try:
        return [str(value) for value in base_values(robot, base)]
    except RobotError:
        return [None] * len(base)


def _number_text(value: str | None) -> str:
    if value is None:
        return ""
    numerator, _, denominator = value.partition("/")
    try:
        return f" = {int(numerator) / int(denominator or 1):.10g}"
    except ValueError:
        return ""


def _name(column: Column, suffix: str = "") -> str:
    return rf"\mathrm{{{column.name}{suffix}}}_{{{column.link + 1}}}"


def _sum(column: Column, parts: Combination) -> str:
    text = _name(column)
    for other, coefficient in parts:
        sign, factor = _factor(coefficient)
        text += f" {sign} {factor}{_name(other)}"
    return text


def _factor(coefficient: Quotient) -> tuple[str, str]:
    """(sign, LaTeX of the factor before a name)."""
    text = coefficient.latex
    if coefficient.is_formula and len(coefficient.numerator) == 1:
        sign, text = ("-", text[1:]) if text.startswith("-") else ("+", text)
        return sign, "" if text == "1" else f"{text}\\,"
    return "+", rf"\left({text}\right) "
