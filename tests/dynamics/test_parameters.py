"""Base parameters against the rank of a random stacked regressor, and torques before and after regrouping."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.algebra import Angle, Exact, Floats, PrimeField
from emdeg.algebra.linear import independent_rows
from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.functions import numeric
from emdeg.dynamics.functions.numeric import regressor
from emdeg.dynamics.mechanism import frames, mechanism_of, symbolic_state
from emdeg.dynamics.parameters.base import base_parameters, base_values, parameters, regrouped, regrouped_mechanism
from emdeg.dynamics.parameters.regressor import regressor as generic_regressor
from emdeg.dynamics.parameters.symbolic_regressor import regressor_formulas
from emdeg.errors import RobotError
from emdeg.robot import Body, Draft, Drive, Placement, Robot, assemble, substitute
from emdeg.robot.algebra import geometry
from emdeg.robot.loading import SNAP, library_names, load
from emdeg.robot.urdf_reader import read_urdf
from tests.example_robots import robot_files
from tests.random_robots import random_inertia, random_state

RIGHT = Angle(Fraction(1, 2))
ARMS = [name for name in library_names() if load(name).loops is None]
ROBOT_FILES = Path(__file__).parents[1] / "data" / "robots"
DOWN = ("0", "0", "-9.81")


def numerical_rank(robot: Robot, drives: bool, states: int = 60) -> int:
    """By singular values, in doubles: an oracle that knows nothing of primes, recursions or groupings."""
    rng = np.random.default_rng(7)
    q, qd, qdd = (rng.uniform(-2, 2, (states, robot.n)) for _ in range(3))
    Y = numeric.regressor(robot, q, qd, qdd)
    columns = [c for c in range(11 * robot.n) if drives or c % 11 != 10]
    stacked = Y[..., columns].reshape(-1, len(columns))
    norms = np.linalg.norm(stacked, axis=0)
    values = np.linalg.svd(stacked / np.where(norms > 1e-12, norms, 1), compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0])) if values[0] > 0 else 0


def rank_modulo_prime(robot: Robot, drives: bool = True) -> int:
    """The rank of the whole regressor, stacked over enough random states of a random geometry, modulo a prime."""
    shape, field = geometry(robot), PrimeField(569)
    mech = mechanism_of(shape, field)
    columns = [c for c in range(11 * robot.n) if drives or c % 11 != 10]
    rows = []
    for k in range(17):
        positions, qd, qdd = symbolic_state(mech, field, f" in state {k}")
        rows += [[row[c].value for c in columns] for row in generic_regressor(mech, frames(mech, positions), qd, qdd)]
    return len(independent_rows(rows, field.prime))


def numbered(robot: Robot) -> Robot:
    """Every symbol with a number, no two alike."""
    values = {name: Fraction(30 + 7 * k, 100) for k, name in enumerate(sorted(robot.symbols))}
    return substitute(robot, values) if values else robot


def same_torques(one: Robot, other: Robot, tolerance: float = 1e-12) -> None:
    for seed in range(3):
        q, qd, qdd = random_state(one, seed)
        expected = numeric.inverse_dynamics(one, q, qd, qdd)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(
            numeric.inverse_dynamics(other, q, qd, qdd), expected, rtol=0, atol=tolerance * scale
        )


def arm(joints: list[tuple[str, Angle, float]], gravity: tuple[str, str, str] = DOWN, seed: int = 0) -> Robot:
    """A chain: kind, twist and common normal of each joint, offsets and inertias random."""
    rng = np.random.default_rng(seed)
    bodies = [
        Body(
            name=f"link{i}",
            parent=f"link{i - 1}" if i else None,
            joint=f"joint{i}",
            kind=kind,  # type: ignore[arg-type]
            inertia=random_inertia(rng),
            row=Placement(alpha=alpha, a=Exact.of(a), d=Exact.of(round(rng.uniform(-1, 1), 2))),
            drive=Drive(inertia=Exact.of(round(rng.uniform(0.1, 1), 2))),
        )
        for i, (kind, alpha, a) in enumerate(joints)
    ]
    g = tuple(Exact.of(Fraction(v)) for v in gravity)
    return assemble(Draft("arm", tuple(bodies), gravity=g))  # type: ignore[arg-type]


_TWISTS = st.sampled_from(
    [Angle(), Angle(), RIGHT, -RIGHT, Angle(Fraction(1)), Angle(Fraction(1, 4)), Angle(radians=Fraction(7, 10))]
)
_JOINT = st.tuples(st.sampled_from(["revolute", "revolute", "prismatic"]), _TWISTS, st.sampled_from([0.0, 0.4, -0.3]))
_GRAVITY = st.sampled_from([DOWN, DOWN, ("0", "-9.81", "0"), ("0", "0", "0"), ("1", "-2", "9"), ("3.6", "0", "-4.8")])
chains = st.builds(arm, st.lists(_JOINT, min_size=1, max_size=7), _GRAVITY, st.integers(0, 99))


@st.composite
def trees(draw: st.DrawFn) -> Robot:
    """Links that hang anywhere on earlier ones."""
    robot = draw(chains)
    links = [robot.links[0]]
    for i, link in enumerate(robot.links[1:], 1):
        place = replace(link.joint.placement, gamma=draw(_TWISTS), b=Exact.of(draw(st.sampled_from([0.0, 0.2]))))
        joint = replace(link.joint, placement=place)
        links.append(replace(link, joint=joint, parent=draw(st.integers(-1, i - 1))))
    return replace(robot, links=tuple(links), frames=())


@pytest.mark.parametrize("drives", [False, True])
@pytest.mark.parametrize("name", ARMS)
def test_count_is_the_numerical_rank_for_every_library_robot(name: str, drives: bool) -> None:
    robot = load(name)
    count = len(base_parameters(robot, drives))
    assert count == numerical_rank(numbered(robot), drives) == rank_modulo_prime(robot, drives)


@pytest.mark.parametrize("name", ["puma560", "puma560_symbolic", "puma560_emdeg"])
def test_the_pumas_geometry_has_36_base_parameters_and_40_with_drives(name: str) -> None:
    assert len(base_parameters(load(name), drives=False)) == 36
    assert len(base_parameters(load(name), drives=True)) == 40


@pytest.mark.parametrize("file", sorted(ROBOT_FILES.glob("*.urdf")), ids=lambda file: file.stem)
def test_count_is_the_numerical_rank_for_every_urdf_file(file: Path) -> None:
    robot = load(file, allow_nonphysical=True)
    for drives in (False, True):
        assert len(base_parameters(robot, drives)) == numerical_rank(robot, drives)
    same_torques(robot, regrouped(robot))


@pytest.mark.robots
@pytest.mark.parametrize("name", robot_files())
def test_count_is_the_numerical_rank_for_every_robot_of_example_robot_data(name: str) -> None:
    """As the command line reads them: an angle 4e-6 off a right one would make a rank that doubles cannot tell."""
    try:
        draft = read_urdf(robot_files()[name].read_text(encoding="utf-8"), name, snap=SNAP)
        locks = {body.joint: Exact() for body in draft.bodies if body.refused}
        robot = assemble(draft, locks=locks, allow_nonphysical=True)
    except RobotError:
        return  # what emdeg refuses, and with which words, is test_example_robots' theorem
    # The singular values of more than nine joints leave no gap; modulo a prime there is none to leave.
    rank = numerical_rank if 0 < robot.n <= 9 else rank_modulo_prime
    for drives in (False, True):
        assert len(base_parameters(robot, drives)) == rank(robot, drives)


@settings(max_examples=12, deadline=None)
@given(chains, st.booleans())
def test_count_is_the_numerical_rank_for_random_chains(robot: Robot, drives: bool) -> None:
    assert len(base_parameters(robot, drives)) == numerical_rank(robot, drives)


@settings(max_examples=20, deadline=None)
@given(trees(), st.booleans())
def test_count_is_the_numerical_rank_for_random_trees(robot: Robot, drives: bool) -> None:
    assert len(base_parameters(robot, drives)) == numerical_rank(robot, drives)


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(st.one_of(chains, trees()))
def test_regrouped_robots_have_the_same_torques_and_zero_for_all_but_the_kept(robot: Robot) -> None:
    base = base_parameters(robot)
    other = regrouped(robot, base)
    same_torques(robot, other)
    kept = {column.place for column in base.kept}
    assert all(not value for c, value in enumerate(parameters(other)) if c not in kept)


@settings(max_examples=15, deadline=None)
@given(st.one_of(chains, trees()), st.data())
def test_any_preference_gives_a_set_of_the_same_size_with_the_same_torques(robot: Robot, data: st.DataObject) -> None:
    columns = base_parameters(robot).columns
    wanted = data.draw(st.lists(st.sampled_from(columns), max_size=6, unique=True))
    base = base_parameters(robot, prefer=wanted)
    assert base.minimal
    assert len(base) == len(base_parameters(robot))
    same_torques(robot, regrouped(robot, base), 1e-9)


@settings(max_examples=15, deadline=None)
@given(st.one_of(chains, trees()), st.data())
def test_what_is_to_be_left_stays(robot: Robot, data: st.DataObject) -> None:
    left = data.draw(st.lists(st.sampled_from(base_parameters(robot).columns), max_size=4, unique=True))
    base = base_parameters(robot, leave=left)
    assert set(left) <= set(base.kept)
    same_torques(robot, regrouped(robot, base), 1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_base_regressor_times_base_values_is_the_torque(name: str) -> None:
    robot = numbered(load(name))
    q, qd, qdd = random_state(robot, 3)
    tau = numeric.inverse_dynamics(robot, q, qd, qdd)
    atol = 1e-12 * max(1.0, float(np.abs(tau).max()))
    full = regressor(robot, q, qd, qdd) @ np.array([float(v) for v in parameters(robot)])
    grouped = regressor(robot, q, qd, qdd, base=True) @ np.array([float(v) for v in base_values(robot)])
    np.testing.assert_allclose(full, tau, rtol=0, atol=atol)
    np.testing.assert_allclose(grouped, tau, rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "scara", "planar3r", "panda"])
def test_regressor_formulas_equal_the_numbers(name: str) -> None:
    robot = numbered(load(name))
    states = random_state(robot, 5)
    formulas = regressor_formulas(robot, base=True)
    np.testing.assert_allclose(formulas.evaluate(*states), regressor(robot, *states, base=True), rtol=0, atol=1e-11)
    full = regressor_formulas(robot)
    np.testing.assert_allclose(full.evaluate(*states), regressor(robot, *states), rtol=0, atol=1e-11)


def test_symbolic_geometry_groups_like_the_numbers_put_in_afterwards() -> None:
    robot = load("puma560_symbolic")
    other = numbered(robot)
    symbolic, number = base_parameters(robot), base_parameters(other)
    assert symbolic.kept == number.kept
    values = {name: Exact.of(Fraction(30 + 7 * k, 100)) for k, name in enumerate(sorted(robot.symbols))}
    assert [v.substitute(values) for v in base_values(robot)] == list(base_values(other))
    same_torques(other, substitute(regrouped(robot), {n: values[n] for n in regrouped(robot).symbols}))


@pytest.mark.parametrize("name", ARMS)
def test_regrouped_mechanism_is_the_same_robot_exactly(name: str) -> None:
    robot = load(name)
    field = PrimeField(seed=11)
    positions, qd, qdd = symbolic_state(mechanism_of(robot, field), field)
    torques = []
    for mech in (mechanism_of(robot, field), regrouped_mechanism(robot, field)):
        torques.append(efforts_by_newton_euler(mech, frames(mech, positions), qd, qdd))
    assert all(a == b for a, b in zip(*torques))


def test_symbolic_twists_group_exactly_though_no_polynomial_says_how() -> None:
    """A slide between two turning axes at an angle that is a symbol: first moments along the first axis."""
    robot = arm([("revolute", Angle(), 0.0), ("prismatic", Angle(symbol="alpha"), 0.3), ("revolute", RIGHT, 0.2)])
    base = base_parameters(robot)
    ratios = [k for relation in base.relations for _, k in relation.acts_as if not k.is_formula]
    assert ratios, "the relation divides by the sine of alpha"
    field = PrimeField(seed=5)
    positions, qd, qdd = symbolic_state(mechanism_of(robot, field), field)
    before, after = mechanism_of(robot, field), regrouped_mechanism(robot, field)
    expected = efforts_by_newton_euler(before, frames(before, positions), qd, qdd)
    assert all(a == b for a, b in zip(efforts_by_newton_euler(after, frames(after, positions), qd, qdd), expected))
    assert len(base) == numerical_rank(substitute(robot, {"alpha": Fraction(2, 5)}), drives=True)
    with pytest.raises(RobotError, match="no polynomials"):
        base_values(robot)
    # The robot leaves such parameters where they are and stays the same robot.
    number = {"alpha": Fraction(2, 5)}
    same_torques(substitute(robot, number), substitute(regrouped(robot), number))


def test_khalils_grouping_of_the_stanford_arm_comes_out() -> None:
    """Khalil and Dombre's rules: XX - YY, ZZ + YY of the child, MY + MZ of the child; a slide gives its tensor."""
    grouping = base_parameters(load("stanford_arm")).grouping
    groups = {str(kept): {str(c): str(k) for c, k in parts} for kept, parts in grouping.items()}
    assert groups["XX4"] == {"YY4": "-1", "YY5": "1"}
    assert groups["ZZ4"] == {"YY5": "1"}
    assert groups["MY4"] == {"MZ5": "1"}
    assert groups["M3"] == {"M4": "1", "M5": "1", "M6": "1"}
    assert groups["XY2"] == {"XZ3": "-1"}


