"""Differences of the size of a double's round-off are taken away on reading, and said; with snap 0 they stay."""

from __future__ import annotations

import pytest

import emdeg

ARM = """schema = 1
name = "arm"
convention = "modified"
[[link]]
name = "upper"
joint = {{ name = "q1", type = "revolute" }}
inertia = {{ about = "frame", M = 1, MX = 0.2, MY = {MY}, XX = 0.1, YY = 0.2, ZZ = 0.25, XY = {XY} }}
[[link]]
name = "fore"
joint = {{ name = "q2", type = "revolute", alpha = "90 deg", a = 0.4, d = {d} }}
[link.inertia]
about = "{about}"
mass = 1
com = [0, 0, 0.01]
{I}xx = 0.0012239756985517201
{I}yy = {yy}
{I}zz = 0.0002
"""
CLEAN = {"MY": "0", "XY": "0", "d": "0", "about": "com", "I": "I", "yy": "0.0012239756985517201"}


def arm(tmp_path, snap: float = 1e-5, **values: str):
    file = tmp_path / "arm.toml"
    text = ARM.format(**(CLEAN | values))
    if values.get("about") == "frame":
        text = text.replace("xx =", "XX =").replace("yy =", "YY =").replace("zz =", "ZZ =")
    file.write_text(text)
    return emdeg.load(file, snap=snap)


@pytest.mark.parametrize("about", [{"about": "com", "I": "I"}, {"about": "frame", "I": ""}])
def test_moments_that_differ_by_round_off_are_equal(about, tmp_path):
    robot = arm(tmp_path, yy="0.00122397569855172", **about)
    tensor = robot.links[1].inertia.tensor
    assert tensor[0] == tensor[3]
    assert len(robot.notes) == 1
    assert "fore: round-off was taken away" in robot.notes[0]
    assert "differed by 1e-19" in robot.notes[0]
    assert not emdeg.derive(robot).M[0][0].degree(emdeg.derive(robot).algebra.generators[2])
    plain = arm(tmp_path, snap=0, yy="0.00122397569855172", **about)
    assert plain.links[1].inertia.tensor[0] != plain.links[1].inertia.tensor[3]
    assert plain.notes == ()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"MY": "1e-18"}, "upper: round-off was taken away: MY = 0 for 1e-18"),
        ({"XY": "-3e-17"}, "upper: round-off was taken away: XY = 0 for -3e-17"),
        ({"d": "2e-17"}, "fore: round-off was taken away: d = 0 for 2e-17"),
    ],
)
def test_what_is_nothing_beside_its_kind_is_zero(values, said, tmp_path):
    robot = arm(tmp_path, **values)
    assert robot.notes == (said,)
    clean = arm(tmp_path)
    assert robot.links == clean.links


@pytest.mark.parametrize("values", [{"MY": "1e-9"}, {"XY": "1e-12"}, {"d": "1e-10"}, {"yy": "0.001223975698552"}])
def test_what_may_have_been_measured_stays(values, tmp_path):
    robot = arm(tmp_path, **values)
    assert robot.notes == ()
    assert robot.links != arm(tmp_path).links


def test_the_library_has_none():
    for name in emdeg.library_names():
        assert not any("round-off" in note for note in emdeg.load(name).notes), name
