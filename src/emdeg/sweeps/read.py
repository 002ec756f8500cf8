"""STUDY.toml -> a study, with the file, the line and the rule where it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from emdeg.errors import OverBudget, RobotError, SweepError
from emdeg.robot import SUFFIXES, Fields, TomlTable, as_real, by_name, flag, numbers, optional, read_text, real
from emdeg.sweeps.study import Compute, NamedRanges, PerJoint, Range, StatedTolerances, States, Study, Vary

MOST_GRID = 10**6


def read_study(path: Path | str) -> tuple[Study, str | None]:
    """(the study in that file, where it says its results go); paths in it start at the file's folder."""
    file = str(path)
    try:
        return _study(TomlTable.of_file(read_text(file), file), Path(path))
    except OverBudget:
        raise
    except RobotError as problem:
        raise SweepError(problem.rule, file=problem.file or file, line=problem.line, body=problem.body) from None


def _study(top: TomlTable, path: Path) -> tuple[Study, str | None]:
    fields: Fields = {
        "schema": TomlTable.schema,
        "name": partial(TomlTable.name, default=path.stem),
        "title": partial(TomlTable.text, default=""),
        "robots": partial(_beside, path, SUFFIXES, None),
        "payloads": partial(_beside, path, (".toml",), ("none",)),
        "vary": partial(_each, _vary),
        "tolerances": optional(_tolerances),
        "workspace": partial(_each, _workspace),
        "states": _states,
        "compute": partial(_each, _compute),
        "draws": partial(TomlTable.integer, low=1, high=10**12, default=1),
        "method": partial(TomlTable.choice, choices=("monte_carlo", "latin_hypercube"), default="monte_carlo"),
        "seed": partial(TomlTable.integer, low=0, high=2**63 - 1, default=0),
        "output": partial(TomlTable.choice, choices=("statistics", "states"), default="statistics"),
        "chunk_states": partial(TomlTable.integer, low=1, high=10**12),
        "backend": partial(TomlTable.choice, choices=("llvm", "cuda"), default="llvm"),
        "gravity": optional(lambda table, key: tuple(numbers(table, key, 3))),
        "tip": optional(TomlTable.name),
        "lock": by_name,
        "set": by_name,
        "out": optional(TomlTable.text),
    }
    found = top.read(fields)
    del found["schema"]
    out, workspaces = found.pop("out"), found.pop("workspace")
    study = Study(**found, workspaces=workspaces or (NamedRanges(),))
    if study.draws > 1 and not any(one.is_random for one in study.vary) and study.tolerances is None:
        raise top.error("draws: nothing is random; give a [[vary]] with uniform or normal, or [tolerances]", "draws")
    return study, None if out is None else str(path.parent / out)


def _each(read: Callable[[TomlTable], Any], top: TomlTable, key: str) -> tuple[Any, ...]:
    return tuple(map(read, top.array(key)))


def _beside(
    path: Path, suffixes: tuple[str, ...], default: tuple[str, ...] | None, top: TomlTable, key: str
) -> tuple[str, ...]:
    """Files' names as seen from the study's folder; other texts as they are."""
    texts = top.texts(key, default)
    if not texts:
        raise top.error(f"{key} is empty: there is nothing to compute", key)
    own = [text.endswith(suffixes) and "=" not in text and not Path(text).is_absolute() for text in texts]
    return tuple(str(path.parent / text) if beside else text for text, beside in zip(texts, own))


def _vary(table: TomlTable) -> Vary:
    table.only(("parameter", "values", "from", "to", "count", "uniform", "normal"))
    name = table.text("parameter")
    spaced = [key for key in ("from", "to", "count") if key in table]
    given = [key for key in ("values", "uniform", "normal") if key in table] + (["from"] if spaced else [])
    if len(given) != 1:
        raise table.error(f"{name}: say one of values, from/to/count, uniform and normal", given[-1] if given else None)
    try:
        if spaced:
            return Vary(name, values=_spaced(table))
        numbers_ = tuple(float(x) for x in numbers(table, given[0], None if given[0] == "values" else 2))
        return Vary(name, **{given[0]: numbers_})  # type: ignore[arg-type]
    except SweepError as problem:
        raise table.error(f"{name}: {problem.rule}", given[0]) from None


def _spaced(table: TomlTable) -> tuple[float, ...]:
    low, high = real(table, "from"), real(table, "to")
    count = table.integer("count", 0, MOST_GRID)
    if count is None:
        raise table.error("count is missing: how many values from `from` to `to`")
    if count == 0:
        raise table.error("its grid is empty: count = 0", "count")
    return tuple(low + (high - low) * i / (count - 1) if count > 1 else low for i in range(count))


def _tolerances(top: TomlTable, key: str) -> StatedTolerances:
    table = top.table_or_empty(key)
    table.only(("distribution", "scale"))
    scale = table.data.get("scale", 1)
    try:
        return StatedTolerances(
            table.choice("distribution", ("normal", "uniform"), "normal"),  # type: ignore[arg-type]
            tuple(map(float, numbers(table, "scale"))) if isinstance(scale, list) else (real(table, "scale", 1.0),),
        )
    except SweepError as problem:
        raise table.error(problem.rule, "scale") from None


def _workspace(table: TomlTable) -> NamedRanges:
    table.only(("name", "ranges"))
    ranges = table.subtable("ranges")
    found = {} if ranges is None else {joint: _range(table, joint, ends) for joint, ends in ranges.data.items()}
    return NamedRanges(table.name("name"), found)


def _range(table: TomlTable, joint: str, ends: Any) -> Range:
    if not isinstance(ends, list) or len(ends) != 2:
        raise table.error(f"the range of {joint} must be two numbers [low, high]", "ranges")
    low, high = (as_real(table, end, joint) for end in ends)
    return low, high


def _states(top: TomlTable, key: str) -> States:
    table = top.table_or_empty(key)
    table.only(("kind", "count", "points", "duration", "speed", "acceleration", "torque", "common"))
    kind = table.choice("kind", ("random", "grid", "motions"), "random")
    useless = {
        "random": ("points", "duration"),
        "grid": ("count", "duration", "speed", "acceleration", "torque"),
        "motions": ("speed", "acceleration", "torque"),
    }[kind]
    for key in useless:
        if key in table:
            raise table.error(f"{key} means nothing for states of kind {kind!r}", key)
    return States(
        kind,  # type: ignore[arg-type]
        table.integer("count", 1, 10**12, 10_000 if kind == "random" else 100) or 1,
        table.integer("points", 2 if kind == "motions" else 1, 10**6, 101 if kind == "motions" else 3) or 1,
        real(table, "duration", 1.0),
        *(_per_joint(table, key) for key in ("speed", "acceleration", "torque")),
        common=flag(table, "common", True),
    )


def _per_joint(table: TomlTable, key: str) -> PerJoint | None:
    value = table.data.get(key)
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(map(float, numbers(table, key)))
    return by_name(table, key) if isinstance(value, dict) else real(table, key, least=0.0)


def _compute(table: TomlTable) -> Compute:
    fields: Fields = {
        "function": optional(TomlTable.text),
        "analysis": optional(TomlTable.text),
        "statistics": partial(TomlTable.texts, default=()),
        "name": lambda table, key: table.name(key) if key in table else "",
        "gap": partial(real, default=1e-3),
    }
    found = table.read(fields)
    try:
        return Compute(**found)
    except SweepError as problem:
        raise table.error(problem.rule, "statistics" if "statistic" in problem.rule else None) from None
