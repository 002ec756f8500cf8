"""MJCF -> Draft, through MuJoCo's own compiler (the optional package `mujoco`).

MJCF leaves much to its compiler: defaults, frames, inertias from shapes. So the compiler is asked, but only
with what the dynamics needs (`mjcf_extract`): no asset, mesh, plugin or include of the file reaches it.
What comes back are doubles, taken as the shortest decimals that denote them, angles snapped as in a URDF.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from emdeg.algebra import Exact
from emdeg.errors import RobotError
from emdeg.robot.assembly import Draft
from emdeg.robot.markup import (
    DEFAULT_SNAP,
    check_snap,
    clipped,
    parse_xml,
    snapped_angle,
    snapped_axis,
    snapped_transform,
)
from emdeg.robot.mjcf_equalities import constraints, mujoco_package, tied_joints
from emdeg.robot.mjcf_extract import Extract, extract
from emdeg.robot.model import NOWHERE, Drive, Friction, Inertia, JointKind, Limits, Vector
from emdeg.robot.normal_form import Body, motion
from emdeg.robot.transform import ExactTransform, Rotation, move_inertia, tidy, to_pose

_REFUSED = {
    0: "a free joint is refused: the base must stand still; remove the joint, or describe the motion by "
    "single slide and hinge joints",
    1: "a ball joint is refused: write it as three hinge joints on one body",
}
_KINDS: dict[int, JointKind] = {2: "prismatic", 3: "revolute"}
WORTH_SAYING = Fraction(1, 10**12)
"""A rotation that moves less than this when it is made exact was only a rounded double."""


def read_mjcf(text: str, file: str, snap: float = DEFAULT_SNAP) -> Draft:
    """What the MJCF document `text` says; `file` names it in messages, `snap` [rad] makes angles exact."""
    try:
        check_snap(snap)
        wanted = extract(parse_xml(text))
        return _Compiled(_compile(wanted), wanted, snap).draft(file)
    except RobotError as problem:
        raise problem.at(file=file) from None


def _compile(wanted: Extract) -> Any:
    mujoco = mujoco_package()
    before = mujoco.get_mju_user_warning()
    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)  # or it would print them, and write a log file
    try:
        return mujoco.MjModel.from_xml_string(wanted.xml)
    except (ValueError, mujoco.FatalError) as problem:
        said = str(problem)
        found = re.search(r"line ([0-9]+)", said)
        line = wanted.lines.get(int(found[1])) if found else None
        said = re.sub(r",? ?line [0-9]+(, column -?[0-9]+)?", "", " ".join(said.split()))
        raise RobotError(f"MuJoCo's compiler refuses it: {clipped(said, 300)}", line=line) from None
    finally:
        mujoco.set_mju_user_warning(before)
        wanted.notes += [f"MuJoCo's compiler: {clipped(said, 300)}" for said in dict.fromkeys(warnings)]


_FLAGS = {
    "GRAVITY": ("gravity",),
    "SPRING": ("spring",),
    "DAMPER": ("damper",),
    "PASSIVE": ("spring", "damper"),  # before MuJoCo 3.4
    "FRICTIONLOSS": ("frictionloss",),
    "EQUALITY": ("equality",),
    "CONSTRAINT": ("frictionloss", "equality"),
}


def _switched_off(model: Any) -> set[str]:
    """Which forces the file's flags switch off."""
    bits = mujoco_package().mjtDisableBit
    found: set[str] = set()
    for flag, forces in _FLAGS.items():
        bit = getattr(bits, f"mjDSBL_{flag}", None)
        if bit is not None and model.opt.disableflags & int(bit):
            found.update(forces)
    return found


def _nonlinear(model: Any, array: str, index: int) -> bool:
    """Whether a polynomial has more than its linear part; MuJoCo before 3.5 knows no others."""
    return bool(np.any(getattr(model, array)[index])) if hasattr(model, array) else False


