"""Loops that an MJCF's equality constraints close, against MuJoCo's own constraint Jacobians; what is refused."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.errors import RobotError
from emdeg.loops import ready
from emdeg.robot import Robot, assemble
from emdeg.robot.mjcf_reader import read_mjcf

PIN = '<connect body1="coupler" body2="rocker" anchor="0.35 0 0"/>'
SITES = '<connect site1="tip" site2="pin"/>'
MOTOR = '<actuator><motor joint="q1"/></actuator>'


def bar(length: float) -> str:
    return f'<geom type="capsule" fromto="0 0 0 {length} 0 0" size="0.02" density="2000"/>'


def four_bar(equality: str, more: str = "", before: str = "") -> str:
    return f"""<mujoco>{before}<worldbody>
<body name="crank" euler="0 -60 0"><joint name="q1" axis="0 1 0" armature="0.01"/>{bar(0.2)}
 <body name="coupler" pos="0.2 0 0" euler="0 45 0"><joint name="p1" axis="0 1 0"/>{bar(0.35)}
  <site class="at" name="tip"/></body></body>
<body name="rocker" pos="0.4 0 0" euler="0 -95 0"><joint name="p2" axis="0 1 0" damping="0.1"/>{bar(0.3)}
  <site name="pin" pos="0.3 0 0"/></body>
</worldbody><default><default class="at"><site pos="0.35 0 0"/></default></default>
<equality>{equality}</equality>{more}</mujoco>"""


def chain(seed: int, count: int, name: str) -> str:
    """Hinges on axes that point anywhere, off their bodies' origins; the second is a slide."""
    rng = np.random.default_rng(seed)
    text = ""
    for k in range(count):
        axis, place, turned = (" ".join(f"{v:.3f}" for v in rng.uniform(-s, s, 3)) for s in (1, 0.3, 90))
        text += (
            f'<body name="{name}{k}" pos="{place}" euler="{turned}">'
            f'<joint name="{name}j{k}" type="{"slide" if k == 1 else "hinge"}" axis="{axis}" pos="0.01 0.02 0"/>'
            f'<inertial pos="0.05 0.02 -0.03" mass="{rng.uniform(0.5, 2):.3f}" '
            'fullinertia="0.02 0.03 0.025 0.001 0.002 -0.001"/>'
        )
    return text + "</body>" * count


def two_chains(equality: str) -> str:
    return (
        f"<mujoco><worldbody>{chain(2, 4, 'a')}{chain(11, 4, 'b')}</worldbody><equality>{equality}</equality></mujoco>"
    )


def robot_of(text: str) -> Robot:
    return assemble(read_mjcf(text, "some.xml"))


def accelerations(model, q, rates, tau):
    """MuJoCo's M, bias and equality Jacobian, solved for accelerations that keep its equality constraints.

    `rates` are those of some joints, by number; the rate of the Jacobian is a central difference.
    """
    data = mujoco.MjData(model)

    def jacobian(at):
        data.qpos[:], data.qvel[:] = at, 0
        mujoco.mj_forward(model, data)
        return np.array(data.efc_J).reshape(-1, model.nv)[: data.ne].copy()

    J = jacobian(q)
    opened = np.abs(data.efc_pos[: data.ne]).max()
    U, sizes, V = np.linalg.svd(J)
    rank = int((sizes > 1e-7).sum())
    free, joints = V[rank:].T, list(rates)
    qd = free @ np.linalg.solve(free[joints], list(rates.values()))
    bias = -(jacobian(q + 1e-5 * qd) - jacobian(q - 1e-5 * qd)) @ qd / 2e-5
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for column, unit in zip(M, np.eye(model.nv)):
        mujoco.mj_mulM(model, data, column, unit)
    met = V[:rank].T @ ((U[:, :rank].T @ bias) / sizes[:rank])
    return opened, met + free @ np.linalg.solve(free.T @ M @ free, free.T @ (tau - data.qfrc_bias - M @ met))


