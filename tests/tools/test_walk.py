"""The tool that traces walks: what it counts, and what it does not."""

import pytest
from tools.walk import PLAN, ROOT, VERBS, WALKS, rank, room_of, traced


@pytest.fixture(scope="module")
def count():
    """The walk of a small command."""
    return traced([["count", "planar2r", "inverse_dynamics", "--effort", "0"]])


def test_files_are_those_in_which_functions_ran(count):
    assert "robot/loading.py" in count.files
    assert "load" in count.files["robot/loading.py"]
    assert all((ROOT / file).is_file() for file in count.files)
    assert not any("codegen" in file or "reports" in file for file in count.files)


def test_the_command_line_and_what_runs_at_import_are_not_counted(count):
    assert "cli" not in count.rooms
    assert not any("<module>" in functions for functions in count.files.values())


def test_verbs_are_counted_each_time_they_run(count):
    assert {verb: count.verbs[verb] for verb in VERBS} == {
        "load": 1,
        "derive": 0,
        "optimise": 0,
        "generate": 0,
        "verify": 0,
    }
    twice = traced(
        [["check", "planar2r"], ["derive", "planar2r", "--only", "g"], ["derive", "planar2r", "--only", "g"]]
    )
    assert twice.verbs["load"] == twice.verbs["derive"] == 2
    assert any(room_of(there) == "robot" for _, there in twice.back), "the second command loads after the first derived"


def test_rooms_come_in_the_order_in_which_they_were_reached(count):
    assert next(iter(count.rooms)) == "robot"
    assert sum(map(len, count.rooms.values())) == len(count.files) == count.as_data()["files"]


def test_a_command_that_fails_says_so():
    with pytest.raises(SystemExit, match="exit code 3"):
        traced([["count", "no_such_robot", "inverse_dynamics"]])


def test_the_plan_names_every_room():
    rooms = {folder.name for folder in ROOT.iterdir() if (folder / "__init__.py").exists()} - {"cli"}
    assert rooms <= set(PLAN)
    assert rank("emdeg") < rank("algebra") < rank("codegen")
    assert all(WALKS.values())
