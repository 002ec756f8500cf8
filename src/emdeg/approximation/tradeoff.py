"""The trade-off between an approximate model's length and its error: a curve as data, CSV and figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from emdeg.approximation.approximation import Approximation
from emdeg.approximation.closed_loops import lumped_approximation
from emdeg.approximation.row_error import certified_errors, largest_torques
from emdeg.approximation.shortest_program import shortest_within_each
from emdeg.approximation.significance import significant
from emdeg.bounds import CertifiedExtremum
from emdeg.documents import COLOURS, Shown, new_figure
from emdeg.equations import LumpedModel
from emdeg.programs import Count, Effort, count, explicit_program
from emdeg.robot import Robot, Workspace

SIGNIFICANCES = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
WORST_ERRORS = (0.02, 0.05, 0.1)


@dataclass(frozen=True)
class TradeoffPoint(Shown):
    """One short model: what was asked for, its operations, and its worst errors by joint, over the largest effort."""

    asked: float
    """The rule's threshold, or the error that it was to stay within."""
    mul: int
    add: int
    found: tuple[float, ...]
    certified: tuple[float, ...]
    name: str = ""
    """Of another mechanism that it is the program of."""
    terms: int = 0
    """Of an approximate model."""

    @property
    def operations(self) -> int:
        return self.mul + self.add


def tradeoff_point(
    asked: float, operations: Count, errors: Sequence[CertifiedExtremum], largest: Sequence[float], terms: int = 0
) -> TradeoffPoint:
    """The point of these operations and errors."""
    shares = [(e.value / peak, e.bound / peak) if peak else (0.0, 0.0) for e, peak in zip(errors, largest)]
    found, certified = tuple(one for one, _ in shares), tuple(one for _, one in shares)
    return TradeoffPoint(asked, operations.mul, operations.add, found, certified, terms=terms)


def _of(one: Approximation, asked: float) -> TradeoffPoint:
    return tradeoff_point(asked, one.operations, one.errors, one.largest)


def curve(
    full: LumpedModel,
    where: Workspace,
    *,
    thresholds: Sequence[float] = SIGNIFICANCES,
    seconds: float = 40.0,
    effort: Effort | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[TradeoffPoint, ...]:
    """Approximate models by the significance rule, the joints' threshold a tenth of the equations'.

    Of the time a third is for smaller programs, the rest for certification.
    """
    effort = effort or Effort(seconds)
    largest = largest_torques(full, where, until=effort.until(0.1))
    points = []
    for place, threshold in enumerate(thresholds):
        tell(f"terms below {threshold:g}")
        mine = effort.part(1 / (len(thresholds) - place))
        short = (
            significant(full, where, significance=threshold, joint_significance=threshold / 10)[0]
            if threshold
            else full
        )
        c = count(explicit_program(short, effort=mine.part(1 / 3)))
        errors = certified_errors(full, short, where, seconds=mine.left() / full.robot.n, clock=mine.clock)
        points.append(tradeoff_point(threshold, c, errors, largest))
    return tuple(points)


def curve_of_programs(
    robot: Robot,
    where: Workspace,
    *,
    worst_errors: Sequence[float] = WORST_ERRORS,
    effort: Effort,
    beside: Mapping[str, Robot] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[TradeoffPoint, ...]:
    """The exact program and short ones within rising errors, for robots of any length and mechanisms.

    `beside`: other mechanisms of the same geometry, by name, as points of their own.
    """
    found = shortest_within_each(robot, worst_errors, where=where, time=effort, tell=tell)
    c = found[0].exact_operations
    none = (0.0,) * len(found[0].errors)
    points = [TradeoffPoint(0.0, c.mul, c.add, none, none)]
    points += [_of(one, part) for part, one in zip(sorted(worst_errors), found) if not one.is_exact]
    for name, other in (beside or {}).items():
        tell(f"beside it {name}")
        points.append(replace(_of(lumped_approximation(robot, other, where), 0.0), name=name))
    return tuple(points)


def curve_csv(points: Sequence[TradeoffPoint], joints: Sequence[str], asked: str = "significance") -> str:
    """One row a model; `asked`: what the first column is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [f"{kind}_{name}" for kind in ("found", "certified") for name in joints]
    writer.writerow([asked, "multiplications", "additions", "operations", *names])
    for p in points:
        errors = [f"{x:.6g}" for x in (*p.found, *p.certified)]
        writer.writerow([p.name or p.asked, p.mul, p.add, p.operations, *errors])
    return text.getvalue()


MARKERS = "osD^vP*X"


def draw(
    points: Sequence[TradeoffPoint], joints: Sequence[str], title: str, path: Path, exact: int | None = None
) -> None:
    """Operations against the worst error of each joint, certified, in per cent of its largest effort.

    `exact`: the operations of the smallest exact program known, a line beyond which an approximate model is of no use.
    """
    figure, ((axes,),) = new_figure(8, 5)
    shown = [p for p in points if max(p.certified) > 0 and not p.name]
    named = [p for p in points if p.name and max(p.certified) > 0]
    for k, name in enumerate(joints):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        pairs = [(p.operations, 100 * p.certified[k]) for p in shown if p.certified[k] > 0]
        if pairs:
            across, up = zip(*pairs)
            axes.plot(across, up, label=name, linewidth=1.5, markersize=6, color=colour, marker=marker)
    for p in named:
        axes.plot([p.operations], [100 * max(p.certified)], "k*", markersize=11, label=p.name)
    if exact is not None:
        axes.axvline(exact, color="#555555", linestyle="--", linewidth=1.2, label=f"exact: {exact}")
    axes.set_yscale("log")
    axes.set_xlabel("operations of the inverse dynamics [multiplications + additions]")
    axes.set_ylabel("certified worst error [% of the joint's largest effort]")
    axes.set_title(title)
    axes.legend(title="joint", loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.savefig(path, dpi=150)
