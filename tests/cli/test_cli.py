"""The command line as a user meets it: results on stdout, words on stderr, exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from rich.table import Table

import emdeg
from emdeg import cli
from emdeg.cli.common import UsageError
from emdeg.cli.evaluate import compute
from emdeg.cli.terminal import SafeConsole
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import CATALOGUE, evaluate, functions_of, input_sizes
from emdeg.dynamics.parameters.base import base_values
from tests.commands import run

STATE = ["--q=0.1,-0.7,0.4,1.2,-0.3,0.8", "--qd=0.5,-0.3,0.9,-1.1,0.7,0.2", "--qdd=1,-2,0.5,3,-1,2"]


def result(*words: str):
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema_version"] == 1
    assert set(answer) == {"schema_version", "result"}
    return answer["result"]


WITHOUT_EFFECT = """
analyse planar2r --margin 0.1
analyse planar2r --law coulomb
analyse planar2r --only loads --share 0.2
analyse planar2r --only capability --seconds 3
analyse planar2r --hold q1=0 --gap 0.1
analyse planar2r --hold q1=0 --range q2=0:1
analyse planar2r --formula M12 --out nowhere
analyse planar2r --only loads --best-effort
analyse fourbar --share 0.2
analyse fourbar --seconds 3
analyse fourbar --law coulomb
analyse fourbar --measured log.csv --samples 5
abbreviate planar2r --tradeoff t.png --emit short.c
abbreviate planar2r --tradeoff t.png --worst-error 0.1
abbreviate planar2r --average-error 0.1 --tables
abbreviate planar2r --average-error 0.1 --function gravity
abbreviate planar2r --worst-error 0.1 --significance 0.5
count planar2r regressor --base --effort 2
count planar2r bias --formulation all --weights cycles
derive planar2r --account --only M
derive planar2r --account --symbolic
derive planar2r --json --format latex
kane planar2r --emit torques --show all
kane fourbar --format latex
loops fourbar --samples 3
measure campaign.toml --seed 3
simulate stanford_arm --scenario stanford_fig3 --table parquet
verify file.c --weights cycles
judge examples/judged/armstrong.toml --margin 0.2
sweep study.toml --trust-network
sweep study.toml --scheduler 127.0.0.1:1 --workers 2
identify planar2r log.csv --trust-network
"""


@pytest.mark.parametrize("words", WITHOUT_EFFECT.strip().splitlines())
def test_an_option_that_would_change_nothing_is_refused_by_its_name(words):
    """The one that stands last."""
    *_, last = (word for word in words.split() if word.startswith("--"))
    refused = run(*words.split())
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert last in refused.stderr
    assert "result" not in refused.stdout
    assert bool(refused.stdout) == ("--json" in words)


def test_inverse_dynamics_is_one_json_object():
    tau = result("eval", "puma560", "inverse_dynamics", *STATE)
    q, qd, qdd = ([float(x) for x in text.partition("=")[2].split(",")] for text in STATE)
    assert tau == emdeg.inverse_dynamics(emdeg.load("puma560"), q, qd, qdd).tolist()


def test_the_regressor_of_the_base_parameters_gives_the_same_torques():
    robot = emdeg.load("puma560")
    Y = np.array(result("eval", "puma560", "regressor", "--base", *STATE))
    assert Y.shape == (6, 40)
    values = [float(value) for value in base_values(robot)]
    np.testing.assert_allclose(Y @ values, result("eval", "puma560", "inverse_dynamics", *STATE), atol=1e-12)
    refused = run("eval", "puma560", "gravity", "--base", STATE[0])
    assert refused.returncode == 2
    assert "--base applies to regressor" in refused.stderr


def test_degrees_in_and_out():
    q = "--q=10,20,30"
    assert result("eval", "planar3r", "gravity", q, "--deg") == pytest.approx(
        emdeg.gravity(emdeg.load("planar3r"), np.radians([10, 20, 30])).tolist()
    )
    qdd = result("eval", "planar3r", "forward_dynamics", q, "--qd=0,0,0", "--tau=1,2,3", "--deg")
    plain = emdeg.forward_dynamics(emdeg.load("planar3r"), np.radians([10, 20, 30]), [0, 0, 0], [1, 2, 3])
    assert qdd == pytest.approx(np.degrees(plain).tolist())


def test_degrees_of_a_mechanism_and_of_what_has_none():
    pose, speed = np.array([115.0, 60.0]), np.array([4.0, -3.0])
    q, qd = np.radians(pose), np.radians(speed)
    given = ["--q=115,60", "--qd=4,-3", "--deg"]
    joints = result("eval", "fivebar", "joint_positions", "--q=115,60", "--deg")
    assert joints == pytest.approx(np.degrees(emdeg.loops.joint_positions("fivebar", q)).tolist())
    assert result("eval", "fivebar", "drive_rates", *given) == pytest.approx(speed.tolist())
    rate = result("eval", "fivebar", "state_rate", *given, "--tau=0.1,0.2")
    expected = emdeg.loops.state_rate("fivebar", np.concatenate([q, qd]), [0.1, 0.2])
    assert rate == pytest.approx(np.degrees(expected).tolist())
    refused = run("eval", "planar2r", "forward_dynamics_derivatives", "--q=1,2", "--qd=0,0", "--tau=0,0", "--deg")
    assert (refused.returncode, "radians" in refused.stderr) == (2, True)
    elements = [
        result("eval", "planar2r", "elements", *given) for given in (["--q=90,0", "--deg"], [f"--q={np.pi / 2},0"])
    ]
    assert elements[0] == elements[1]


@pytest.mark.parametrize("name", CATALOGUE)
def test_degrees_are_for_every_function_whose_arrays_all_have_them_and_refused_of_others(name):
    """A slope by angles, an adjoint and a Hessian would be per radian beside angles in degrees."""
    entry = CATALOGUE[name]
    base = name if entry.derivation is None else entry.derivation.of.name
    robots = map(emdeg.load, ["scara", "puma560", "fivebar"])
    robot = next(robot for robot in robots if base in functions_of(robot))
    plain = {one: np.full(size, 0.02) for one, size in input_sizes([name], robot).items()}
    if "q" in plain:
        plain["q"] = kind_of(robot).home(robot) + 0.1
    turn = np.array([180 / np.pi if joint.kind == "revolute" else 1.0 for joint in robot.coordinates])
    angles = ("q", "qd", "qdd", "q_t", "qd_t", "qdd_t")
    given = {one: ",".join(map(repr, (x * turn if one in angles else x).tolist())) for one, x in plain.items()}
    if "_derivatives" in name or name.endswith(("_vjp", "_hvp", "_hessian")):
        with pytest.raises(UsageError, match=f"--deg does not apply to {name}: .*radians"):
            compute(robot, name, given, deg=True)
        return
    found, expected = compute(robot, name, given, deg=True), evaluate(name, robot, plain)
    for output, value in zip(entry.outputs, expected if isinstance(expected, tuple) else (expected,)):
        turned = value * turn if output.name in ("qd", "qdd", "v", "qd_t", "qdd_t", "v_t") else value
        one = found[output.name] if isinstance(found, dict) else found
        np.testing.assert_allclose(one, turned, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "words", [["forward_dynamics_derivatives_with_friction"], ["forward_dynamics_derivatives", "--friction"]]
)
def test_degrees_are_refused_of_slopes_with_friction_too(words):
    state = ["--q=10,20,0,0,30,0", "--qd=0,0,0,0,0,0", "--tau=1,2,3,4,5,6"]
    refused = run("eval", "puma560", *words, *state, "--deg")
    assert (refused.returncode, "radians" in refused.stderr) == (2, True)


def test_states_from_a_csv_file(tmp_path):
    (tmp_path / "states.csv").write_text("t,q1,q2\n0,0.1,0.2\n1,0.3,0.4\n")
    (tmp_path / "bare.csv").write_text("0.1,0.2\n0.3,0.4\n")
    expected = emdeg.mass_matrix(emdeg.load("planar2r"), [[0.1, 0.2], [0.3, 0.4]]).tolist()
    for name in ("states.csv", "bare.csv"):
        assert result("eval", "planar2r", "mass_matrix", f"--q={tmp_path / name}") == expected


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "holds no state"),
        ("q1,q3\n0,1\n", "lacks the columns q1, q2"),
        ("0.1,0.2\n0.1\n", "has 1 columns; column 2 is needed"),
        ("0.1,x\n", "lacks the columns"),
        ("q1,q2\n0.1,zwei\n", "'zwei' is not a number"),
        ("q1,q2\n", "has a header but no state"),
        ("0.1,0.2,0.3\n", "has 3 columns and no header; 2 are needed"),
        ("q1,q2\n0.1,nan\n", "every number must be finite"),
    ],
)
def test_a_bad_csv_file_is_named_with_its_line(tmp_path, content, word):
    path = tmp_path / "s.csv"
    path.write_text(content)
    done = run("eval", "planar2r", "gravity", f"--q={path}")
    assert done.returncode == 3
    assert word in done.stderr
    assert "s.csv" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("eval", "puma650", "gravity", "--q=0"), 3, "did you mean 'puma560'?"),
        (("eval", "puma560", "gravty", "--q=0"), 2, "did you mean gravity?"),
        (("eval", "puma560", "gravity"), 2, "gravity needs --q"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--qd=0,0,0,0,0,0"), 2, "takes no --qd"),
        (("eval", "puma560", "gravity", "--q=0,1"), 3, "2 numbers given, 6 needed"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,x"), 3, "'x' is not a number"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,inf"), 3, "must be finite"),
        (("eval", "puma560_symbolic", "gravity", "--q=0,0,0,0,0,0"), 3, "symbols without a number"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--gravity=1,2"), 2, "needs three numbers"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--lock", "elbow=0"), 3, "there is no joint 'elbow'"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--lock", "q3"), 2, "needs NAME=VALUE"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--tip", "hand"), 3, "'hand', which does not exist"),
        (("eval", "puma560", "jacobian", "--q=0,0,0,0,0,0", "--friction"), 2, "--friction applies to"),
        (("eval", "planar2r", "bias", "--q=0,0", "--qd=0,0", "--gyroscopic"), 3, "no gear ratios"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--payload", "mass=-1@link6"), 3, "mass is negative"),
        (("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", "--snap", "3"), 2, "--snap must lie in"),
        (("show", "no_such.urdf"), 3, "no_such.urdf"),
        (("check", "no_such.toml"), 3, "no_such.toml"),
        (("nonsense",), 2, "No such command"),
    ],
)
def test_a_users_mistake_gets_a_word_and_an_exit_code(words, code, message):
    done = run(*words)
    text = " ".join(done.stderr.replace("│", " ").split())
    assert done.returncode == code, done.stderr
    assert message in text
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_options_change_the_robot():
    q = "--q=0,0.4,-0.3,0.2,0.1,0"
    assert result("eval", "puma560", "gravity", q, "--gravity=0,0,0") == [0.0] * 6
    plain = result("eval", "puma560", "gravity", q)
    loaded = result("eval", "puma560", "gravity", q, "--payload", "mass=1.8,com=0:0:0.1@link6")
    assert loaded[1] < plain[1]
    assert len(result("eval", "puma560", "gravity", "--q=0,0.4,-0.3,0.2,0.1", "--lock", "q6=30 deg")) == 5
    elbow = result("eval", "puma560", "forward_kinematics", q, "--tip", "link3")
    assert elbow != result("eval", "puma560", "forward_kinematics", q)


def test_a_locked_robot_moves_like_the_whole_one_held_still():
    tau = result(
        "eval", "puma560", "inverse_dynamics", *STATE[:1], "--qd=0.5,-0.3,0.9,-1.1,0.7,0", "--qdd=1,-2,0.5,3,-1,0"
    )
    locked = result(
        "eval",
        "puma560",
        "inverse_dynamics",
        "--q=0.1,-0.7,0.4,1.2,-0.3",
        "--qd=0.5,-0.3,0.9,-1.1,0.7",
        "--qdd=1,-2,0.5,3,-1",
        "--lock",
        "q6=0.8",
    )
    assert locked == pytest.approx(tau[:5], rel=1e-12)


def test_symbols_get_numbers_by_set():
    done = run("eval", "rx90", "forward_kinematics", "--q=0,0,0,0,0,0", "--set", "nosuch=1")
    assert done.returncode == 3
    assert "it has no symbol 'nosuch'" in done.stderr


def test_show_writes_a_robot_that_reads_back(tmp_path):
    text = run("show", "jpl_rrp", "--format", "toml").stdout
    path = tmp_path / "again.toml"
    path.write_text(text)
    q = [0.1, 0.2, 0.6, 0.3, 0.4, 0.5]
    first, second = emdeg.load("jpl_rrp"), emdeg.load(path)
    assert emdeg.mass_matrix(first, q).tolist() == emdeg.mass_matrix(second, q).tolist()
    assert emdeg.forward_kinematics(first, q).tolist() == emdeg.forward_kinematics(second, q).tolist()


def test_a_new_robot_file_is_valid_and_never_overwrites(tmp_path):
    path = tmp_path / "arm.toml"
    assert run("new", "--out", str(path)).returncode == 0
    assert run("check", str(path)).returncode == 0
    assert run("new", "--out", str(path)).returncode == 3
    assert run("new", "--out", str(path), "--force").returncode == 0
    assert run("new", "--out", str(tmp_path / "no" / "arm.toml")).returncode == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.toml"]


def test_check_fails_where_a_physical_rule_is_broken(tmp_path):
    path = tmp_path / "arm.toml"
    text = run("new").stdout
    assert json.loads(run("new", "--json").stdout)["result"] == {"file": None, "text": text}
    path.write_text(text.replace("Izz = 0.03 ", "Izz = 0.3 "))
    done = run("check", str(path))
    assert done.returncode == 1
    assert "triangle inequality" in done.stderr
    assert f"{path}:" in done.stderr
    assert run("check", str(path), "--allow-nonphysical").returncode == 0
    assert run("show", str(path)).returncode == 3
    assert run("show", str(path), "--allow-nonphysical").returncode == 0


def test_published_data_that_says_why_it_is_not_physical_only_warns():
    done = run("check", "puma560")
    assert done.returncode == 0
    assert "warning" in done.stderr
    assert "the file says why" in done.stderr


@pytest.mark.long
def test_every_library_robot_shows_itself():
    rows = result("robots")
    assert [row["name"] for row in rows] == list(emdeg.library_names())
    for row in rows:
        data = result("show", row["name"])
        assert data["joints"] == row["joints"] == len(data["links"])
        assert data["source"]


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "emdeg", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"emdeg {emdeg.__version__}"


def test_version_and_help():
    assert run("--version").stdout.strip() == f"emdeg {emdeg.__version__}"
    for command in ("eval", "show", "check", "new", "robots"):
        assert run(command, "--help").returncode == 0


def test_friction_is_added_on_request(tmp_path):
    path = tmp_path / "arm.toml"
    run("new", "--out", str(path))
    state = ("--q=0.1,0.2", "--qd=0.5,-0.5", "--qdd=0,0")
    plain, rubbed = (result("eval", str(path), "inverse_dynamics", *state, *extra) for extra in ((), ("--friction",)))
    assert np.subtract(rubbed, plain).tolist() == pytest.approx([0.4 * 0.5 + 1.2, 0.0])
    back = result(
        "eval",
        str(path),
        "forward_dynamics",
        "--q=0.1,0.2",
        "--qd=0.5,-0.5",
        f"--tau={rubbed[0]!r},{rubbed[1]!r}",
        "--friction",
    )
    assert back == pytest.approx([0, 0], abs=1e-12)


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "emdeg", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("emdeg ")


def test_help_keeps_its_units():
    text = " ".join(run("show", "--help").stdout.replace("│", " ").split())
    assert "Gravity [m/s^2] in the base frame." in text
    assert "at a value [rad, m, or '30 deg']" in text
    assert "Speed [rad/s, m/s] below which" in " ".join(run("analyse", "--help").stdout.replace("│", " ").split())


UNITS = {
    "q": "[rad, m]",
    "qd": "[rad/s, m/s]",
    "qdd": "[rad/s^2, m/s^2]",
    "tau": "[N m, N]",
    "gravity": "[m/s^2]",
    "lock": "[rad, m, ",
    "range": "[rad, m, ",
    "at": "[rad, m]",
    "lower": "[rad, m]",
    "upper": "[rad, m]",
    "speed": "[rad/s, m/s]",
    "acceleration": "[rad/s^2, m/s^2]",
    "seconds": "[s]",
    "window": "[s]",
    "slowest": "[rad/s, m/s]",
    "rate": "[1/s]",
    "noise": "[N m, N]",
    "torque-constant": "[N m/A, N/A]",
    "snap": "[rad]",
}
"""Options that are quantities, and what they are in."""


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_quantity_has_its_unit_in_the_help(name):
    for option in cli.command(name).params:
        unit = next((UNITS[one.strip("-")] for one in option.opts if one.strip("-") in UNITS), None)
        if unit is not None:
            assert unit in option.help.replace("\\", ""), f"{name} {option.opts}: {option.help}"


def test_no_number_is_cut_however_narrow_the_terminal():
    plain = run("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", COLUMNS="200").stdout
    narrow = run("eval", "puma560", "gravity", "--q=0,0,0,0,0,0", COLUMNS="10").stdout
    for number in ("-36.98580915", "0.24892875"):
        assert number in plain
        assert number in narrow


def test_a_formula_in_a_narrow_table_goes_on_in_the_next_line():
    """Nothing becomes an ellipsis, and no word of it is broken."""
    table = Table("constant", "value", "unit", "is")
    formula = "m1*rx1^2 + Izz1 + a1^2*m2 + m2*rx2^2 + Izz2"
    table.add_row("I1", "1.667e-10", "kg m^2", formula)
    written = io.StringIO()
    SafeConsole(file=written, width=30).print(table)
    assert "…" not in written.getvalue()
    assert {"1.667e-10", *formula.split()} <= set(written.getvalue().replace("│", " ").split())


SNAPPED = """<robot name="{name}"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"
  ixy="0" ixz="0" iyz="0"/></inertial></link>{limbs}</robot>"""
LIMB = """<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
  iyz="0"/></inertial>
  </link><joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/><axis xyz="0 0 1"/>
  <origin rpy="1.5708 0 0" xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>"""


def test_many_notes_are_a_line_a_kind_and_all_on_demand(tmp_path):
    chain = tmp_path / "chain.urdf"
    limbs = [LIMB.format(k=k, parent="a" if k == 0 else f"l{k - 1}") for k in range(5)]
    chain.write_text(SNAPPED.format(name="chain", limbs="".join(limbs).replace('ixy="0"', 'ixy="1e-18"')))
    short, full = run("show", str(chain)).stderr, run("show", str(chain), "--notes").stderr
    assert short.count("note:") == 2
    assert "5 numbers were made exact" in short
    assert "5 bodies had round-off, such as l0: round-off was taken away" in short
    assert full.count("was read as") == 5
    assert full.count("round-off was taken away") == 5


def test_limbs_on_a_body_with_mass_are_said_to_hang_on_a_fixed_one(tmp_path):
    legs = tmp_path / "legs.urdf"
    legs.write_text(SNAPPED.format(name="legs", limbs="".join(LIMB.format(k=k, parent="a") for k in range(4))))
    said = run("show", str(legs)).stderr
    assert "'a', on which 4 limbs hang, is held in its place" in said
    assert "2 kg do not count" in said


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (("show", "no_such_robot"), 3, "robot"),
        (("show", "planar2r", "--bad"), 2, "usage"),
        (("count", "planar2r", "no_such_function"), 2, "unknown-function"),
        (("eval", "planar2r", "gravity", "--q=1,2,3"), 3, "state"),
    ],
)
def test_with_json_an_error_is_one_object_with_its_code_on_stdout(words, exit_code, code):
    done = run(*words, "--json")
    assert done.returncode == exit_code
    found = json.loads(done.stdout)
    assert found["schema_version"] == 1
    assert found["error"].keys() == {"code", "message", "file", "line"}
    assert found["error"]["code"] == code
    assert run(*words).stdout == ""


def test_an_error_in_a_file_tells_programs_the_file_and_the_line(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text("schema = 1\nname = 3\n")
    error = json.loads(run("show", str(path), "--json").stdout)["error"]
    assert (error["file"], error["line"]) == (str(path), 2)
