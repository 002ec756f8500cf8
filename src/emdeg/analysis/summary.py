"""The parts of an analysis as plain data (for JSON), their figures written on the way where a folder is given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.analysis import figures
from emdeg.analysis.capabilities import (
    capability,
    dynamic_manipulability,
    operational_inertia,
    steady_speed,
    torque_limits,
)
from emdeg.analysis.extremes import LONGEST, JointLoad, formula_extremes, loads, unloaded
from emdeg.analysis.importance import Share, constant_shares, over_workspace, term_shares
from emdeg.analysis.motion import SampledMotion, across
from emdeg.analysis.published import tables
from emdeg.analysis.ratios import (
    Ratio,
    against_gravity,
    coupling_ratios,
    curves,
    gravity_ratio_ceiling,
    gravity_ratios,
    largest_of,
    most_influential,
    positive,
    ratio,
    ratio_map,
)
from emdeg.analysis.restricted import restrict
from emdeg.analysis.servo import servo_view, slow_fast_boundary
from emdeg.analysis.shared_time import search_each
from emdeg.analysis.velocity import VelocityTerm, velocity_terms
from emdeg.bounds import CertifiedExtremum, Extremes, SearchLimits, attained_ratio, extreme, formula_vector
from emdeg.equations import Model, derive, entry_name, indices
from emdeg.errors import RobotError
from emdeg.robot import Robot, Workspace, workspace


@dataclass
class Scope:
    """One robot, one workspace, and what may be spent on them."""

    robot: Robot
    where: Workspace
    gap: float = 1e-3
    seconds: float = 40.0
    folder: Path | None = None
    written: list[Path] = field(default_factory=list)
    _models: dict[str, Model] = field(default_factory=dict)
    _inertias: dict[int, Extremes] = field(default_factory=dict)
    _loads: list[JointLoad] = field(default_factory=list)

    @property
    def bare(self) -> Robot:
        return unloaded(self.robot)

    def model(self, loaded: bool = True) -> Model:
        key = "loaded" if loaded else "bare"
        if key not in self._models:
            self._models[key] = derive(self.robot if loaded else self.bare, rational_angles=True)
        return self._models[key]

    def loads(self) -> Sequence[JointLoad]:
        """Every joint's certified loads, with the payload, from that part where it was asked for."""
        if not self._loads:
            self._loads += loads(self.robot, self.where, gap=self.gap, seconds=self.seconds)
        return self._loads

    def inertias(self) -> dict[int, Extremes]:
        """{joint's number: the certified range of M_ii}, from the loads where they were asked for."""
        if not self._inertias:
            model = self.model()

            def search(key: tuple[int, int], effort: SearchLimits) -> CertifiedExtremum:
                own = model.M[key[0] - 1][key[0] - 1]
                f = formula_vector([own], self.where.box, model.numbers)
                return extreme(f, key[1], gap=0.02, limits=effort)

            keys = [(i, side) for i in range(model.n, 0, -1) for side in (-1, 1)]
            found = search_each(keys, search, 0.3 * self.seconds, lambda one: one.gap <= 0.02)
            self._inertias.update({i: Extremes(found[i, -1], found[i, 1]) for i in range(1, model.n + 1)})
        return self._inertias

    def floors(self) -> dict[int, float]:
        """{joint's number: a positive lower bound of M_ii}; joints for which none was proven are left out."""
        return {i: found.low.bound for i, found in self.inertias().items() if found.low.bound > 0}

    def keep(self, paths: Sequence[Path]) -> None:
        self.written += paths


def bounded(one: CertifiedExtremum, n: int) -> dict[str, Any]:
    """An extreme as data: attained value, certified bound, relative gap, where."""
    at = [one.at.get(k) for k in range(1, n + 1)]
    bound = one.bound if math.isfinite(one.bound) else None
    return {"value": one.value, "bound": bound, "gap": one.gap, "q": at, "boxes": one.boxes}


