"""STUDY.toml -> a study, with the file, the line and the rule where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from emdeg.errors import OverBudget, RobotError, SweepError
from emdeg.robot import SUFFIXES, Remarks, TomlDocument, TomlTable, as_real, flag, kind_of, numbers, read_text, real
from emdeg.sweeps.study import Compute, NamedRanges, PerJoint, Range, StatedTolerances, States, Study, Vary

_TOP = (
    "schema",
    "name",
    "title",
    "robots",
    "payloads",
    "seed",
    "draws",
    "method",
    "output",
    "out",
    "chunk_states",
    "backend",
    "gravity",
    "tip",
    "lock",
    "set",
    "states",
    "tolerances",
    "vary",
    "compute",
    "workspace",
)
MOST_GRID = 10**6


def read_study(path: Path | str) -> tuple[Study, str | None]:
    """(the study in that file, where it says its results go); paths in it start at the file's folder."""
    file = str(path)
    try:
        return _study(TomlDocument(read_text(file), file), Path(path))
    except OverBudget:
        raise
    except RobotError as problem:
        raise SweepError(problem.rule, file=problem.file or file, line=problem.line, body=problem.body) from None


def _study(document: TomlDocument, path: Path) -> tuple[Study, str | None]:
    top = TomlTable(document.data, document, Remarks())
    top.only(_TOP)
    if top.data.get("schema") != 1:
        raise top.error("schema = 1 must stand at the top: the version of the study file's form", "schema")
    tolerances = _single(top, "tolerances")
    vary = tuple(_vary(table) for table in _array(top, "vary"))
    study = Study(
        name=top.name("name", path.stem),
        title=top.text("title", ""),
        robots=tuple(_beside(path, name, SUFFIXES) for name in _texts(top, "robots")),
        payloads=tuple(_beside(path, text, (".toml",)) for text in _texts(top, "payloads", ["none"])),
        vary=vary,
        tolerances=None if tolerances is None else _tolerances(tolerances),
        workspaces=tuple(_workspace(table) for table in _array(top, "workspace")) or (NamedRanges(),),
        states=_states(_single(top, "states") or TomlTable({}, document, top.remarks, "states")),
        compute=tuple(_compute(table) for table in _array(top, "compute")),
        draws=_whole(top, "draws", 1, 10**12),
        method=top.choice("method", ("monte_carlo", "latin_hypercube"), "monte_carlo"),  # type: ignore[arg-type]
        seed=_whole(top, "seed", 0, 2**63 - 1, 0),
        output=top.choice("output", ("statistics", "states"), "statistics"),  # type: ignore[arg-type]
        chunk_states=top.integer("chunk_states", 1, 10**12),
        backend=top.choice("backend", ("llvm", "cuda"), "llvm"),  # type: ignore[arg-type]
        gravity=tuple(numbers(top, "gravity", 3)) if "gravity" in top else None,  # type: ignore[arg-type]
        tip=top.name("tip") if "tip" in top else None,
        lock=_named(top, "lock"),
        set=_named(top, "set"),
    )
    if study.draws > 1 and not any(one.is_random for one in vary) and study.tolerances is None:
        raise top.error("draws: nothing is random; give a [[vary]] with uniform or normal, or [tolerances]", "draws")
    out = top.text("out") if "out" in top else None
    return study, None if out is None else str(path.parent / out)


def _beside(path: Path, text: str, suffixes: tuple[str, ...]) -> str:
    """A file's name as seen from the study's folder; other texts as they are."""
    if text.endswith(suffixes) and "=" not in text and not Path(text).is_absolute():
        return str(path.parent / text)
    return text


def _whole(table: TomlTable, key: str, low: int, high: int, default: int = 1) -> int:
    found = table.integer(key, low, high)
    return default if found is None else found


def _array(top: TomlTable, key: str) -> list[TomlTable]:
    value = top.data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise top.error(f"write each {key} under its own [[{key}]], with two brackets", key)
    return [TomlTable(entry, top.document, top.remarks, key, i) for i, entry in enumerate(value)]


def _single(top: TomlTable, key: str) -> TomlTable | None:
    value = top.data.get(key)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise top.error(f"{key} must be a table [{key}]", key)
    return TomlTable(value, top.document, top.remarks, key)


def _texts(table: TomlTable, key: str, default: list[str] | None = None) -> list[str]:
    value = table.data.get(key, default)
    if value is None:
        raise table.error(f"{key} is missing: a list of texts")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise table.error(f"{key} must be a list of texts", key)
    if not value:
        raise table.error(f"{key} is empty: there is nothing to compute", key)
    return value


def _named(top: TomlTable, key: str) -> dict[str, float]:
    value = top.data.get(key, {})
    if not isinstance(value, dict):
        raise top.error(f"{key} must be a table of numbers by name", key)
    return {name: as_real(top, one, f"{key}.{name}") for name, one in value.items()}


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


def _tolerances(table: TomlTable) -> StatedTolerances:
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
    ranges = table.data.get("ranges", {})
    if not isinstance(ranges, dict):
        raise table.error("ranges must be a table: { q1 = [low, high] }", "ranges")
    return NamedRanges(table.name("name"), {joint: _range(table, joint, ends) for joint, ends in ranges.items()})


def _range(table: TomlTable, joint: str, ends: Any) -> Range:
    if not isinstance(ends, list) or len(ends) != 2:
        raise table.error(f"the range of {joint} must be two numbers [low, high]", "ranges")
    low, high = (as_real(table, end, joint) for end in ends)
    return low, high


def _states(table: TomlTable) -> States:
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
        _whole(table, "count", 1, 10**12, 10_000 if kind == "random" else 100),
        _whole(table, "points", 2 if kind == "motions" else 1, 10**6, 101 if kind == "motions" else 3),
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
    if isinstance(value, dict):
        return {name: as_real(table, one, f"{key}.{name}") for name, one in value.items()}
    return real(table, key, least=0.0)


def _compute(table: TomlTable) -> Compute:
    table.only(("function", "analysis", "statistics", "name", "gap"))
    statistics = table.data.get("statistics", [])
    if not isinstance(statistics, list) or not all(isinstance(one, str) for one in statistics):
        raise table.error(f"statistics must be a list of texts, not {kind_of(statistics)}", "statistics")
    try:
        return Compute(
            table.text("function") if "function" in table else None,
            table.text("analysis") if "analysis" in table else None,
            tuple(statistics),
            table.name("name") if "name" in table else "",
            real(table, "gap", 1e-3),
        )
    except SweepError as problem:
        raise table.error(problem.rule, "statistics" if "statistic" in problem.rule else None) from None
