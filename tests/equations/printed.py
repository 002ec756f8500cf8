"""What was printed read back: text, LaTeX and MathML as SymPy expressions, by the looks of their names alone."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import sympy

from emdeg.algebra import look
from emdeg.equations import Model

Look = tuple[str, str]
GREEK = {"lambda": "λ", "tau": "τ", "alpha": "α", "mu": "μ", "beta": "β"}
SPACE = r"\\quad|\\,|&|\s"


@dataclass
class Names:
    """What a name may mean: exactly one thing, or the print can be misread."""

    symbols: Mapping[Look, set[str]]
    joints: int
    abbreviated: bool
    """Whether sines and cosines have letters: the legend says if they do not."""
    defined: dict[Look, Any]

    def meaning(self, of: Look, verbatim: str | None = None) -> Any:
        found: list[Any] = []
        if verbatim is not None:
            found += [sympy.Symbol(n, real=True) for names in self.symbols.values() for n in names if n == verbatim]
        else:
            found += [sympy.Symbol(name, real=True) for name in self.symbols.get(of, ())]
            found += [self.defined[of]] if of in self.defined else []
            found += self._abbreviation(*of)
        assert len(found) == 1, f"{verbatim or of} may mean {found}"
        return found[0]

    def _abbreviation(self, head: str, tail: str) -> list[Any]:
        if head == "q" and tail.isdigit():
            return [angle(tail)]
        if not self.abbreviated:
            return []
        if head in ("s", "c") and tail.isdigit() and int(tail) <= self.joints:
            return [(sympy.sin if head == "s" else sympy.cos)(angle(tail))]
        if head in ("S", "C", "SS", "CC", "SC") and re.fullmatch(r"\d+([m−-]\d+)?", tail):
            plus, _, minus = re.sub("[m−]", "-", tail).partition("-")
            total = sum(map(angle, plus)) - sum(map(angle, minus))
            product = sympy.Integer(1)
            for letter in head:
                product *= sympy.sin(total) if letter == "S" else sympy.cos(total)
            return [product]
        return []


def angle(joint: str) -> Any:
    return sympy.Symbol(f"q{joint}", real=True)


def names_of(model: Model, page: str, typeset: bool) -> Names:
    """The robot's symbols by their looks; in text a name looks like itself."""
    source = model.general or model
    symbols: dict[Look, set[str]] = {}
    for name in source.algebra.parameters:
        if not typeset or name not in source.algebra.alike:
            symbols.setdefault(look(name) if typeset else (name, ""), set()).add(name)
        else:
            symbols.setdefault(("", name), set()).add(name)  # seen letter by letter only
    return Names(symbols, model.n, "Sines and cosines are written out" not in page, {})


def definitions(equations: Iterable[tuple[Look, Callable[[Names], Any]]], names: Names) -> dict[Look, Any]:
    """Every equation's left side -> its right side, earlier left sides put in."""
    for left, right in equations:
        assert left not in names.symbols, f"{left} is a symbol of the robot and a name of ours"
        names.defined[left] = right(names)
    return names.defined


# Text


def text_equations(page: str) -> Iterable[tuple[Look, Callable[[Names], Any]]]:
    joined = re.sub(r"\n +(?=[+-])", " ", page)
    for line in joined.splitlines():
        if zeros := re.fullmatch(r"([\w, ]+) = 0", line):
            for name in zeros[1].split(","):
                yield (name.strip(), ""), lambda _: sympy.Integer(0)
        elif match := re.fullmatch(r"(\w+) = (.*)", line):
            yield (match[1], ""), lambda names, body=match[2]: text_formula(body, names)


def text_formula(body: str, names: Names) -> Any:
    tokens = re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?|\w+|[-+*/^()]", body)
    return Parser(tokens, lambda t: names.meaning(_split_text(t, names)), implicit=" " in body).parse()


def _split_text(name: str, names: Names) -> Look:
    if (name, "") in names.symbols or (name, "") in names.defined:
        return name, ""
    return look(name)


