"""The paper's appendices as data: a reader of `tests/data/kane_levinson.txt` and its values at a state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "data" / "kane_levinson.txt"
_TOKEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*|[0-9.]+|[-+*/^()])")


@dataclass
class Definition:
    """A name and what it stands for, in the paper's words."""

    name: str
    text: str


def definitions() -> list[Definition]:
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [Definition(*(part.strip() for part in line.split("=", 1))) for line in lines]


def state(q: np.ndarray, u: np.ndarray, efforts: np.ndarray) -> dict[str, float]:
    """The paper's letters from emdeg's, both in the chain's order q1, q2, q6, q3, q4, q5; u in the paper's order."""
    named = dict(zip(("q1", "q2", "q6", "q3", "q4", "q5"), q))
    letters = {name: float(value) for name, value in named.items()}
    for k in range(1, 6):
        letters |= {f"s{k}": float(np.sin(named[f"q{k}"])), f"c{k}": float(np.cos(named[f"q{k}"]))}
    letters |= {f"u{k + 1}": float(value) for k, value in enumerate(u)}
    signs = dict(zip(("tau1", "tau2", "sigma", "tau3", "tau4", "tau5"), (1, -1, -1, -1, -1, -1)))
    return letters | {name: sign * float(tau) for (name, sign), tau in zip(signs.items(), efforts)}


def values(letters: dict[str, float]) -> dict[str, float]:
    """Every definition's value, one after the other."""
    known = dict(letters)
    for definition in definitions():
        known[definition.name] = _Reader(definition.text, known).whole()
    return known


def printed_efforts(printed, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[float]:
    """The entries of a judged file of the arm in doubles, one definition after the other as it is asked for."""
    order = ("q1", "q2", "q6", "q3", "q4", "q5")
    known: dict[str, float] = {name: float(value) for name, value in printed.constants.items()}
    for name, *each in zip(order, q, qd, qdd):
        known |= dict(zip((name, f"qd_{name}", f"qdd_{name}"), map(float, each)))
    for k in range(1, 6):
        known |= {f"s{k}": float(np.sin(known[f"q{k}"])), f"c{k}": float(np.cos(known[f"q{k}"]))}
    texts = {name: str(text) for name, text in printed.define.items() if name not in known}

    class Lazy(dict):
        def __missing__(self, name: str) -> float:
            self[name] = _Reader(texts[name], self).whole()
            return self[name]

    lazy = Lazy(known)
    return [_Reader(entry.text, lazy).whole() for entry in printed.entries.values()]


class _Reader:
    """Recursive descent; + - * / ^ and parentheses, nothing else."""

    def __init__(self, text: str, known: dict[str, float]) -> None:
        self.text, self.known = text, known
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s", "", text), text
        self.place = 0

    def whole(self) -> float:
        value = self.sum()
        assert self.place == len(self.tokens), self.text
        return value

    def next(self, *wanted: str) -> str | None:
        if self.place < len(self.tokens) and (not wanted or self.tokens[self.place] in wanted):
            self.place += 1
            return self.tokens[self.place - 1]
        return None

    def sum(self) -> float:
        value = -self.product() if self.next("-") else self.product()
        while sign := self.next("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self) -> float:
        value = self.power()
        while sign := self.next("*", "/"):
            value = value * self.power() if sign == "*" else value / self.power()
        return value

    def power(self) -> float:
        value = self.atom()
        if self.next("^"):
            value = value ** int(self.next() or "")
        return value

    def atom(self) -> float:
        token = self.next()
        assert token is not None, self.text
        if token == "(":
            value = self.sum()
            assert self.next(")"), self.text
            return value
        return self.known[token] if token[0].isalpha() else float(token)
