"""How objects show themselves: `repr` on one screen; in a notebook small tables, with every text escaped.

Names in a robot's file are a stranger's; nothing here is handed on as HTML but what `table` wrote itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from emdeg.documents.markup import escape, preformatted, row

LONGEST = 160
"""Characters of a value; a notebook is no place for a program's thousand operations."""
MOST_FIELDS = 20
"""Of an object's `repr`: twenty of a hundred characters fit a screen."""


def table(title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """A heading and a table; cells are written by `brief`.

    >>> table("arm <1>", [("mass", 2.50)])
    '<b>arm &lt;1&gt;</b><table><tr><td>mass</td><td>2.5</td></tr></table>'
    """
    top = row([escape(text) for text in head], tag="th") if head else ""
    body = "".join(row([escape(brief(cell)) for cell in cells]) for cells in rows)
    return f"<b>{escape(title)}</b><table>{top}{body}</table>"


def listing(title: str, text: str) -> str:
    """A heading and a text whose lines stay as they are."""
    return f"<b>{escape(title)}</b><pre>{preformatted(text)}</pre>"


def brief(value: Any, depth: int = 0) -> str:
    """A value in a few words; what lies deep inside it by its kind alone.

    >>> brief(1 / 3), brief((1, 2.5)), brief({"a": 1})
    ('0.333333', '1, 2.5', 'a: 1')
    """
    if isinstance(value, str):
        text = value
    elif isinstance(value, float):
        text = f"{value:.6g}"
    elif hasattr(value, "shape") and hasattr(value, "flat"):
        text = _array(value)
    elif isinstance(value, Mapping):
        text = ", ".join(f"{brief(key)}: {brief(item, depth)}" for key, item in _first(value.items()))
    elif isinstance(value, (tuple, list, frozenset, set)):
        text = ", ".join(brief(item, depth) for item in _first(value))
    elif _writes_itself(value):
        name = getattr(value, "name", None)
        inside = [f"{key} {brief(item, depth + 1)}" for key, item in _shown_fields(value)] if depth < 2 else []
        text = " ".join([type(value).__name__, name if isinstance(name, str) else f"({', '.join(inside)})"])
    else:
        text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _array(value: Any) -> str:
    if value.size <= 9:
        return ", ".join(brief(item) for item in value.tolist()) if value.ndim else brief(value.item())
    sizes = " x ".join(map(str, value.shape))
    return f"{sizes} numbers from {brief(float(value.min()))} to {brief(float(value.max()))}"


def _writes_itself(value: Any) -> bool:
    """Whether it is a dataclass that says no more of itself than its fields."""
    kind = type(value)
    plain = kind.__repr__ is Brief.__repr__ or hasattr(kind.__repr__, "__wrapped__")
    return is_dataclass(kind) and kind.__str__ is object.__str__ and plain


def _first(items: Iterable[Any]) -> list[Any]:
    """No more than could be shown, without looking at the rest."""
    return [item for item, _ in zip(items, range(LONGEST // 2))]


def _cut(text: str, longest: int = 100) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _shown_fields(value: Any) -> list[tuple[str, Any]]:
    return [(f.name, getattr(value, f.name)) for f in fields(value) if f.repr and not f.name.startswith("_")]


class Brief:
    """A dataclass (with `repr=False`) whose `repr` fits a screen: each field in a few words, arrays by their shape."""

    __slots__ = ()

    def __repr__(self) -> str:
        cells = [f"{name}={_cut(brief(value))}" for name, value in _shown_fields(self)[:MOST_FIELDS]]
        return f"{type(self).__name__}({', '.join(cells)})"


class Shown(Brief):
    """A dataclass whose fields are its table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return table(type(self).__name__, _shown_fields(self))
