"""The result of `abbreviate`: a model in fewer terms or a program in fewer operations, with its certified error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from emdeg.approximation.average import EntryDeviation
from emdeg.approximation.significance import Dropped
from emdeg.bounds import CertifiedExtremum
from emdeg.documents import Brief, Shown, table
from emdeg.equations import LumpedModel, Model
from emdeg.errors import BadRequest
from emdeg.programs import (
    OPERATIONS,
    Count,
    Effort,
    Program,
    Progress,
    Tracer,
    Weights,
    count,
    explicit_program,
    included,
    prune,
)
from emdeg.programs import program as exact_program
from emdeg.robot import Robot, Workspace

APPROXIMATED = ("inverse_dynamics", "bias", "gravity", "mass_matrix")
"""The functions of which approximate programs are known."""
OF_TORQUES = ("inverse_dynamics", "bias", "gravity")
"""Those of them whose outputs are joint torques; each is the one before at zero accelerations, or zero speeds."""
OUTPUTS = {"bias": "h", "gravity": "g"}


@dataclass(frozen=True, repr=False)
class SearchOptions(Shown):
    """How an approximate program is searched for.

    `effort`: nominal seconds for the exact program, where none is cached or given, and as many for the approximate one;
    the same effort and seed give the same program if `time`, a budget on the processor's clock, suffices. When it ends
    the shortest program that was certified is the result.
    """

    where: Workspace | None = None
    exact: Program | None = None
    effort: float = 5.0
    seed: int = 0
    weights: Weights = OPERATIONS
    progress: Progress | None = None
    time: Effort | None = None

    def tell(self, phase: str, best: float) -> None:
        """Report a phase of the search and the best cost so far."""
        if self.progress is not None:
            self.progress(phase, best)


@dataclass(frozen=True, repr=False)
class Approximation(Brief):
    """An approximate program of a function, an approximate model, or both, over a box of states."""

    robot: Robot
    function: str
    approximate: Program | None
    """The program that was searched for; None where terms of the model alone were left out: see `program`."""
    exact: Program | None
    where: Workspace
    errors: tuple[CertifiedExtremum, ...] = ()
    """By output, row by row: the certified largest |exact - approximate|, and the largest found [SI]."""
    largest: tuple[float, ...] = ()
    """By output: the largest magnitude found over the box; of a mass matrix's entry that of its two diagonal ones."""
    limits: tuple[float, ...] = ()
    """By output: what the error was to stay below; infinite where a number of operations was asked for."""
    at_most: int | None = None
    why: str = ""
    """Why nothing was left out, where the result is the exact program."""
    cut: bool = False
    """Whether the clock ended the search before its work was done: on a faster machine it may find another program."""
    parameters: tuple[Fraction, ...] = ()
    """Of a closed-loop mechanism: the base parameters with which its inverse dynamics are this program."""
    full: LumpedModel | None = None
    """The exact model of which terms were left out."""
    terms: LumpedModel | None = None
    """What remains of it."""
    dropped: tuple[Dropped, ...] = ()
    entries: tuple[EntryDeviation, ...] = ()
    entry_limits: tuple[float, float | None] | None = None
    """The average and the worst relative error that entries were to stay below, where a target was given."""

    @property
    def model(self) -> Model | None:
        """The approximate equations, to print, differentiate and evaluate; None where operations were left out."""
        return None if self.terms is None else self.terms.model

    @property
    def short(self) -> LumpedModel | None:
        """The older name of `terms`."""
        return self.terms

    def program(
        self,
        function: str | None = None,
        *,
        seconds: float = 0.0,
        seed: int = 0,
        weights: Weights = OPERATIONS,
        effort: Effort | None = None,
    ) -> Program:
        """The approximate program of a function, by default of the one that was asked for.

        One of a model's terms is written from these; `seconds`: for a search for a cheaper form, 0 for none, or
        `effort`, a budget that others share. BadRequest where the function does not follow from what was found.
        """
        function = function or self.function
        if function == self.function and self.approximate is not None:
            return self.approximate
        if self.terms is not None:
            effort = effort or (Effort(seconds) if seconds else None)
            return explicit_program(self.terms, function, effort=effort, seed=seed, weights=weights)
        follows = OF_TORQUES[OF_TORQUES.index(self.function) + 1 :] if self.function in OF_TORQUES else ()
        if function not in follows or self.approximate is None:
            raise BadRequest(
                f"an approximate program of {function} does not follow from one of {self.function}: "
                f"ask for it with abbreviate(robot, function={function!r}, ...)"
            )
        return _at_zero_rates(self.approximate, function)

    @property
    def certified_error(self) -> tuple[float, ...]:
        """By output: the certified error over the largest magnitude."""
        return tuple(e.bound / peak if peak else 0.0 for e, peak in zip(self.errors, self.largest))

    @cached_property
    def operations(self) -> Count:
        """Of the approximate program."""
        return count(self.program())

    @cached_property
    def exact_operations(self) -> Count:
        """Of the exact program: the one that was approximated, or the smallest that is cached."""
        return count(self.exact or exact_program(self.robot, self.function))

    @property
    def is_exact(self) -> bool:
        """Whether nothing was left out of the program."""
        return self.approximate is not None and self.approximate == self.exact

    @property
    def names(self) -> tuple[str, ...]:
        """The outputs' names: the joints', or two of them for an entry of a matrix."""
        joints = [joint.name for joint in self.robot.driven]
        if len(self.errors) == len(joints):
            return tuple(joints)
        return tuple(f"{one}, {other}" for one in joints for other in joints)

    @property
    def missed(self) -> tuple[str, ...]:
        """Every target that was given and is not kept, in words, with what was reached."""
        found = [
            f"{name}: the certified error is {e.bound:.4g}, asked for was {limit:.4g}"
            for name, e, limit in zip(self.names, self.errors, self.limits)
            if e.bound > limit
        ]
        if self.at_most is not None and self.operations.total > self.at_most:
            found.append(f"the shortest found has {self.operations.total} operations, asked for were {self.at_most}")
        for e in self.entries:
            for name, reached, limit in zip(("average", "worst"), (e.average, e.worst), self.entry_limits or ()):
                if limit is not None and reached > limit:
                    found.append(f"{e.entry}: the {name} relative error is {reached:.4g}, asked for was {limit:.4g}")
        return tuple(found)

    def left_out(self) -> dict[str, dict[str, Any]]:
        """{entry: what was dropped from it, as a formula, and its terms by falling size} of entries that lost some."""
        found: dict[str, dict[str, Any]] = {}
        if self.full is None:
            return found
        gone = self.full.keeping({(d.entry, d.constant) for d in self.dropped})
        for d in sorted(self.dropped, key=lambda d: (-d.size, d.constant)):
            one = found.setdefault(d.entry, {"text": gone.written_out(d.entry), "terms": []})
            one["terms"].append({"constant": d.constant, "size": d.size, "why": d.rule})
        return found

    def error_data(self) -> list[dict[str, Any]]:
        """By output: bound, found, their ratio, and both against the output's own range and its target or limit."""
        rows = []
        for k, (name, e, peak, part) in enumerate(zip(self.names, self.errors, self.largest, self.certified_error)):
            row: dict[str, Any] = {"joint": name, "certified": e.bound, "found": e.value, "ratio": e.ratio}
            row |= {"largest_effort": peak, "certified_over_largest": part}
            if self.approximate is None:
                joint = self.robot.joints[k]
                limit = joint.drive.max_torque
                limit = joint.limits.effort if limit is None else limit
                row["certified_over_largest"] = part if peak else None
                row["certified_over_limit"] = e.bound / float(limit) if limit else None
            else:
                # Where bound and value differ by rounding alone there is no ratio to report.
                row["ratio"] = e.ratio if e.bound > 1e-9 * peak and math.isfinite(e.ratio) else None
                row["target"] = self.limits[k] if math.isfinite(self.limits[k]) else None
            rows.append(row)
        return rows

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "robot": self.robot.name,
            "joints": list(self.where.joints),
            "function": self.function,
            "box": self.where.data(),
            "operations": self.operations.as_dict(),
            "exact_operations": self.exact_operations.as_dict(),
            "certified_error": list(self.certified_error),
            "errors": self.error_data(),
            "within_target": not self.missed,
            "missed": list(self.missed),
            "exact": self.is_exact,
            "why": self.why,
            "ended_by_clock": self.cut,
        }

    def generate(self, file: str, *, program: Program | None = None, command: str = "", seed: int = 0) -> Any:
        """The C of the approximate program as an `Artefact`, with the verification record of its certified error.

        `file`: its name, from which the function's follows. `program`: one of the model's terms, by default that of
        `program()`. `emdeg.codegen.write` writes the artefact into a folder.
        """
        if not self.errors:
            raise BadRequest("only single entries have a certified error: there is no program whose error is certified")
        from emdeg.approximation.code import make_approximate_artefact  # a fourth of what importing this would bring

        return make_approximate_artefact(self, program, file=file, command=command, seed=seed)

    def _repr_html_(self) -> str:
        head = ("output", "error, certified", "error, found", "largest")
        rows = [(row["joint"], row["certified"], row["found"], row["largest_effort"]) for row in self.error_data()]
        length = "" if self.approximate is None else f", {self.operations.total} operations"
        return table(f"{self.robot.name}, {self.function}, approximate{length}", rows, head)


def _at_zero_rates(program: Program, function: str) -> Program:
    """Bias or gravity from a program of inverse dynamics or bias: its error is within that one's over the same box."""
    tracer = Tracer()
    inputs: dict[str, Any] = {}
    for group in program.inputs:
        if group.name == "q" or (group.name, function) == ("qd", "bias"):
            inputs[group.name] = tracer.inputs(group.name, group.size, group.depends, group.labels)
        else:
            inputs[group.name] = [tracer.number(0)] * group.size
    return prune(tracer.program(function, {OUTPUTS[function]: included(tracer, program, inputs)[0]}))


Abbreviated = ShortProgram = Approximation
SHORT_FUNCTIONS = APPROXIMATED
"""The names of 0.2."""