class _Compiled:
    """Reads one compiled model; collects the notes on what was made exact or left out."""

    def __init__(self, model: Any, wanted: Extract, snap: float) -> None:
        self.m, self.wanted, self.snap = model, wanted, snap
        self.off = _switched_off(model)
        if "equality" in self.off:
            model.eq_active0[:] = 0
        self.tied = tied_joints(model, wanted)
        self.places = [ExactTransform()]
        """Every body's place as the file draws it."""
        self.notes = [*self.left_out(), *wanted.notes]

    def left_out(self) -> list[str]:
        """What else moves the bodies in MuJoCo, in words: it is no part of the robot that is read."""
        m = self.m
        found = [
            f"body {m.body(i).name!r}: its gravity compensation was left out"
            for i in range(1, m.nbody)
            if m.body_gravcomp[i] and "gravity" not in self.off
        ]
        for j in range(m.njnt):
            name, dof = m.joint(j).name, int(m.jnt_dofadr[j])
            if "spring" not in self.off and (m.jnt_stiffness[j] or _nonlinear(m, "jnt_stiffnesspoly", j)):
                found.append(f"joint {name!r}: its spring was left out")
            if "damper" not in self.off and _nonlinear(m, "dof_dampingpoly", dof):
                found.append(f"joint {name!r}: the quadratic and cubic parts of its damping were left out")
        if m.opt.density or m.opt.viscosity:
            found.append("the forces of the fluid that the file describes (density, viscosity) were left out")
        if "damper" in self.off and any(m.dof_damping):
            found.append("the joints' damping is switched off in the file (<flag>), so it is zero")
        if "frictionloss" in self.off and any(m.dof_frictionloss):
            found.append("the joints' friction loss is switched off in the file (<flag>), so it is zero")
        if "equality" in self.off and m.neq:
            found.append("its equality constraints are switched off in the file (<flag>), so they do not hold")
        return found

    def draft(self, file: str) -> Draft:
        m = self.m
        bodies: list[Body] = []
        for i in range(1, m.nbody):
            name = m.body(i).name
            try:
                bodies += self.body(i, name, {body.name for body in bodies})
            except RobotError as problem:
                raise problem.at(line=self.wanted.body_lines.get(name), body=name) from None
        tied, more = constraints(m, self.wanted, self.places, self.rotation)
        self.notes += more
        return Draft(
            name=self.wanted.model or "robot",
            bodies=tuple(bodies),
            constraints=tied,
            root="world",
            gravity=NOWHERE if "gravity" in self.off else _vector(m.opt.gravity),
            notes=tuple(self.notes),
            file=file,
        )

    def body(self, i: int, name: str, taken: set[str]) -> list[Body]:
        """The body, and before it one massless body for each joint but its last."""
        m = self.m
        parent = None if m.body_parentid[i] == 0 else m.body(int(m.body_parentid[i])).name
        line = self.wanted.body_lines.get(name)
        rotation = self.rotation(m.body_quat[i], f"body {name!r}")
        place = ExactTransform(rotation, _vector(m.body_pos[i]))
        self.places.append(self.places[int(m.body_parentid[i])] @ place)
        first = int(m.body_jntadr[i])
        chain: list[Body] = []
        for j in range(first, first + int(m.body_jntnum[i])):
            joint = self.joint(j, line)
            anchor = _vector(m.jnt_pos[j])
            body_name = _fresh(f"{name}.{joint.joint}", taken)
            before = ExactTransform(p=anchor)
            chain.append(replace(joint, name=body_name, parent=parent, pose=place @ before @ joint.pose))
            parent, place = body_name, before.inverse()
        inertia = self.inertia(i, name)
        if chain and place == ExactTransform():  # the last joint passes through the body frame's origin
            chain[-1] = replace(chain[-1], name=name, inertia=inertia)
        else:
            chain.append(Body(name, parent, f"{name}.fixed", "fixed", inertia, pose=place, line=line))
        return chain

    def joint(self, j: int, line: int | None) -> Body:
        """A body on joint j alone: its `pose` is the joint's displacement at zero."""
        m = self.m
        name = m.joint(j).name
        line = self.wanted.joint_lines.get(name, line)
        if int(m.jnt_type[j]) in _REFUSED:
            raise RobotError(_REFUSED[int(m.jnt_type[j])], line=line, body=name)
        kind = _KINDS[int(m.jnt_type[j])]
        axis, moved = snapped_axis(tuple(_fraction(v) for v in m.jnt_axis[j]), self.snap)
        if moved and any(abs(a - _fraction(v)) > WORTH_SAYING for a, v in zip(axis, m.jnt_axis[j])):
            now = " ".join(f"{float(v):.15g}" for v in axis)
            self.notes.append(f"joint {name!r}: its axis was read as ({now})")
        zero = -_fraction(m.qpos0[m.jnt_qposadr[j]])
        at_zero = snapped_angle(zero, self.snap) if kind == "revolute" else Exact.of(zero)
        dof = int(m.jnt_dofadr[j])
        return Body(
            name=name,
            parent=None,
            joint=name,
            kind=kind,
            pose=motion(axis, at_zero) if zero else ExactTransform(),
            axis=axis,
            limits=_limits(m, j),
            drive=Drive(
                inertia=_exact(m.dof_armature[dof]),
                friction=Friction(
                    viscous=Exact() if "damper" in self.off else _exact(m.dof_damping[dof]),
                    coulomb=Exact() if "frictionloss" in self.off else _exact(m.dof_frictionloss[dof]),
                ),
            ),
            line=line,
            refused=self.tied.get(name),
        )

    def rotation(self, quaternion: Any, owner: str) -> Rotation:
        stated = rotation_of_quaternion(tuple(_fraction(v) for v in quaternion))
        exact = snapped_transform(ExactTransform(stated), self.snap)
        moved = max(abs(a - b) for new, old in zip(exact.R, stated) for a, b in zip(new, old))
        if moved > WORTH_SAYING:
            rpy = ", ".join(str(angle) for angle in to_pose(exact).rpy)
            self.notes.append(f"{owner}: its roll, pitch, yaw were read as {rpy}")
        return exact.R

    def inertia(self, i: int, name: str) -> Inertia:
        """About the body frame's origin, from principal moments and axes."""
        m = self.m
        principal = [_exact(v) for v in m.body_inertia[i]]
        zero = Exact()
        about_com = Inertia(tensor=(principal[0], zero, zero, principal[1], zero, principal[2]))
        axes = rotation_of_quaternion(tuple(_fraction(v) for v in m.body_iquat[i]))
        tensor = move_inertia(about_com, ExactTransform(axes)).tensor
        if self.snap > 0:
            tensor = _without_rounding(tensor)
        mass = _exact(m.body_mass[i])
        return Inertia.about_mass_center(mass, _vector(m.body_ipos[i]), tensor)


