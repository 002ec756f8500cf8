"""Somebody's printed model as a file: constants, definitions and entries as expressions; read, never run.

The form is in docs/judging.md. Expressions are `emdeg.algebra.parsing`'s: polynomials in names and in sines and
cosines of joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike, fspath
from typing import Any

from emdeg.algebra import Expression, JointAlgebra, parsed
from emdeg.errors import RobotError, UnreadableEntry
from emdeg.robot import Remarks, Robot, TomlDocument, TomlTable, joint_number, optional_real, read_text
from emdeg.writing import Shown

_TOP = ("schema", "title", "source", "robot", "payload", "claim", "average_claim", "constants", "define", "entries")
MOST_NAMES = 2000
_DEEPEST = 200
"""Definitions may lean on one another so deep."""


@dataclass(frozen=True)
class JudgedEntry(Shown):
    """One printed entry: the expression, or why it cannot be read; `corrected` where the file mends a misprint."""

    name: str
    text: str
    expression: Expression | None
    problem: str = ""
    corrected: bool = False


@dataclass(frozen=True)
class PrintedModel(Shown):
    """A model as its author printed it."""

    title: str
    source: str
    robot: str
    payload: str
    claim: float | None
    """The largest relative error that the author claims; `average_claim` the mean one."""
    average_claim: float | None
    constants: Mapping[str, Fraction] = field(repr=False)
    define: Mapping[str, Expression] = field(repr=False)
    entries: Mapping[str, JudgedEntry] = field(repr=False)
    file: str = ""

    def over(self, algebra: JointAlgebra, robot: Robot) -> Meaning:
        """The expressions' meaning in one algebra, for a robot's joints."""
        return Meaning(self, algebra, robot)


class Meaning:
    """Names looked up: constants, then definitions, then other entries, then joints; each worked out once."""

    def __init__(self, printed: PrintedModel, algebra: JointAlgebra, robot: Robot) -> None:
        self.printed, self.algebra, self.robot = printed, algebra, robot
        self._known: dict[str, Any] = {}
        self._open: list[str] = []

    def entry(self, name: str) -> Any:
        found = self.printed.entries[name]
        if found.expression is None:
            raise UnreadableEntry(found.problem, body=name)
        return self._worked_out(f"entry {name}", found.expression)

    def _worked_out(self, key: str, expression: Expression) -> Any:
        if key not in self._known:
            if key in self._open or len(self._open) > _DEEPEST:
                raise RobotError("it leans on itself", file=self.printed.file, body=key)
            self._open.append(key)
            self._known[key] = expression.evaluate(self.algebra.number, self._value, self._sincos)
            self._open.pop()
        return self._known[key]

    def _value(self, name: str) -> Any:
        printed = self.printed
        if name in printed.constants:
            return self.algebra.number(printed.constants[name])
        if name in printed.define:
            return self._worked_out(name, printed.define[name])
        if name in printed.entries:
            return self.entry(name)
        joint = self._joint(name)
        if self.robot.joints[joint - 1].kind == "revolute":
            raise RobotError(f"the angle {name} may stand inside sin and cos only", file=printed.file)
        return self.algebra.displacement(joint)

    def _sincos(self, name: str) -> tuple[Any, Any]:
        joint = self._joint(name)
        if self.robot.joints[joint - 1].kind != "revolute":
            raise RobotError(f"{name} slides: it has no sine", file=self.printed.file)
        return self.algebra.joint_sincos(joint)

    def _joint(self, name: str) -> int:
        try:
            return joint_number(self.robot, name)
        except RobotError:
            rule = f"{name!r} is no constant, definition, entry or joint of {self.robot.name}"
            raise RobotError(rule, file=self.printed.file) from None


def read_printed(
    path: str | PathLike[str], *, corrected: bool = False, constants: Mapping[str, str] | None = None
) -> PrintedModel:
    """The model in a TOML file, as printed or with the file's own corrections; `constants` replace the file's."""
    file = fspath(path)
    document = TomlDocument(read_text(file), file)
    top = TomlTable(document.data, document, Remarks())
    top.only(_TOP)
    if top.data.get("schema") != 1 or top.data["schema"] is True:
        raise top.error("schema = 1 must stand at the top: the version of the file's form", "schema")
    tables = {key: _table(top, key) for key in ("constants", "define", "entries")}
    if sum(len(table.data) for table in tables.values()) > MOST_NAMES:
        raise top.error(f"it has more than {MOST_NAMES} names")
    entries = {name: _entry(tables["entries"], name, corrected) for name in tables["entries"].data}
    if not entries:
        raise top.error("it has no [entries]")
    claims = [optional_real(top, key, least=0.0) for key in ("claim", "average_claim")]
    return PrintedModel(
        top.text("title", ""),
        top.text("source", ""),
        top.text("robot", ""),
        top.text("payload", ""),
        claims[0],
        claims[1],
        _constants(tables["constants"], constants or {}, corrected),
        {
            name: _expression(tables["define"], name, _text(tables["define"], name, corrected))
            for name in tables["define"].data
        },
        entries,
        file,
    )


def _table(top: TomlTable, key: str) -> TomlTable:
    value = top.data.get(key, {})
    if not isinstance(value, dict):
        raise top.error(f"{key} must be a table", key)
    return TomlTable(value, top.document, top.remarks, key)


def _constants(table: TomlTable, given: Mapping[str, str], corrected: bool) -> dict[str, Fraction]:
    """Numbers, or expressions in the constants above them."""
    found: dict[str, Fraction] = {}
    unknown = [name for name in given if name not in table.data]
    if unknown:
        raise table.error(f"there is no constant {unknown[0]!r} to set; there are {', '.join(table.data)}")
    for name in table.data:
        text = given.get(name) or _text(table, name, corrected)
        expression = _expression(table, name, text)

        def value(of: str, name: str = name) -> Fraction:
            if of not in found:
                raise table.error(f"{of!r} is no constant above it", name)
            return found[of]

        def no_sine(of: str, name: str = name) -> tuple[Fraction, Fraction]:
            raise table.error(f"a constant has no sine of {of}", name)

        found[name] = expression.evaluate(Fraction, value, no_sine)
    return found


def _entry(table: TomlTable, name: str, corrected: bool) -> JudgedEntry:
    value = table.data[name]
    mended = corrected and isinstance(value, dict) and "correct" in value
    text = _text(table, name, corrected)
    try:
        return JudgedEntry(name, text, parsed(text), corrected=mended)
    except ValueError as problem:
        return JudgedEntry(name, text, None, str(problem), mended)


def _text(table: TomlTable, name: str, corrected: bool) -> str:
    """What stands there: a number, an expression, or { printed = .., correct = .. }."""
    value = table.data[name]
    if isinstance(value, dict):
        inner = TomlTable(value, table.document, table.remarks, table.table, table.index, (*table.keys, name))
        inner.only(("printed", "correct"))
        if "printed" not in value:
            raise inner.error("printed is missing")
        return _text(inner, "correct" if corrected and "correct" in value else "printed", corrected)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise table.error(f"{name} must be a number or an expression", name)
    return str(value)


def _expression(table: TomlTable, name: str, text: str) -> Expression:
    try:
        return parsed(text)
    except ValueError as problem:
        raise table.error(str(problem), name) from None
