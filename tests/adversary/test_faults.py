"""Full disks, closed pipes, Ctrl-C, odd names, numbers beyond doubles: all end in words, none in a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import emdeg
from emdeg.codegen import generate, verify
from emdeg.errors import NotCertified, RobotError
from emdeg.robot import assemble, read_toml, to_toml
from emdeg.robot.urdf_reader import read_urdf
from tests.commands import run

EMDEG = [sys.executable, "-m", "emdeg.cli"]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    words = f"set -o pipefail; {' '.join(EMDEG)} {command}"
    return subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("verify planar2r gravity | head -1", 0, ""),
        ("functions --json | true", 0, ""),
        ("count planar2r gravity > /dev/full", 3, "error: the output cannot be written: No space left on device"),
        ("count planar2r gravity >&-", 0, ""),
    ],
)
def test_whoever_reads_the_output_or_does_not_is_no_traceback(command: str, code: int, words: str) -> None:
    done = shell(command)
    assert (done.returncode, done.stderr.strip()) == (code, words)


def test_an_interrupt_ends_a_search_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def interrupted(weights: str):
        yield lambda phase, best: signal.raise_signal(signal.SIGINT) if phase == "formulation" else None

    monkeypatch.setattr("emdeg.cli.generate.progress_line", interrupted)
    begun = time.monotonic()
    done = run("generate", "planar3r", "-f", "inverse_dynamics", "--effort", "500", "--out", str(tmp_path / "code"))
    assert done.returncode == 130
    assert time.monotonic() - begun < 30
    assert not (tmp_path / "code").exists()


@pytest.mark.parametrize("place", ["/proc/none", "/sys/none", "/dev/null/below"])
def test_a_folder_that_cannot_be_written_is_named(place: str) -> None:
    for words in (["generate", "planar2r", "-f", "gravity", "--out", place], ["derive", "planar2r", "--out", place]):
        done = run(*words)
        assert done.returncode == 3
        assert place in done.stderr
    done = run("optimise", "planar2r", "gravity", "--effort", "0.1", EMDEG_PROGRAMS=place)
    assert done.returncode == 3
    assert place in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["eval", "planar2r", "inverse_dynamics", "--q=1,0", "--qd=1e200,1", "--qdd=0,0", "--json"], 3, "not finite"),
        (["count", "planar2r", "gravity", "--effort=0.3", "--gravity=0,0,1/2147483647"], 0, ""),
        (
            ["optimise", "planar2r", "gravity", "--effort=0.3", "--dry-run", "--payload=mass=1/2147483647,com=0:0:0"],
            0,
            "",
        ),
    ],
)
def test_numbers_beyond_what_some_step_can_hold(words: list[str], code: int, said: str) -> None:
    done = run(*words)
    assert done.returncode == code
    assert said in done.stderr


@pytest.mark.parametrize("duration", ["1e300", "1e-300", "1e18", "1e308"])
@pytest.mark.parametrize("mode", ["torques", "simulate"])
def test_durations_that_no_run_can_have(duration: str, mode: str, tmp_path: Path) -> None:
    text = f'schema = 1\nmode = "{mode}"\n[trajectory]\nkind = "cycloidal"\nstart = [0, 0]\ngoal = [1, 1]\n'
    (tmp_path / "s.toml").write_text(f"{text}duration = {duration}\n")
    option = "--trajectory" if mode == "torques" else "--scenario"
    done = run(mode, "planar2r", option, str(tmp_path / "s.toml"))
    assert done.returncode == 3
    assert "a duration must lie between 1e-09 and 1e+09 s" in done.stderr


URDF = """<robot name="{0}"><link name="base"/><link name="{1}"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{2}" type="revolute"><parent link="base"/><child link="{1}"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize(
    "name", ["ends ", " begins", "x" * 200, "é" * 150, "*/ ]]&gt;", "back\\slash", "\N{GRINNING FACE}"]
)
def test_a_fresh_artefact_of_oddly_named_parts_verifies(name: str, tmp_path: Path) -> None:
    robot = assemble(read_urdf(URDF.format(name, name, name), "odd.urdf"))
    (made,) = generate(robot, "gravity", out=tmp_path, name="odd")
    assert made.path is not None
    verify(made.path)
    again = assemble(read_toml(to_toml(robot), "again.toml"))
    assert [(link.name, link.joint.name) for link in again.links] == [
        (link.name, link.joint.name) for link in robot.links
    ]