class Parser:
    """Sums, products, powers, brackets, sin and cos; juxtaposition multiplies."""

    def __init__(self, tokens: list[str], name: Callable[[str], Any], implicit: bool = True) -> None:
        self.tokens, self.name, self.implicit = tokens, name, implicit

    def parse(self) -> Any:
        value = self.sum()
        assert not self.tokens, self.tokens
        return value

    def sum(self) -> Any:
        total = sympy.Integer(0)
        sign = 1
        if self.at("-"):
            sign = -1
        while True:
            total += sign * self.product()
            if self.at("+"):
                sign = 1
            elif self.at("-"):
                sign = -1
            else:
                return total

    def product(self) -> Any:
        value = self.power()
        while self.tokens and self.tokens[0] not in "+-)}":
            if self.at("/"):
                value /= self.power()
            else:
                self.at("*")
                value *= self.power()
        return value

    def power(self) -> Any:
        value = self.atom()
        return value ** self.atom() if self.at("^") else value

    def atom(self) -> Any:
        token = self.tokens.pop(0)
        if token in "({":
            value = self.sum()
            assert self.tokens.pop(0) in ")}"
            return value
        if token in ("sin", "cos", r"\sin", r"\cos") and self.tokens and self.tokens[0] == "(":
            return getattr(sympy, token.strip("\\"))(self.atom())
        if re.match(r"\d", token):
            return sympy.Rational(token)
        if token == r"\tfrac":
            return self.atom() / self.atom()
        if token == "-":
            return -self.atom()
        return self.name(token)

    def at(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False


# LaTeX

_NAME = r"\\mathtt\{[^}]*\}|(?:\\mathrm\{\w+\}|\\[A-Za-z]+|[A-Za-z]+)_\{[^}]*\}|\\mathrm\{\w+\}|\\[A-Za-z]+|[A-Za-z]"
_BLOCK = re.compile(r"\\begin\{align\*\}(.*?)\\end\{align\*\}|\$\$\n(.*?)\n\$\$", re.S)
_TOKEN = re.compile(rf"\d+\.?\d*|{_NAME}|[-+^(){{}}]")


def latex_equations(page: str) -> Iterable[tuple[Look, Callable[[Names], Any]]]:
    for block in _BLOCK.findall(page):
        rows = re.split(r"\\\\\n(?!& )", re.sub(r" \\\\\n& \\quad", " ", "".join(block)))
        for row in rows:
            left, _, right = re.sub(r"\\(begin|end)\{aligned\}\s*", "", row.replace("={}&", "=")).partition("=")
            yield latex_look(left.strip()), lambda names, body=right: latex_formula(body, names)


def latex_look(token: str) -> Look:
    plain = re.sub(r"\\mathrm\{(\w+)\}|\\([A-Za-z]+)", lambda m: m[1] or m[2], token)
    head, _, tail = plain.partition("_{")
    return head, tail.rstrip("}")


def latex_formula(body: str, names: Names) -> Any:
    body = body.replace(r"\bigl(", "(").replace(r"\bigr)", ")").replace(r"\cdot", "")
    tokens = _TOKEN.findall(re.sub(SPACE, " ", body))

    def name(token: str) -> Any:
        if token.startswith(r"\mathtt"):
            return names.meaning(("", ""), token[8:-1].replace(r"\_", "_"))
        return names.meaning(latex_look(token))

    return Parser(tokens, name).parse()


# MathML

MATH = "{http://www.w3.org/1998/Math/MathML}"


def mathml_equations(page: str) -> Iterable[tuple[Look, Callable[[Names], Any]]]:
    root = ElementTree.fromstring(page)
    for math in root.iter(f"{MATH}math"):
        row = list(math[0])
        equals = [k for k, e in enumerate(row) if e.tag == f"{MATH}mo" and e.text == "="]
        if not equals:
            continue
        lefts = [e for e in row[: equals[0]] if e.tag != f"{MATH}mo"]
        for left in lefts:
            yield mathml_look(left), lambda names, body=row[equals[0] + 1 :]: mathml_sum(body, names)


def mathml_look(e: ElementTree.Element) -> Look:
    if e.tag == f"{MATH}msub":
        return plain_letter(e[0].text or ""), (e[1].text or "")
    return plain_letter(e.text or ""), ""


def plain_letter(text: str) -> str:
    return next((name for name, sign in GREEK.items() if sign == text), text)


def mathml_sum(row: list[ElementTree.Element], names: Names) -> Any:
    tokens: list[Any] = []
    for e in row:
        tokens += _mathml_tokens(e, names)
    values: list[Any] = []
    words = []
    for token in tokens:
        if isinstance(token, str):
            words.append(token)
        else:
            words.append(f"@{len(values)}")
            values.append(token)
    return Parser(words, lambda t: values[int(t[1:])]).parse()


def _mathml_tokens(e: ElementTree.Element, names: Names) -> list[Any]:
    tag, text = e.tag.removeprefix(MATH), html.unescape(e.text or "")
    if tag == "mo":
        return [{"−": "-", "\u2062": "*", "·": "*", "\u2061": ""}.get(text, text)] if text != "\u2061" else []
    if tag == "mn":
        return [text]
    if tag == "mfrac":
        return [mathml_sum([e[0]], names) / mathml_sum([e[1]], names)]
    if tag == "msup":
        exponent = sympy.Rational((e[1].text or "").replace("−", "-"))
        return [mathml_sum([e[0]], names) ** exponent]
    if tag == "mrow" and len(e) and e[0].tag == f"{MATH}mi" and e[0].text in ("sin", "cos") and len(e) == 3:
        inside = list(e[2])[1:-1]
        return [getattr(sympy, e[0].text)(mathml_sum(inside, names))]
    if tag == "mrow":
        return [token for child in e for token in _mathml_tokens(child, names)]
    if e.get("mathvariant") == "monospace":
        return [names.meaning(("", ""), text)]
    return [names.meaning(mathml_look(e))]
