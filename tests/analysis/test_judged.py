"""Printed models against the exact ones: the errata's figures, bounds that hold, claims that fail."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.analysis import judge, read_printed, workspace
from emdeg.errors import RobotError
from tests.bejczy import CUBE

FOLDER = Path(__file__).parents[2] / "examples" / "judged"
HEAD = 'schema = 1\nrobot = "planar2r"\n'


def verdict(tmp_path, text, name="planar2r", **options):
    file = tmp_path / "model.toml"
    file.write_text(HEAD + text)
    robot = emdeg.load(name)
    return judge(read_printed(file, **options), robot, workspace(robot))


def bejczy(load: bool):
    robot = emdeg.load("jpl_rrp", payload=CUBE if load else None)
    printed = read_printed(FOLDER / "bejczy.toml", corrected=True, constants={"mL": "1.8"} if load else {})
    found = judge(printed, robot, workspace(robot), seconds=1.0)
    return {one.name: one for one in found.entries}, found


def test_bejczys_claim_holds_without_a_load():
    """Mean and largest relative errors as found from first principles by random search, printed constants."""
    entries, found = bejczy(load=False)
    assert found.holds
    for name, mean, largest in (("M11", 1.44, 5.82), ("M22", 0.19, 0.44), ("M44", 0.73, 0.80), ("g4", 2.07, 5.16)):
        one = entries[name]
        assert 100 * one.average == pytest.approx(mean, abs=0.05)
        assert largest - 0.01 < 100 * one.relative.bound < 1.04 * largest
    assert entries["M55"].relative.value <= entries["M55"].relative.bound


def test_bejczys_claim_fails_for_the_loaded_d11_alone():
    entries, found = bejczy(load=True)
    assert [words.partition(":")[0] for words in found.failed] == ["M11"]
    assert entries["M11"].average > 0.06
    assert 0.2264 < entries["M11"].relative.bound < 0.24


def test_misprints_are_worse_than_their_corrections():
    robot = emdeg.load("jpl_rrp")
    printed = read_printed(FOLDER / "bejczy.toml")
    some = replace(printed, entries={name: printed.entries[name] for name in ("M33", "g4")})
    found = judge(some, robot, workspace(robot))
    assert all(one.relative.bound > 0.1 for one in found.entries)


def test_armstrongs_entries_as_printed_and_corrected():
    robot = emdeg.load("puma560")
    errors = {}
    for corrected in (False, True):
        printed = read_printed(FOLDER / "armstrong.toml", corrected=corrected)
        some = {name: printed.entries[name] for name in ("M12", "M46", "b112", "c21")}
        used = replace(printed, entries=some)
        errors[corrected] = {one.name: one for one in judge(used, robot, workspace(robot), seconds=0.5).entries}
    assert errors[False]["M12"].error.value > 4e-3 > errors[True]["M12"].error.bound
    assert "missing" in errors[False]["b112"].problem
    assert "b112" in errors[False]["c21"].problem
    assert not errors[True]["c21"].problem
    assert errors[True]["M46"].exact


def test_every_file_of_the_examples_is_read():
    for file in FOLDER.glob("*.toml"):
        read_printed(file, corrected=True)


def test_bounds_hold_at_random_configurations(tmp_path):
    text = '[entries]\nM11 = "1.6 + 0.9*cos(q2)"\nM12 = "0.3"\ng2 = "4.9*cos(q1 + q2)"\nb112 = "-sin(q2)"\n'
    found = verdict(tmp_path, text)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (2000, 2))
    M, g = emdeg.mass_matrix("planar2r", q), emdeg.gravity("planar2r", q)
    wrong = {
        "M11": np.abs(1.6 + 0.9 * np.cos(q[:, 1]) - M[:, 0, 0]),
        "M12": np.abs(0.3 - M[:, 0, 1]),
        "g2": np.abs(4.9 * np.cos(q.sum(axis=1)) - g[:, 1]),
    }
    for one in found.entries:
        if one.name in wrong:
            assert wrong[one.name].max() <= one.error.bound
            assert one.error.value <= one.error.bound
            assert wrong[one.name].max() > 0.98 * one.error.value
    exact = [one.name for one in found.entries if one.exact]
    assert exact == ["b112"]
    assert found.efforts[0] > 0


def test_a_claim_that_fails_and_one_that_holds(tmp_path):
    text = '[entries]\nM22 = "0.34"\n'
    assert verdict(tmp_path, "claim = 0.03\n" + text).holds
    failed = verdict(tmp_path, "claim = 0.01\n" + text).failed
    assert failed == ("M22: its error is 2.000%, more than 0.01",)


def test_constants_build_on_constants_and_may_be_replaced(tmp_path):
    text = '[constants]\nm = 2\nJ = "m/3"\n[entries]\nM22 = "J"\n'
    assert not verdict(tmp_path, text).entries[0].exact
    assert verdict(tmp_path, text, constants={"m": "1"}).entries[0].exact


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no .entries."),
        ('[entries]\nM22 = "x"\n', "'x' is no constant, definition, entry or joint"),
        ('[entries]\nM22 = "q1"\n', "may stand inside sin and cos only"),
        ('[entries]\nM22 = "M22"\n', "leans on itself"),
        ('[define]\na = "b"\nb = "a"\n[entries]\nM22 = "a"\n', "leans on itself"),
        ('[define]\na = "1 +"\n[entries]\nM22 = "a"\n', "ends too early"),
        ("[constants]\na = true\n[entries]\nM22 = 1\n", "number or an expression"),
        ('[constants]\na = "sin(q1)"\n[entries]\nM22 = 1\n', "no sine"),
        ('[entries]\nM22 = { correct = "1" }\n', "printed is missing"),
        ("[entries]\nM22 = 1\n[other]\n", "unknown key 'other'"),
        ("entries = 3\n", "must be a table"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, words):
    with pytest.raises(RobotError, match=words):
        verdict(tmp_path, text)


def test_an_entry_of_another_robot_is_said(tmp_path):
    (one,) = verdict(tmp_path, '[entries]\nM33 = "1"\n').entries
    assert one.problem == "planar2r has no entry M33"


def test_code_is_not_run(tmp_path):
    (one,) = verdict(tmp_path, "[entries]\nM22 = \"__import__('os')\"\n").entries
    assert "unexpected '_'" in one.problem
