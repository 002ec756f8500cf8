"""A design study as data: what varies, at which states, what is computed. Nothing here runs anything.

The samples of a study are the product of its robots, payloads, workspaces, tolerance scales, grids and random draws,
the last fastest. Every sample is looked at in the same number of states, and gives one row of the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from emdeg.errors import SweepError

STATISTICS = ("min", "max", "max_abs", "mean", "rms", "std", "at")
"""Over the states of a sample; `at` is the number of the state where |x| is greatest."""

Range = tuple[float, float]


@dataclass(frozen=True)
class Vary:
    """One parameter that varies: on a grid (`values`), uniformly over (low, high), or normally about (mean, sd)."""

    parameter: str
    values: tuple[float, ...] | None = None
    uniform: Range | None = None
    normal: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("values", "uniform", "normal") if getattr(self, name) is not None]
        if len(given) != 1:
            raise SweepError("say one of values (or from, to, count), uniform and normal", body=self.parameter)
        if self.values is not None and not self.values:
            raise SweepError("its grid is empty: values has no number", body=self.parameter)
        numbers = (*(self.values or ()), *(self.uniform or ()), *(self.normal or ()))
        if not all(map(math.isfinite, numbers)):
            raise SweepError("a number is not finite", body=self.parameter)
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            low, high = self.uniform
            raise SweepError(f"its range is empty: from {low:g} to {high:g}", body=self.parameter)
        if self.normal is not None and self.normal[1] < 0:
            raise SweepError("its standard deviation is negative", body=self.parameter)

    @property
    def is_random(self) -> bool:
        return self.values is None


@dataclass(frozen=True)
class StatedTolerances:
    """Every parameter with a tolerance in its robot's file varies by it, times each number of `scale`.

    "normal": the tolerance is one standard deviation; "uniform": it is the half width.
    """

    distribution: Literal["normal", "uniform"] = "normal"
    scale: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if not self.scale:
            raise SweepError("scale has no number: the grid is empty", body="tolerances")
        if any(not math.isfinite(s) or s < 0 for s in self.scale):
            raise SweepError("scale must not be negative", body="tolerances")


@dataclass(frozen=True)
class NamedRanges:
    """Ranges of joints [rad, m] by name, within the robots' limits; joints not named keep their limits."""

    name: str = "limits"
    ranges: Mapping[str, Range] = field(default_factory=dict)


PerJoint = float | tuple[float, ...] | Mapping[str, float]


@dataclass(frozen=True)
class States:
    """Where functions are evaluated in every sample.

    "random": `count` states, positions uniform over the workspace, speeds, accelerations and torques uniform within
    +- the given [a number, one a joint, or by joint name]; None is the joint's limit in the robot's file. "grid":
    `points` values of every joint from end to end, at rest. "motions": `count` motions from one random configuration
    to another with a fifth-order polynomial, `points` states along each, in `duration` seconds.
    """

    kind: Literal["random", "grid", "motions"] = "random"
    count: int = 10_000
    points: int = 101
    duration: float = 1.0
    speed: PerJoint | None = None
    acceleration: PerJoint | None = None
    torque: PerJoint | None = None
    common: bool = True
    """Whether all samples see the same states; else each has its own."""

    def __post_init__(self) -> None:
        if self.kind not in ("random", "grid", "motions"):
            raise SweepError(f"kind must be random, grid or motions, not {self.kind!r}", body="states")
        if self.count < 1 or self.points < 1 or (self.kind == "motions" and self.points < 2):
            raise SweepError("count and points must be at least 1 (2 along a motion)", body="states")
        if not (self.duration > 0 and math.isfinite(self.duration)):
            raise SweepError("the duration must be positive", body="states")


@dataclass(frozen=True)
class Compute:
    """One thing to compute: a function of a model, or an analysis; with which statistics over the states."""

    function: str | None = None
    analysis: str | None = None
    statistics: tuple[str, ...] = ()
    """Empty: what is usual for it."""
    name: str = ""
    """Stands before the names of its columns."""
    gap: float = 1e-3
    """Of certified extremes: the largest relative gap."""

    def __post_init__(self) -> None:
        what = self.function or self.analysis
        if (self.function is None) == (self.analysis is None):
            raise SweepError("say either function or analysis", body="compute")
        unknown = [s for s in self.statistics if s not in STATISTICS]
        if unknown:
            raise SweepError(f"there is no statistic {unknown[0]!r}; there are {', '.join(STATISTICS)}", body=what)
        if not 1e-9 <= self.gap <= 0.5:
            raise SweepError("gap must lie between 1e-9 and 0.5", body=what)


