"""Factoring of sums of products: what they share taken out, as letters of its own or as nested brackets."""

from emdeg.algebra.factoring.extraction import Extraction
from emdeg.algebra.factoring.nesting import (
    LONG,
    Key,
    Nester,
    Number,
    Table,
    common_to_all,
    content,
    divisors,
    joined,
    nested,
    pairs,
    shared,
    without,
)
from emdeg.algebra.factoring.parts import Found, Part, SharedParts, Use

__all__ = [
    "LONG",
    "Extraction",
    "Found",
    "Key",
    "Nester",
    "Number",
    "Part",
    "SharedParts",
    "Table",
    "Use",
    "common_to_all",
    "content",
    "divisors",
    "joined",
    "nested",
    "pairs",
    "shared",
    "without",
]
