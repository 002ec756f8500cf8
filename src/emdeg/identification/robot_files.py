"""The identified robot as a robot: bodies that can exist, drives with their friction, tolerances and sources."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from emdeg.algebra import ZERO, Array, parse_number
from emdeg.dynamics import BodyInertia
from emdeg.dynamics.functions import link_transforms
from emdeg.dynamics.parameters import COLUMNS
from emdeg.identification.consistency import WIDTH, Bodies, consistent_bodies, massless_links
from emdeg.identification.estimation import NORMAL
from emdeg.identification.identifying import Identification
from emdeg.identification.measured import Estimate, FrictionFit, fit_friction
from emdeg.loops import Rod, choose
from emdeg.papers.bench import Measured, central, nine_digits, place, with_inertia
from emdeg.robot import Friction, Robot, assemble, read_toml, to_toml, with_inertials

SOURCE = "identified from logs; what they do not show is as near to the file's as a body can be"


def identified_robot(found: Identification) -> tuple[Robot, Bodies]:
    """(the robot with what was identified in place of what its file had, as its own file will be read; the bodies)."""
    bodies = consistent_bodies(found)
    robot = found.robot
    tolerances, sources = dict(robot.tolerances), dict(robot.sources)
    links = []
    massless, drives = massless_links(robot), {joint.name: k for k, joint in enumerate(robot.driven)}
    for k, link in enumerate(robot.links):
        if k in massless:
            links.append(link)
            continue
        own = [_measured(bodies, WIDTH * k + c) for c in range(WIDTH)]
        tolerances = {path: v for path, v in tolerances.items() if not path.startswith(f"{link.name}.")}
        link = with_inertia(link, _body(own[:10]), tolerances)
        name = link.joint.name
        sources = {path: v for path, v in sources.items() if not path.startswith((f"{link.name}.", f"{name}.drive"))}
        sources[f"{link.name}.mass"] = SOURCE
        inertia = own[10] if own[10].value > 1e-9 else Measured(0.0)
        drive = replace(link.joint.drive, inertia=nine_digits(inertia) if inertia.value else ZERO, motor_inertia=None)
        _tolerance(tolerances, f"{name}.drive.inertia", inertia.tolerance)
        law = _law(found, drives[name]) if name in drives else None
        if law is not None:
            drive = replace(drive, friction=_friction(law, name, tolerances))
        links.append(replace(link, joint=replace(link.joint, drive=drive)))
    new = replace(
        robot, links=tuple(links), payloads=(), tolerances=tolerances, sources=sources, nonphysical="", notes=()
    )
    if robot.loops is not None:
        rods = tuple(_identified_rod(rod, bodies.values[robot.n + k]) for k, rod in enumerate(robot.rods))
        new = choose.with_coordinates(replace(new, constraints=replace(robot.loops, rods=rods)), found.coordinates)
    return assemble(read_toml(to_toml(new), f"{robot.name}.toml")), bodies


def identified_urdf(robot: Robot, text: str) -> str:
    """The URDF document `text`, of which the identified `robot` was read, with its inertials replaced.

    What is fixed to a moving link is part of it: the inertial stands at that link, those of the parts are left out.
    """
    wanted: dict[str, tuple[float, Array, Array] | None] = {}
    rest = np.zeros(robot.n)
    names = [link.name for link in robot.links]
    for frame in robot.frames:
        if frame.link >= 0 and frame.name not in names:
            wanted[frame.name] = None
    for k, link in enumerate(robot.links):
        own = [Measured(float(v)) for v in link.inertia.parameters]
        m, com, six = central(_body(own))
        xx, xy, xz, yy, yz, zz = (v.value for v in six)
        # From the frame of the equations to the file's own.
        T = np.linalg.inv(place(robot, link.name, rest)) @ link_transforms(robot, rest)[k]
        R, p = T[:3, :3], T[:3, 3]
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        wanted[link.name] = (m.value, R @ np.array([v.value for v in com]) + p, J)
    return with_inertials(text, wanted)


def _identified_rod(rod: Rod, own: Array) -> Rod:
    """The rod with other masses along it; a robot file has no place for their tolerances."""
    zz, mx, m = (float(own[COLUMNS.index(name)]) for name in ("ZZ", "MX", "M"))
    numbers = (m, mx / (m * float(rod.length)), max(0.0, zz - mx * mx / m))
    mass, com, inertia = (nine_digits(Measured(value)) for value in numbers)
    return replace(rod, mass=mass, com=com, inertia=inertia, points=None)


def _body(own: list[Measured]) -> BodyInertia:
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = own
    return BodyInertia(m, (mx, my, mz), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _measured(bodies: Bodies, row: int) -> Measured:
    """A parameter with what each independent error of the fit contributes to it."""
    parts: dict[object, float] = {k: float(v) for k, v in enumerate(bodies.factor[row]) if v}
    return Measured(float(bodies.values.reshape(-1)[row]), parts)


def _law(found: Identification, joint: int) -> FrictionFit | None:
    """The friction that a robot file can say; where more was found, the law nearest to it along the logs."""
    fit = found.friction[joint]
    if not fit.further:
        return fit if fit.viscous is not None else None
    model = found.fit.model
    lost, speed = [], []
    for one in found.logs:
        own = [k for k, c in enumerate(model.friction) if c.joint == joint and c.name != "offset"]
        columns = model.with_loads(found.fit.theta, one).friction[:, joint]
        mixes = np.stack([model.friction[k].mix for k in own], axis=1)
        lost.append(columns @ mixes @ found.fit.theta[[model.base + k for k in own]])
        speed.append(one.qd[:, joint])
    return fit_friction(fit.joint, np.concatenate(speed), np.concatenate(lost))


def _friction(law: FrictionFit, joint: str, tolerances: dict[str, Fraction]) -> Friction:
    values = {}
    fields = {"viscous": law.viscous, "coulomb": law.coulomb}
    if law.stribeck is not None and law.coulomb is not None and law.stribeck.value > law.coulomb.value:
        fields |= {"stribeck": law.stribeck, "stribeck_velocity": law.stribeck_velocity}
    for key, value in fields.items():
        if isinstance(value, Estimate) and value.value > 0:
            spread = (value.high - value.value) / NORMAL
            values[key] = nine_digits(Measured(value.value))
            _tolerance(tolerances, f"{joint}.drive.{key}", spread)
    return Friction(**values)


def _tolerance(tolerances: dict[str, Fraction], path: str, spread: float) -> None:
    tolerances.pop(path, None)
    if spread > 0:
        tolerances[path] = parse_number(f"{spread:.4g}")
