"""The papers' tables against the numeric mechanics, entry by entry, and the pages that show them beside ours."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra.expression import Atom
from emdeg.dynamics.functions import numeric
from emdeg.equations import atom_values
from emdeg.equations.model import derive
from tests.equations import reading
from tests.equations.test_lumped import CHECKED

ROOT = Path(__file__).resolve().parents[2]
PAPER = json.loads((ROOT / "docs" / "errata" / "armstrong_tables.json").read_text(encoding="utf-8"))
DRIVES = {"Im1": 1.14, "Im2": 4.71, "Im3": 0.83, "Im4": 0.2, "Im5": 0.179, "Im6": 0.193}
ANGLES = [((2, 1),), ((3, 1),), ((4, 1),), ((5, 1),), ((2, 1), (3, 1)), ((2, 2), (3, 1))]
CONFIGURATIONS = 100


def parameters():
    """{name in Table A2: number of Tables A1, 4, 5 and 6}; what the tables leave out of link 1 is zero."""
    known = derive(emdeg.load("puma560"), only="g", symbolic=True).known
    return {"m1": 0.0, "ry1": 0.0, **{symbol: float(number.value) for symbol, number in known.items()}}


@pytest.fixture(scope="module")
def values():
    """{entry: values by the numeric mechanics and as emdeg prints it}, and the names the paper's formulas use.

    The paper's constants are Table A2's formulas as corrected, in full precision.
    """
    robot = emdeg.load("puma560")
    q = np.random.default_rng(5).uniform(-3, 3, (CONFIGURATIONS, 6))
    blocks = dict(zip("Mbcg", numeric.elements(robot, q)))
    numbers = parameters()
    stated = {name: data for name, data in PAPER["constants"].items() if name in CHECKED}
    constants = {name: reading.value(data.get("correct", data["printed"]), numbers) for name, data in stated.items()}
    model = derive(robot)
    own = {constant.name: constant.value for constant in model.constants}
    expected, printed = {}, {}
    for letter, block in blocks.items():
        names = [name for name in PAPER["entries"] if name[0] == letter]
        expected |= {name: block[:, k] for k, name in enumerate(sorted(names))}
        printed |= {name: model.compact()[name].evaluate(q, own) for name in names}
    atoms = [Atom(kind, angle) for kind in ("S", "C", "SS", "CC", "SC") for angle in ANGLES]
    trig = {atom.text: value for atom, value in atom_values(atoms, q, {}).items()}
    aliases = {name: value for name, value in expected.items() if name[0] in "bc"}
    return expected, printed, {**aliases, **trig, **constants, **DRIVES}


@pytest.mark.parametrize("name", PAPER["entries"])
def test_each_entry_is_right_as_corrected_and_wrong_as_printed(name, values):
    expected, printed, names = values
    data = PAPER["entries"][name]
    right = reading.value(data.get("correct", data["printed"]), names)
    scale = 1 + np.max(np.abs(expected[name]))
    assert np.max(np.abs(right - expected[name])) <= 1e-12 * scale
    assert np.max(np.abs(printed[name] - right)) <= 1e-12 * scale
    if "correct" in data and data["printed"].count("(") == data["printed"].count(")"):
        assert np.max(np.abs(reading.value(data["printed"], names) - expected[name])) > 1e-5


def test_the_pages_are_what_the_script_writes(tmp_path):
    spec = importlib.util.spec_from_file_location("make_paper_tables", ROOT / "examples" / "make_paper_tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "errata").mkdir()
    for name in ("armstrong_tables.json", "burdick_appendix2.json"):
        (tmp_path / "errata" / name).write_bytes((ROOT / "docs" / "errata" / name).read_bytes())
    script.DOCS = tmp_path
    script.main()
    for page in ("puma560_tables.md", "emdeg_appendix2.md"):
        assert (tmp_path / page).read_text() == (ROOT / "docs" / page).read_text(), f"run {script.COMMAND}"


@pytest.mark.parametrize("name", CHECKED)
def test_each_constant_of_table_a2_has_the_checked_value_as_corrected(name):
    names = parameters()
    data = PAPER["constants"][name]
    assert reading.value(data.get("correct", data["printed"]), names) == pytest.approx(CHECKED[name], rel=1e-9)
    if "correct" in data:
        assert reading.value(data["printed"], names) != pytest.approx(CHECKED[name], rel=1e-3)


def test_link_3_of_the_tables_is_link_3_with_the_wrist_less_the_wrist():
    """Mass, r_y and moments of Tables 4 to 6 follow within their rounding; r_x and r_z of Table 5 do not."""
    robot = emdeg.load("puma560")
    frame = [
        (-0.0203, -0.4331, 0.0)
    ] * 3  # the wrist's centre in frame 3; frame 4's z axis is -y there, as is frame 6's
    wrist = [(0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)), (0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3))]
    wrist += [(0.09, (0, -0.032, 0), (0.15e-3, 0.04e-3, 0.15e-3))]
    places = [np.add(f, r) for f, (_, r, _) in zip(frame, wrist)]
    whole, com = 6.04, np.array([0, -0.143, 0.014])

    def about_origin(m, r, own):
        return np.add(own, m * (np.dot(r, r) - np.square(r)))

    mass = whole - sum(m for m, _, _ in wrist)
    rest = (whole * com - sum(m * r for (m, _, _), r in zip(wrist, places))) / mass
    total = about_origin(whole, com, (0.192, 0.0154, 0.212))
    total = total - sum(about_origin(m, r, own) for (m, _, own), r in zip(wrist, places))
    own = total - about_origin(mass, rest, (0, 0, 0))
    assert mass == pytest.approx(float(robot.links[2].inertia.mass), abs=0.011)
    assert rest == pytest.approx([0.0053, -0.0699, 0.0177], abs=1e-4)
    assert own == pytest.approx([0.0657, 0.0128, 0.0852], abs=1e-3)
    assert [float(v) for v in robot.links[2].stated.com] == [0, -0.07, 0.014]