def test_payload_is_part_of_the_base_parameters() -> None:
    robot = load("puma560", payload="mass=1.5,com=0.1:0.02:0.05@" + load("puma560").links[-1].name)
    other = regrouped(robot)
    assert not other.payloads
    assert other.nonphysical
    same_torques(robot, other)
    q, qd, qdd = random_state(robot, 1)
    mech = regrouped_mechanism(robot, Floats())
    position = [(np.sin(v), np.cos(v)) for v in q]
    np.testing.assert_allclose(
        efforts_by_newton_euler(mech, frames(mech, position), list(qd), list(qdd)),
        numeric.inverse_dynamics(robot, q, qd, qdd),
        atol=1e-12 * 100,
    )


def test_gyroscopic_terms_survive_regrouping() -> None:
    robot = arm([("revolute", Angle(), 0.0), ("revolute", RIGHT, 0.3), ("revolute", Angle(), 0.2)])
    links = tuple(
        replace(link, joint=replace(link.joint, drive=replace(link.joint.drive, gear_ratio=Exact.of(50))))
        for link in robot.links
    )
    robot = replace(robot, links=links)
    q, qd, qdd = random_state(robot, 2)
    np.testing.assert_allclose(
        numeric.inverse_dynamics(regrouped(robot), q, qd, qdd, gyroscopic=True),
        numeric.inverse_dynamics(robot, q, qd, qdd, gyroscopic=True),
        atol=1e-11,
    )


