"""Random MJCF against MuJoCo itself: equal, or refused, or noted in words; never silently different."""

from __future__ import annotations

from collections import Counter
from random import Random

import mujoco
import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.robot import Robot, assemble
from emdeg.robot.mjcf_reader import read_mjcf
from tests.random_mjcf import random_mjcf

CLOSE = 1e-8


def compiled(text: str) -> mujoco.MjModel | None:
    """MuJoCo's own reading of the text; None where it refuses."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda said: None)
    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError):
        return None
    finally:
        mujoco.set_mju_user_warning(before)


def outcome(text: str) -> str:
    """ "equal", "noted", "refused" by emdeg, or "no model" of MuJoCo's; AssertionError where they differ in silence."""
    model = compiled(text)
    if model is None:
        return "no model"
    try:
        draft = read_mjcf(text, "random.xml", snap=0)
        robot = assemble(draft)
    except RobotError:
        return "refused"
    notes = [note for note in draft.notes if not note.startswith("MuJoCo's compiler")]
    names = [joint.name for joint in robot.joints]
    dofs = [int(model.joint(name).dofadr[0]) for name in names]
    assert sorted(dofs) == list(range(model.nv))
    for seed in range(2):
        same_motion(robot, model, names, dofs, notes, seed)
    same_limits(robot, model, names)
    return "noted" if notes else "equal"


def same_motion(
    robot: Robot, model: mujoco.MjModel, names: list[str], dofs: list[int], notes: list[str], seed: int
) -> None:
    for array in ("armature", "damping", "dampingpoly"):
        if any("<actuator>" in note for note in notes):
            getattr(model, f"actuator_{array}")[:] = 0
        if any("<tendon>" in note for note in notes):
            getattr(model, f"tendon_{array}")[:] = 0
    lossy = not model.opt.disableflags & int(
        mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )
    data = mujoco.MjData(model)
    flags = int(model.opt.disableflags)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    data.qpos[dofs], data.qvel[dofs], data.qacc[dofs] = q, qd, qdd
    model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_inverse(model, data)
    model.opt.disableflags = flags
    theirs = (data.qfrc_inverse + data.qfrc_passive)[dofs]
    ours = emdeg.inverse_dynamics(robot, q, qd, qdd)
    assert np.abs(ours - theirs).max() <= CLOSE * np.abs(theirs).max(), (ours, theirs)
    for k, name in enumerate(names):
        drive, dof = robot.joints[k].drive, dofs[k]
        damping = float(drive.friction.viscous) * qd[k]
        if not any((repr(name) in note and "damping" in note) or "springdamper" in note for note in notes):
            assert np.isclose(damping, -data.qfrc_damper[dof], rtol=CLOSE, atol=1e-12), name
        loss = model.dof_frictionloss[dof] if lossy else 0.0
        assert np.isclose(float(drive.friction.coulomb), loss), name
        if data.qfrc_spring[dof]:
            assert any((repr(name) in note and "spring" in note) or "<tendon>" in note for note in notes), name
    for force, word in (("gravcomp", "gravity compensation"), ("fluid", "fluid")):
        if np.any(getattr(data, f"qfrc_{force}")):
            assert any(word in note for note in notes), force
    assert not model.neq  # a joint that is tied is refused


def same_limits(robot: Robot, model: mujoco.MjModel, names: list[str]) -> None:
    for joint, name in zip(robot.joints, names):
        theirs = model.joint(name)
        stated = (joint.limits.lower, joint.limits.upper)
        if theirs.limited[0]:
            assert np.allclose([float(end) for end in stated if end is not None], theirs.range)
        else:
            assert stated == (None, None)


def compare(seeds: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        text = random_mjcf(Random(seed))
        try:
            found[outcome(text)] += 1
        except AssertionError as problem:
            pytest.fail(f"seed {seed}: {problem}\n{text}")
    return found


def test_random_models_move_as_in_mujoco_or_say_why_not() -> None:
    found = compare(range(50))
    assert found["equal"] + found["noted"] > 30, found
    assert found["equal"] > 15, found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_models_move_as_in_mujoco_or_say_why_not(part: int) -> None:
    found = compare(range(10_000 + 600 * part, 10_600 + 600 * part))
    assert found["equal"] + found["noted"] > 350, found
