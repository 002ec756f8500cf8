"""Filed programs: found again under readable names, proved where a stranger could have written them, else refused."""

from __future__ import annotations

import copy
import json
import os
import re
import stat
from dataclasses import replace
from fractions import Fraction
from importlib import resources
from pathlib import Path

import pytest

import emdeg
from emdeg.errors import NotAProgram, OldFormat, Poisoned
from emdeg.programs.build import plain_program
from emdeg.programs.ir import NOTHING, Kind, Op, count, moved
from emdeg.programs.search.optimise import optimise
from emdeg.programs.store import (
    file_name,
    filed,
    from_data,
    index,
    keep,
    kept,
    place,
    robot_digest,
    shipped,
    shipped_index,
    to_data,
)
from emdeg.programs.verification import verify_program
from emdeg.programs.weights import Weights, cost, label
from emdeg.robot import assemble, read_toml, to_toml
from tests.program_samples import kitchen_sink, random_program


def test_programs_on_file_are_found_again_and_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load("planar2r", payload="mass=1.5,com=0:0:0")
    assert kept(robot, ["gravity"]) is None
    small = optimise(robot, "gravity", 0.5).program
    path = keep(small, robot, ["gravity"], found={})
    assert kept(robot, ["gravity"]) == small
    assert count(emdeg.program(robot, "gravity")).total == count(small).total
    assert kept(emdeg.load("planar2r"), ["gravity"]) is None
    # A file that was tampered with is not used.
    data = json.loads(path.read_text())
    ops = [text.replace(*(("add", "sub") if "add" in text else ("sub", "add"))) for text in data["program"]["ops"]]
    data["program"]["ops"] = ops
    path.write_text(json.dumps(data))
    with pytest.warns(Poisoned, match=f"{path} is not used: it is wrong: .*set aside as {path.name}.poisoned"):
        assert emdeg.program(robot, "gravity", name="gravity") == plain_program(robot, "gravity")
    assert [found.name for found in path.parent.iterdir()] == ["gravity.json.poisoned"]
    for junk in (b"{", b"\xff\xfe\x00", b"[]", b"[" * 100_000, json.dumps({**data, "program": 3}).encode()):
        path.write_bytes(junk)
        with pytest.warns(Poisoned, match="no stored program"):
            assert emdeg.program(robot, "gravity", name="gravity") == plain_program(robot, "gravity")
        assert not path.exists()


def test_a_pipe_or_a_folder_in_a_programs_place_is_passed_by(tmp_path):
    robot = emdeg.load("planar2r")
    path = place(robot, ["gravity"], folder=tmp_path)
    path.parent.mkdir()
    os.mkfifo(path)
    assert kept(robot, ["gravity"], folder=tmp_path) is None
    path.unlink()
    path.mkdir()
    assert kept(robot, ["gravity"], folder=tmp_path) is None


def test_a_users_programs_are_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path / "cache" / "programs"))
    robot = emdeg.load("planar2r")
    path = keep(plain_program(robot, "gravity"), robot, ["gravity"], found={})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:3]] == [0o700] * 3


def test_a_users_program_never_hides_a_smaller_one_that_comes_with_the_package(tmp_path, monkeypatch):
    robot = emdeg.load("puma560")
    with_the_package = emdeg.program(robot, "mass_matrix")
    plain = plain_program(robot, "mass_matrix")
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    keep(plain, robot, ["mass_matrix"], found={})
    assert emdeg.program(robot, "mass_matrix") == with_the_package
    # Nor does one that is small because it is wrong.
    keep(replace(plain, ops=plain.ops[:1], outputs=zeros(plain)), robot, ["mass_matrix"], found={})
    assert count(kept(robot, ["mass_matrix"])).total == 0
    with pytest.warns(Poisoned, match="mass_matrix.json is not used: it is wrong"):
        assert emdeg.program(robot, "mass_matrix") == with_the_package


def test_at_equal_cost_the_packages_program_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load("puma560")
    ours = shipped(robot, ["mass_matrix"])
    # The same with a constant that nobody reads in front: it costs as much, and the proof finds no fault with it.
    one = Op(Kind.NUMBER, payload=Fraction(7))
    ops = tuple(replace(op, args=tuple(arg + 1 for arg in op.args)) for op in ours.ops)
    outputs = moved(ours.outputs, {place: place + 1 for place in range(ours.size)})
    keep(replace(ours, ops=(one, *ops), outputs=outputs), robot, ["mass_matrix"], found={})
    for weights in ("operations", Weights(mul=2)):
        assert emdeg.program(robot, "mass_matrix", weights=weights).ops == ours.ops


def zeros(program):
    return tuple(replace(group, entries=(NOTHING,) * len(group.entries)) for group in program.outputs)


