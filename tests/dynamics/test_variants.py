"""What an optimiser may vary leaves the function as it is: every variant equals the plain text, modulo a prime."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emdeg.algebra import PrimeField
from emdeg.dynamics.formulations.composite_body import mass_matrix
from emdeg.dynamics.formulations.energy import partial_velocities, velocities
from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.formulations.rnea_link_frame import (
    MOMENTS,
    inertia_forces,
    joint_torques,
    less_external,
    motion,
    rnea_link_frame,
)
from emdeg.dynamics.mechanism import Rotor, frames, mechanism_of, symbolic_state
from emdeg.dynamics.spatial import Spatial, dot, total
from emdeg.dynamics.variants.rotors import mass_matrix_with_rotors, newton_euler_with_rotors
from emdeg.robot import BASE
from tests.dynamics.chains import with_letters
from tests.random_robots import random_robot


def drawn(seed: int):
    """A random robot (every third a tree), every parameter a letter, at a random state modulo a prime."""
    field = PrimeField(seed)
    robot = with_letters(random_robot(seed, 6, tree=seed % 3 == 0))
    mech = mechanism_of(robot, field)
    position, qd, qdd = symbolic_state(mech, field)
    return mech, frames(mech, position), qd, qdd


@pytest.mark.parametrize("gravity", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_the_link_frame_recursion_equals_the_plain_newton_euler(seed, gravity):
    state = drawn(seed)
    assert rnea_link_frame(*state, gravity=gravity) == efforts_by_newton_euler(*state, gravity=gravity)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_is_the_same_however_it_is_written(name, seed):
    mech, frame, qd, qdd = drawn(seed)
    forces = inertia_forces(mech, motion(mech, frame, qd, qdd), [MOMENTS[name]] * mech.n)
    assert joint_torques(mech, frame, forces, qdd) == efforts_by_newton_euler(mech, frame, qd, qdd)


@pytest.mark.parametrize("seed", range(6))
def test_angular_velocities_known_beforehand_change_nothing_when_they_are_true(seed):
    mech, frame, qd, qdd = drawn(seed)
    plain, v = motion(mech, frame, qd, qdd), velocities(mech, frame, qd)
    known = range(0, mech.n, 2)
    turning = {i: (plain[i].omega, plain[i].omegad) for i in known}
    assert motion(mech, frame, qd, qdd, known=turning) == plain
    assert velocities(mech, frame, qd, {i: v[i].w for i in known}) == v
    assert all(v[i].w == plain[i].omega for i in range(mech.n))


@pytest.mark.parametrize("seed", range(6))
def test_an_external_wrench_takes_its_power_on_each_joint_from_the_joints(seed):
    mech, frame, qd, qdd = drawn(seed)
    field, last = mech.algebra, mech.n - 1
    x, y, z, a, b, c = (field.random(f"wrench {k}") for k in range(6))
    wrench = Spatial((x, y, z), (a, b, c))
    forces = less_external(inertia_forces(mech, motion(mech, frame, qd, qdd)), {last: wrench})
    found = joint_torques(mech, frame, forces, qdd)
    for k, (left, plain) in enumerate(zip(found, efforts_by_newton_euler(mech, frame, qd, qdd))):
        unit = [mech.one if i == k else mech.zero for i in range(mech.n)]
        assert left == plain - wrench.dot(velocities(mech, frame, unit)[last])


@pytest.mark.parametrize("seed", range(6))
def test_rotors_couple_a_joint_with_those_that_turn_its_carrier(seed):
    mech, frame, _, _ = drawn(seed)
    field = mech.algebra

    def random(name: str):
        return tuple(field.random(f"{name} {k}") for k in range(3))

    mech = replace(mech, rotor=tuple(Rotor(field.random(f"rotor {i}"), random(f"axis {i}")) for i in range(mech.n)))
    # The spin's kinetic energy is momentum qd_i (axis . omega of the carrier) beyond what the drive's inertia has.
    expected = mass_matrix(mech, frame)
    partials = partial_velocities(mech, frame)
    for i, carrier in enumerate(mech.parent):
        for k, partial in partials[carrier].items() if carrier != BASE else ():
            share = mech.rotor[i].momentum * dot(mech.rotor[i].axis, partial.w)
            expected[i][k], expected[k][i] = expected[i][k] + share, expected[k][i] + share
    assert mass_matrix_with_rotors(mech, frame) == expected


@pytest.mark.parametrize("seed", range(6))
def test_rotors_do_no_work_by_their_gyroscopic_moments(seed):
    mech, frame, qd, _ = drawn(seed)
    field = mech.algebra
    axes = [tuple(field.random(f"axis {i} {k}") for k in range(3)) for i in range(mech.n)]
    spinning = replace(mech, rotor=tuple(Rotor(field.random(f"rotor {i}"), axes[i]) for i in range(mech.n)))
    rest = [mech.zero] * mech.n
    extra = [
        a - b
        for a, b in zip(
            newton_euler_with_rotors(spinning, frame, qd, rest), efforts_by_newton_euler(mech, frame, qd, rest)
        )
    ]
    # The rate of the coupling's energy, qd_i momentum axis . omega with its rate omegad at qdd = 0.
    moves = motion(mech, frame, qd, rest)
    rate = mech.zero
    for i, carrier in enumerate(mech.parent):
        if carrier != BASE:
            rate = rate + qd[i] * spinning.rotor[i].momentum * dot(axes[i], moves[carrier].omegad)
    assert total([tau * v for tau, v in zip(extra, qd)]) == rate