@dataclass(frozen=True)
class Study:
    """A whole study; see docs/sweeps.md. `robots` are library names or paths, `payloads` as `--payload` takes them."""

    name: str
    robots: tuple[str, ...]
    compute: tuple[Compute, ...]
    vary: tuple[Vary, ...] = ()
    tolerances: StatedTolerances | None = None
    payloads: tuple[str, ...] = ("none",)
    workspaces: tuple[NamedRanges, ...] = (NamedRanges(),)
    states: States = States()
    draws: int = 1
    """Random draws for each point of the grids."""
    method: Literal["monte_carlo", "latin_hypercube"] = "monte_carlo"
    seed: int = 0
    output: Literal["statistics", "states"] = "statistics"
    """With "states" every state is kept: a row each."""
    chunk_states: int | None = None
    """States in a chunk of work; None: about a second's."""
    backend: Literal["llvm", "cuda"] = "llvm"
    """What computes: this machine's processors, or its GPU."""
    gravity: tuple[float, float, float] | None = None
    tip: str | None = None
    lock: Mapping[str, float] = field(default_factory=dict)
    set: Mapping[str, float] = field(default_factory=dict)
    title: str = ""

    def __post_init__(self) -> None:
        for what, items in (("robots", self.robots), ("payloads", self.payloads), ("workspaces", self.workspaces)):
            if not items:
                raise SweepError(f"{what} is empty: there is nothing to compute", body=self.name)
        if not self.compute:
            raise SweepError("nothing is to be computed: write a [[compute]]", body=self.name)
        for what, names in (
            ("parameter", [v.parameter for v in self.vary]),
            ("workspace", [w.name for w in self.workspaces]),
            ("payload", list(self.payloads)),
            ("robot", list(self.robots)),
        ):
            doubled = [name for name in names if names.count(name) > 1]
            if doubled:
                raise SweepError(f"the {what} {doubled[0]!r} is named twice", body=self.name)
        if self.draws < 1:
            raise SweepError("draws must be at least 1: there is nothing to compute", body=self.name)
        if not 0 <= self.seed < 2**63:
            raise SweepError("the seed must be a whole number from 0 to 2^63 - 1", body=self.name)
        if self.method not in ("monte_carlo", "latin_hypercube"):
            raise SweepError("method must be monte_carlo or latin_hypercube", body=self.name)
        if self.output not in ("statistics", "states"):
            raise SweepError("output must be statistics or states", body=self.name)
        if self.backend not in ("llvm", "cuda"):
            raise SweepError(f"backend must be llvm or cuda, not {self.backend!r}", body=self.name)
        if self.chunk_states is not None and self.chunk_states < 1:
            raise SweepError("chunk_states must be at least 1", body=self.name)

    def to_data(self) -> dict[str, Any]:
        """The study as plain data, for its digest and for results' metadata."""
        return asdict(self)


def study_from_data(data: Mapping[str, Any]) -> Study:
    """The study that `Study.to_data` gave, also after a way through JSON."""
    plain = dict(data)
    nested: dict[str, Any] = {
        "compute": tuple(Compute(**_tuples(one)) for one in plain.pop("compute")),
        "vary": tuple(Vary(**_tuples(one)) for one in plain.pop("vary")),
        "workspaces": tuple(
            NamedRanges(one["name"], {k: tuple(v) for k, v in one["ranges"].items()})  # type: ignore[misc]
            for one in plain.pop("workspaces")
        ),
        "states": States(**_tuples(plain.pop("states"))),
    }
    tolerances = plain.pop("tolerances")
    nested["tolerances"] = None if tolerances is None else StatedTolerances(**_tuples(tolerances))
    return Study(**_tuples(plain), **nested)


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
