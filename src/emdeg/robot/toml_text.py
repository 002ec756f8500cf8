"""TOML text -> plain data, with budgets kept and every table's line remembered."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET

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


class Document:
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
