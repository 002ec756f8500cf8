"""From a campaign's readings to a robot: every number with its method, its formula and what made it uncertain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

import numpy as np

from emdeg.algebra import Array, Exact, parse_number
from emdeg.documents import Shown
from emdeg.dynamics import BodyInertia, scale
from emdeg.dynamics.functions import regressor
from emdeg.errors import RobotError
from emdeg.papers.bench import formulas as bench
from emdeg.papers.bench.bodies import (
    PAIRS,
    ZERO,
    about_origin,
    central,
    extent,
    in_link_frame,
    place,
    solid_moments,
    transform_of,
)
from emdeg.papers.bench.campaign import AXES, MOMENTS, BodyPlan, Campaign, DrivePlan, Reading, Swing
from emdeg.papers.bench.formulas import Measured, square
from emdeg.robot import Drive, Inertia, Link, Robot, Stated, assemble, read_toml, to_toml

NOTHING = 1e-9
"""Contributions smaller than this share of a tolerance are rounding."""
PARAMETERS = 11
"""Columns a link in the regressor: ten of the body, one of the drive."""


@dataclass(frozen=True)
class MeasuredFigure(Shown):
    """One number: where it belongs ("link2.Ixx"), what it is, how it was found."""

    path: str
    value: Measured
    method: str
    formula: str

    @property
    def trail(self) -> list[tuple[str, float]]:
        """The readings that make it uncertain with what each contributes, the largest first; not what cancels."""
        least = NOTHING * self.value.tolerance
        parts = [(str(name), abs(part)) for name, part in self.value.parts.items() if abs(part) > least]
        return sorted(parts, key=lambda part: -part[1])


@dataclass(frozen=True)
class CampaignOutcome(Shown):
    """What a campaign yields; `kept` are the links and joints whose numbers are those of the robot it started from."""

    campaign: Campaign
    found: tuple[MeasuredFigure, ...]
    robot: Robot = field(repr=False)
    kept: tuple[str, ...]
    notes: tuple[str, ...]

    def __getitem__(self, path: str) -> Measured:
        return next(one.value for one in self.found if one.path == path)


def measure(campaign: Campaign, *, allow_nonphysical: bool = False) -> CampaignOutcome:
    """The robot that the readings describe, with tolerances and trails."""
    found, bodies, notes = readings_worked_out(campaign)
    robot = _robot(campaign, bodies, found, allow_nonphysical)
    measured_joints = {plan.joint for plan in campaign.drives}
    kept = [link.name for link in campaign.robot.links if link.name not in bodies]
    kept += [joint.name for joint in campaign.robot.joints if joint.name not in measured_joints]
    return CampaignOutcome(campaign, tuple(found), robot, tuple(kept), tuple(notes))


def readings_worked_out(
    campaign: Campaign, readings: Mapping[str, Reading] | None = None
) -> tuple[list[MeasuredFigure], dict[str, BodyInertia], list[str]]:
    """(every number found, the bodies about the origin of their own frames, what was not measured)."""
    bench_ = _Bench(campaign, {name: one.measured for name, one in (readings or campaign.readings).items()})
    for plan in campaign.bodies:
        bench_.body(plan)
    for plan in campaign.drives:
        bench_.drive(plan)
    return bench_.found, bench_.bodies, bench_.notes


class _Bench:
    """Readings by name, and what has been found from them so far."""

    def __init__(self, campaign: Campaign, at: Mapping[str, Measured]) -> None:
        self.campaign, self.at = campaign, at
        g = math.hypot(*(float(v) for v in campaign.robot.gravity))
        self.g = Measured(g or 9.81) if campaign.gravity is None else at[campaign.gravity]
        self.found: list[MeasuredFigure] = []
        self.bodies: dict[str, BodyInertia] = {}
        self.notes: list[str] = []

    def body(self, plan: BodyPlan) -> None:
        if plan.plus:
            body, how = self._sum(plan), self._sum_words(plan)
            methods = dict.fromkeys((*MOMENTS, "mass", *AXES), ("addition and subtraction", how))
        else:
            body, methods = self._single(plan)
        m, com, tensor = central(body)
        if plan.diagonal:
            tensor = tuple(v if i == j else ZERO for v, (i, j) in zip(tensor, PAIRS))
            body = about_origin(m, com, tensor)
        self.bodies[plan.name] = body
        if m.value < 0:
            raise RobotError(f"its mass comes out as {m}", file=self.campaign.file, body=plan.name)
        self._add(f"{plan.name}.mass", m, *methods["mass"])
        for axis, value in zip(AXES, com):
            self._add(f"{plan.name}.com.{axis}", value, *methods[axis])
        for key, value, (i, j) in zip(MOMENTS, tensor, PAIRS):
            if methods[key][0] != "not measured" and (i == j or value.value or value.tolerance):
                self._add(f"{plan.name}.{key}", value, *methods[key])

    def _add(self, path: str, value: Measured, method: str, formula: str) -> None:
        if not math.isfinite(value.value) or not math.isfinite(value.tolerance):
            raise RobotError(f"{path} comes out as {value.value}", file=self.campaign.file)
        self.found.append(MeasuredFigure(path, value, method, formula))

    def _single(self, plan: BodyPlan) -> tuple[BodyInertia, dict[str, tuple[str, str]]]:
        methods: dict[str, tuple[str, str]] = {}
        if plan.mass is not None:
            m, methods["mass"] = self.at[plan.mass], ("balance", "m")
        else:
            assert plan.density is not None
            assert plan.solid is not None
            size, words = extent(plan.solid, self.at)
            m, methods["mass"] = self.at[plan.density] * size, ("density of a shape", words)
        com = tuple(self.at[plan.com[axis]] if axis in plan.com else ZERO for axis in AXES)
        for axis in AXES:
            known = axis in plan.com
            methods[axis] = ("knife edge", f"balance point along {axis}") if known else ("not measured", "zero")
        tensor = [self.at[plan.moments[key]] if key in plan.moments else ZERO for key in MOMENTS]
        for key in MOMENTS:
            methods[key] = ("stated", key) if key in plan.moments else ("not measured", "zero")
        if plan.solid is not None:
            for k, value in zip((0, 3, 5), solid_moments(plan.solid, m, self.at)):
                tensor[k] = value
                thin = "thin " if plan.solid.shell else ""
                methods[MOMENTS[k]] = ("shape", f"{thin}{plan.solid.kind} of uniform density")
        for k, axis in zip((0, 3, 5), AXES):
            if axis in plan.swings:
                tensor[k] = self._swing(plan.swings[axis], m)
                methods[MOMENTS[k]] = ("two-wire suspension", "m g d1 d2 (T / 2 pi)^2 / l")
            elif methods[MOMENTS[k]][0] == "not measured":
                self.notes.append(f"{plan.name}.{MOMENTS[k]} was not measured and is taken as zero")
        return about_origin(m, com, tuple(tensor)), methods

    def _swing(self, swing: Swing, m: Measured) -> Measured:
        at = {key: self.at[name] for key, name in swing.readings.items()}
        amplitude = at.get("amplitude", ZERO)
        return bench.two_wire_suspension(
            m, at["distance"], at["length"], _period(at), self.g, at.get("other_distance"), amplitude
        )

    def _sum(self, plan: BodyPlan) -> BodyInertia:
        total = BodyInertia.nothing(ZERO)
        for sign, names in ((1.0, plan.plus), (-1.0, plan.minus)):
            for name in names:
                part = self._moved(name, plan)
                a, b, c = (scale(sign, row) for row in part.J)
                total = total + BodyInertia(part.m * sign, scale(sign, part.mr), (a, b, c))
        if central(total)[0].value <= 0:
            raise RobotError(f"nothing is left of it: its mass comes out as {total.m}", body=plan.name)
        return total

    def _sum_words(self, plan: BodyPlan) -> str:
        return " - ".join([" + ".join(plan.plus), *plan.minus])

    def _moved(self, name: str, plan: BodyPlan) -> BodyInertia:
        """The body `name`, at the pose of a sum, in the sum's frame."""
        part = next(one for one in self.campaign.bodies if one.name == name)
        if part.frame == plan.frame:
            return self.bodies[name]
        robot = self.campaign.robot
        placed = np.linalg.inv(place(robot, plan.frame, plan.pose)) @ place(robot, part.frame, plan.pose)
        return self.bodies[name].to_parent(transform_of(placed))

    def drive(self, plan: DrivePlan) -> None:
        at, joint = {key: self.at[name] for key, name in plan.readings.items()}, plan.joint
        if "stiffness" in at:
            self._spring(plan, at)
        for key, value in at.items():
            if key in ("inertia", "gear_ratio", "max_torque", "break_away", "viscous", "coulomb"):
                self._add(f"{joint}.drive.{key}", value, "stated", key)

    def _spring(self, plan: DrivePlan, at: Mapping[str, Measured]) -> None:
        damping = at.get("damping", ZERO)
        dry: Measured | None = None
        if plan.peaks:
            try:
                damping, dry = bench.friction_from_peaks([self.at[name] for name in plan.peaks])
            except (ValueError, ZeroDivisionError):
                rule = "no decay can be read from its turning points"
                raise RobotError(rule, file=self.campaign.file, body=plan.joint) from None
        arm, weight = self.arm(plan)
        stiffness = at["stiffness"] + weight
        if stiffness.value <= 0:
            rule = f"gravity's {weight} is stronger than the spring: there it falls over"
            raise RobotError(rule, file=self.campaign.file, body=plan.joint)
        total = bench.spring_oscillation(stiffness, _period(at), damping)
        self._add(f"{plan.joint}.total", total, "torsional spring", "(k + dg/dq) (T / 2 pi)^2 (1 - zeta^2)")
        words = "total less the arm's share at the pose"
        self._add(f"{plan.joint}.drive.inertia", total - arm, "torsional spring", words)
        if dry is not None:
            self._add(f"{plan.joint}.drive.coulomb", stiffness * dry, "decay of the swing", "k times the line's shift")
            rate = 2 * math.pi / _period(at)
            viscous = 2 * damping * total * rate / _root(1 - square(damping)) + at.get("feedback", ZERO)
            self._add(f"{plan.joint}.drive.viscous", viscous, "decay of the swing", "2 zeta w I + feedback")

    def arm(self, plan: DrivePlan) -> tuple[Measured, Measured]:
        """(the arm's inertia at the joint, gravity's stiffness d g_i / d q_i) at the pose, the other joints held."""
        robot = self.campaign.robot
        i = [joint.name for joint in robot.joints].index(plan.joint)
        rest, unit = np.zeros(robot.n), np.eye(robot.n)[i]
        still = regressor(robot, plan.pose, rest, rest)[i]
        inertia = regressor(robot, plan.pose, rest, unit)[i] - still
        slope = np.zeros_like(still)
        if robot.joints[i].kind == "revolute":
            # g_i is a sine of its own angle, so that a quarter turn either way gives its slope exactly.
            up, down = (regressor(robot, plan.pose + side * np.pi / 2 * unit, rest, rest)[i] for side in (1, -1))
            slope = (up - down) / 2
        g = math.hypot(*(float(v) for v in robot.gravity)) or 1.0
        weights = [_parameters(self._link(link)) for link in robot.links]
        return _row(inertia, weights), _row(slope, weights) * self.g / g

    def _link(self, link: Link) -> BodyInertia:
        """The link as measured, else as the robot has it; in its normal frame."""
        if link.name not in self.bodies:
            p = [Measured(float(v)) for v in link.inertia.parameters]
            xx, xy, xz, yy, yz, zz, mx, my, mz, m = p
            return BodyInertia(m, (mx, my, mz), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        return in_link_frame(self.campaign, link.name, self.bodies)


def _parameters(body: BodyInertia) -> list[Measured]:
    return cast(list[Measured], [*(body.J[i][j] for i, j in PAIRS), *body.mr, body.m])


def _row(row: Array, links: list[list[Measured]]) -> Measured:
    """A row of the regressor times the links' parameters, drives left out."""
    total = ZERO
    for k, parameters in enumerate(links):
        for column, value in zip(row[PARAMETERS * k : PARAMETERS * k + 10], parameters):
            if column:
                total = total + value * float(column)
    return total


def _period(at: Mapping[str, Measured]) -> Measured:
    return at["period"] if "period" in at else 1.0 / at["frequency"]


def _root(x: Measured) -> Measured:
    root = math.sqrt(x.value)
    return x.through(root, 0.5 / root)


def _robot(campaign: Campaign, bodies: Mapping[str, BodyInertia], found: list[MeasuredFigure], allow: bool) -> Robot:
    """The robot of the campaign with what was measured in place of what it had."""
    start, at = campaign.robot, {one.path: one for one in found}
    names = [link.name for link in start.links]
    tolerances = {path: t for path, t in start.tolerances.items() if not _measured(path, campaign, names)}
    sources = {path: s for path, s in start.sources.items() if not _measured(path, campaign, names)}
    links = []
    for link in start.links:
        if link.name in bodies:
            link = with_inertia(link, in_link_frame(campaign, link.name, bodies), tolerances)
            sources |= {path: _words(one) for path, one in at.items() if path.startswith(f"{link.name}.")}
        links.append(replace(link, joint=replace(link.joint, drive=_drive(link, at, tolerances, sources))))
    why = campaign.nonphysical or ("accepted with --allow-nonphysical" if allow else "")
    robot = replace(
        start,
        name=campaign.name,
        title=campaign.title,
        source=campaign.source,
        links=tuple(links),
        tolerances=tolerances,
        sources=sources,
        nonphysical=why,
        notes=(),
        gravity=start.gravity,
    )
    try:  # as its file will be read
        return assemble(read_toml(to_toml(robot), campaign.file), allow_nonphysical=allow)
    except RobotError as problem:
        hint = 'say nonphysical = "why" in the campaign if the readings are right'
        rule = f"{problem.rule}; {hint}" if "nonphysical" in problem.rule else problem.rule
        raise RobotError(rule, file=campaign.file, body=problem.body) from None


def _measured(path: str, campaign: Campaign, names: list[str]) -> bool:
    """Whether a remark of the robot is about something that the campaign replaces."""
    drives = {plan.joint: plan for plan in campaign.drives}
    for body in campaign.bodies:
        if body.name in names and path.startswith(f"{body.name}."):
            return True
    return any(path == f"{joint}.drive" or path.startswith(f"{joint}.drive.") for joint in drives)


def with_inertia(link: Link, body: BodyInertia, tolerances: dict[str, Fraction]) -> Link:
    m, com, tensor = central(body)
    paths = ["mass", *(f"com.{axis}" for axis in AXES), *MOMENTS]
    for path, value in zip(paths, (m, *com, *tensor)):
        if value.tolerance:
            tolerances[f"{link.name}.{path}"] = parse_number(f"{value.tolerance:.4g}")
    x, y, z = map(nine_digits, com)
    six = tuple(map(nine_digits, tensor))
    mass = nine_digits(m)
    stated = Stated("com", mass, (x, y, z), None, six)
    return replace(link, inertia=Inertia.about_mass_center(mass, (x, y, z), six), stated=stated)


def nine_digits(value: Measured) -> Exact:
    """To nine digits: more than any instrument reads."""
    return Exact.of(parse_number(f"{value.value:.9g}"))


def _drive(
    link: Link, at: Mapping[str, MeasuredFigure], tolerances: dict[str, Fraction], sources: dict[str, str]
) -> Drive:
    drive, friction = link.joint.drive, link.joint.drive.friction
    for key in ("inertia", "gear_ratio", "max_torque", "break_away", "viscous", "coulomb"):
        path = f"{link.joint.name}.drive.{key}"
        if path not in at:
            continue
        one = at[path]
        value = nine_digits(one.value)
        if key in ("break_away", "viscous", "coulomb"):
            friction = replace(friction, **{key: value})
        else:
            drive = replace(drive, **{key: value})
        if one.value.tolerance:
            tolerances[path] = parse_number(f"{one.value.tolerance:.4g}")
        sources[path] = _words(one)
    return replace(drive, friction=friction)


def _words(one: MeasuredFigure) -> str:
    """Where a number comes from, in a line."""
    trail = ", ".join(f"{name} {part:.2g}" for name, part in one.trail[:6])
    return f"{one.method}: {one.formula}" + (f"; tolerance from {trail}" if trail else "")


__all__ = ["CampaignOutcome", "MeasuredFigure", "measure", "readings_worked_out"]
