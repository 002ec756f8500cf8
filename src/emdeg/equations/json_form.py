"""A model as JSON and back to an equal model.

Formulas are lists of terms [coefficient, {letter: exponent}], coefficients exact rationals as strings. M, b, c and g
have the names of `Model.entries`, M with the drives' inertias in it; these stand beside it once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

from emdeg.algebra import Angle, Generator, Sum, TrigAlgebra, TrigPoly, written_out
from emdeg.documents import (
    line,
    sections_data,
    terms_data,
)
from emdeg.equations.formulas import DYNAMICS, Formulas, Triple
from emdeg.equations.json_data import decode, encode, fraction
from emdeg.equations.kinematics import FrameName
from emdeg.equations.model import Model, entry_name
from emdeg.equations.sections import DEFAULT_PARTS, document
from emdeg.errors import BadData
from emdeg.robot import Known, Robot

FORMAT = "emdeg model 1"


def to_json(model: Model, indent: int | None = None) -> str:
    """The model as JSON text."""
    return json.dumps(to_data(model), indent=indent)


def from_json(text: str) -> Model:
    """The model of `to_json`'s text; BadData says what is wrong with it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadData(f"it is not JSON: {problem}") from None
    return from_data(data)


def to_data(model: Model) -> dict[str, Any]:
    """The model as plain JSON data."""
    algebra = model.algebra
    data: dict[str, Any] = {
        "format": FORMAT,
        "robot": encode(model.robot),
        "letters": {
            "revolute": list(algebra.revolute),
            "prismatic": list(algebra.prismatic),
            "parameters": list(algebra.parameters),
            "constant_angles": [encode(angle) for angle in algebra.constant_angles],
            "max_terms": algebra.max_terms,
        },
        "known": {
            name: [str(value), None if tolerance is None else str(tolerance)]
            for name, (value, tolerance) in model.known.items()
        },
        "parts": [part for part in DYNAMICS if part in model.parts],
        "drives": [terms_data(drive) for drive in model.drives],
    }
    for part in data["parts"]:
        data[part] = {name: terms_data(value) for name, value in model.entries([part]).items()}
    return data


def from_data(data: Any) -> Model:
    """The model of `to_data`, or of what `emdeg derive --json` prints."""
    if isinstance(data, dict) and "schema_version" in data:
        data = data.get("result")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadData(f'it is not a model: "format" must be "{FORMAT}"')
    try:
        return _model(data)
    except BadData:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as problem:
        raise BadData(f"the model is incomplete: {type(problem).__name__} {problem}") from None


def _model(data: dict[str, Any]) -> Model:
    robot = decode(Robot, data["robot"], "robot")
    letters = data["letters"]
    try:
        algebra = TrigAlgebra(
            letters["revolute"],
            letters["prismatic"],
            letters["parameters"],
            [decode(Angle, angle, "letters.constant_angles") for angle in letters["constant_angles"]],
            max_terms=letters["max_terms"],
        )
    except ValueError as problem:
        raise BadData(f"letters: {problem}") from None
    if algebra.joints != tuple(range(1, robot.n + 1)):
        raise BadData(f"letters must number the {robot.n} joints from 1")
    by_letter = {str(g): g for g in algebra.generators} | {algebra.letter(g): g for g in algebra.generators}

    def formulas(part: str) -> dict[str, TrigPoly]:
        if part not in data["parts"]:
            return {}
        return {name: formula(algebra, by_letter, terms, name) for name, terms in data[part].items()}

    n = robot.n
    drives = tuple(formula(algebra, by_letter, terms, "drives") for terms in data["drives"])
    M, b, c, g = (formulas(part) for part in DYNAMICS)
    joints = range(1, n + 1)

    def mass(i: int, j: int) -> TrigPoly:
        value = M[entry_name("M", min(i, j), max(i, j))]
        return value - drives[i - 1] if i == j else value

    beta: dict[Triple, TrigPoly] = {}
    for i, j, k in product(joints, repeat=3) if "b" in data["parts"] else ():
        if j <= k:
            beta[i, j, k] = c[entry_name("c", i, j)] if j == k else b[entry_name("b", i, j, k)] / 2
    known = {
        name: Known(fraction(value, name), None if tolerance is None else fraction(tolerance, name))
        for name, (value, tolerance) in data["known"].items()
    }
    return Model(
        robot,
        algebra,
        frozenset(data["parts"]),
        Formulas(
            tuple(tuple(mass(i, j) for j in joints) for i in joints) if M else (),
            drives,
            MappingProxyType(beta),
            tuple(g[entry_name("g", i)] for i in joints) if g else (),
        ),
        MappingProxyType(known),
    )


def formula(algebra: TrigAlgebra, by_letter: dict[str, Generator], terms: Any, where: str) -> TrigPoly:
    """The formula of a list of terms."""
    found = []
    for coefficient, monomial in terms:
        for name, exponent in monomial.items():
            if name not in by_letter:
                raise BadData(f"{where}: {name[:40]!r} is not among the model's letters")
            if type(exponent) is not int or not 0 < exponent <= 1000:
                raise BadData(f"{where}: the exponent of {name} must be a whole number from 1 to 1000")
        exponents = {by_letter[name]: exponent for name, exponent in monomial.items()}
        found.append((fraction(coefficient, where), exponents))
    return algebra.from_terms(found)


def model_data(
    model: Model,
    parts: Iterable[str] = DEFAULT_PARTS,
    *,
    frame: FrameName | None = None,
    rows: Sequence[int] | None = None,
    standard: bool = False,
    scheme: str = "diagonal",
) -> dict[str, Any]:
    """The model as `emdeg.equations.from_json` reads it, and the other parts asked for beside it."""
    parts = tuple(parts)
    data = to_data(model)
    if "constants" in parts:
        data["constants"] = constants_data(model)
        data["compact"] = compact_data(model, parts)
    if "hierarchy" in parts:
        data["hierarchy"] = hierarchy_data(model)
    others = [part for part in parts if part not in ("constants", "hierarchy", *DYNAMICS)]
    if others:
        written = document(model, others, frame=frame, rows=rows, standard=standard, scheme=scheme)
        data["sections"] = sections_data(written)
    return data


def constants_data(model: Model) -> list[dict[str, Any]]:
    """The constants as JSON data; a formula as terms with exact rationals and as text."""
    return [
        {
            "name": c.name,
            "formula": terms_data(c.formula),
            "text": line(c.expression),
            "value": c.value,
            "tolerance": c.tolerance,
            "unit": c.unit,
            "uses": list(c.uses),
        }
        for c in model.constants
    ]


def compact_data(model: Model, parts: Iterable[str]) -> dict[str, str]:
    """{entry: its reading form}."""
    wanted = set(parts)
    return {name: entry.text for name, entry in model.compact().entries.items() if name[0] in wanted}


def hierarchy_data(model: Model) -> dict[str, Any]:
    """The definitions as text, each block in the order of evaluation."""
    form = model.hierarchy()

    in_full = not model.lumped.algebra.short

    def block(definitions: Mapping[str, Sum]) -> dict[str, str]:
        return {name: line(written_out(e) if in_full else e) for name, e in definitions.items()}

    count = {"mul": form.count.mul, "add": form.count.add}
    return {"K": block(form.constants), "T": block(form.products), "steps": block(form.steps), "count": count}
