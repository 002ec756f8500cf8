"""The table: every cell is a place of the file, and what the file's reader says of a wrong entry is what is shown."""

from __future__ import annotations

from fractions import Fraction

import pytest

import emdeg
from emdeg.errors import EmdegError
from emdeg.robot import load_text, to_toml
from emdeg.studio.parameters import edited, parsed, tables, with_payload, written

ROBOTS = ("planar2r", "puma560", "puma560_symbolic", "stanford_arm", "delta", "stewart", "palletiser", "iiwa14")


def text_of(name: str) -> str:
    return to_toml(emdeg.load(name))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_file_taken_apart_and_written_again_is_the_same_robot(name: str) -> None:
    text = text_of(name)
    assert to_toml(load_text(written(parsed(text)), "robot.toml", snap=0, allow_nonphysical=True)) == text


@pytest.mark.parametrize("name", ROBOTS)
def test_every_cell_put_back_as_it_stands_changes_nothing(name: str) -> None:
    text = text_of(name)
    cells = [cell for one in tables(text) for _, row in one["rows"] for cell in row]
    assert len(cells) > 20
    for cell in cells[:: max(1, len(cells) // 12)]:
        again = edited(text, cell["place"], cell["text"])
        assert to_toml(load_text(again, "robot.toml", snap=0, allow_nonphysical=True)) == text, cell


def test_a_changed_length_is_the_robots_length() -> None:
    text = edited(text_of("puma560"), ["link", 2, "joint", "a"], "0.5")
    robot = load_text(text, "robot.toml", allow_nonphysical=True)
    assert robot.joints[2].placement.a.number == Fraction(1, 2)
    tool = load_text(edited(text, ["tool", "xyz", 2], "0.1"), "robot.toml", allow_nonphysical=True)
    assert float(tool.tool.pose.xyz[2]) == 0.1
    longer = load_text(edited(text_of("delta"), ["rod", 1, "length"], "0.53"), "robot.toml", allow_nonphysical=True)
    assert [float(rod.length) for rod in longer.rods] == [0.52, 0.53, 0.52]
    gravity = next(one for one in tables(text) if one["title"].startswith("Gravity"))
    assert [cell["text"] for cell in gravity["rows"][0][1]] == ["0", "0", "-9.81"]
    heavier = load_text(edited(text, ["gravity", 2], "-1.62"), "robot.toml", allow_nonphysical=True)
    assert float(heavier.gravity[2]) == -1.62


@pytest.mark.parametrize(
    ("place", "entry", "words"),
    [
        (["link", 1, "joint", "a"], "0,5", "a decimal is written with a point"),
        (["link", 1, "joint", "alpha"], "<b>bold</b>", "is not an angle"),
        (["link", 1, "inertia", "mass"], "heavy!", "mass"),
        (["link", 1, "joint", "lower"], "nan", "lower"),
    ],
)
def test_the_readers_own_words_say_what_is_wrong(place: list[str | int], entry: str, words: str) -> None:
    with pytest.raises(EmdegError, match=words):
        load_text(edited(text_of("puma560"), place, entry), "robot.toml")


@pytest.mark.parametrize(
    "place", [["name"], ["link", 0, "name"], ["link", 99, "joint", "a"], ["source"], ["link", 0], [], ["tool", "link"]]
)
def test_no_other_place_of_the_file_can_be_reached(place: list[str | int]) -> None:
    with pytest.raises(EmdegError, match="no such place"):
        edited(text_of("puma560"), place, "1")


def test_text_in_a_cell_stays_text() -> None:
    """What looks like the end of a string, a table or a line is one value, and no more."""
    attack = '1"\n[[link]]\nname = "evil'
    data = parsed(edited(text_of("puma560"), ["link", 1, "joint", "a"], attack))
    assert data["link"][1]["joint"]["a"] == attack.strip()
    assert len(data["link"]) == 6


def test_a_load_is_added_at_the_tool() -> None:
    robot = load_text(with_payload(with_payload(text_of("puma560"))), "robot.toml", allow_nonphysical=True)
    assert [load.name for load in robot.payloads] == ["load1", "load2"]
    assert robot.payloads[0].link == robot.links[robot.tool.link].name


def test_tolerances_and_sources_stand_beside_their_values() -> None:
    inertia = next(one for one in tables(text_of("puma560")) if one["title"].startswith("Inertia about the centre"))
    mass = inertia["rows"][1][1][0]
    assert mass["text"] == "17.4"
    assert float(mass["tolerance"]) > 0