@pytest.mark.parametrize("joints", [7, 16])
def test_long_planar_chains_keep_four_parameters_a_link(joints: int) -> None:
    """ZZ, MX, MY and Ia of each link but the last grouping of the first: Ia1 goes with ZZ1."""
    robot = arm([("revolute", Angle(), 0.3)] * joints, gravity=("0", "-9.81", "0"))
    base = base_parameters(robot)
    assert len(base) == 4 * joints - 1
    assert {column.name for column in base.kept} == {"ZZ", "MX", "MY", "Ia"}


def test_a_parameter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RobotError, match="no parameter"):
        base_parameters(load("planar2r"), prefer=[(2, "M")])
    with pytest.raises(RobotError, match="one of XX XY"):
        base_parameters(load("planar2r"), leave=[(0, "mass")])


@pytest.mark.robots
def test_count_is_the_numerical_rank_for_every_real_robot_of_up_to_twelve_joints() -> None:
    example_robots = pytest.importorskip("tests.example_robots")
    examined = 0
    for name, file in example_robots.robot_files().items():
        try:
            robot = load(file, allow_nonphysical=True)
        except RobotError:
            continue
        if robot.n <= 12:
            count = len(base_parameters(robot))
            assert count == numerical_rank(robot, drives=True) == rank_modulo_prime(robot), name
            examined += 1
    assert examined >= 30
