"""Somebody's printed model as a file: constants, definitions and entries as expressions; read, never run.

The form is in docs/judging.md. Expressions are `emdeg.algebra.parsing`'s: names, sines and cosines of joints, their
sums, products and quotients. What they mean is `meaning`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike, fspath

from emdeg.algebra import Expression, parsed
from emdeg.documents import Shown
from emdeg.errors import RobotError, TooLarge
from emdeg.robot import Remarks, TomlDocument, TomlTable, optional_real, read_text

_TOP = ("schema", "title", "source", "robot", "payload", "claim", "average_claim", "constants", "define", "entries")
MOST_NAMES = 2000
MOST_BITS = 2048
"""Of a constant's numerator and denominator: powers of powers grow without end."""


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
    constants: Mapping[str, Fraction | None] = field(repr=False)
    """None for one that its author uses and never states."""
    define: Mapping[str, Expression] = field(repr=False)
    entries: Mapping[str, JudgedEntry] = field(repr=False)
    file: str = ""


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


def _constants(table: TomlTable, given: Mapping[str, str], corrected: bool) -> dict[str, Fraction | None]:
    """Numbers, or expressions in the constants above them; None for { correct = .. } alone, as printed."""
    found: dict[str, Fraction | None] = {}
    unknown = [name for name in given if name not in table.data]
    if unknown:
        raise table.error(f"there is no constant {unknown[0]!r} to set; there are {', '.join(table.data)}")
    for name, stated in table.data.items():
        if not corrected and name not in given and isinstance(stated, dict) and set(stated) == {"correct"}:
            found[name] = None
            continue
        expression = _expression(table, name, given.get(name) or _text(table, name, corrected))

        def value(of: str, name: str = name) -> Fraction:
            if (known := found.get(of)) is None:
                raise table.error(f"{of!r} is no constant above it" + (", as printed" if of in found else ""), name)
            return known

        def no_sine(of: str, name: str = name) -> tuple[Fraction, Fraction]:
            raise table.error(f"a constant has no sine of {of}", name)

        try:
            found[name] = expression.evaluate(Fraction, value, no_sine)
        except RobotError:
            raise
        except ZeroDivisionError:
            raise table.error("it divides by zero", name) from None
        except ValueError as problem:
            raise table.error(str(problem), name) from None
        if _bits(found[name]) > MOST_BITS:
            rule = f"the constant has more than {MOST_BITS} binary digits"
            raise TooLarge(rule, file=table.document.file, line=table.document.line(table.table, 0, name), body=name)
    return found


def _bits(value: Fraction | None) -> int:
    return 0 if value is None else max(value.numerator.bit_length(), value.denominator.bit_length())


def _entry(table: TomlTable, name: str, corrected: bool) -> JudgedEntry:
    value = table.data[name]
    mended = corrected and isinstance(value, dict) and "correct" in value
    text = _text(table, name, corrected)
    try:
        return JudgedEntry(name, text, parsed(text, quotients=True), corrected=mended)
    except ValueError as problem:
        return JudgedEntry(name, text, None, str(problem), mended)


def _text(table: TomlTable, name: str, corrected: bool) -> str:
    """What stands there: a number, an expression, or { printed = .., correct = .. }."""
    value = table.data[name]
    if isinstance(value, dict):
        inner = TomlTable(value, table.document, table.remarks, table.table, table.index, (*table.keys, name))
        inner.only(("printed", "correct"))
        key = "correct" if corrected and "correct" in value else "printed"
        if key not in value or ("printed" not in value and table.table != "constants"):
            raise inner.error("printed is missing")
        return _text(inner, key, corrected)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise table.error(f"{name} must be a number or an expression", name)
    return str(value)


def _expression(table: TomlTable, name: str, text: str) -> Expression:
    try:
        return parsed(text, quotients=True)
    except ValueError as problem:
        raise table.error(str(problem), name) from None
