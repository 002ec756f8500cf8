"""The reading form: what is printed is what is meant, and no longer than the paper's tables."""

from functools import lru_cache

import numpy as np
import pytest

from emdeg.algebra.expression import PrintedCount, atoms_of
from emdeg.dynamics.functions import numeric
from emdeg.equations import Compact, atom_values, compact
from tests.equations import arms, reading
from tests.equations.test_lumped import ARMS, lumped

CONFIGURATIONS = 100


@lru_cache
def tables(name) -> Compact:
    return compact(lumped(name)[2])


def reference(arm, entries, q):
    """{entry: values} by the numeric mechanics."""
    robot = arm.numeric
    M, b, c, g = numeric.elements(robot, q)
    names = {letter: [n for n in entries if n[0] == letter] for letter in "Mbcg"}
    found = {}
    for letter, block in zip("Mbcg", (M, b, c, g)):
        found |= {name: block[:, k] for k, name in enumerate(names[letter])}
    return found


@pytest.mark.parametrize("name", ARMS)
def test_every_printed_coefficient_equals_the_numeric_mechanics(name):
    arm, entries, found = lumped(name)
    q = np.random.default_rng(1).uniform(-3, 3, (CONFIGURATIONS, arm.robot.n))
    expected = reference(arm, entries, q)
    constants = {c.name: c.value for c in found.constants}
    table = tables(name)
    for entry in entries:
        scale = 1 + np.abs(expected[entry])
        values = table[entry].evaluate(q, constants)
        assert np.all(np.abs(values - expected[entry]) <= 1e-12 * scale), entry


@pytest.mark.parametrize("name", ARMS)
def test_the_printed_text_says_the_same(name):
    arm, entries, found = lumped(name)
    q = np.random.default_rng(2).uniform(-3, 3, (CONFIGURATIONS, arm.robot.n))
    expected = reference(arm, entries, q)
    constants = {c.name: c.value for c in found.constants}
    known: dict = {}
    for entry, printed in tables(name).entries.items():
        atoms = atom_values(atoms_of(printed.expression), q, constants)
        names = {**known, **{atom.text: value for atom, value in atoms.items()}}
        known[entry] = reading.value(printed.text, names)
        assert known[entry] == pytest.approx(expected[entry], rel=1e-12, abs=1e-12), entry


def test_the_pumas_tables_are_no_longer_than_the_papers():
    """A straight count of the printed tables: A4 173 + 86, A5 330 + 133, A6 73 + 26, A7 21 + 9, 12 factors."""
    table = tables("puma560")
    paper = {
        "M": PrintedCount(173, 86),
        "b": PrintedCount(330, 133),
        "c": PrintedCount(73, 26),
        "g": PrintedCount(21, 9),
    }
    for letter, theirs in paper.items():
        ours = PrintedCount()
        for name, entry in table.entries.items():
            if name[0] == letter:
                ours += entry.count
        assert ours.mul <= theirs.mul, (letter, ours)
        assert ours.add <= theirs.add, (letter, ours)
    assert len(table.products) <= 12


def test_sums_of_parallel_joints_are_recognised():
    table = tables("puma560")
    assert table["M13"].text.startswith("I8*C23 + I13*S23 - I15*C23*S4*S5")
    assert "I5*C223" in table["b112"].text
    assert "S3" in table["M22"].text
    assert tables("planar3r")["g3"].text.count("123") == 2


def test_entries_that_are_multiples_of_others_say_so():
    table = tables("puma560")
    assert table["b134"].text == "b124"
    assert table["c21"].text == "-0.5*b112"
    assert table["b512"].text == "-b215"
    assert table["M45"].text == "0"


def test_a_planar_arm_reads_as_in_the_textbooks():
    arm = arms.Arm("planar").link("90 deg", m="m1=1", r=("l1=1", 0, 0)).link(a="a1=1", m="m2=1", r=("l2=1", 0, 0))
    from emdeg.equations import lump
    from emdeg.robot.algebra import parallel_joints

    table = compact(lump(arms.formulas(arm.robot), groups=parallel_joints(arm.robot)))
    assert table["M11"].text.replace("I", "").count("C2") == 1
    assert table["b112"].text.endswith("S2")
    assert table["c12"].text == "0.5*b112"
    assert "C12" in table["g2"].text


def test_latex_has_one_row_an_entry():
    table = tables("planar2r")
    assert table.latex.count("&=") == len(table.entries)
    assert "M_{11}" in table.latex
