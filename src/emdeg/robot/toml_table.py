"""TOML files with a stranger's data: parsed within budgets, read table by table, every complaint with its line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from emdeg.algebra import NO_ANGLE, Angle, Exact, parse_number
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET
from emdeg.robot.model import NOWHERE, Pose, Vector

MAX_BYTES = min(BUDGET.bytes, 2 * 2**20)
MAX_LINE = 4000
"""Longest line read, in characters: a dotted key of a million parts would keep tomllib busy for hours."""

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""' r"|'''.*?'''" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|#[^\n]*", re.DOTALL
)
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_. -]+?)\s*\]\]?\s*\Z")
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")


class Number(str):
    """A TOML float as it is written: exact, and not yet computed."""

    __slots__ = ()


class TomlDocument:
    """A parsed TOML file that knows on which line its tables and keys stand."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.data = self._parse(text)

    def line(self, table: str = "", index: int = 0, *keys: str) -> int | None:
        """The line of the `index`-th table called `table`, or of a key in it; None if it cannot be told."""
        blocks = [block for block in self._blocks if block[0] == table]
        if index >= len(blocks):
            return None if not table else self.line("", 0, table)
        _, start, end = blocks[index]
        found = start if table else None
        for key in keys:
            pattern = re.compile(r"(?:^|[\s{,.\[])" + re.escape(key) + r"\s*[=.\]]")
            rest = range((found or start + 1) - 1, end)
            hit = next((i for i in rest if pattern.search(self._lines[i])), None)
            if hit is None:
                break
            found = hit + 1
        return found

    def error(self, rule: str, table: str = "", index: int = 0, *keys: str, body: str | None = None) -> RobotError:
        return RobotError(rule, file=self.file, line=self.line(table, index, *keys), body=body)

    def _parse(self, text: str) -> dict[str, Any]:
        if len(text) > MAX_BYTES:
            rule = f"the file has {len(text)} characters; the budget is {MAX_BYTES}"
            raise TooLarge(rule, file=self.file)
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > MAX_LINE:
                rule = f"the line has {len(line)} characters; the budget is {MAX_LINE}"
                raise TooLarge(rule, file=self.file, line=number)
        if not text.strip():
            raise RobotError("the file is empty", file=self.file)
        bare = _STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._lines = bare.split("\n")
        self._check_depth()
        self._blocks = self._find_blocks()
        try:
            return tomllib.loads(text.replace("\r\n", "\n"), parse_float=Number)
        except tomllib.TOMLDecodeError as problem:
            where = _AT_LINE.search(str(problem))
            line = int(where[1]) if where and where[1] else len(self._lines)
            rule = f"not valid TOML: {_AT_LINE.sub('', str(problem))}"
            if 0 < line <= len(self._lines) and re.search(r"=\s*[+-]?[0-9]+,[0-9]", self._lines[line - 1]):
                rule += "; a decimal is written with a point: 0.5"
            raise RobotError(rule, file=self.file, line=line) from None
        except RecursionError:
            raise TooLarge("its tables are nested too deeply", file=self.file) from None
        except ValueError as problem:  # an integer of thousands of digits, a date that does not exist
            raise RobotError(f"not valid TOML: {problem}", file=self.file) from None

    def _check_depth(self) -> None:
        depth = 0
        for number, line in enumerate(self._lines, start=1):
            if any(part.count(".") > BUDGET.depth for part in re.split(r"[=,{}\[\]]", line)):
                raise TooLarge("a key has too many parts", file=self.file, line=number)
            for character in line:
                if character in "[{":
                    depth += 1
                    if depth > BUDGET.depth:
                        rule = f"its tables are nested more than {BUDGET.depth} deep"
                        raise TooLarge(rule, file=self.file, line=number)
                elif character in "]}":
                    depth = max(depth - 1, 0)

    def _find_blocks(self) -> list[tuple[str, int, int]]:
        """(name, first line, last line) of each top-level table; "" is what stands before the first."""
        blocks: list[tuple[str, int, int]] = [("", 0, len(self._lines))]
        for number, line in enumerate(self._lines, start=1):
            match = _HEADER.match(line)
            if match is None:
                continue
            name, *rest = match[2].split(".")
            if rest and blocks[-1][0] == name.strip():
                continue
            blocks[-1] = (*blocks[-1][:2], number - 1)
            blocks.append((name.strip(), number, len(self._lines)))
        return blocks


LARGEST = 10**50
"""No length, mass or inertia of a machine is larger, in SI units, and its products still fit a double."""
LARGEST_DOUBLE = 179 * 10**306
MAX_TEXT = 4000
MAX_NAME = 512
"""Of a name: those that readers of other formats make of two of theirs fit too."""
MAX_TERMS = 8
MAX_PARAMETER_TERMS = 256
"""Terms in one symbolic value; more in an inertial parameter, which the equations hold only linearly."""