def rotation_of_quaternion(quaternion: tuple[Fraction, ...]) -> Rotation:
    """The exact rotation of a quaternion (w, x, y, z) of any length but zero."""
    w, x, y, z = quaternion
    norm = w * w + x * x + y * y + z * z
    if not norm:
        raise RobotError("its quaternion is zero, which is no orientation")
    s = 2 / norm
    rows = (
        (1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)),
    )
    return tuple(tuple(tidy(v) for v in row) for row in rows)  # type: ignore[return-value]


def _without_rounding(tensor: tuple[Exact, ...]) -> tuple[Exact, ...]:
    """The entries to 14 digits of the largest: what the compiler's eigenvectors blurred is sharp again."""
    largest = max(abs(float(v)) for v in tensor)
    if largest == 0:
        return tensor
    step = Fraction(10) ** (int(f"{largest:e}".split("e")[1]) - 13)
    return tuple(Exact.of(round(v.number / step) * step) for v in tensor)


def _limits(m: Any, j: int) -> Limits:
    lower = upper = effort = None
    if m.jnt_limited[j]:
        lower, upper = (_fraction(v) for v in m.jnt_range[j])
    if m.jnt_actfrclimited[j]:
        effort = max(abs(_fraction(v)) for v in m.jnt_actfrcrange[j])
    return Limits(lower=lower, upper=upper, effort=effort)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name


def _exact(value: Any) -> Exact:
    return Exact.of(float(value))


def _fraction(value: Any) -> Fraction:
    return _exact(value).number


def _vector(values: Any) -> Vector:
    x, y, z = (_exact(v) for v in values)
    return (x, y, z)


__all__ = ["read_mjcf", "rotation_of_quaternion"]
