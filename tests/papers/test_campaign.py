"""Campaign files: every reading is kept, and what is wrong is said with its line."""

import pytest

from emdeg.errors import RobotError
from emdeg.papers.bench import CAMPAIGN, read_campaign

HEAD = 'schema = 1\nrobot = "planar2r"\n'
BODY = '[[body]]\nname = "link1"\nmass = 1.0\n'


def read(tmp_path, text):
    file = tmp_path / "bench.toml"
    file.write_text(text)
    return read_campaign(file)


def test_the_template_is_read(tmp_path):
    found = read(tmp_path, CAMPAIGN)
    assert [body.name for body in found.bodies] == ["link1", "tip", "whole", "link2"]
    assert len(found.drives[0].peaks) == 5
    period = found.readings["q1.period"]
    assert period.mean == pytest.approx(1.2427, abs=1e-4)  # the time of ten
    assert period.tolerance == pytest.approx(0.002)


def test_repeated_readings_shrink_the_scatter_but_not_the_instrument(tmp_path):
    text = HEAD + BODY.replace("1.0", "{ values = [1.0, 1.1, 0.9, 1.0], tol = 0.05 }")
    mass = read(tmp_path, text).readings["link1.mass"].measured
    assert mass.value == pytest.approx(1.0)
    # s = 0.0816, of the mean 0.0408; 68 % of Student's law with three degrees of freedom is 1.197
    assert mass.tolerance == pytest.approx((0.05**2 + (0.0408 * 1.197) ** 2) ** 0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("robot = 'planar2r'\n" + BODY, "schema = 1"),
        ("schema = 1\n" + BODY, "robot is missing"),
        (HEAD, "neither a"),
        (HEAD + "[body]\nname = 'x'\n", r"\[\[body\]\]"),
        (HEAD + BODY.replace("1.0", "-1.0"), "mass must not be negative"),
        (HEAD + BODY.replace("1.0", "nan"), "not a number|mass"),
        (HEAD + BODY.replace("mass = 1.0", ""), "say its mass"),
        (HEAD + BODY.replace("link1", "arm"), "has no link or frame 'arm'"),
        (HEAD + BODY + BODY, "two bodies are called"),
        (HEAD + BODY + "mas = 2\n", "did you mean 'mass'"),
        (HEAD + BODY + "[body.swing.z]\ndistance = 0.1\nlength = 1\n", "say one of period and frequency"),
        (HEAD + BODY + "Izz = 1\n[body.swing.z]\ndistance = 0.1\nlength = 1\nperiod = 1\n", "given twice"),
        (HEAD + BODY + "[body.swing.z]\ndistance = 0.1\nlength = 0\nperiod = 1\n", "length must be positive"),
        (HEAD + BODY + "shape = { kind = 'cone' }\n", "kind must be"),
        (HEAD + BODY + "shape = { kind = 'box', x = 1, y = 1 }\n", "z is missing"),
        (HEAD + BODY + "shape = { kind = 'cylinder', radius = 1, length = 1, inner_radius = 2 }\n", "smaller than"),
        (HEAD + "[[body]]\nname = 'link1'\nplus = ['no']\n", "must be a body described above"),
        (HEAD + BODY + "plus = ['link1']\n", "no mass of its own"),
        (HEAD + "[[drive]]\njoint = 'q9'\n", "has no joint 'q9'"),
        (HEAD + "[[drive]]\njoint = 'q1'\nperiod = 1\n", "needs stiffness"),
        (HEAD + "[[drive]]\njoint = 'q1'\nstiffness = 1\nperiod = 1\ndamping = 2\n", "between -1 and 1"),
        (HEAD + "[[drive]]\njoint = 'q1'\nstiffness = 1\nperiod = 1\npeaks = [1, 2]\n", "at least three"),
        (HEAD + "[[drive]]\njoint = 'q1'\n" * 2, "about one joint"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, words):
    with pytest.raises(RobotError, match=words):
        read(tmp_path, text)


def test_a_mechanism_with_loops_is_not_taken_for_a_tree(tmp_path):
    with pytest.raises(RobotError, match="open chain or tree"):
        read(tmp_path, 'schema = 1\nrobot = "delta"\n' + BODY)
