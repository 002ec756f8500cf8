"""How far every loop is from where it can no longer close: a flag for programs, which cannot raise an error."""

from __future__ import annotations

from collections.abc import Callable

from emdeg.dynamics.spatial import Scalar
from emdeg.dynamics.state import Outputs
from emdeg.errors import RobotError
from emdeg.loops.analytic_closure import Step
from emdeg.loops.linkage import Place
from emdeg.loops.state import LoopState


def margins(s: LoopState) -> Outputs:
    """The reach margin of every loop, rods first; one where no root is taken."""

    def margin(step: Step, place: Place) -> Scalar | None:
        found = step.margin(place)
        step.take(place, s.root)
        return found

    return _by_loop(s, Place(s.link, s.coordinates), margin)


def margins_from_positions(s: LoopState) -> Outputs:
    """The same from where the links are: the angles between them, measured."""
    return _by_loop(s, Place(s.link, dict(enumerate(s.position))), lambda step, place: step.measured_margin(place))


def _by_loop(s: LoopState, place: Place, margin: Callable[[Step, Place], Scalar | None]) -> Outputs:
    if s.plan is None:
        raise RobotError("its loops close numerically, and have no margins: ask emdeg.loops.reachable", body="closure")
    found: dict[str, Scalar] = dict.fromkeys(place.loops, s.tree.one)
    for step in s.plan:
        value = margin(step, place)
        if value is not None:
            found |= dict.fromkeys(step.loops, value)
    return {"closure": list(found.values())}