@dataclass(slots=True)
class Remarks:
    """What a file says about its values besides the values: path -> tolerance, path -> source."""

    tolerances: dict[str, Fraction] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table, where it stands in its file, and what it belongs to."""

    data: Mapping[str, Any]
    document: TomlDocument
    remarks: Remarks
    table: str = ""
    index: int = 0
    keys: tuple[str, ...] = ()
    body: str | None = None

    def error(self, rule: str, key: str | None = None) -> RobotError:
        keys = self.keys if key is None else (*self.keys, key)
        return self.document.error(rule, self.table, self.index, *keys, body=self.body)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    @property
    def line(self) -> int | None:
        return self.document.line(self.table, self.index, *self.keys)

    def only(self, known: tuple[str, ...], hints: Mapping[str, str] | None = None) -> None:
        """RobotError if a key is not among `known`, with the nearest of them."""
        for key in self.data:
            if key in known:
                continue
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = (hints or {}).get(key) or (f"did you mean {near[0]!r}?" if near else "")
            where = f" in {self.keys[-1]}" if self.keys else f" in [{self.table}]" if self.table else ""
            rule = f"unknown key {key[:40]!r}{where}; " + (hint or f"known: {', '.join(known)}")
            raise self.error(rule, key)

    def subtable(self, key: str) -> TomlTable | None:
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"{key} must be a table, not {kind_of(value)}", key)
        return self._inner(key, value)

    def _inner(self, key: str, data: Mapping[str, Any]) -> TomlTable:
        return replace(self, data=data, keys=(*self.keys, key))

    def text(self, key: str, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if value is None:
            raise self.error(f"{key} is missing")
        if not isinstance(value, str) or isinstance(value, Number):
            raise self.error(f"{key} must be text, not {kind_of(value)}", key)
        if len(value) > MAX_TEXT:
            raise TooLarge(f"{key} is longer than {MAX_TEXT} characters", file=self.document.file)
        if not all(c.isprintable() or c in "\n\t" for c in value):
            raise self.error(f"{key} contains a control character", key)
        return value

    def name(self, key: str, default: str | None = None) -> str:
        """A name: printable and not blank; a space at its ends is part of it, as in files of other formats."""
        value = self.text(key, default)
        if not value.strip() or not value.isprintable() or len(value) > MAX_NAME:
            rule = f"{key} must be a name of 1 to {MAX_NAME} printable characters"
            raise self.error(rule, key)
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise self.error(f"{key} must be {' or '.join(map(repr, choices))}, not {value[:40]!r}", key)
        return value

    def integer(self, key: str, low: int, high: int) -> int | None:
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(f"{key} must be a whole number from {low} to {high}", key)
        return value

    def number(self, key: str, path: str | None = None, *, terms: int = MAX_TERMS) -> Exact | None:
        """The exact value under `key`, None if there is none; `path` is where its tolerance goes."""
        value = self.data.get(key)
        return None if value is None else self._number(value, key, path, terms)

    def vector(self, key: str, path: str | None = None) -> Vector | None:
        """Three exact values [x, y, z], None if there are none."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 3:
            raise self.error(f"{key} must be three numbers [x, y, z]", key)
        x, y, z = (self._number(v, key, f"{path}.{axis}" if path else None) for v, axis in zip(value, "xyz"))
        return x, y, z

    def angle(self, key: str, path: str | None = None) -> Angle:
        """The exact angle under `key`, zero if there is none."""
        value = self.data.get(key)
        return NO_ANGLE if value is None else self._angle(value, key, path)

    def rational(self, key: str) -> Fraction | None:
        """A plain number under `key`, as large as a double holds."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self.error(f"{key} must be a number, not {kind_of(value)}", key)
        try:
            number = parse_number(str(value))
        except ValueError as problem:
            raise self.error(f"{key}: {_advice(value, problem)}", key) from None
        if abs(number) > LARGEST_DOUBLE:
            raise self.error(f"{key} is too large: {str(value)[:40]}", key)
        return number

    def limit(self, key: str, *, turning: bool) -> Fraction | None:
        """A position limit: a plain number, or for a turning joint an angle to double precision."""
        value = self.data.get(key)
        if not turning or not isinstance(value, str) or isinstance(value, Number):
            return self.rational(key)
        return self._radians(self._angle(value, key, None), key)

    def pose(self) -> Pose:
        """The pose under the keys xyz and rpy."""
        rpy = self.data.get("rpy", [0, 0, 0])
        if not isinstance(rpy, list) or len(rpy) != 3:
            raise self.error("rpy must be three angles [roll, pitch, yaw]", "rpy")
        roll, pitch, yaw = (self._angle(value, "rpy", None) for value in rpy)
        if any(angle.symbol for angle in (roll, pitch, yaw)):
            raise self.error("rpy must hold angles with a number, not symbols", "rpy")
        return Pose(self.vector("xyz") or NOWHERE, (roll, pitch, yaw))

    def _number(self, value: Any, key: str, path: str | None, terms: int = MAX_TERMS) -> Exact:
        if isinstance(value, dict):
            return self._remarked(value, key, path, lambda v: self._number(v, key, None, terms))
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self.error(f"{key} must be a number or a symbol's name, not {kind_of(value)}", key)
        if isinstance(value, str) and value.count("*") + value.count(" ") > 8 * terms:
            raise TooLarge(f"{key} has too many terms", file=self.document.file)
        try:
            exact = Exact.parse(str(value))
        except ValueError as problem:
            raise self.error(f"{key}: {_advice(value, problem)}", key) from None
        if len(exact.terms) > terms:
            raise TooLarge(f"{key} has more than {terms} terms", file=self.document.file)
        if any(abs(coefficient) > LARGEST for _, coefficient in exact.terms):
            raise self.error(f"{key} is too large: {str(value)[:40]}", key)
        return exact

    def _angle(self, value: Any, key: str, path: str | None) -> Angle:
        if isinstance(value, dict):
            return self._remarked(value, key, path, lambda v: self._angle(v, key, None))
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self.error(f"{key} must be an angle, not {kind_of(value)}", key)
        try:
            angle = Angle.parse(str(value))
        except ValueError as problem:
            raise self.error(f"{key}: {_advice(value, problem)}", key) from None
        if abs(angle.pi_times) + abs(angle.radians) > 10**6:
            raise self.error(f"{key} is too large an angle: {str(value)[:40]}", key)
        return angle

    def _remarked(self, value: dict[str, Any], key: str, path: str | None, read):
        """The value of { value = .., tol = .., tol_percent = .., source = ".." }; the rest to the remarks."""
        if path is None:
            raise self.error(f"{key} cannot carry a tolerance or a source here", key)
        inner = self._inner(key, value)
        inner.only(("value", "tol", "tol_percent", "source"))
        if "value" not in value:
            raise inner.error("value is missing")
        result = read(value["value"])
        tolerance = Fraction(0)
        if "tol" in value:
            tolerance += self._tolerance(inner, isinstance(result, Angle))
        if (percent := inner.rational("tol_percent")) is not None:
            if isinstance(result, Angle) or not result.is_number or percent < 0:
                raise inner.error("tol_percent must be positive, and the value a number", "tol_percent")
            tolerance += abs(result.number) * percent / 100
        if "tol" in value or percent is not None:
            self.remarks.tolerances[path] = tolerance
        if "source" in value:
            self.remarks.sources[path] = inner.text("source")
        return result

    def _tolerance(self, inner: TomlTable, of_angle: bool) -> Fraction:
        if of_angle and isinstance(inner.data["tol"], str):
            tolerance = self._radians(inner.angle("tol"), "tol")
        else:
            tolerance = inner.rational("tol") or Fraction(0)
        if tolerance < 0:
            raise inner.error("tol must not be negative", "tol")
        return tolerance

    def _radians(self, angle: Angle, key: str) -> Fraction:
        if angle.symbol:
            raise self.error(f"{key} must be a number, not the symbol {angle.symbol}", key)
        return Exact.of(float(angle)).number if angle.pi_times else angle.radians


def array(top: TomlTable, key: str) -> list[TomlTable]:
    """The tables [[key]] of a document."""
    value = top.data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise top.error(f"write each {key} under its own [[{key}]], with two brackets", key)
    if len(value) > BUDGET.links:
        rule = f"it has {len(value)} x [[{key}]]; the budget is {BUDGET.links}"
        raise TooLarge(rule, file=top.document.file)
    return [
        TomlTable(entry, top.document, top.remarks, key, i, body=_label(entry) or f"[[{key}]] number {i + 1}")
        for i, entry in enumerate(value)
    ]


def _label(entry: Mapping[str, Any]) -> str | None:
    name = entry.get("name")
    return name[:64] if isinstance(name, str) and name.isprintable() else None


def single(top: TomlTable, key: str) -> TomlTable | None:
    """The table [key] of a document; None where it has none."""
    value = top.data.get(key)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise top.error(f"{key} must be a table, not {kind_of(value)}", key)
    return TomlTable(value, top.document, top.remarks, key)


def kind_of(value: Any) -> str:
    """What a TOML value is, in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | Number):
        return "a number"
    names = {str: "text", list: "an array", dict: "a table"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "a date or time")


def _advice(value: Any, problem: ValueError) -> str:
    text = str(value)
    if isinstance(value, Number) and text.lstrip("+-") in ("nan", "inf"):
        return f"{text} is not a number a robot can have"
    if "," in text:
        return f"{problem}; a decimal is written with a point, not a comma"
    return str(problem)


__all__ = ["MAX_PARAMETER_TERMS", "Remarks", "TomlTable", "array", "kind_of", "single"]
