"""Equality constraints of a compiled MJCF model: joints that are tied, and what an extension reads of the others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from emdeg.errors import RobotError
from emdeg.robot.checks import Finding
from emdeg.robot.constraints import ConstraintsDraft
from emdeg.robot.kinds import known_kinds, resolved
from emdeg.robot.mjcf_extract import Extract
from emdeg.robot.normal_form import Body
from emdeg.robot.transform import ExactTransform, Rotation

TIED_JOINT = 2
"""MuJoCo's number of the constraints that tie a joint to another one."""

Turned = Callable[[Any, str], Rotation]
"""A quaternion (of the owner that is named) -> its rotation, made exact."""


def mujoco_package() -> Any:
    """MuJoCo, which is optional; RobotError where it is not installed."""
    try:
        return importlib.import_module("mujoco")
    except ImportError:
        raise RobotError(
            "reading MJCF needs the package mujoco: install emdeg[mjcf] (pip install 'emdeg[mjcf]')"
        ) from None


def tied_joints(m: Any, wanted: Extract) -> dict[str, Finding]:
    """Joint -> why it cannot move by itself: an equality constraint ties it to another or holds it."""
    found: dict[str, Finding] = {}
    for e in np.flatnonzero(m.eq_active0):
        if int(m.eq_type[e]) != TIED_JOINT:
            continue
        name, other = m.joint(int(m.eq_obj1id[e])).name, int(m.eq_obj2id[e])
        held = float(m.eq_data[e][0] + m.qpos0[m.jnt_qposadr[m.eq_obj1id[e]]])
        does = f"holds it at {held:g}" if other < 0 else f"ties it to {m.joint(other).name!r}"
        rule = f"an <equality> {does}, and the equations of motion have no such coupling; make it rigid with --lock "
        value = f"{held:.15g}" if other < 0 else "VALUE"
        found[name] = Finding(name, f"{rule}{name}={value}", wanted.equality_lines.get(m.equality(int(e)).name))
    return found


def constraints(
    m: Any, wanted: Extract, bodies: Sequence[Body], places: Sequence[ExactTransform], turned: Turned
) -> tuple[ConstraintsDraft, list[str]]:
    """(what ties bodies of the compiled model `m`, notes).

    `bodies` are what was read of its tree, `places` every body's exact place as it is drawn.
    """
    for kind in known_kinds():
        if kind.read_equalities is not None:
            found, notes = resolved(kind.read_equalities)(m, wanted, bodies, places, turned)
            if found != ConstraintsDraft():
                return found, notes
    return ConstraintsDraft(), []