@pytest.mark.parametrize(
    ("text", "coordinates", "driven"),
    [
        (four_bar(PIN, MOTOR), ["q1"], ["q1"]),
        (four_bar(SITES, '<actuator><motor joint="p2"/><position joint="q1"/></actuator>'), ["p2"], ["p2", "q1"]),
        (four_bar('<weld body1="crank"/>'), ["p1", "p2"], ["p1", "p2"]),
        (two_chains('<weld body1="a3" body2="b3" anchor="0.1 0 0"/>'), ["aj0", "aj1"], ["aj0", "aj1"]),
        (two_chains('<weld body1="a3" body2="b3" relpose="0.3 0 0 1 0.02 0.05 0"/>'), None, None),
        (two_chains('<connect body1="a1" body2="b2" anchor="0.2 0 0.1"/>'), None, None),
        (four_bar(PIN, MOTOR.replace("joint=", "jointinparent=").replace("q1", "p2")), ["p2"], ["p2"]),
        (two_chains('<weld body1="a3" body2="b3" anchor="0.1 0 0" torquescale="0"/>'), None, None),
        (two_chains('<weld body1="a3" body2="b3" anchor="0.1 0 0" torquescale="0.5"/>'), None, None),
    ],
    ids=[
        "connect",
        "sites, two motors",
        "weld to the world",
        "weld, anchor",
        "weld, stated pose",
        "connect in space",
        "a motor in the parent's frame",
        "a weld without torque",
        "one of half the torque",
    ],
)
def test_connect_and_weld_close_loops_as_in_mujoco(text, coordinates, driven) -> None:
    robot, model, rng = robot_of(text), mujoco.MjModel.from_xml_string(text), np.random.default_rng(1)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    assert robot.loops is not None
    if coordinates is not None:
        assert [joint.name for joint in robot.coordinates] == coordinates
        assert [joint.name for joint in robot.driven] == driven
    place = [int(model.joint(joint.name).qposadr[0]) for joint in robot.joints]
    own, motors = ([place[k] for k in some] for some in (robot.loops.coordinates, robot.loops.driven))
    home = np.array([float(robot.loops.start[k]) for k in robot.loops.coordinates])
    for _ in range(2):
        u, ud = home + rng.uniform(-0.03, 0.03, len(own)), rng.uniform(-1, 1, len(own))
        efforts, q, tau = rng.uniform(-1, 1, len(motors)), np.zeros(model.nq), np.zeros(model.nv)
        q[place] = emdeg.loops.joint_positions(robot, u)
        tau[motors] = efforts
        opened, expected = accelerations(model, q, dict(zip(own, ud)), tau)
        assert opened < 1e-12
        found = emdeg.forward_dynamics(robot, u, ud, efforts)
        np.testing.assert_allclose(found, expected[own], atol=1e-7 * np.abs(expected).max())


def test_a_drawn_loop_is_exact_so_it_has_programs_and_a_plane_stays_one() -> None:
    robot = robot_of(four_bar(PIN, MOTOR))
    assert emdeg.program(robot, "inverse_dynamics").inputs
    assert ready(robot).mobility.redundant == ("loop1",)


@pytest.mark.parametrize(
    "text",
    [
        four_bar(PIN.replace("/>", ' active="false"/>')),
        four_bar(PIN.replace("/>", ' class="off"/>'), before='<default class="main"/>').replace(
            '<default class="at">', '<default class="off"><equality active="false"/></default><default class="at">'
        ),
        four_bar(PIN, before='<option><flag equality="disable"/></option>'),
    ],
    ids=["inactive", "inactive by its class", "switched off"],
)
def test_what_does_not_hold_in_mujoco_closes_nothing(text) -> None:
    assert not mujoco.MjModel.from_xml_string(text).eq_active0.any() or "disable" in text
    assert robot_of(text).loops is None


def test_motors_that_do_not_hold_the_loops_are_said() -> None:
    robot = robot_of(four_bar(PIN))
    assert "its actuators do not hold its closed loops: the coordinates (q1) are taken as driven" in robot.notes


def test_a_tied_joint_must_be_made_rigid() -> None:
    held = '<joint joint1="p2" polycoef="0.25 0 0 0 0"/>'
    with pytest.raises(RobotError, match=r"some.xml:8: p2: an <equality> holds it at 0.25.*--lock p2=0.25"):
        robot_of(four_bar(held))
    with pytest.raises(RobotError, match="q1: an <equality> ties it to 'p1'"):
        robot_of(four_bar('<joint joint1="q1" joint2="p1"/>'))
    assert assemble(read_mjcf(four_bar(held), "some.xml"), locks={"p2": Exact.of(0.25)}).n == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (four_bar('<weld body1="coupler" body2="rocker"/>'), "loop1: the loops that it closes leave no motion"),
        (four_bar(SITES).replace('pos="0.4 0 0"', 'pos="4 0 0"'), "stay open by 3.1"),
        (four_bar('<tendon tendon1="t"/>'), "an <equality> between <tendon>s is refused"),
        (four_bar(PIN.replace("rocker", "nobody")), "unknown element 'nobody'"),
        (four_bar(PIN.replace("0.35", "nan")), "it must be a finite number"),
        (four_bar(PIN.replace("/>", ' weight="1"/>')), "an attribute 'weight' of <connect> is not known"),
        (
            four_bar(PIN.replace("rocker", "hand")).replace(
                "</worldbody>", '<body name="hand" mocap="true"/></worldbody>'
            ),
            "its body2 is, or is on, a mocap body",
        ),
    ],
)
def test_loops_that_cannot_be_closed_are_refused_in_words(text, words) -> None:
    with pytest.raises(RobotError, match=words):
        robot_of(text)
