"""Near singular poses of closed loops a result is right to six digits, by a program over balls, or refused."""

from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.errors import ClosureError, StateError
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Kind
from emdeg.programs.values import ball_values

FUNCTIONS = (
    "mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "inverse_dynamics_vjp",
    "forward_dynamics_hvp",
)
DISTANCES = 10.0 ** -np.arange(1.0, 15.0)


def edge(robot, direction):
    """(home, length): how far from home the workspace reaches."""
    home = kind_of(robot).home(robot)

    def closes(length):
        try:
            emdeg.gravity(robot, home + length * direction)
        except ClosureError:
            return False
        return True

    low, high = 0.0, next(length for length in np.arange(0.0, 6.0, 0.01) if not closes(length))
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if closes(middle) else (low, middle)
    return home, low


def exactly(program, given):
    """The outputs with 400 bits, of inputs that are what the doubles say."""
    slots = {op.slot: Fraction(float(given[op.slot[0]][op.slot[1]])) for op in program.ops if op.kind is Kind.INPUT}
    values = ball_values(program, slots, 400)
    return [
        np.array([ref.sign * float(values[ref.value].mid()) if ref.sign else 0.0 for ref in group.entries])
        for group in program.outputs
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("mechanism", "direction"), [("fivebar", (0.9, -0.5)), ("delta", (0.5, 0.6, -0.6))])
def test_a_result_near_the_edge_of_the_workspace_is_right_or_refused(mechanism, direction, name):
    robot = emdeg.load(mechanism)
    home, length = edge(robot, np.array(direction))
    program, rng = plain_program(robot, name), np.random.default_rng(0)
    given = {group.name: rng.normal(size=group.size) for group in program.inputs}
    refused = []
    for distance in DISTANCES:
        here = {**given, "q": home + (length - distance) * np.array(direction)}
        try:
            found = getattr(emdeg, name)(robot, **here)
        except ClosureError as error:
            refused.append((distance, str(error)))
            continue
        for part, expected in zip(found if isinstance(found, tuple) else (found,), exactly(program, here)):
            np.testing.assert_allclose(np.ravel(part), expected, rtol=0, atol=3e-6 * np.abs(expected).max())
    assert all(distance < 1e-6 and "the pose is singular" in rule for distance, rule in refused)


def test_states_of_a_batch_are_judged_one_by_one():
    robot, direction = emdeg.load("fivebar"), np.array([0.9, -0.5])
    home, length = edge(robot, direction)
    rest = np.ones((2, 2))
    one, other = home, home + (length - 1e-13) * direction
    with pytest.raises(ClosureError, match=r"rounding makes .* of the result at|the pose is singular") as found:
        emdeg.inverse_dynamics(robot, np.array([one, other]), rest, rest)
    assert "singular" in str(found.value)
    alone = emdeg.inverse_dynamics(robot, one, rest[0], rest[0])
    both = emdeg.inverse_dynamics(robot, np.array([one, one]), rest, rest)
    np.testing.assert_array_equal(both, [alone, alone])


@pytest.mark.parametrize("name", ["inverse_jacobian", "inverse_jacobian_vjp", "inverse_jacobian_hvp"])
@pytest.mark.parametrize("q", [(0.1, 0.2, -1.9432442633310993, 0.4, 1.0, 0.5), (0.1, 0.2, 0.3, 0.4, 0.0, 0.5)])
def test_the_inverse_of_a_jacobian_near_a_singular_pose_is_right_or_refused(name, q):
    """The PUMA's stretched elbow, and its wrist in line."""
    robot = emdeg.load("puma560")
    program, rng = plain_program(robot, name), np.random.default_rng(0)
    given = {group.name: rng.normal(size=group.size) for group in program.inputs}
    refused = []
    for distance in (0.0, *DISTANCES):
        here = {**given, "q": np.array(q) + distance * np.array([0, 0, 1, 0, 1, 0])}
        try:
            found = getattr(emdeg, name)(robot, **here)
        except StateError as error:
            refused.append((distance, str(error)))
            continue
        for part, expected in zip(found if isinstance(found, tuple) else (found,), exactly(program, here)):
            np.testing.assert_allclose(np.ravel(part), expected, rtol=0, atol=3e-6 * np.abs(expected).max())
    assert 0.0 in dict(refused)
    assert all(distance < 1e-7 and "singular there" in rule for distance, rule in refused)


@pytest.mark.parametrize("name", ["forward_dynamics_vjp", "inverse_dynamics", "kinetic_energy", "closure"])
def test_no_states_are_a_number_of_states(name):
    given = {group.name: np.zeros((0, group.size)) for group in plain_program(emdeg.load("fivebar"), name).inputs}
    function = getattr(emdeg, name, None) or getattr(emdeg.loops, name)
    found = function("fivebar", **given)
    assert all(len(part) == 0 for part in (found if isinstance(found, tuple) else (found,)))


def test_what_is_no_number_is_none_in_the_result_and_no_singular_pose():
    q = np.array([[0.3, 0.4], [np.nan, 0.4]])
    found = emdeg.forward_dynamics_vjp("planar2r", q, *np.ones((3, 2)))
    assert all(np.isfinite(part[0]).all() and np.isnan(part[1]).any() for part in found[:2])
    numeric = emdeg.loops.with_coordinates(emdeg.load("rrr3"), ["q1", "q2", "q3"])
    with pytest.raises(ClosureError, match="not a number"):
        emdeg.kinetic_energy_vjp(numeric, [np.nan] * 3, [1.0] * 3, [1.0])
