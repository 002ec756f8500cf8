"""`emdeg count`, `generate` and `verify` as a user meets them."""

from __future__ import annotations

import hashlib
import json
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app
from emdeg.codegen.artefact import Request, emit
from emdeg.programs.ir import count
from emdeg.programs.proof import FALSE_PASS
from emdeg.programs.store import from_data
from emdeg.programs.verification import verify_program
from emdeg.robot import to_toml
from tests.commands import run


def result(*words: str):
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


def test_count_answers_with_five_numbers():
    found = result("count", "puma560", "inverse_dynamics")
    assert list(found) == ["mul", "add", "div", "sqrt", "sincos"]
    assert found == count(emdeg.program(emdeg.load("puma560"), "inverse_dynamics")).as_dict()


def test_functions_joined_by_a_plus_are_one_program():
    together = result("count", "scara", "mass_matrix+bias")
    apart = [result("count", "scara", name) for name in ("mass_matrix", "bias")]
    assert together["sincos"] < sum(each["sincos"] for each in apart)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["count", "planar2r", "torque"], "there is no function 'torque'"),
        (["count", "planar2r", "inverse_dynamic"], "did you mean inverse_dynamics?"),
        (["count", "planar2r", "gravity+gravity"], "names a function twice"),
        (["count", "planar2r", "gravity+elements"], "two have an output g"),
        (["count", "planar2r", "inverse_dynamics+forward_dynamics"], "is input and output"),
        (["count", "planar2r", "gravity", "--base"], "--base applies to regressor"),
        (["verify", "planar2r"], "say which FUNCTION"),
        (["generate", "planar2r", "-f", "gravity", "--target", "numpy", "--batch", "--out", "x"], "--target c only"),
        (["generate", "planar2r", "-f", "gravity", "--casadi", "--float", "--out", "x"], "exclude each other"),
        (["generate", "planar2r", "-f", "gravity", "--base", "--out", "x"], "--base applies to regressor"),
        (["generate", "planar2r", "-f", "gravity", "--target", "cobol", "--out", "x"], "cobol"),
        (["generate", "planar2r", "-f", "gravity", "--name", 200 * "x", "--out", "x"], "a shorter --name"),
        (["generate", "planar2r", "-f", "gravity", "--casadi", "--name", "my__arm", "--out", "x"], "another --name"),
        (["count", "fourbar", "inverse_dynamics+forward_dynamics"], "is input and output"),
        (["count", "planar2r", "gravity", "--weights", "cycle"], "'cycle' is no weight"),
        (["optimise", "planar2r", "gravity", "--weights", "div=-1"], "from 0 to 1e6"),
    ],
)
def test_wrong_usage_is_code_two_and_leaves_nothing(words, reason, tmp_path):
    done = run(*words, cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 2, done.stderr
    assert reason in " ".join(done.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_verify_says_how_sure_it_is():
    found = result("verify", "stanford_arm", "inverse_dynamics", "--seed=5")
    assert found["verified"] is True
    assert found["seed"] == 5
    assert found["false_pass_probability"] < FALSE_PASS
    assert found["float_error_ulps"]["tau"] < 100


def generate(folder: Path, *words: str, robot: str = "planar2r") -> Path:
    done = run("generate", robot, "--function=inverse_dynamics", *words, f"--out={folder}", "--json")
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["result"][0]["file"])


@pytest.mark.parametrize(
    "words",
    [
        ["--target=c", "--trig=inline", "--batch", "--casadi", "--multirate"],
        ["--target=c", "--float"],
        ["--target=numpy"],
        ["--target=python"],
        ["--target=jax"],
        ["--target=js", "--multirate"],
        ["--target=rust", "--float"],
        ["--target=fortran"],
        ["--target=octave"],
        ["--target=cpp", "--prefix=lab_"],
        ["--target=c", "--payload=mass=m,com=x:0:0", "--name=Loaded arm"],
    ],
    ids=" ".join,
)
def test_the_same_command_gives_the_same_bytes_and_verifies(words, tmp_path):
    files = []
    for seed in ("1", "2"):
        done = run(
            "generate", "planar2r", "-f", "inverse_dynamics", *words, "-o", str(tmp_path / seed), PYTHONHASHSEED=seed
        )
        assert done.returncode == 0, done.stderr
        files.append({path.name: path.read_bytes() for path in (tmp_path / seed).iterdir()})
    assert files[0] == files[1]
    (artefact,) = (name for name in files[0] if not name.endswith((".json", ".h")))
    headers = {f"{Path(artefact).stem}.h"} if artefact.endswith(".c") else set()
    assert set(files[0]) == {artefact, f"{artefact}.certificate.json"} | headers
    stem = "loaded_arm" if "--name=Loaded arm" in words else "planar2r"
    stem = f"lab_{stem}" if "--prefix=lab_" in words else stem
    assert Path(artefact).stem == f"{stem}_inverse_dynamics"
    text = files[0][artefact].decode()
    certificate = json.loads(files[0][f"{artefact}.certificate.json"])
    assert certificate["digest"] == hashlib.sha256(text.encode()).hexdigest()
    assert "command: emdeg generate planar2r" in text
    assert "robot: planar2r" in text
    assert f"operations: {certificate['operations']['mul']} multiplications" in text
    found = result("verify", str(tmp_path / "1" / artefact))
    assert found["digest"] == certificate["digest"]


def test_what_is_too_long_for_a_compiler_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr("emdeg.programs.companions.MOST_SWEPT", 100)
    words = ["generate", "planar2r", "-f", "inverse_dynamics", "--casadi", "--effort", "0", "--out", str(tmp_path)]
    said, missing = CliRunner().invoke(app, [*words, "--json"]), "jac_adj1_planar2r_inverse_dynamics_casadi"
    assert said.exit_code == 0
    assert json.loads(said.stdout)["result"][0]["left_out"] == [missing]
    assert f"not in it: {missing}; CasADi will not find" in " ".join(said.stderr.split())


def test_several_functions_are_several_files(tmp_path):
    words = ["-f", "gravity", "-f", "mass_matrix+bias", "-f", "regressor", "--base"]
    made = result("generate", "planar2r", *words, "--out", str(tmp_path))
    assert [Path(one["file"]).name for one in made] == [
        "planar2r_gravity.c",
        "planar2r_mass_matrix_bias.c",
        "planar2r_regressor.c",
    ]
    for one in made:
        assert run("verify", one["file"]).returncode == 0
    assert "out  Y[14]: 2 x 7" in Path(made[2]["file"]).read_text()


def test_options_of_a_robot_have_no_effect_on_a_file_unless_the_robot_is_named(tmp_path):
    done = run("generate", "planar2r", "-f", "gravity", "--effort", "0", "--out", str(tmp_path))
    assert done.returncode == 0
    file = str(tmp_path / "planar2r_gravity.c")
    for option in ("--gravity=0,0,0", "--lock=q1=1", "--payload=mass=1"):
        refused = run("verify", file, option)
        assert refused.returncode == 2
        assert "--robot ROBOT" in " ".join(refused.stderr.replace("│", " ").split())
    assert run("verify", file, "--robot", "planar2r", "--gravity=0,0,0").returncode == 1


def test_loads_add_up_and_nothing_is_said_twice():
    one, other = "mass=1,com=.1:0:0@link1", "mass=2,com=.1:0:0@link2"
    words = ["eval", "planar2r", "gravity", "--q=0.3,0.1"]
    g, with_one, with_other, with_both = (
        np.array(result(*words, *(f"--payload={load}" for load in loads)))
        for loads in ((), (one,), (other,), (one, other))
    )
    np.testing.assert_allclose(with_both - g, (with_one - g) + (with_other - g), rtol=1e-12)
    twice = run(*words, "--lock", "q1=1", "--lock", "q1=2")
    assert twice.returncode == 2
    assert "--lock says q1 twice" in twice.stderr


def test_a_column_that_stands_twice_is_none(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("q1,q1,q2\n0,1.5,0.2\n")
    done = run("eval", "planar2r", "gravity", f"--q={path}")
    assert done.returncode == 3
    assert "has two columns q1" in done.stderr


def test_a_function_with_friction_has_its_own_name_and_file(tmp_path):
    asked = [word for name in ("bias", "bias_with_friction") for word in ("-f", name)]
    done = run("generate", "puma560", *asked, "--effort", "0", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.glob("*.c"))
    assert [path.stem for path in files] == ["puma560_bias", "puma560_bias_with_friction"]
    by_option = run("generate", "puma560", "-f", "bias", "--friction", "--effort", "0", "--out", str(tmp_path / "by"))
    assert by_option.returncode == 0
    assert [path.stem for path in (tmp_path / "by").glob("*.c")] == ["puma560_bias"]
    for path in (*files, tmp_path / "by" / "puma560_bias.c"):
        assert run("verify", str(path)).returncode == 0
    both = run("generate", "puma560", "-f", "bias+bias_with_friction", "--out", str(tmp_path))
    assert both.returncode == 2
    assert "bias and bias_with_friction cannot be one program" in both.stderr


def test_symbols_of_the_robot_stay_inputs(tmp_path):
    path = result("generate", "puma560_symbolic", "-f", "gravity", "--out", str(tmp_path))[0]["file"]
    text = Path(path).read_text()
    assert "void puma560_symbolic_gravity_constants(const emdeg_real *parameters" in text
    assert run("verify", path).returncode == 0


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def with_digest(artefact: Path, old: str, new: str) -> None:
    """Change the artefact and put its new digest into the certificate."""
    beside = artefact.with_name(artefact.name + ".certificate.json")
    before = hashlib.sha256(artefact.read_bytes()).hexdigest()
    changed(artefact, old, new)
    changed(beside, before, hashlib.sha256(artefact.read_bytes()).hexdigest())


def in_certificate(old: str, new: str):
    return lambda path: changed(path.with_name(path.name + ".certificate.json"), old, new)


def without_an_output(path: Path) -> None:
    """Text, digest and stored program fit together and all that is computed is right; but nothing is computed."""
    beside = path.with_name(path.name + ".certificate.json")
    certificate = json.loads(beside.read_text())
    certificate["program"]["outputs"] = []
    request = Request(**{**certificate["request"], "functions": tuple(certificate["request"]["functions"])})
    path.write_text(emit(from_data(certificate["program"]), certificate["robot"]["name"], request))
    certificate["digest"] = hashlib.sha256(path.read_bytes()).hexdigest()
    beside.write_text(json.dumps(certificate))


@pytest.mark.parametrize(
    ("tamper", "word"),
    [
        (lambda path: changed(path, " + ", " - "), "the artefact was changed"),
        (lambda path: with_digest(path, " + ", " - "), "does not print to this artefact"),
        (in_certificate('"points": 2', '"points": 1'), "false_pass_probability is"),
        (in_certificate('"points": 2', '"points": 0'), "points must be"),
        (in_certificate("traced program", "wishful thinking"), "formulations is"),
        (in_certificate("23 modulo 24", "7 modulo 8"), "primes is"),
        (in_certificate('"mul": ', '"mul": 9'), "operations is"),
        (in_certificate('"tau": ', '"tau": 99'), "float_error_ulps is"),
        (without_an_output, "its outputs are"),
        (in_certificate('"add ', '"sub '), "does not print"),
        (in_certificate("mass = 1", "mass = 2"), "the stored robot does not have the stated digest"),
        (in_certificate('"format": 3', '"format": 9'), f"written by emdeg {emdeg.__version__} in another format"),
        (in_certificate('"trig": "libm"', '"trig": 5'), "its request is not"),
        (in_certificate('"trig": "libm"', '"trig": "lib"'), "its request is not"),
        (in_certificate('"seed": 0', '"seed": "0"'), "its seed is no whole number"),
        (in_certificate('"toml": "', '"toml": 5, "text": "'), "its robot is not name, digest and text"),
        (in_certificate("{", "["), "is no JSON"),
        (lambda path: path.with_name(path.name + ".certificate.json").unlink(), "there is no certificate"),
    ],
)
def test_what_was_tampered_with_is_refused(tamper, word, tmp_path):
    path = generate(tmp_path)
    tamper(path)
    done = run("verify", str(path), "--json")
    assert done.returncode == 1, done.stdout
    assert word in done.stderr
    answer = json.loads(done.stdout)["result"]
    assert answer["verified"] is False
    assert word in answer["reason"]


def test_a_certificate_of_an_older_emdeg_says_who_wrote_it_and_what_to_do(tmp_path):
    path = generate(tmp_path)
    beside = path.with_name(path.name + ".certificate.json")
    certificate = json.loads(beside.read_text())
    assert (certificate.pop("format"), certificate.pop("emdeg")) == (3, emdeg.__version__)
    beside.write_text(json.dumps({"schema_version": 1, "made_by": "emdeg 0.1.0", **certificate}))
    done = run("verify", str(path))
    assert done.returncode == 1
    assert "written by emdeg 0.1.0 in another format" in done.stderr
    assert f"generate the file again: {certificate['request']['command']}" in done.stderr


def test_a_program_of_another_robot_is_refused(tmp_path):
    """Artefact, digest and stored program fit together; only the robot is another."""
    file = tmp_path / "my_arm.toml"
    file.write_text(to_toml(emdeg.load("planar2r")), encoding="utf-8")
    for robot, why in ((str(file), "tau[0] differs"), ("planar2r", "names the library's planar2r")):
        path, other = (generate(tmp_path / m, f"--payload=mass={m},com=0.1:0:0", robot=robot) for m in ("1.7", "1.8"))
        beside, theirs = (p.with_name(p.name + ".certificate.json") for p in (path, other))
        certificate = json.loads(beside.read_text())
        certificate["robot"] = json.loads(theirs.read_text())["robot"]
        beside.write_text(json.dumps(certificate))
        done = run("verify", str(path))
        assert done.returncode == 1
        assert why in done.stderr


def test_files_of_others_are_not_overwritten(tmp_path):
    mine = tmp_path / "planar2r_gravity.c"
    mine.write_text("int precious;\n")
    words = ["generate", "planar2r", "-f", "gravity", "-f", "bias", "-o", str(tmp_path)]
    done = run(*words)
    assert done.returncode == 3
    assert "was not generated by emdeg" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["planar2r_gravity.c"]
    assert run(*words, "--force").returncode == 0
    assert "generated by emdeg" in mine.read_text()
    assert not list(tmp_path.glob(".*"))


def test_a_missing_file_is_bad_input(tmp_path):
    done = run("verify", str(tmp_path / "nothing.c"))
    assert done.returncode == 3
    assert "No such file" in done.stderr


def test_what_was_filed_for_other_weights_is_what_they_emit(tmp_path):
    """A sine costs nothing when operations are counted; where it does, another program is the best."""
    filed = tmp_path / "filed"
    words = ["puma560", "mass_matrix", "--weights", "mul=0,add=0,sincos=1"]
    done = run("optimise", *words, "--effort=0.2", "--json", EMDEG_PROGRAMS=str(filed))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["result"]
    assert Path(found["file"]).parent.parent == filed
    assert Path(found["file"]).name == "mass_matrix.mul=0,add=0,div=1,sqrt=1,sincos=1.json"
    counted = run("count", *words, "--json", EMDEG_PROGRAMS=str(filed))
    assert json.loads(counted.stdout)["result"]["sincos"] == found["operations"]["sincos"]
    assert found["operations"]["sincos"] < result("count", "puma560", "mass_matrix")["sincos"]
    made = run("generate", words[0], "-f", *words[1:], "-o", str(tmp_path / "code"), EMDEG_PROGRAMS=str(filed))
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "code" / "puma560_mass_matrix.c").read_text()
    assert "--weights=mul=0,add=0,sincos=1" in text
    assert f"{found['operations']['sincos']} sine-cosine pairs" in text


def test_a_program_goes_to_the_folder_that_was_named_and_no_larger_one_replaces_it(tmp_path):
    words = ["optimise", "planar3r", "mass_matrix", "--out", str(tmp_path)]
    first = result(*words, "--effort=0.5")
    before = Path(first["file"]).read_bytes()
    assert Path(first["file"]).is_relative_to(tmp_path)
    again = result(*words, "--effort=0")
    assert again["file"] is None
    assert again["on_file"] == first["operations"]
    assert Path(first["file"]).read_bytes() == before


def test_a_program_that_an_older_emdeg_filed_is_said_to_be_of_no_use(tmp_path):
    old = {"robot": "planar2r", "functions": ["gravity"], "weights": "operations", "program": {}}
    (tmp_path / "0123456789abcdef01234567.program.json").write_text(json.dumps(old))
    done = run("count", "planar2r", "gravity", "--json", EMDEG_PROGRAMS=str(tmp_path))
    assert done.returncode == 0
    note = next(line for line in done.stderr.splitlines() if line.startswith("note: "))
    assert "an emdeg before 0.2.0" in note
    assert "search again: emdeg optimise planar2r gravity" in note


def test_a_folder_that_cannot_be_written_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("optimise", "planar2r", "gravity", "--effort=0", "--out", str(tmp_path / "file"))
    assert done.returncode == 3
    assert "cannot be written" in done.stderr


def test_an_interrupted_search_files_the_best_and_says_so(tmp_path, monkeypatch):
    @contextmanager
    def pressed(weights):
        yield lambda phase, best: signal.raise_signal(signal.SIGINT) if phase == "formulation" else None

    monkeypatch.setattr("emdeg.cli.optimise.progress_line", pressed)
    done = run("optimise", "stanford_arm", "bias", "--effort=60", "--json", "--out", str(tmp_path))
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    found = json.loads(done.stdout)["result"]
    assert found["interrupted"] is True
    assert found["certificate"]["false_pass_probability"] < FALSE_PASS
    plain = result("count", "stanford_arm", "bias", "--effort=0")
    assert sum(found["operations"].values()) < sum(plain.values())
    stored = from_data(json.loads(Path(found["file"]).read_text())["program"])
    verify_program(stored, emdeg.load("stanford_arm"), "bias")


@pytest.mark.parametrize("function", ["forward_dynamics", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("command", ["count", "verify", "optimise", "generate"])
def test_a_joint_that_moves_nothing_is_bad_input(command, function, tmp_path):
    robot = tmp_path / "dead.toml"
    robot.write_text(
        """schema = 1
        name = "dead"
        convention = "modified"
        [[link]]
        name = "arm"
        joint = { name = "shoulder", type = "revolute", alpha = "90 deg" }
        inertia = { about = "com", mass = 1, com = [0.1, 0, 0] }
        [[link]]
        name = "pin"
        joint = { name = "wrist", type = "revolute", alpha = "90 deg", a = 0.3 }
        inertia = { about = "com", mass = 0, com = [0, 0, 0] }
        """
    )
    words = [f"--function={function}", f"--out={tmp_path}"] if command == "generate" else [function]
    done = run(command, str(robot), *words)
    assert done.returncode == 3, done.stderr
    assert "its mass matrix is singular" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["dead.toml"]


def test_nothing_is_written_where_the_proof_fails(tmp_path, monkeypatch):
    wrong = emdeg.program(emdeg.load("planar2r", gravity=(0, 1, 0)), "gravity")
    monkeypatch.setattr("emdeg.codegen.verbs.program", lambda *words, **options: wrong)
    done = run("generate", "planar2r", "-f", "gravity", "--out", str(tmp_path / "code"))
    assert done.returncode == 1
    assert "NOT VERIFIED" in done.stderr
    assert not list(tmp_path.iterdir())


HOSTILE = """<robot name="[/red] */ My Robot :smile:">
<link name="base"/>
<link name="[/bold]*/"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j&#34;[/x]" type="revolute"><parent link="base"/><child link="[/bold]*/"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint>
</robot>"""


@pytest.mark.parametrize(
    "words",
    [
        "count ROBOT gravity",
        "verify ROBOT gravity",
        "optimise ROBOT gravity --effort=0 --dry-run",
        "show ROBOT",
        "eval ROBOT gravity --q=0",
        "eval ROBOT mass_matrix --q=0",
        "check ROBOT",
        "derive ROBOT",
        "analyse ROBOT --seconds=1",
        "abbreviate ROBOT --seconds=1",
    ],
)
def test_names_that_look_like_markup_are_printed_as_they_are(words, tmp_path):
    robot = tmp_path / "Arm [red] 2.urdf"
    robot.write_text(HOSTILE)
    done = run(*(str(robot) if word == "ROBOT" else word for word in words.split()), COLUMNS="200")
    assert done.returncode == 0, done.stderr
    if words.split()[0] in ("count", "optimise", "show"):
        assert "[/red] */ My Robot :smile:" in done.stdout


@pytest.mark.parametrize("target", ["c", "python"])
def test_code_of_a_robot_with_any_name_verifies(target, tmp_path):
    """The certificate stores the robot under a plainer name than the one that the header shows."""
    robot = tmp_path / "Arm [red] 2.urdf"
    robot.write_text(HOSTILE)
    done = run("generate", str(robot), "-f", "gravity", "--target", target, "-o", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    path = Path(json.loads(done.stdout)["result"][0]["file"])
    assert path.stem == "arm__red__2_gravity"
    assert run("verify", str(path)).returncode == 0
