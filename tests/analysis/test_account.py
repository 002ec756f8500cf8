"""What each step saves: the papers' figures, and counts that follow from a small robot's formulas by hand."""

import pytest

import emdeg
from emdeg.algebra import PrintedCount
from emdeg.analysis import account_figure, account_of
from tests.random_robots import random_robot


@pytest.fixture(scope="module")
def puma():
    return account_of(emdeg.load("puma560"))


def test_the_pumas_account_is_the_papers(puma):
    """Armstrong, Khatib and Burdick: 15,000 x and 3,500 + as first written; their tables 739 x and 426 + with signs."""
    steps = {step.name: step for step in puma.steps}
    assert 14_000 < steps["letters"].torques.mul < 18_000
    assert 3_000 < steps["letters"].torques.add < 4_000
    assert abs(steps["shared products"].torques.mul - 739) <= 10
    # the transcription of the tables counts 745 x and 368 + (docs/errata/armstrong.md)
    assert abs(steps["shared products"].torques.add - 368) <= 10


def test_every_step_of_a_real_arm_saves(puma):
    assert [step.name for step in puma.steps][-1] == "program"
    assert all(saved > 0 for saved in puma.saved[1:])
    assert puma.saved[0] == 0


@pytest.mark.parametrize("name", ["planar2r", "planar3r", "scara"])
def test_no_step_of_a_small_arm_is_taken_that_makes_it_longer(name):
    assert all(saved >= 0 for saved in account_of(emdeg.load(name)).saved)


@pytest.mark.parametrize("seed", range(3))
def test_no_step_of_a_random_tree_is_taken_that_makes_it_longer(seed):
    found = account_of(random_robot(seed, 3, tree=True))
    assert all(saved >= 0 for saved in found.saved)
    assert found.steps[0].torques.total > found.steps[-1].torques.total


def test_a_model_for_which_no_shorter_program_is_on_file_says_so():
    """The slide's and the wrist's torques of a SCARA arm are sums of a few products: no recursion is as short."""
    *_, hierarchy, program = account_of(emdeg.load("scara")).steps
    assert program.torques == hierarchy.torques
    assert "none on file is shorter" in program.what


def test_two_links_by_hand():
    """M11 = a + b c2, M12 = d + b/2 c2, M22 = d; b112 = -b s2, c12 = c21 = b/2 s2 up to sign; g of three terms."""
    found = account_of(emdeg.load("planar2r"))
    steps = {step.name: step for step in found.steps}
    # q1dd q2dd (3 entries of 4 products), b112, c12, c21; products qd1 qd2, qd1^2, qd2^2
    assert found.equation == PrintedCount(4 + 1 + 2 + 3, 2 + 2 + 2 + 1)
    # entries with sums of angles: M11, M12, g1 and b, c, g2 of one product each
    assert steps["parallel axes"].entries == PrintedCount(8, 3)


@pytest.mark.parametrize("taken", [1, 7])
def test_interrupted_the_steps_before_stand_and_the_others_are_named(taken):
    whole, told = account_of(emdeg.load("planar3r")), []

    def tell(step):
        told.append(step)
        if len(told) > taken:
            raise KeyboardInterrupt

    found = account_of(emdeg.load("planar3r"), tell)
    assert found.steps == whole.steps[:taken]
    assert found.untried == tuple(step.name for step in whole.steps[taken:])
    assert whole.untried == ()


def test_the_figure_and_its_data(tmp_path):
    files = account_figure(account_of(emdeg.load("planar2r")), tmp_path)
    assert sorted(file.suffix for file in files) == [".csv", ".png"]
    assert (tmp_path / "account.csv").read_text().startswith("step,multiplications,additions,saved")
