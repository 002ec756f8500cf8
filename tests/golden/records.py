"""Recorded results: compact JSON files, one entry per line, and the comparison that names the first difference."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PROSE = re.compile(r"[A-Za-z]{3,}[,:;]? [A-Za-z]{2,}|[A-Za-z]{2,}[,:;]? [A-Za-z]{3,}")
"""Two words side by side: text for people, which may be reworded, and no formula, name or unit."""

VARIES = {"title", "source", "meaning", "notes", "robot_file", "emdeg", "version"}  # text
VARIES |= {"seconds", "busy_seconds", "boxes", "gap", "digest", "sha256", "study_digest"}  # the course of a computation
VARIES |= {"height_bound", "degree_bound", "false_pass_probability", "points", "primes"}  # of an identity check
"""Keys of JSON results that are not recorded."""

DIGESTED = 15_000
"""JSON results of more characters are stored as a tree of digests."""


def sha(text: str, characters: int = 12) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:characters]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Records:
    """The entries of one file, each a JSON value under its id."""

    def __init__(self, name: str, update: bool) -> None:
        self.path, self.update = FOLDER / f"{name}.json", update

    def read(self) -> dict[str, Any]:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def check(self, key: str, found: Any, compare: Callable[[Any, Any], Iterator[str]] | None = None) -> None:
        """Compare with what is recorded under `key`; with --update-golden record it instead."""
        found, recorded = json.loads(compact(found)), self.read()
        if self.update:
            entries = {**recorded, key: found}
            lines = (f"{compact(name)}:{compact(entries[name])}" for name in sorted(entries))
            written = self.path.with_suffix(".new")
            written.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            written.replace(self.path)
            return
        assert key in recorded, f"{self.path.name} has no entry {key}: record it with pytest --update-golden"
        wrong = list((compare or differences)(recorded[key], found))
        assert not wrong, "\n".join([f"{key}: {len(wrong)} differences from {self.path.name}", *wrong[:8]])


def differences(old: Any, new: Any, path: str = "", relative: float = 1e-7, absolute: float = 1e-10) -> Iterator[str]:
    """Where two JSON values differ, numbers by more than the tolerances."""
    numbers = (int, float)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key not in new:
                yield f"{path}/{key}: missing; recorded {str(old[key])[:80]}"
            elif key not in old:
                yield f"{path}/{key}: new; found {str(new[key])[:80]}"
            else:
                yield from differences(old[key], new[key], f"{path}/{key}", relative, absolute)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries recorded, {len(new)} found"
        for index, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{path}/{index}", relative, absolute)
    elif isinstance(old, bool) or isinstance(new, bool) or not (isinstance(old, numbers) and isinstance(new, numbers)):
        if old != new:
            yield f"{path}: recorded {str(old)[:160]}, found {str(new)[:160]}"
    elif not math.isclose(old, new, rel_tol=relative, abs_tol=absolute):
        yield f"{path}: recorded {old}, found {new}"


def plain(value: Any, left_out: frozenset[str] = frozenset()) -> Any:
    """A JSON result without text for people, numbers to nine significant digits."""
    if isinstance(value, dict):
        return {key: plain(each, left_out) for key, each in value.items() if key not in VARIES | left_out}
    if isinstance(value, list):
        return [plain(each, left_out) for each in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return "..." if PROSE.search(value) or "/tmp" in value or "\n" in value else value
    return value


def digested(value: Any, depth: int = 3) -> Any:
    """A large JSON value: the keys of its upper levels, digests of what is below them."""
    text = compact(value)
    if len(text) <= 100:
        return value
    if depth and isinstance(value, dict):
        return {key: digested(each, depth - 1) for key, each in value.items()}
    if depth and isinstance(value, list) and len(value) <= 200:
        return [digested(each, depth - 1) for each in value]
    return f"{sha(text)} of {len(text)} characters"


def blocks_of(lines: list[str]) -> list[list[str]]:
    """The lines in at most 400 blocks of as many lines each."""
    size = max(1, -(-len(lines) // 400))
    return [lines[start : start + size] for start in range(0, len(lines), size)]


def lines_digest(lines: list[str]) -> list[Any]:
    """The number of lines, their common digest, and a short digest of each block, so that the first other is found."""
    return [len(lines), sha("\n".join(lines)), "".join(sha("\n".join(block), 3) for block in blocks_of(lines))]


def first_other_line(lines: list[str]) -> Callable[[Any, Any], Iterator[str]]:
    """A comparison of two `lines_digest` that quotes the first block of `lines` that is not as recorded."""

    def compare(old: Any, new: Any) -> Iterator[str]:
        if old == new:
            return
        yield f"{old[0]} lines recorded, {new[0]} found"
        blocks = blocks_of(lines)
        for k in range(0, max(len(old[2]), len(new[2])), 3):
            if old[2][k : k + 3] != new[2][k : k + 3]:
                yield "first other lines: " + " | ".join(blocks[k // 3] if k // 3 < len(blocks) else ["(missing)"])
                return

    return compare