def test_programs_are_filed_by_what_was_weighed(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load("planar2r")
    weights = Weights(add=0, mul=0, sincos=1)
    found = optimise(robot, "mass_matrix", 0.5, weights=weights).program
    keep(found, robot, ["mass_matrix"], found={}, weights=label(weights))
    assert cost(emdeg.program(robot, "mass_matrix", weights=weights), weights) == cost(found, weights)


def test_the_digest_tells_robots_apart():
    names = ["puma560", "ur5e", "panda", "planar2r"]
    digests = {robot_digest(emdeg.load(name)) for name in names}
    digests.add(robot_digest(emdeg.load("puma560", gravity=(0, 0, 0))))
    digests.add(robot_digest(emdeg.load("puma560", payload="mass=1,com=0:0:0")))
    assert len(digests) == len(names) + 2


def test_letters_in_friction_are_told_apart_for_they_are_an_input_of_every_program(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    text = to_toml(emdeg.load("planar2r")).rstrip() + "\n[link.drive]\nviscous = "
    values = ("0", "0.5", "'f'", "'g'")
    none, some, letter, other = (assemble(read_toml(f"{text}{value}\n", "rubbing.toml")) for value in values)
    assert robot_digest(none) == robot_digest(some)
    assert len({robot_digest(robot) for robot in (some, letter, other)}) == 3
    keep(optimise(some, "gravity", 0.2).program, some, ["gravity"], found={})
    assert [group.name for group in emdeg.program(letter, "gravity").inputs] == ["q", "parameters"]
    assert kept(some, ["gravity"]) is not None


def test_two_robots_of_one_name_do_not_overwrite_each_others_programs(tmp_path):
    robots = [emdeg.load("planar2r"), emdeg.load("planar2r", payload="mass=1.5,com=0:0:0")]
    programs = [plain_program(robot, "gravity") for robot in robots]
    paths = [keep(one, robot, ["gravity"], found={}, folder=tmp_path) for one, robot in zip(programs, robots)]
    assert len({path.parent for path in paths}) == 2
    assert {path.name for path in paths} == {"gravity.json"}
    assert all(path.parent.name.startswith("planar2r-") for path in paths)
    assert [kept(robot, ["gravity"], folder=tmp_path) for robot in robots] == programs


def test_a_strangers_name_stays_below_the_folder(tmp_path):
    robot = replace(emdeg.load("planar2r"), name="../../.. /etc")
    path = keep(plain_program(robot, "gravity"), robot, ["gravity"], found={}, folder=tmp_path)
    assert path.resolve().is_relative_to(tmp_path.resolve())
    assert kept(robot, ["gravity"], folder=tmp_path) is not None
    assert len(file_name(["inverse_dynamics"] * 40)) < 200


def test_what_an_older_emdeg_filed_is_refused_with_a_word(tmp_path):
    """Format 1 lay under a digest and named no version; it says who wrote it and what to do."""
    robot = emdeg.load("planar2r")
    path = keep(plain_program(robot, "gravity"), robot, ["gravity"], found={}, folder=tmp_path)
    data = json.loads(path.read_text())
    assert data["emdeg"] == emdeg.__version__
    for old, writer in (({"format": 1, "emdeg": "0.1.9"}, "emdeg 0.1.9"), ({"format": None, "emdeg": None}, "0.2.0")):
        path.write_text(json.dumps({**data, **old}))
        with pytest.warns(OldFormat, match=f"written by .*{writer}.*search again: emdeg optimise planar2r gravity"):
            assert kept(robot, ["gravity"], folder=tmp_path) is None
    path.unlink()
    head = {key: data[key] for key in ("robot", "functions", "weights", "program")}
    (tmp_path / "0123456789abcdef01234567.program.json").write_text(json.dumps(head))
    with pytest.warns(OldFormat, match="before 0.2.0"):
        assert kept(robot, ["gravity"], folder=tmp_path) is None
    assert kept(robot, ["bias"], folder=tmp_path) is None


SHIPPED = resources.files("emdeg.programs") / "shipped"


def test_the_index_says_what_lies_where():
    assert (SHIPPED / "index.json").read_text() == index(Path(str(SHIPPED)))
    for name, entry in shipped_index().items():
        assert name == f"{entry['robot']}/{file_name(entry['functions'], entry['weights'])}"
        assert entry["digest"] == robot_digest(emdeg.load(entry["robot"]))


LONG = 800
"""Operations of a program that is looked at by itself."""


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.long
def test_shipped_programs_compute_what_they_say(long):
    """Every program that comes with the package equals its robot's function, and is smaller than the plain one."""
    for name, entry in shipped_index().items():
        data = json.loads((SHIPPED / name).read_text())
        if (sum(data["operations"].values()) > LONG) is not long:
            continue
        robot = emdeg.load(entry["robot"])
        program = from_data(data["program"])
        assert program == shipped(robot, entry["functions"])
        assert to_data(program) == data["program"]
        verify_program(program, robot, data["functions"])
        assert count(program).as_dict() == data["operations"] == entry["operations"]
        plain = plain_program(robot, data["functions"])
        assert count(program).total <= count(plain).total
        assert program.inputs == plain.inputs  # what is used without tracing the plain program looks like it
        assert emdeg.program(robot, data["functions"]) == replace(program, name=plain.name)


def test_a_program_of_the_package_is_used_without_tracing_the_plain_one(monkeypatch, tmp_path):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    monkeypatch.setattr("emdeg.programs.search.optimise.plain_program", None)
    robot = emdeg.load("puma560")
    there = shipped(robot, ["inverse_dynamics"])
    assert there is not None
    assert emdeg.program(robot, "inverse_dynamics") == replace(there, name="inverse_dynamics")


HOW_SMALL = {
    "PUMA 560 inverse dynamics": ["puma560/inverse_dynamics"],
    "PUMA 560 mass matrix": ["puma560/mass_matrix"],
    "PUMA 560 forward dynamics": ["puma560/forward_dynamics"],
    "PUMA 560 Coriolis matrix": ["puma560/coriolis_matrix"],
    "PUMA 560, all coefficients, EMDEG's symbols": ["puma560_emdeg/elements"],
    "Stanford Arm inverse dynamics": ["stanford_arm/inverse_dynamics"],
    "UR5e / iiwa14 / Panda inverse dynamics": [f"{name}/inverse_dynamics" for name in ("ur5e", "iiwa14", "panda")],
    "UR5e / iiwa14 / Panda mass matrix": [f"{name}/mass_matrix" for name in ("ur5e", "iiwa14", "panda")],
    "UR5e / iiwa14 / Panda forward dynamics": [f"{name}/forward_dynamics" for name in ("ur5e", "iiwa14", "panda")],
}


def test_the_readmes_counts_are_those_of_the_programs_in_the_package():
    """Its table "How small" is recounted, operation by operation."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    section = readme.split("## How small")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([0-9][0-9 /]*?) \|", section, re.MULTILINE))
    assert rows.keys() == HOW_SMALL.keys()
    for label_, files in HOW_SMALL.items():
        programs = [from_data(json.loads((SHIPPED / f"{file}.json").read_text())["program"]) for file in files]
        assert rows[label_] == " / ".join(str(count(one).total) for one in programs), label_


@pytest.mark.parametrize("program", [kitchen_sink()[0], random_program(3, divisions=True)], ids=["sink", "random"])
def test_a_program_comes_back_number_for_number(program):
    assert from_data(json.loads(json.dumps(to_data(program)))) == program


def test_a_robots_program_comes_back_with_its_angles_and_labels():
    program = emdeg.program(emdeg.load("panda"), "inverse_dynamics")
    assert from_data(json.loads(json.dumps(to_data(program)))) == program


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("ops"),
        lambda data: data["ops"].append("add 1 999999"),
        lambda data: data["ops"].append("add 0 1"),
        lambda data: data["ops"].append("explode 1"),
        lambda data: data["ops"].append("number 1e999999999"),
        lambda data: data["ops"].append("number 1/0"),
        lambda data: data["ops"].append("number " + "9" * 5000),
        lambda data: data["ops"].append("angle 0 0 pi"),
        lambda data: data["ops"].append("input q 7"),
        lambda data: data["ops"].append(""),
        lambda data: data["outputs"][0][2].append(10**9),
        lambda data: data["inputs"].append(["q; evil", 1, "rates", []]),
        lambda data: data["inputs"][0].__setitem__(1, -1),
        lambda data: data["inputs"][0].__setitem__(2, "sometimes"),
    ],
)
def test_other_data_is_refused(spoil):
    data = copy.deepcopy(to_data(kitchen_sink()[0]))
    spoil(data)
    with pytest.raises(NotAProgram):
        from_data(data)


@pytest.mark.parametrize("data", [None, 3, [], {}, "text", {"ops": 5}])
def test_what_is_no_program_at_all_is_refused(data):
    with pytest.raises(NotAProgram):
        from_data(data)


def test_what_a_search_in_a_hurry_filed_does_not_stand_for_what_a_longer_one_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path))
    robot = emdeg.load("planar2r", payload="mass=1.5,com=0:0:0")
    plain = plain_program(robot, "inverse_dynamics")
    keep(plain, robot, ["inverse_dynamics"], found={"effort": 0.01, "seed": 0})
    assert emdeg.program(robot, "inverse_dynamics", otherwise=0.01) == plain
    better = emdeg.program(robot, "inverse_dynamics", otherwise=0.3)
    assert count(better).total <= count(plain).total
    assert filed(robot, ["inverse_dynamics"]).effort == 0.3
    # One that is no better stays, and is not searched for again.
    keep(better, robot, ["inverse_dynamics"], found={"effort": 0.01, "seed": 5})
    assert count(emdeg.program(robot, "inverse_dynamics", otherwise=0.1)).total == count(better).total
    found = filed(robot, ["inverse_dynamics"])
    assert (found.effort, found.found["seed"], found.program) == (0.1, 5, better)