@pytest.mark.parametrize("character", ["\x9b", "\u202e", "\x7f", "\u2028"])
def test_control_characters_never_reach_a_terminal(character: str, tmp_path: Path) -> None:
    for where in range(3):
        names = ["robot", "link", "joint"]
        names[where] += f"{character}31m"
        (tmp_path / "evil.urdf").write_text(URDF.format(*names), encoding="utf-8")
        done = run("show", str(tmp_path / "evil.urdf"))
        assert done.returncode == (3 if where else 0)
        assert character not in done.stdout + done.stderr
    done = run("show", f"none{character}.toml")
    assert character not in done.stderr
    with pytest.raises(RobotError, match="control character"):
        read_urdf(URDF.format("r", f"l{character}", "j"), "evil.urdf")


@pytest.mark.parametrize("name", [".", "/", "", "..", ".certificate.json", "/dev/zero"])
def test_what_is_no_file_is_told(name: str) -> None:
    done = run("verify", name)
    assert done.returncode == 3
    assert "error: " in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["show", "f.toml"],
        ["simulate", "planar2r", "--scenario", "f.toml"],
        ["kane", "stanford_arm", "--speeds", "f.toml"],
        ["measure", "f.toml"],
        ["judge", "f.toml"],
        ["sweep", "f.toml"],
        ["identify", "planar2r", "f.csv"],
        ["eval", "planar2r", "gravity", "--q", "f.csv"],
        ["generate", "planar2r", "-f", "gravity", "--out", "o", "--sign", "f.csv"],
        ["verify", "f.csv"],
    ],
)
def test_a_pipe_or_a_device_in_the_place_of_a_file_keeps_nobody_waiting(words: list[str], tmp_path: Path) -> None:
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        for name in ("f.toml", "f.csv"):
            (tmp_path / name).unlink(missing_ok=True)
            make(tmp_path / name)
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 3
        assert "ordinary file" in done.stderr or "regular file" in done.stderr


def test_code_and_certificate_of_two_runs_do_not_verify_and_the_next_run_heals(tmp_path: Path) -> None:
    robots = [emdeg.load("planar2r"), emdeg.load("planar2r", payload="mass=1,com=0:0:0")]
    (first,) = generate(robots[0], "gravity", out=tmp_path / "a", name="p")
    (second,) = generate(robots[1], "gravity", out=tmp_path / "b", name="p")
    assert first.path is not None
    assert second.path is not None
    os.replace(second.path, first.path)  # killed between the two names
    with pytest.raises(NotCertified):
        verify(first.path)
    (healed,) = generate(robots[0], "gravity", out=tmp_path / "a", name="p")
    assert healed.path is not None
    assert json.loads(Path(f"{healed.path}.certificate.json").read_text())["digest"] == verify(healed.path)["digest"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("line", ["period = 1e305", "kp = 1e308\nkd = 1e308", "kp = 1e300\nperiod = 1e200"])
def test_controllers_beyond_what_doubles_hold_are_told(line: str, tmp_path: Path) -> None:
    text = 'schema = 1\nmode = "simulate"\nduration = 0.1\n[trajectory]\nkind = "cycloidal"\nstart = [0, 0]\n'
    text += 'goal = [1, 1]\nduration = 0.1\n[controller]\nkind = "computed_torque"\n'
    gains = "" if "kp" in line else "kp = 400\n"
    gains += "" if "kd" in line else "kd = 40\n"
    (tmp_path / "s.toml").write_text(f"{text}{gains}{line}\n")
    done = run("simulate", "planar2r", "--scenario", str(tmp_path / "s.toml"))
    assert done.returncode in (1, 3)
    assert "error: " in done.stderr
