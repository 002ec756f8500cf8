"""The examples in docs/robot_file.md are what the reader reads."""

import re
from pathlib import Path

import numpy as np

import emdeg
from emdeg.robot.assembly import assemble
from emdeg.robot.toml_reader import read_toml

PAGE = (Path(__file__).parents[2] / "docs" / "robot_file.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_pages_robot_is_read():
    robot = assemble(read_toml(EXAMPLES[0] + EXAMPLES[1], "robot_file.md"))
    assert [joint.name for joint in robot.joints] == ["q1", "q2"]
    assert robot.symbols == {"d3", "m2", "MX2", "XX2", "YY2"}
    assert robot.sources["upper.mass"] == "Table 4"


def test_the_pages_load_in_both_forms_is_the_same_load(tmp_path):
    file = tmp_path / "cube.toml"
    file.write_text(EXAMPLES[2])
    text = re.search(r"`--payload (mass=\S+)`", PAGE)
    assert text is not None
    q = [0.4, 0.9, 0.8, 0.5, -0.7, 1.1]
    by_file, by_text = emdeg.load("jpl_rrp", payload=file), emdeg.load("jpl_rrp", payload=text[1])
    np.testing.assert_array_equal(emdeg.mass_matrix(by_file, q), emdeg.mass_matrix(by_text, q))
    assert emdeg.mass_matrix(by_file, q)[2, 2] == 9.052
