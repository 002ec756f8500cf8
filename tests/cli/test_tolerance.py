"""`emdeg tolerance`: table and data."""

import json

from tests.commands import run


def test_table_data_and_wrong_usage(tmp_path):
    done = run("tolerance", "puma560", "--states", "20", "--draws", "50", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert len(result["joints"]) == 6
    assert result["influences"][0]["path"].endswith("drive.inertia")
    assert len(result["files"]) == 2
    assert "known well enough" in run("tolerance", "puma560", "--states", "5", "--draws", "5").stdout
    assert run("tolerance", "planar2r").returncode == 3
    assert run("tolerance", "fourbar").returncode == 2
