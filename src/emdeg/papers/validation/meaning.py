"""What a printed model's expressions mean: names looked up and worked out in one algebra, at given rates.

Speeds are called qd_NAME and accelerations qdd_NAME after their joints, as in logs (qd2 and qdd2 by number). An entry
is a polynomial of them, of a degree that is read off the text, so that its coefficients follow from its values at
rates of zero and one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra import MAX_DEGREE, Angle, Expression, ParsedName, ParsedNode, ParsedProduct, ParsedSum
from emdeg.errors import RobotError, TooLarge, UnreadableEntry
from emdeg.papers.validation.file import PrintedModel
from emdeg.robot import Robot

_DEEPEST = 200
"""Definitions may lean on one another so deep."""
_RATE = re.compile(r"(qdd?)(?:_(.+)|([0-9]+))\Z")
MOST_OF_RATES = 4
"""No model has rates to a higher power, not even on the way."""

Degrees = frozenset[tuple[int, int]]
"""The degrees in (speeds, accelerations) of the terms that something is written in."""
STILL: Degrees = frozenset({(0, 0)})


@dataclass(frozen=True)
class Letters:
    """How an algebra writes numbers, constant angles, and the joints of a tree, from 0: a pair or a displacement."""

    number: Callable[[Fraction], Any]
    constant: Callable[[Angle], tuple[Any, Any]]
    position: Callable[[int], Any]


class Meaning:
    """Names looked up: constants, then definitions, then other entries, then joints and rates; each worked out once.

    `qd` and `qdd` are the rates of all joints of the tree, in its order.
    """

    def __init__(self, printed: PrintedModel, robot: Robot, letters: Letters) -> None:
        self.printed, self.robot, self.letters = printed, robot, letters
        self.names = [joint.name for joint in robot.joints]
        self._degrees: dict[str, Degrees] = {}
        self._lengths: dict[str, int] = {}
        self._still: dict[str, Any] = {}
        self._moving: dict[str, Any] = {}
        self._open: list[str] = []
        self._rates: dict[str, Sequence[Any]] = {}

    def at(self, qd: Sequence[Any], qdd: Sequence[Any]) -> Meaning:
        """The same at other rates; what has none in it stays known."""
        other = Meaning(self.printed, self.robot, self.letters)
        other._degrees, other._lengths, other._still = self._degrees, self._lengths, self._still
        other._rates = {"qd": qd, "qdd": qdd}
        return other

    def entry(self, name: str) -> Any:
        """The value of an entry; UnreadableEntry where it, or what it leans on, cannot be read."""
        try:
            return self._worked_out(name, self._entry_text(name))
        except RecursionError:
            raise RobotError("its definitions are nested too deep", file=self.printed.file, body=name) from None

    def degrees(self, name: str) -> Degrees:
        """Of an entry, in the rates."""
        try:
            return self._degrees_of(name, self._entry_text(name))
        except RecursionError:
            raise RobotError("its definitions are nested too deep", file=self.printed.file, body=name) from None

    def divides(self) -> bool:
        """Whether anything but a number is divided by, anywhere."""
        entries = (entry.expression for entry in self.printed.entries.values())
        return any(one is not None and one.divides for one in (*self.printed.define.values(), *entries))

    def _entry_text(self, name: str) -> Expression:
        found = self.printed.entries[name]
        if found.expression is None:
            raise UnreadableEntry(found.problem, body=name)
        return found.expression

    def _text(self, name: str) -> Expression | None:
        """What a name stands for; None where it is no definition and no entry."""
        if name in self.printed.define:
            return self.printed.define[name]
        return self._entry_text(name) if name in self.printed.entries else None

    def _degrees_of(self, key: str, expression: Expression) -> Degrees:
        if key not in self._degrees:
            with _Opened(self, key):
                self._degrees[key] = self._degrees_in(expression.node)
        return self._degrees[key]

    def _degrees_in(self, node: ParsedNode) -> Degrees:
        if isinstance(node, ParsedName):
            return self._degrees_of_name(node.name)
        if isinstance(node, ParsedSum):
            return frozenset().union(*(self._degrees_in(term) for _, term in node.terms))
        found = STILL
        for factor, exponent in node.factors if isinstance(node, ParsedProduct) else ():
            mine = self._degrees_in(factor)
            if exponent < 0 and mine != STILL:
                raise RobotError("a rate may not be divided by", file=self.printed.file)
            for _ in range(max(exponent, 0) if mine != STILL else 0):
                found = frozenset((a + c, b + d) for a, b in found for c, d in mine)
                if max(a + b for a, b in found) > MOST_OF_RATES:
                    raise RobotError(f"it has rates to a power above {MOST_OF_RATES}", file=self.printed.file)
        return found

    def _degrees_of_name(self, name: str) -> Degrees:
        if name in self.printed.constants:
            return STILL
        expression = self._text(name)
        if expression is not None:
            return self._degrees_of(name, expression)
        rate = self._rate(name)
        return STILL if rate is None else frozenset({(int(rate[0] == "qd"), int(rate[0] == "qdd"))})

    def _length_of(self, name: str) -> int:
        """Factors of the longest product that a name stands for; TooLarge where that is too long to be worked out."""
        expression = None if name in self.printed.constants else self._text(name)
        if expression is None:
            return 1
        if name not in self._lengths:
            self._lengths[name] = expression.degree(self._length_of)
            if self._lengths[name] > MAX_DEGREE:
                rule = f"a product of it has {self._lengths[name]} factors; the budget is {MAX_DEGREE}"
                raise TooLarge(rule, file=self.printed.file, body=name)
        return self._lengths[name]

    def _worked_out(self, key: str, expression: Expression) -> Any:
        known = self._still if self._degrees_of(key, expression) == STILL else self._moving
        self._length_of(key)
        if key not in known:
            with _Opened(self, key):
                try:
                    known[key] = expression.evaluate(
                        self.letters.number, self._value, self._sincos, self.letters.constant
                    )
                except ZeroDivisionError:
                    raise RobotError("it divides by zero", file=self.printed.file, body=key) from None
        return known[key]

    def _value(self, name: str) -> Any:
        printed = self.printed
        if name in printed.constants:
            value = printed.constants[name]
            if value is None:
                raise UnreadableEntry(f"{name} is printed nowhere", body=name)
            return self.letters.number(value)
        expression = self._text(name)
        if expression is not None:
            return self._worked_out(name, expression)
        rate = self._rate(name)
        if rate is not None:
            return self._rates[rate[0]][rate[1]]
        joint = self._joint(name)
        if self.robot.joints[joint].kind == "revolute":
            raise RobotError(f"the angle {name} may stand inside sin and cos only", file=printed.file)
        return self.letters.position(joint)

    def _sincos(self, name: str) -> tuple[Any, Any]:
        joint = self._joint(name)
        if self.robot.joints[joint].kind != "revolute":
            raise RobotError(f"{name} slides: it has no sine", file=self.printed.file)
        return self.letters.position(joint)

    def _rate(self, name: str) -> tuple[str, int] | None:
        """("qd" or "qdd", which joint) of a rate's name; None for other names."""
        match = _RATE.match(name)
        if match is None or name in self.names:
            return None
        return match[1], self._joint(match[2] or f"q{match[3]}")

    def _joint(self, name: str) -> int:
        """The place of a joint of the tree, from 0."""
        if name in self.names:
            return self.names.index(name)
        digits = name.removeprefix("q")
        if digits.isdecimal() and 1 <= int(digits) <= len(self.names):
            return int(digits) - 1
        rule = f"{name!r} is no constant, definition, entry or joint of {self.robot.name}"
        raise RobotError(rule, file=self.printed.file)


class _Opened:
    """A name while it is looked into: RobotError where it comes up again."""

    def __init__(self, meaning: Meaning, key: str) -> None:
        self.meaning, self.key = meaning, key

    def __enter__(self) -> None:
        if self.key in self.meaning._open or len(self.meaning._open) > _DEEPEST:
            raise RobotError("it leans on itself", file=self.meaning.printed.file, body=self.key)
        self.meaning._open.append(self.key)

    def __exit__(self, *_: object) -> None:
        self.meaning._open.pop()
