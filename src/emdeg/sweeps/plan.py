"""A study made ready to run: every robot as text, every program as data, the work cut into chunks.

A plan is all that a chunk needs, and is plain JSON: it goes to other processes and machines, into the folder of the
results and into their metadata, and from it the study can be repeated without the files it was made from. Chunks are
cut by the plan alone, never by who works, so a chunk is the same work everywhere.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from emdeg.equations import entry_name
from emdeg.errors import NotAProgram, SweepError
from emdeg.programs import Program, from_data
from emdeg.robot import Workspace
from emdeg.sweeps.study import Study, study_from_data

SCHEMA = 2
RUNNING = ("least", "greatest", "sum", "squares")
PEAK = ("peak", "at")
"""Greatest magnitude, and the number of the state it is met in."""


@dataclass(frozen=True)
class Parameter:
    """How a symbol gets its value in a sample: `rule` is grid (an axis of the grids), uniform, normal or tolerance.

    `numbers`: grid nothing; uniform low, high; normal mean, deviation; tolerance nominal value, +-. `axis` is the
    place among the grids, or among the case's random dimensions.
    """

    path: str
    symbol: str
    rule: str
    axis: int
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class StateBox:
    """One workspace of one case, and the ranges of all columns of a state in it."""

    name: str
    where: Workspace
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class PlannedOutput:
    """An array that is computed at every state: its name, its shape, and the statistics asked for its entries."""

    name: str
    shape: tuple[int, ...]
    statistics: tuple[str, ...]

    @property
    def entries(self) -> list[str]:
        """The names of its entries, row by row: tau1, M12; its own where it is one number."""
        if not self.shape:
            return [self.name]
        return [entry_name(self.name, *(i + 1 for i in place)) for place in np.ndindex(*self.shape)]

    @property
    def running(self) -> tuple[str, ...]:
        """The running values that the statistics are made of."""
        return (*RUNNING, *PEAK) if "at" in self.statistics else RUNNING


@dataclass(frozen=True)
class Case:
    """One robot with one payload: its text, its programs as data, how its symbols vary, where it moves."""

    robot: str
    payload: str
    toml: str
    n: int
    parameters: tuple[Parameter, ...]
    programs: dict[str, Any]
    groups: tuple[str, ...]
    """The arrays of a state, in order: q and those of qd, qdd, tau that some function reads."""
    outputs: tuple[PlannedOutput, ...]
    limits: tuple[float, ...] | None
    boxes: tuple[StateBox, ...]

    def program(self, function: str) -> Program:
        try:
            return from_data(self.programs[function])
        except NotAProgram as problem:
            raise SweepError(f"the plan is damaged: {problem}", body=function) from None


@dataclass(frozen=True)
class Work:
    """How the work is cut. A unit is a part of one sample's states; a chunk is some units, one after the other."""

    samples: int
    states: int
    part_states: int
    chunk_units: int

    def __post_init__(self) -> None:
        if any(not isinstance(value, int) or value < 1 for value in asdict(self).values()):
            raise SweepError("the plan is damaged: its work is not cut into anything")

    @property
    def parts(self) -> int:
        return -(-self.states // self.part_states)

    @property
    def units(self) -> int:
        return self.samples * self.parts

    @property
    def chunks(self) -> int:
        return -(-self.units // self.chunk_units)


@dataclass(frozen=True)
class Plan:
    """See the module."""

    version: str
    study: Study
    study_digest: str
    cases: tuple[Case, ...]
    work: Work

    def to_json(self) -> str:
        data = {
            "schema": SCHEMA,
            "version": self.version,
            "study": self.study.to_data(),
            "study_digest": self.study_digest,
            "cases": [asdict(case) for case in self.cases],
            "work": asdict(self.work),
        }
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @cached_property
    def digest(self) -> str:
        return text_digest(self.to_json())

    @property
    def grids(self) -> tuple[tuple[float, ...], ...]:
        """The values of each grid, in the study's order."""
        return tuple(one.values for one in self.study.vary if one.values is not None)

    @property
    def scales(self) -> tuple[float, ...]:
        return self.study.tolerances.scale if self.study.tolerances else (1.0,)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cases, workspaces, tolerance scales, values of each grid, and draws there are."""
        grids = (len(values) for values in self.grids)
        return (len(self.cases), len(self.study.workspaces), len(self.scales), *grids, self.study.draws)

    @property
    def varied(self) -> tuple[str, ...]:
        """The paths that vary in any case, in the order of their columns."""
        return tuple(dict.fromkeys(p.path for case in self.cases for p in case.parameters))


def text_digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def study_digest(version: str, study: Study, cases: tuple[Case, ...]) -> str:
    """Of all that decides the results: robots and payloads count by what they are, not by where their files stand."""
    data = study.to_data()
    counts = [len(data.pop("robots")), len(data.pop("payloads"))]
    decides = ("toml", "n", "parameters", "groups", "outputs", "limits", "boxes")
    parts = [{key: value for key, value in asdict(case).items() if key in decides} for case in cases]
    return text_digest(json.dumps([version, data, counts, parts], sort_keys=True))


def plan_from_json(text: str) -> Plan:
    """The plan that `Plan.to_json` wrote; SweepError where it is none."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise SweepError(
                f"this is a plan of form {data['schema']}, written by emdeg {data['version']}; this emdeg knows form "
                f"{SCHEMA}: run the study again in a new folder"
            )
        plan = Plan(
            data["version"],
            study_from_data(data["study"]),
            data["study_digest"],
            tuple(_case(one) for one in data["cases"]),
            Work(**data["work"]),
        )
        if math.prod(plan.shape) != plan.work.samples:
            raise SweepError("the plan is damaged: its samples are not those of its study")
        return plan
    except SweepError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError) as problem:
        raise SweepError(f"this is no plan of a sweep: {problem}") from None


def _case(data: dict[str, Any]) -> Case:
    parameters = tuple(Parameter(**{**one, "numbers": tuple(one["numbers"])}) for one in data["parameters"])
    boxes = tuple(_box(_deep_tuple(one)) for one in data["boxes"])
    plain = {key: data[key] for key in ("robot", "payload", "toml", "n", "programs")}
    plain["limits"] = None if data["limits"] is None else tuple(data["limits"])
    outputs = tuple(PlannedOutput(o["name"], tuple(o["shape"]), tuple(o["statistics"])) for o in data["outputs"])
    return Case(parameters=parameters, boxes=boxes, outputs=outputs, groups=tuple(data["groups"]), **plain)


def _box(data: dict[str, Any]) -> StateBox:
    return StateBox(**{**data, "where": Workspace(**data["where"])})


def _deep_tuple(value: Any) -> Any:
    """The same with tuples for lists, all the way down."""
    if isinstance(value, dict):
        return {key: _deep_tuple(one) for key, one in value.items()}
    return tuple(_deep_tuple(one) for one in value) if isinstance(value, list) else value
