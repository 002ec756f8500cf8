"""URDF -> Draft: links, joints and inertias with exact decimals and exact angles.

Only what the dynamics needs is read; meshes are never opened. Each error says where in the file it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from emdeg.algebra import Exact
from emdeg.documents import plain
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.assembly import Draft
from emdeg.robot.checks import BUDGET, Finding
from emdeg.robot.markup import (
    DEFAULT_SNAP,
    Element,
    check_snap,
    clipped,
    exact_number,
    exact_numbers,
    parse_xml,
    snapped_angle,
    snapped_axis,
)
from emdeg.robot.model import NOWHERE, Drive, Friction, Inertia, JointKind, Limits, Pose
from emdeg.robot.normal_form import Body
from emdeg.robot.transform import Direction, ExactTransform, X, move_inertia, of_pose

_KINDS: dict[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
_REFUSED = {
    "floating": "a floating joint is refused: the base must stand still; make it fixed, or describe its "
    "motion by single revolute and prismatic joints",
    "planar": "a planar joint is refused: write it as two prismatic joints and a revolute one",
}


def read_urdf(text: str, file: str, snap: float = DEFAULT_SNAP) -> Draft:
    """What the URDF document `text` says; `file` names it in messages, `snap` [rad] makes angles exact."""
    try:
        return _Reader(check_snap(snap)).read(parse_xml(text), file)
    except RobotError as problem:
        raise problem.at(file=file) from None


@dataclass(frozen=True, slots=True)
class _UrdfJoint:
    name: str
    kind: JointKind
    parent: str
    child: str
    element: Element


class _Reader:
    """Reads one document; collects the notes on what was made exact or left out."""

    def __init__(self, snap: float) -> None:
        self.snap = snap
        self.notes: list[str] = []

    def read(self, robot: Element, file: str) -> Draft:
        _check_format(robot)
        links = _by_name(robot.all("link"))
        if not links:
            raise RobotError("it has no <link>", line=robot.line)
        if len(links) > BUDGET.links:
            raise TooLarge(f"it has {len(links)} links; the budget is {BUDGET.links}")
        joints = [_joint(element) for element in _by_name(robot.all("joint")).values()]
        root = _root(links, joints)
        ratios = _gear_ratios(robot)
        bodies = []
        for joint in joints:
            try:
                body = self.body(joint, links[joint.child], root)
            except RobotError as problem:
                raise problem.at(line=joint.element.line, body=joint.name) from None
            if joint.name in ratios and joint.kind != "fixed":
                body = replace(body, drive=replace(body.drive, gear_ratio=Exact.of(ratios[joint.name])))
            bodies.append(body)
        held = self.inertia(links[root])  # the base does not move, but what it says must make sense
        name = plain(robot.attributes.get("name", "")).strip() or "robot"
        return Draft(
            name=clipped(name, 200),
            bodies=tuple(bodies),
            root=root,
            root_mass=held.mass,
            notes=tuple(self.notes),
            file=file,
        )

    def body(self, joint: _UrdfJoint, link: Element, root: str) -> Body:
        element = joint.element
        moves = joint.kind != "fixed"
        return Body(
            name=joint.child,
            parent=None if joint.parent == root else joint.parent,
            joint=joint.name,
            kind=joint.kind,
            inertia=self.inertia(link),
            pose=self.origin(element, f"joint {joint.name!r}"),
            axis=self.axis(joint) if moves else X,
            limits=self.limits(joint) if moves else Limits(),
            drive=self.drive(element) if moves else Drive(),
            line=link.line,
            refused=_mimic(joint) if moves else None,
        )

    def origin(self, element: Element, owner: str) -> ExactTransform:
        origin = element.only("origin")
        if origin is None:
            return ExactTransform()
        xyz = _numbers(origin, "xyz", 3) if "xyz" in origin.attributes else None
        rpy = _numbers(origin, "rpy", 3) if "rpy" in origin.attributes else (Fraction(0),) * 3
        angles = tuple(snapped_angle(value, self.snap) for value in rpy)
        for value, angle in zip(rpy, angles):
            if angle.pi_times:
                self.notes.append(f"{owner}: the angle {float(value):.15g} rad was read as {angle}")
        point = NOWHERE if xyz is None else tuple(Exact.of(v) for v in xyz)
        return of_pose(Pose(point, angles))  # type: ignore[arg-type]

    def axis(self, joint: _UrdfJoint) -> Direction:
        axis = joint.element.only("axis")
        if axis is None:
            return X
        axis.need("xyz")
        stated = _numbers(axis, "xyz", 3)
        try:
            direction, moved = snapped_axis(stated, self.snap)
        except RobotError as problem:
            raise problem.at(line=axis.line) from None
        if moved:
            was = " ".join(f"{float(v):.15g}" for v in stated)
            now = " ".join(f"{float(v):.15g}" for v in direction)
            self.notes.append(f"joint {joint.name!r}: the axis ({was}) was read as ({now})")
        return direction

    def inertia(self, link: Element) -> Inertia:
        """About the link frame's origin; a link without <inertial> has no mass."""
        name = link.attributes["name"]
        try:
            inertial = link.only("inertial")
            if inertial is None:
                return Inertia()
            mass, tensor = inertial.only("mass"), inertial.only("inertia")
            if mass is None or tensor is None:
                missing = "mass" if mass is None else "inertia"
                raise RobotError(f"its <inertial> has no <{missing}>", line=inertial.line)
            m = Exact.of(_number(mass, "value"))
            moments = tuple(Exact.of(_number(tensor, key)) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
            about_com = Inertia(m, NOWHERE, moments)  # type: ignore[arg-type]
            return move_inertia(about_com, self.origin(inertial, f"inertia of link {name!r}"))
        except RobotError as problem:
            raise problem.at(line=link.line, body=name) from None

    def limits(self, joint: _UrdfJoint) -> Limits:
        limit = joint.element.only("limit")
        if limit is None:
            return Limits()
        lower, upper, velocity, effort = (
            _number(limit, key) if key in limit.attributes else None for key in ("lower", "upper", "velocity", "effort")
        )
        if joint.element.attributes["type"] == "continuous":
            lower = upper = None
        elif lower is not None or upper is not None:  # URDF: the one left out is zero
            lower, upper = lower or Fraction(0), upper or Fraction(0)
        limits = Limits(lower, upper, velocity, effort)
        if lower is not None and upper is not None and lower > upper:
            self.notes.append(f"joint {joint.name!r}: its lower limit is above its upper limit")
        return limits

    def drive(self, joint: Element) -> Drive:
        dynamics = joint.only("dynamics")
        if dynamics is None:
            return Drive()
        viscous, coulomb = (
            Exact.of(_number(dynamics, key)) if key in dynamics.attributes else Exact()
            for key in ("damping", "friction")
        )
        return Drive(friction=Friction(viscous=viscous, coulomb=coulomb))


def _check_format(robot: Element) -> None:
    """RobotError if the document is not a URDF, or is a template of one."""
    if robot.tag == "mujoco":
        raise RobotError("this is an MJCF file, not a URDF", line=robot.line)
    if robot.tag != "robot":
        raise RobotError(f"its root element is <{robot.tag}>; a URDF's is <robot>", line=robot.line)
    for element in robot.walk():
        macro = element.tag.startswith("xacro:")
        values = (v for v in element.attributes.values() if "${" in v or "$(" in v)
        found = f"<{element.tag}>" if macro else next(values, None)
        if found is not None:
            raise RobotError(
                f"it holds {clipped(found)!r}: this is a xacro template, not a URDF; expand it first "
                "(xacro robot.xacro > robot.urdf)",
                line=element.line,
            )


def _by_name(elements: list[Element]) -> dict[str, Element]:
    named: dict[str, Element] = {}
    for element in elements:
        name = element.need_name()
        if name in named:
            raise RobotError(
                f"two {element.tag}s are called {name!r}; the first is on line {named[name].line}",
                line=element.line,
                body=name,
            )
        named[name] = element
    return named


def _joint(element: Element) -> _UrdfJoint:
    name = element.attributes["name"]
    try:
        kind = element.need("type")
        if kind in _REFUSED:
            raise RobotError(_REFUSED[kind])
        if kind not in _KINDS:
            raise RobotError(f"{clipped(kind)!r} is not a type of joint; there are: {', '.join(_KINDS)}")
        ends = []
        for tag in ("parent", "child"):
            end = element.only(tag)
            if end is None:
                raise RobotError(f"it has no <{tag}>")
            ends.append(end.need("link"))
    except RobotError as problem:
        raise problem.at(line=element.line, body=name) from None
    return _UrdfJoint(name, _KINDS[kind], ends[0], ends[1], element)


def _root(links: dict[str, Element], joints: list[_UrdfJoint]) -> str:
    """The one link that hangs on nothing."""
    carrier: dict[str, _UrdfJoint] = {}
    for joint in joints:
        line = joint.element.line
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise RobotError(f"its {role} link {clipped(link)!r} does not exist", line=line, body=joint.name)
        if joint.child in carrier:
            raise RobotError(
                f"link {joint.child!r} hangs on two joints, {carrier[joint.child].name!r} and "
                f"{joint.name!r}: a closed loop is not a tree",
                line=line,
                body=joint.name,
            )
        carrier[joint.child] = joint
    roots = [name for name in links if name not in carrier]
    if not roots:
        first = joints[0]
        raise RobotError("the links form a loop: no link is the root", line=first.element.line, body=first.name)
    if len(roots) > 1:
        shown = ", ".join(repr(clipped(name)) for name in roots[:5])
        raise RobotError(
            f"it has {len(roots)} roots, links that hang on no joint: {shown}",
            line=links[roots[1]].line,
            body=roots[1],
        )
    return roots[0]


def _mimic(joint: _UrdfJoint) -> Finding | None:
    mimic = joint.element.only("mimic")
    if mimic is None:
        return None
    leader = clipped(mimic.attributes.get("joint", "another joint"))
    return Finding(
        joint.name,
        f"it mimics {leader!r}, and the equations of motion have no such coupling; make it rigid with "
        f"--lock {joint.name}=VALUE",
        mimic.line,
    )


def _gear_ratios(robot: Element) -> dict[str, Fraction]:
    """Joint -> mechanical reduction, from the transmissions with one joint and one actuator."""
    ratios: dict[str, Fraction] = {}
    for transmission in robot.all("transmission"):
        joints, actuators = transmission.all("joint"), transmission.all("actuator")
        if len(joints) != 1 or len(actuators) != 1:
            continue
        for reduction in transmission.all("mechanicalReduction") + actuators[0].all("mechanicalReduction"):
            try:
                ratio = exact_number(reduction.text, "the mechanical reduction")
            except RobotError:
                continue  # it has no part in the dynamics
            if ratio:
                ratios[joints[0].attributes.get("name", "")] = ratio
    return ratios


def _number(element: Element, attribute: str) -> Fraction:
    try:
        return exact_number(element.need(attribute), f"{attribute!r} of <{element.tag}>")
    except RobotError as problem:
        raise problem.at(line=element.line) from None


def _numbers(element: Element, attribute: str, count: int) -> tuple[Fraction, ...]:
    try:
        return exact_numbers(element.need(attribute), count, f"{attribute!r} of <{element.tag}>")
    except RobotError as problem:
        raise problem.at(line=element.line) from None
