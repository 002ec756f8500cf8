"""`emdeg measure`: a campaign file in, a robot file out."""

import json

import emdeg
from tests.commands import run


def test_a_template_becomes_a_robot(tmp_path):
    made = run("new", "--campaign", "--out", "bench.toml", cwd=tmp_path)
    assert made.returncode == 0
    done = run("measure", "bench.toml", "--out", "arm.toml", "--trials", "5", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    izz = result["parameters"]["link1.Izz"]
    assert izz["method"] == "two-wire suspension"
    assert {part["reading"] for part in izz["trail"]} >= {"link1.mass", "link1.swing.z.period", "gravity"}
    assert result["trials"]["count"] == 5
    robot = emdeg.load(tmp_path / "arm.toml")
    assert float(robot.links[0].stated.tensor[5]) == float(f"{izz['value']:.9g}")
    assert "kept from planar2r: q2" in done.stderr


def test_a_table_for_people_and_an_existing_file_is_kept(tmp_path):
    run("new", "--campaign", "--out", "bench.toml", cwd=tmp_path)
    assert "link1.Izz" in run("measure", "bench.toml", cwd=tmp_path).stdout
    assert run("measure", "bench.toml", "--out", "bench.toml", cwd=tmp_path).returncode == 3
    assert run("measure", "none.toml", cwd=tmp_path).returncode == 3
