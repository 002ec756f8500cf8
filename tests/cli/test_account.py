"""`emdeg derive --account`: table, data, files."""

import json

import pytest

from tests.commands import run


@pytest.mark.long
def test_data_and_files(tmp_path):
    done = run("derive", "planar2r", "--account", "--json", "--out", str(tmp_path / "f"))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert [step["name"] for step in result["steps"]][:3] == ["letters", "folding", "lumping"]
    assert len(result["files"]) == 2
    assert "parallel axes" in run("derive", "planar2r", "--account").stdout


def test_closed_loops_have_none():
    assert run("derive", "fourbar", "--account").returncode == 2
