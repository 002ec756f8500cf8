"""Names of our own that no symbol of the robot looks like: other letters where they would, and a word that says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from emdeg.algebra import Atom, Product, Sum, look
from emdeg.equations.model import Model
from emdeg.equations.reading import own_letter
from emdeg.writing import (
    Document,
    Equation,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Paragraph,
    Reference,
    Section,
    Table,
    Zeros,
    label,
    labels_of,
)

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def unmistakable(document: Document, model: Model) -> Document:
    """The document with other letters for entries and matrices that look like a symbol of the robot, and a legend."""
    source = model.general or model
    angles = (angle.symbol for angle in source.algebra.constant_angles)
    symbols = {*model.algebra.parameters, *source.algebra.parameters, *(name for name in angles if name)}
    letters = _letters(document, symbols)
    if letters:
        sections = (replace(s, items=tuple(_items(s, letters))) for s in document.sections)
        document = replace(document, sections=tuple(sections))
    legend = list(_legend(document, letters, source))
    if not legend or not document.sections:
        return document
    first, *others = document.sections
    return replace(document, sections=(replace(first, items=(Paragraph(" ".join(legend)), *first.items)), *others))


def _labels(document: Document) -> list[Label]:
    return [one for item in document.items for one in labels_of(item)]


def _letters(document: Document, symbols: Iterable[str]) -> dict[str, str]:
    """Letter of ours -> the one to take its place."""
    families: dict[str, list[str]] = {}
    for one in _labels(document):
        families.setdefault(one.letter, []).append(one.subscript)
    chosen = {letter: own_letter(letter, subscripts, symbols) for letter, subscripts in families.items()}
    return {letter: new for letter, new in chosen.items() if new != letter}


def _items(section: Section, letters: Mapping[str, str]) -> Iterable[Item]:
    def renamed(one: Label) -> Label:
        return replace(one, letter=letters.get(one.letter, one.letter))

    def formula(value: Formula) -> Formula:
        if isinstance(value, Reference):
            return replace(value, of=renamed(value.of))
        # Entries stand in the hierarchical form's equations; no other section has both.
        return _renamed(value, letters) if isinstance(value, Sum) and section.key == "hierarchy" else value

    def text(value: str) -> str:
        return _WORD.sub(lambda word: str(renamed(label(word[0]))) if _is_entry(word[0]) else word[0], value)

    for item in section.items:
        if isinstance(item, Equation):
            yield Equation(renamed(item.label), formula(item.value))
        elif isinstance(item, MatrixEquation):
            yield replace(item, label=renamed(item.label))
        elif isinstance(item, Zeros):
            yield Zeros(tuple(map(renamed, item.labels)))
        elif isinstance(item, Table):
            rows = (tuple(text(cell) if isinstance(cell, str) else cell for cell in row) for row in item.rows)
            yield replace(item, rows=tuple(rows))
        elif isinstance(item, Paragraph):
            yield Paragraph(text(item.text))
        else:
            yield item


def _is_entry(word: str) -> bool:
    """Whether a word is the name of an entry or matrix with indices: other words of a sentence stay."""
    tail = look(word)[1]
    return bool(tail) and tail.replace(",", "").isdigit()


def _renamed(expression: Sum, letters: Mapping[str, str]) -> Sum:
    def factor(one: Atom | Sum) -> Atom | Sum:
        if isinstance(one, Sum):
            return _renamed(one, letters)
        head = label(one.kind)
        return one if one.angle else Atom(str(replace(head, letter=letters.get(head.letter, head.letter))))

    return Sum(tuple(Product(t.coefficient, tuple(map(factor, t.factors))) for t in expression.terms))


def _legend(document: Document, letters: Mapping[str, str], source: Model) -> Iterable[str]:
    """Sentences about letters that are not the usual ones."""
    own = [f"{new} stands for {old}" for old, new in letters.items()]
    heads = {one.letter for one in _labels(document)}
    own += [f"{head} stands for {head.rstrip('o')}" for head in sorted(heads) if _is_longer(head)]
    if own:
        yield f"{'; '.join(own)}, because symbols of the robot look like names with {_these(letters, heads)}."
    if not source.algebra.short:
        yield "Sines and cosines are written out, because abbreviations would look like other names."
    if alike := sorted(source.algebra.alike):
        yield f"Typeset, {', '.join(alike)} stand letter by letter, because other names look like them."


def _is_longer(head: str) -> bool:
    return re.fullmatch(r"(I|G|Im|K|T|V)o+", head) is not None


def _these(letters: Mapping[str, str], heads: Iterable[str]) -> str:
    old: Sequence[str] = sorted({*letters, *(head.rstrip("o") for head in heads if _is_longer(head))})
    return ", ".join(old)
