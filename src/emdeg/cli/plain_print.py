"""Results that have no table of their own: names and values, one a line."""

from __future__ import annotations

from typing import Any

from emdeg.cli.common import head, out


def print_plain(key: str, data: Any) -> None:
    """A part of a result under its name."""
    head(key)
    for line in _lines(data):
        out.print("  " + line, soft_wrap=True)


def _lines(data: Any) -> list[str]:
    if isinstance(data, dict):
        lines = []
        for name, value in data.items():
            if isinstance(value, (list, tuple)) and value and isinstance(value[0], (dict, str)):
                lines.append(f"{name}:")
                lines += ["  " + line for line in _lines(value)]
            else:
                lines.append(f"{name}: {_short(value)}")
        return lines
    return [_short(one) for one in data]


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_short(v)}" for k, v in value.items() if v is not None)
    if isinstance(value, float):
        return f"{value:.5g}"
    if hasattr(value, "tolist"):
        return _short(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return str(value)