def loads_part(scope: Scope) -> dict[str, Any]:
    """Every joint's certified loads, with and without the payload; a source's printed values beside them."""
    robot, n = scope.robot, scope.robot.n
    two = bool(robot.payloads)
    seconds = scope.seconds / (2 if two else 1)
    bare = loads(scope.bare, scope.where, gap=scope.gap, seconds=seconds)
    loaded = loads(robot, scope.where, gap=scope.gap, seconds=seconds) if two else None
    scope._loads[:] = loaded or bare
    scope._inertias.update({i: one.inertia for i, one in enumerate(loaded or bare, 1)})
    result: dict[str, Any] = {"no_load": [_load(one, n) for one in bare]}
    if loaded is not None:
        result["with_load"] = [_load(one, n) for one in loaded]
        result["relative_with_load"] = [b.inertia.high.value / a.inertia.low.value for a, b in zip(bare, loaded)]
    data = tables.published(robot)
    if data is not None and scope.where != workspace(robot):
        result["published_note"] = f"{data['source']}: its extremes are of the whole workspace, not compared with these"
        data = None
    if data is not None:
        printed = tables.rows(data, scope.model(False), bare, False)
        theirs = loaded if tables.carries_their_load(robot, data) else None
        if theirs is not None:
            printed += tables.rows(data, scope.model(), theirs, True)
        printed += tables.ratio_rows(data, scope.model(False), scope.where, False)
        rows = [_row(row, n) for row in printed]
        derived = tables.derived_rows(data, bare, theirs)
        result["published"] = {"source": data["source"], "rows": rows, "derived": derived}
    if scope.folder is not None:
        stem = "fig03_inertia_variation" if data is not None else "inertia_variation"
        scope.keep(figures.inertia_variation(robot, bare, loaded, scope.folder, stem))
        if data is not None:
            _published_figures(scope, data)
    return result


def _published_figures(scope: Scope, data: Mapping[str, Any]) -> None:
    assert scope.folder is not None
    drawn = tables.figures(data, scope.model(False), scope.where, False)
    if tables.carries_their_load(scope.robot, data):
        drawn += tables.figures(data, scope.model(), scope.where, True)
    for one in drawn:
        stem = f"fig{one.number:02d}_{one.name}"
        scope.keep(figures.ratio_curves(scope.robot, one.curves, scope.folder, stem, one.title, one.name))


def _load(one: JointLoad, n: int) -> dict[str, Any]:
    return {
        "joint": one.joint,
        "kind": one.kind,
        "inertia_min": bounded(one.inertia.low, n),
        "inertia_max": bounded(one.inertia.high, n),
        "relative": one.relative if np.isfinite(one.relative) else None,
        "gravity_min": bounded(one.gravity.low, n),
        "gravity_max": bounded(one.gravity.high, n),
        "gravity_load": bounded(one.gravity_load, n),
        "at_motor": one.at_motor,
        "gear_ratio": one.gear_ratio,
        "stall_torque": one.stall_torque,
        "torque_limit": one.torque_limit,
        "gravity_share_of_limit": one.share_of_limit,
    }


def _row(row: tables.PrintedRow, n: int) -> dict[str, Any]:
    return {
        "table": row.table,
        "quantity": row.quantity,
        "side": row.side,
        "load": row.load,
        "printed": row.printed,
        "printed_in_table": row.in_table,
        "at_their_configuration": row.at_their_configuration,
        "certified": bounded(row.certified, n),
        "extreme_missed": row.missed,
        "printed_off": row.printed_off,
    }


