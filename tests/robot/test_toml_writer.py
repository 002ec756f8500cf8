"""A robot written out and read back is the same robot, number for number."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.algebra import Angle, Exact, parse_number
from emdeg.robot.assembly import assemble
from emdeg.robot.loading import library_names
from emdeg.robot.model import Payload
from emdeg.robot.toml_reader import read_toml
from emdeg.robot.toml_writer import angle, decimal, number, to_toml

fractions = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**12)
decimals = st.builds(lambda n, k: Fraction(n, 10**k), st.integers(-(10**18), 10**18), st.integers(0, 60))


def read_back(robot, **options):
    return assemble(read_toml(to_toml(robot), "again.toml"), **options)


@pytest.mark.parametrize("name", library_names())
def test_every_library_robot_reads_back_equal(name):
    robot = emdeg.load(name)
    assert read_back(robot) == robot


@pytest.mark.parametrize("name", library_names())
def test_writing_twice_changes_nothing(name):
    text = to_toml(emdeg.load(name))
    assert to_toml(assemble(read_toml(text, "again.toml"))) == text


def test_tolerances_sources_and_reasons_survive():
    again = read_back(emdeg.load("puma560"))
    assert again.tolerances["link2.mass"] == Fraction("0.184")
    assert again.sources["q1.joint"] == "Table A1"
    assert "triangle" in again.nonphysical
    assert again.links[1].stated == emdeg.load("puma560").links[1].stated


def test_a_locked_robot_with_a_load_and_another_gravity_reads_back_equal():
    load = Payload("link6", Exact.of(1.8), (Exact(), Exact(), Exact.of(0.1)), name='a "cube"')
    robot = emdeg.load("puma560", lock={"q3": "90 deg", "q5": 0.3}, payload=load, gravity=(0, 0, "1/3"), tip="link5")
    assert robot.n == 4
    assert replace(read_back(robot), notes=()) == replace(robot, notes=())


def test_a_branched_robot_with_frames_a_named_base_and_a_standard_table_reads_back_equal():
    text = """
schema = 1
name = "tree"
title = 'quotes " and \\ backslash'
source = "two\\nlines"
convention = "standard"
notes = ["said by the reader"]
[base]
name = "table"
xyz = [0, 0, "1/3"]
rpy = [0.1, 0.2, 0.3]
[[link]]
name = "trunk"
joint = { name = "j1", type = "revolute", alpha = 0.4, a = 0.3, d = 0.1, lower = "-170 deg" }
inertia = { about = "com", mass = "m1", com = [0, 0, 0.1], Izz = "Izz1" }
[[link]]
name = "left"
joint = { name = "j2", type = "prismatic", theta = "pi/7", alpha = "90 deg" }
[[link]]
name = "hand"
joint = { type = "fixed", a = 0.05, alpha = 0.2 }
[[link]]
name = "right"
parent = "trunk"
joint = { name = "j3", type = "revolute", a = "l" }
inertia = { about = "frame", M = 1, XX = 0.1, YY = 0.1, ZZ = 0.1 }
[link.drive]
motor_inertia = 1e-5
gear_ratio = 100
motor_axis = [0, 0, 1]
viscous = 0.1
coulomb = 0.2
stribeck = 0.3
stribeck_velocity = 0.01
break_away = 0.4
resolution_bits = 16
[tool]
link = "hand"
xyz = [0, 0, 0.1]
rpy = [0, "30 deg", 0]
[[frame]]
name = "eye"
link = "right"
xyz = [0.1, 0, 0]
[[payload]]
link = "eye"
mass = 1
"""
    robot = assemble(read_toml(text, "tree.toml"))
    assert {"m1", "Izz1", "l"} <= robot.symbols
    assert read_back(robot) == robot


@given(st.one_of(fractions, decimals))
def test_a_number_is_written_exactly(value):
    text = number(value)
    assert parse_number(text.strip('"')) == value
    assert Exact.parse(number(Exact.of(value)).strip('"')) == Exact.of(value)


def test_numbers_are_written_as_people_write_them():
    assert decimal(Fraction(2159, 5000)) == "0.4318"
    assert decimal(Fraction(-981, 100)) == "-9.81"
    assert decimal(Fraction(3)) == "3"
    assert decimal(Fraction(1, 10**7)) == "1e-7"
    assert decimal(Fraction(15, 10**8)) == "1.5e-7"
    assert decimal(Fraction(1, 3)) is None
    assert number(Fraction(1, 3)) == '"1/3"'
    assert number(Exact.parse("2*m - 1/3*l^2")) == '"-1/3*l^2 + 2*m"'


@given(
    st.fractions(min_value=-4, max_value=4, max_denominator=360),
    st.one_of(st.just(Fraction(0)), decimals.filter(lambda v: abs(v) < 100), fractions.filter(lambda v: abs(v) < 100)),
    st.sampled_from([None, "phi"]),
)
@settings(max_examples=200)
def test_an_angle_is_written_exactly(pi_times, radians, symbol):
    value = Angle(pi_times, radians, symbol)
    assert Angle.parse(angle(value).strip('"')) == value


def test_a_robot_accepted_with_allow_nonphysical_reads_back():
    text = to_toml(emdeg.load("puma560")).replace("nonphysical = ", "title = ", 1).replace("title = ", "# title = ", 1)
    robot = assemble(read_toml(text, "puma.toml"), allow_nonphysical=True)
    assert not robot.nonphysical
    assert read_back(robot).links == robot.links


def test_a_foreign_name_is_made_one_a_file_may_have():
    assert read_back(replace(emdeg.load("planar2r"), name="My Robot-7")).name == "my_robot_7"
