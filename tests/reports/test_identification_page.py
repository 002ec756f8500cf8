"""The page of an identification: what was measured and predicted, what is left, tests; names are never markup."""

from __future__ import annotations

import pytest

from emdeg.documents import Figures, Table
from emdeg.identification import identify, read_log, validated
from emdeg.reports import identified_document, identified_page
from tests.commands import run
from tests.identification.campaigns import arm_text, recorded, stribeck


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    other = recorded(arm_text(), folder, 2, rub=stribeck, seconds=12).write(folder / "other.csv")
    run_ = recorded(arm_text(), folder, 1, rub=stribeck)
    log = run_.write(folder / "log.csv")
    found = identify(run_.robot, [log])
    return folder, found, validated(found, read_log(other, run_.robot))


def test_every_joint_has_its_curves_and_its_row_in_every_table(example):
    _, found, checked = example
    page = identified_document(found, checked, True)
    sections = {section.key: section for section in page.sections}
    for key in ("explained", "left", "parts"):
        figures = [figure for item in sections[key].items if isinstance(item, Figures) for figure in item.figures]
        assert len(figures) >= 3
        tables = [item for item in sections[key].items if isinstance(item, Table)]
        assert all([row[0] for row in table.rows] == ["j1", "j2", "j3"] for table in tables)


def test_the_f_test_asks_for_the_peak_that_is_there_and_not_for_one_that_is_not(example):
    _, found, _ = example
    chance = {(test.joint, test.term): test.probability for test in found.tests}
    for joint in ("j1", "j2", "j3"):
        assert chance[joint, "stribeck"] < 1e-6
        assert chance[joint, "viscous_asymmetry"] > 1e-4
        assert chance[joint, "offset"] > 1e-4


def test_names_are_never_markup(example):
    _, found, checked = example
    text = identified_page(found, checked, True, "<script>alert(1)</script>")
    assert "<script>alert" not in text
    assert "default-src 'none'" in text


def test_the_command_writes_the_page_or_nothing(example):
    folder, _, _ = example
    words = ("identify", str(folder / "arm.urdf"), str(folder / "log.csv"), "--html", str(folder / "page.html"))
    done = run(*words)
    assert done.returncode == 0, done.stderr
    text = (folder / "page.html").read_text()
    assert "one of the logs that were identified" in text
    assert run(*words).returncode == 3  # it exists
    assert run(*words[:4], str(folder / "page.pdf")).returncode == 2
