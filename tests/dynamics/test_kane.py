"""Files of generalized speeds: what they say, and what is said about bad ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

import emdeg
from emdeg.algebra import Exact, parsed
from emdeg.dynamics.kane import LinearForm, Rate, load_setup, read_setup
from emdeg.equations.speeds import speed_inverse
from emdeg.errors import RobotError
from emdeg.robot.model import Friction

ARM = emdeg.load("planar3r")
RATES = "".join(f"[[speed]]\nrate = 'q{k}'\n" for k in (1, 2, 3))


def test_a_form_is_a_row_of_A():
    text = "[[speed]]\nform = { q1 = 2, q2 = 'cos(q1 - q2)^2/4' }\n[[speed]]\nrate='q1'\n[[speed]]\nrate='q3'\n"
    setup = read_setup(text, ARM)
    assert isinstance(setup.speeds[0], LinearForm)
    assert setup.speeds[1:] == (Rate(0), Rate(2))
    assert setup.names == ("u1", "u2", "u3")
    A = speed_inverse(ARM, setup).A
    wave = A[0][0].algebra.sum_sincos({1: 1, 2: -1})[1]
    assert A[0] == (2, wave * wave / 4, 0)


def test_absolute_angular_rates_of_a_planar_arm_are_sums():
    text = "".join(f"[[speed]]\nangular_velocity = 'link{k}'\ncomponents = ['z']\n" for k in (1, 2, 3))
    A = speed_inverse(ARM, read_setup(text, ARM)).A
    assert [[int(x.number) for x in row] for row in A] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 'x'\n", "0 generalized speeds for 3 free joints"),
        (RATES + "[[speed]]\nrate = 'q1'\n", "4 generalized speeds for 3 free joints"),
        (RATES.replace("q3", "q7"), "there is no joint 'q7'; there are q1, q2, q3"),
        (RATES.replace("rate = 'q3'", "angular_velocity = 'link9'"), "there is no body 'link9'; did you mean 'link"),
        (RATES.replace("rate = 'q3'", "angular_velocity = 'elbow'"), "there is no body 'elbow'; there are"),
        (
            RATES.replace("rate = 'q3'", "angular_velocity = 'link3'\nframe = 'mars'\ncomponents = ['z']"),
            "there is no frame 'mars'; there are world",
        ),
        (RATES.replace("rate = 'q3'", "angular_velocity = 'base'"), "'base' does not move"),
        (RATES.replace("rate = 'q3'", "velocity = 'link3'\ncomponents = ['w']"), "a component is x, y, z"),
        (RATES.replace("rate = 'q3'", "velocity = 'link3'\ncomponents = [[0, 0, 0]]"), "direction is zero"),
        (RATES.replace("rate = 'q3'", "form = { q1 = 'q2' }"), "q2 is an angle and may stand inside sin and cos only"),
        (RATES.replace("rate = 'q3'", "form = { q1 = 'sin(L)' }"), "there is no revolute joint 'L'"),
        (RATES.replace("rate = 'q3'", "form = { q1 = 'mass' }"), "there is no joint or symbol 'mass'"),
        (RATES.replace("rate = 'q3'", "form = { q1 = '1/sin(q2)' }"), "only a number may be divided by"),
        (RATES.replace("rate = 'q3'", "form = { q1 = '__import__(\"os\")' }"), "unexpected '_'"),
        (RATES.replace("rate = 'q3'", "form = { q9 = '1' }"), "there is no joint 'q9'"),
        (RATES.replace("rate = 'q3'", "rate = 'q3'\nvelocity = 'link3'"), "rate and velocity"),
        (RATES + "[[prescribed]]\njoint = 'q3'\n", "3 generalized speeds for 2 free joints"),
        (RATES + "[[prescribed]]\nbase = ['up']\n", "base must list some of x, y, z, yaw, pitch, roll"),
        (
            "[[speed]]\nrate='q1'\n[[speed]]\nrate='q2'\n[[prescribed]]\njoint = 'q1'\n",
            "the rate of q1 is prescribed and cannot be a speed",
        ),
        ("".join(f"[[prescribed]]\njoint = 'q{k}'\n" for k in (1, 2, 3)), "every joint's motion is prescribed"),
        (RATES + "[[force]]\nbody = 'world'\n", "a force acts on a moving body"),
        (RATES + "[[force]]\nbody = 'hand'\n", "there is no body 'hand'"),
        (RATES + "[[joint_spring]]\njoint = 'q1'\n", "a spring needs a stiffness or a damping"),
        (RATES + "[[point_spring]]\nbody = 'link1'\nto = 'link1'\nstiffness = 1\n", "do not move against each other"),
        (RATES + "[[spring]]\njoint = 'q1'\n", "unknown key 'spring'"),
        (RATES.replace("rate = 'q2'", "rate = 'q2'\nname = 'u1'"), "two speeds share a name"),
    ],
)
def test_a_bad_file_is_refused_in_clear_words(text, message):
    with pytest.raises(RobotError) as problem:
        read_setup(text, ARM, "speeds.toml")
    assert message in str(problem.value)
    assert str(problem.value).startswith("speeds.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[speed]]\nrate = 'q2'\n[[speed]]\nrate = 'q1'\n[[speed]]\nrate = 'q1'\n", "u3 follows from u2"),
        (RATES.replace("rate = 'q3'", "angular_velocity = 'link2'\ncomponents = ['z']"), "u3 follows from u1, u2"),
        (RATES.replace("rate = 'q3'", "angular_velocity = 'link2'\ncomponents = ['x']"), "u3 is no function"),
    ],
)
def test_speeds_that_do_not_determine_the_rates_are_refused(text, message):
    with pytest.raises(RobotError, match="do not determine the joints' rates in any configuration") as problem:
        speed_inverse(ARM, read_setup(text, ARM))
    assert message in str(problem.value)


def test_coulomb_friction_needs_a_smoothing_speed():
    law = Friction(coulomb=Exact.of(2))
    links = [replace(k, joint=replace(k.joint, drive=replace(k.joint.drive, friction=law))) for k in ARM.links]
    robot = replace(ARM, links=tuple(links))
    text = RATES + "[drives]\nfriction = true\n"
    with pytest.raises(RobotError, match="q1, q2, q3 have Coulomb friction, which jumps at rest"):
        read_setup(text, robot)
    assert read_setup(text + "smoothing = 0.01\n", robot).friction


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RobotError, match="there is no such file"):
        load_setup(tmp_path / "none.toml", ARM)


@pytest.mark.parametrize(
    "text",
    ["", "sin(", "2 +", "(1", "sin(2)", "a^0", "a^99", "sin(sin(a))", "a b", "(" * 60 + "1" + ")" * 60, "x" * 3000],
)
def test_malformed_formulas_are_refused(text):
    with pytest.raises(ValueError, match="formula"):
        parsed(text)