def ratios_part(
    scope: Scope, chosen: Sequence[Ratio] | None = None, joints: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Coupling, gravity and velocity ratios: largest values (certified within the time), curves and maps."""
    model, where = scope.model(), scope.where
    kinds: dict[str, Sequence[Ratio]] = {"chosen": chosen} if chosen is not None else {}
    if chosen is None:
        kinds = {"coupling": coupling_ratios(model), "gravity": gravity_ratios(model)}
    rows = _largest(scope, [one for some in kinds.values() for one in some], scope.seconds)
    result: dict[str, Any] = {kind: [rows[one.name] for one in some] for kind, some in kinds.items()}
    if chosen is None:
        terms = velocity_terms(model, where, scope.floors(), gap=scope.gap, seconds=0.4 * scope.seconds)
        result["velocity"] = [_velocity(term, model.n) for term in terms]
        named = [(ratio(model, x.term, entry_name("M", x.number, x.number)), x) for x in terms if x.term]
        kinds["velocity"] = [one for one, _ in named]
        rows |= {one.name: bounded(term.against_inertia, model.n) for one, term in named}
        weighed = [x for x in terms if x.against_gravity]
        weights = [against_gravity(model, x.term, x.number, x.peak / x.against_gravity) for x in weighed]  # type: ignore[operator]
        kinds["velocity against gravity"] = weights
        peaks = [CertifiedExtremum(x.against_gravity or 0.0, math.inf, x.peak_at) for x in weighed]
        rows |= {one.name: bounded(peak, model.n) for one, peak in zip(weights, peaks)}
    if scope.folder is not None:
        for kind, some in kinds.items():
            _ratio_figures(scope, kind, some, [rows[one.name] for one in some], joints)
    return result


def _velocity(term: VelocityTerm, n: int) -> dict[str, Any]:
    found = bounded(term.against_inertia, n)
    return {
        "joint": term.joint,
        "term": term.term,
        "against_inertia": found["value"],
        **{name: found[name] for name in ("bound", "gap", "q")},
        "certified": found["bound"] is not None,
        "largest": term.peak,
        "against_gravity": term.against_gravity,
        "speed": term.speed,
    }


def _largest(scope: Scope, some: Sequence[Ratio], seconds: float) -> dict[str, dict[str, Any]]:
    """{ratio's name: its largest value}, certified where the denominator is proven to be positive."""
    inertias, floors = scope.inertias(), scope.floors()
    numbers = scope.model().numbers
    rows: dict[str, dict[str, Any]] = {}
    signed = {one.name: positive(one, scope.where, numbers) for one in some}
    searched = {
        name: one for name, one in signed.items() if one is not None and ((i := _own(one)) is None or i in floors)
    }

    def search(name: str, effort: SearchLimits) -> CertifiedExtremum | None:
        one = searched[name]
        i, ceiling = _own(one), _ceiling(one, inertias, floors)
        floor = None if i is None else floors[i]
        if i is not None and name[0] == "g" and len(one.above) <= LONGEST:
            share = 0.5 * effort.seconds
            ceiling = min(ceiling, gravity_ratio_ceiling(scope.model(), i, scope.where, floors[i], seconds=share))
        spend = {"gap": scope.gap, "seconds": effort.seconds}
        try:
            return largest_of(one, scope.where, floor=floor, ceiling=ceiling, parameters=numbers, **spend)
        except ValueError:  # the denominator could not be shown to be positive
            return None

    order = sorted(searched, key=lambda name: len(searched[name].above) + len(searched[name].below))
    found = search_each(order, search, seconds, lambda one: one is None or one.gap <= scope.gap)
    for one in some:
        most, same = found.get(one.name), signed[one.name]
        if same is None:
            what: dict[str, Any] = {"value": None, "bound": None, "gap": None, "q": None, "certified": False}
        elif most is None:
            what = _reached(same, scope)
        else:
            what = {**bounded(most, scope.robot.n), "certified": most.gap < 1.0}
        rows[one.name] = {"ratio": one.name, "unit": one.unit, "unbounded": same is None, **what}
    return rows


def _own(one: Ratio) -> int | None:
    """The joint number i of a ratio's denominator M_ii; None if it is another entry."""
    below = one.name.split("/")[1]
    if below.endswith("max"):
        return None
    letter, of = indices(below)
    return of[0] if letter == "M" and of[0] == of[1] else None


def _ceiling(one: Ratio, inertias: Mapping[int, Extremes], floors: Mapping[int, float]) -> float:
    """|M_ij / M_ii| <= sqrt(M_jj / M_ii), since M is positive definite (Cauchy and Schwarz)."""
    i = _own(one)
    letter, pair = indices(one.name.split("/")[0])
    if i not in floors or letter != "M" or i not in pair:
        return math.inf
    j = pair[1] if pair[0] == i else pair[0]
    return math.sqrt(inertias[j].high.bound / floors[i]) * (1 + 1e-9)


def _reached(one: Ratio, scope: Scope) -> dict[str, Any]:
    """The largest value that climbs from random configurations reach, not certified."""
    found = attained_ratio(one.above, one.below, scope.where.box, scope.model().numbers)
    return {**bounded(found, scope.robot.n), "gap": None, "certified": False}


def _ratio_figures(
    scope: Scope, kind: str, some: Sequence[Ratio], rows: Sequence[Mapping[str, Any]], joints: tuple[int, int] | None
) -> None:
    """Curves and a map of each joint's largest ratio of this kind, or of all that were chosen."""
    assert scope.folder is not None
    best: dict[str, tuple[float, Ratio, Mapping[str, Any]]] = {}
    for one, row in zip(some, rows):
        below = one.name if kind == "chosen" else one.name.split("/")[1]
        if row["value"] is not None and row["value"] > best.get(below, (-1.0,))[0]:
            best[below] = row["value"], one, row
    for _, one, row in best.values():
        pair = list(joints) if joints else most_influential(one, scope.where)
        if not pair or not row["value"]:
            continue
        at = {k: v for k, v in enumerate(row["q"], 1) if v is not None}
        family = _family(scope.where, pair[1]) if len(pair) > 1 else []
        drawn = curves(one, scope.where, pair[0], pair[1] if len(pair) > 1 else None, family, at=at)
        stem = f"{kind.split()[0]}_{one.name.replace('/', '_over_')}"
        title = f"{scope.robot.name}: {one.name}, other joints where it is largest"
        scope.keep(figures.ratio_curves(scope.robot, drawn, scope.folder, stem, title, one.name))
        if len(pair) > 1:
            surface = ratio_map(one, scope.where, (pair[0], pair[1]), at=at)
            scope.keep(figures.ratio_surface(scope.robot, surface, scope.folder, f"{stem}_map", title))


def _family(where: Workspace, joint: int) -> list[float]:
    """Values of a joint to draw one curve each for: thirds of a quarter turn, or both ends and the middle."""
    if where.free[joint - 1]:
        return [math.radians(angle) for angle in (0, 30, 60, 90)]
    return np.linspace(*where.ranges[joint - 1], 3).tolist()


def restricted_part(scope: Scope, held: Mapping[int, float], velocity: bool = False) -> dict[str, Any]:
    """The reduced explicit equations of the joints that are not held."""
    small = restrict(scope.model(), held, velocity=velocity)
    return {
        "moving": [scope.where.joints[i - 1] for i in small.moving],
        "held": {scope.where.joints[j - 1]: value for j, value in small.held.items()},
        "terms": small.terms,
        "terms_full": sum(map(len, scope.model().entries(("M", "b", "c", "g") if velocity else ("M", "g")).values())),
        "equations": small.equations(),
        "velocity_terms": velocity,
    }


def servo_part(scope: Scope, motion: SampledMotion | None = None, share: float = 0.1) -> dict[str, Any]:
    """Effective inertia, damping gain and the slow-fast boundary along a motion."""
    motion = motion or across(scope.where)
    view = servo_view(scope.robot, motion)
    if scope.folder is not None:
        scope.keep(figures.servo_figure(scope.robot, motion, view, scope.folder, "servo"))
    return {
        "duration": float(motion.t[-1] - motion.t[0]),
        "inertia_min": view.inertia.min(axis=0),
        "inertia_max": view.inertia.max(axis=0),
        "velocity_gain_min": view.velocity_gain.min(axis=0),
        "damping_ratio_max": view.damping_ratio.max(axis=0),
        "reaction_share": view.reaction_share,
        "slow_below_speed_factor": slow_fast_boundary(scope.robot, motion, share),
        "share": share,
    }


def importance_part(scope: Scope, motion: SampledMotion | None = None, keep: int = 5) -> dict[str, Any]:
    """Which terms and constants carry the torque, along a motion or over the workspace's states."""
    robot = scope.robot
    states = motion or over_workspace(scope.where)
    terms, constants = term_shares(scope.model(), states), constant_shares(robot, states)
    if scope.folder is not None:
        scope.keep(figures.importance_figure(robot, terms, scope.folder, "importance_terms", keep))
        scope.keep(figures.importance_figure(robot, constants, scope.folder, "importance_constants", keep))
    names = [joint.name for joint in robot.joints]
    return {
        "states": "along the motion" if motion else "over the workspace",
        "terms": _first(terms, names, keep),
        "constants": _first(constants, names, keep),
    }


def _first(shares: Sequence[Share], names: Sequence[str], keep: int) -> list[dict[str, Any]]:
    return [asdict(share) for name in names for share in [x for x in shares if x.joint == name][:keep]]


def formula_part(scope: Scope, names: Sequence[str]) -> list[dict[str, Any]]:
    """The certified range of single entries of the equations."""
    rows = []
    for name in names:
        found = formula_extremes(scope.model(), name, scope.where, gap=scope.gap, seconds=scope.seconds / len(names))
        n = scope.robot.n
        rows.append({"formula": name, "min": bounded(found.low, n), "max": bounded(found.high, n)})
    return rows


def capability_part(scope: Scope, at: Sequence[float] | None = None, samples: int = 2000) -> dict[str, Any]:
    """What the drives can still give after gravity over the workspace, and the tool's ellipsoids at one configuration.

    Torque left and speed are certified, from the largest gravity loads; accelerations are the least and greatest of
    random configurations. The configuration is `at`, or a random one: the box's middle is often singular.
    """
    robot = scope.robot
    middle = scope.where.sample(1, seed=2)[0] if at is None else np.asarray(at, float)
    tool: dict[str, Any] = {"q": middle}
    try:
        tool["inertia"] = operational_inertia(robot, middle)
    except RobotError as problem:
        tool["why"] = str(problem)
    try:
        limits = torque_limits(robot)
    except RobotError as problem:
        return {"why": str(problem), "tool": tool}
    found = capability(robot, scope.where.sample(samples, seed=11), limits)
    ellipsoid = dynamic_manipulability(robot, middle, limits)
    tool |= {"acceleration_axes": ellipsoid.lengths, "gravity_pull": ellipsoid.centre}
    most = np.array([one.gravity_load.bound for one in scope.loads()])
    speed = steady_speed(robot, most, limits)
    return {
        "torque_left_min": limits - most,
        "speed_min": [float(v) if np.isfinite(v) else None for v in speed],
        "acceleration_min": np.minimum(-found.acceleration[..., 0], found.acceleration[..., 1]).min(axis=0),
        "acceleration_max": np.maximum(-found.acceleration[..., 0], found.acceleration[..., 1]).max(axis=0),
        "holds_everywhere": most <= limits,
        "tool": tool,
    }
