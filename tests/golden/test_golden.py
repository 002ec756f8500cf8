"""Programs, generated files, printed equations, JSON results and the public interface are as recorded.

`pytest tests/golden --update-golden -m ""` (in one process) records what the package gives now, a few tests' entries
alone with `-k`; an entry that is no longer wanted is deleted from its file. Text for people is not recorded: comments,
headings, messages and titles may be reworded. Everything is reached through `import emdeg` and the command line, so
packages and modules may be moved and renamed.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import re
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdeg
from tests.commands import run
from tests.golden.records import (
    DIGESTED,
    PROSE,
    Records,
    compact,
    differences,
    digested,
    first_other_line,
    lines_digest,
    plain,
    sha,
)

HOME = Path(__file__).parents[2]


def long(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.long, id=" ".join(map(str, values)))


@pytest.fixture(autouse=True)
def no_cached_programs(monkeypatch, tmp_path):
    """Only the programs that come with the package."""
    monkeypatch.setenv("EMDEG_PROGRAMS", str(tmp_path / "programs"))
    monkeypatch.setenv("EMDEG_EFFORT", "0")


@pytest.fixture
def records(request):
    def of(name: str) -> Records:
        assert not (request.config.getoption("--update-golden") and hasattr(request.config, "workerinput")), (
            "one process"
        )
        return Records(name, request.config.getoption("--update-golden"))

    return of


# ---------------------------------------------------------------------------------------------------------- programs

FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "bias",
    "gravity",
    "elements",
    "forward_kinematics",
    "jacobian",
    "regressor",
    "inverse_dynamics_derivatives",
    "gravity_vjp",
    "inverse_dynamics_with_friction",
    "mass_matrix+bias",
    "inverse_dynamics_jvp",
    "kinetic_energy",
    "friction",
    "inverse_jacobian",
    "drive_jacobian",
    "closure",
)
QUICK = {
    "planar2r": FUNCTIONS,
    "fivebar": FUNCTIONS,
    "puma560": ("inverse_dynamics", "mass_matrix", "elements", "jacobian", "gravity_vjp", "mass_matrix+bias"),
    "stanford_arm": ("inverse_dynamics", "forward_dynamics", "bias", "regressor", "forward_kinematics"),
    "scara": ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "coriolis_matrix"),
    "delta": ("inverse_dynamics", "forward_dynamics", "mass_matrix", "drive_jacobian"),
    "puma560_symbolic": ("gravity",),
    "panda": ("inverse_dynamics",),
    "palletiser": ("inverse_dynamics", "forward_kinematics"),
}


def fingerprint(program: emdeg.Program) -> list[Any]:
    """Operations, instructions, the digest of the instructions in order, and that of the formulas in any order.

    An entry of an output is zero, a value or its negative. No name of a class is part of a digest.
    """
    counted = {"mul": 0, "add": 0, "div": 0, "sqrt": 0, "exp": 0, "tanh": 0}
    classes = {group.name: str(group.depends.name) for group in program.inputs}
    fixed, angles, live = [], set(), [False] * len(program.ops)
    lines = [f"input {group.name} {group.size} {classes[group.name]}" for group in program.inputs]
    formulas: list[str] = []
    for op in program.ops:
        kind, leaf = str(op.kind.value), op.payload
        text = "" if leaf is None else f"{leaf[0]}[{leaf[1]}]" if isinstance(leaf, tuple) else str(leaf)
        lines.append(" ".join([kind, *map(str, op.args), text]))
        formulas.append(sha(" ".join([kind, *(formulas[arg] for arg in op.args), text]), 24))
        if kind == "input":
            fixed.append(isinstance(leaf, tuple) and classes[leaf[0]] == "CONSTANTS")
        else:
            fixed.append(all(fixed[arg] for arg in op.args))
    outputs = []
    for group in program.outputs:
        shape = "x".join(map(str, group.shape))
        lines.append(f"output {group.name} {shape} " + " ".join(f"{ref.sign * 1}*{ref.value}" for ref in group.entries))
        named = (f"{ref.sign}*{formulas[ref.value]}" if ref.sign else "0" for ref in group.entries)
        outputs.append(f"output {group.name} {shape} " + " ".join(named))
        for ref in group.entries:
            if ref.sign:
                live[ref.value] = True
    for index in range(len(program.ops) - 1, -1, -1):
        op, kind = program.ops[index], str(program.ops[index].kind.value)
        if live[index]:
            for arg in op.args:
                live[arg] = True
            if not fixed[index]:
                if kind in ("sin", "cos"):
                    angles.add(op.args)
                name = {"sub": "add"}.get(kind, kind)
                counted |= {name: counted[name] + 1} if name in counted else {}
    counts = [*counted.values(), len(angles)]
    return [counts, len(program.ops), sha("\n".join(lines)), sha("\n".join(lines[: len(program.inputs)] + outputs))]


def program_differences(old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, str) or isinstance(new, str):
        if old != new:
            yield f"recorded {old}, found {new}"
        return
    names = ("mul, add, div, sqrt, exp, tanh, sine-cosine pairs", "instructions", "digest of the instructions")
    for name, one, other in zip((*names, "digest of the formulas in any order"), old, new):
        if one != other:
            yield f"{name}: recorded {one}, found {other}"


CASES = [pytest.param(robot, name, id=f"{robot}-{name}") for robot, names in QUICK.items() for name in names] + [
    pytest.param(robot, name, id=f"{robot}-{name}", marks=pytest.mark.long)
    for robot in emdeg.library_names()
    for name in FUNCTIONS
    if name not in QUICK.get(robot, ())
]


@pytest.mark.parametrize(("robot", "function"), CASES)
def test_programs(robot, function, records):
    for effort, kind in ((0, "plain"), (None, "bundled")):
        try:
            found = fingerprint(emdeg.program(robot, function, effort=effort))
        except emdeg.EmdegError:
            found = "rejected"
        records("programs").check(f"{robot}/{function}/{kind}", found, program_differences)


# ------------------------------------------------------------------------------------------------------------ values


def values_at_a_state(robot: str) -> dict[str, Any]:
    """The outputs of every function of a state of motion: of each the shape, the largest entry, a weighted sum."""
    show = json.loads(run("show", robot, "--json").stdout)["result"]
    if show["symbols"]:
        return {"symbols": show["symbols"]}
    if show["serial"]:
        q = 0.3 + 0.17 * np.arange(show["joints"])
    else:
        q = np.array([*json.loads(run("loops", robot, "--json").stdout)["result"]["q"].values()])
    state = {"q": q, "qd": 0.4 - 0.3 * np.arange(q.size), "qdd": 0.5 + 0.1 * np.arange(q.size)}
    state["tau"] = 1.0 + np.arange(q.size)
    found = {}
    for name, about in json.loads(run("functions", "--json").stdout)["result"].items():
        inputs = [each["name"] for each in about["inputs"]]
        if inputs == ["qd"]:  # friction: a mechanism's depends on its pose
            inputs = inputs if show["serial"] else ["q", "qd"]
        if set(inputs) <= set(state):
            try:
                made = getattr(emdeg, name)(robot, *(state[each] for each in inputs))
            except (emdeg.EmdegError, IndexError):  # an inverse of a Jacobian that has none
                found[name] = "rejected"
                continue
            arrays = [np.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]
            weights = [np.cos(1 + np.arange(each.size)) for each in arrays]
            found[name] = [
                [list(each.shape), float(np.abs(each).max(initial=0)), float(each.ravel() @ weight)]
                for each, weight in zip(arrays, weights)
            ]
    return plain(found)


NUMERIC = ("planar2r", "fivebar", "stanford_arm")


@pytest.mark.parametrize("robot", [*NUMERIC, *(long(name) for name in emdeg.library_names() if name not in NUMERIC)])
def test_values_of_all_functions(robot, records):
    records("values").check(robot, values_at_a_state(robot))


# --------------------------------------------------------------------------------------------------- generated files

COMMENTS = {
    (".c", ".h", ".hpp", ".rs", ".mjs", ".ptx"): r"/\*.*?\*/|//[^\n]*",
    (".py",): r'"""(?s:.)*?"""|#[^\n]*',
    (".m",): r"%[^\n]*",
    (".f90",): r"![^\n]*",
}
TARGETS = (
    "--target c",
    "--target c --trig inline --batch --casadi --multirate",
    "--target c --float",
    "--target cpp",
    "--target numpy",
    "--target python",
    "--target jax",
    "--target js --multirate",
    "--target rust --float",
    "--target octave",
    "--target fortran",
    "--target ptx",
)
WHAT = {"planar2r": "-f inverse_dynamics -f mass_matrix+bias", "fivebar": "-f inverse_dynamics"}
MORE = {
    "planar2r": "-f elements -f forward_dynamics_derivatives",
    "scara": "-f inverse_dynamics -f inverse_dynamics_vjp -f regressor -f jacobian",
    "fivebar": "-f forward_dynamics -f drive_rates -f drive_jacobian",
}
SPECIAL = [
    ("planar2r", "-f inverse_dynamics --target c --acados --prefix lab_ --name arm"),
    ("planar2r", "-f inverse_dynamics -f gravity --target c --library"),
    ("planar2r", "-f inverse_dynamics --target c --payload mass=m,com=x:0:0"),
    ("planar2r", "-f regressor --base --target numpy"),
    ("planar2r", "-f inverse_dynamics --target ptx --layout entries --float --loader"),
    ("scara", "--all --target python"),
    ("fivebar", "-f inverse_dynamics --target c --friction"),
]


def code_lines(path: Path) -> list[str]:
    """The lines of a generated file that compute: no comments, no blank lines, no messages."""
    text = path.read_text(encoding="utf-8")
    for suffixes, comment in COMMENTS.items():
        if path.suffix in suffixes:
            text = re.sub(comment, "", text, flags=re.DOTALL)
    text = re.sub(r'"[^"\n]*"|\'[^\'\n]*\'', lambda found: '"..."' if PROSE.search(found[0]) else found[0], text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


EMITTED = (
    [
        pytest.param(robot, f"{what} {target}", id=f"{robot} {target}")
        for robot, what in WHAT.items()
        for target in TARGETS
    ]
    + [long(robot, f"{what} {target}") for robot, what in MORE.items() for target in TARGETS]
    + [long(*each) for each in SPECIAL]
)


@pytest.mark.parametrize(("robot", "words"), EMITTED)
def test_generated_files(robot, words, records, tmp_path):
    done = run("generate", robot, *shlex.split(words), "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    key = f"generate {robot} {words}"
    if "ptx" in words:  # the text is LLVM's
        key += f" (llvmlite {importlib.metadata.version('llvmlite')})"
        if key not in records("generated").read() and not records("generated").update:
            return
    files = sorted(path for path in (tmp_path / "out").iterdir())
    records("generated").check(key, [path.name for path in files])
    for path in files:
        if path.name.endswith(".certificate.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            records("generated").check(
                f"{key}: {path.name}", {"keys": sorted(record), "operations": record.get("operations")}
            )
        else:
            lines = code_lines(path)
            records("generated").check(f"{key}: {path.name}", lines_digest(lines), first_other_line(lines))


@pytest.mark.long
def test_the_variables_of_an_fmu(records, tmp_path):
    done = run("generate", "planar2r", "--target", "fmu", "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "out").glob("*.fmu")
    text = zipfile.ZipFile(file).read("modelDescription.xml").decode()
    variables = re.findall(r'<(?:Float64|ScalarVariable)[^>]*?name="([^"]*)"[^>]*?causality="([^"]*)"', text)
    records("generated").check("generate planar2r --target fmu: variables", variables)


# -------------------------------------------------------------------------------------------------- printed equations

PRINTED = {
    "planar2r": "constants,M,b,c,g,C,T,J,relations,base,regressor,U,D",
    "stanford_arm": "constants,M,b,c,g,hierarchy",
    "scara": "constants,M,b,c,g,hierarchy,C,T,J,relations,base,regressor",
    "puma560": "constants,M,b,c,g",
    "delta": "",
    "fivebar": "",
}
PRINTED_LONG = {
    "puma560": "hierarchy,C,T,J,Jinv,singularities,relations,base,regressor",
    "jpl_rrp": "constants,M,b,c,g,U,D,extended",
    "stanford_arm": "C,T,J,Jinv,relations,base,regressor,U,D,extended",
    "planar3r": "constants,M,b,c,g,hierarchy,C,extended",
    "palletiser": "",
    "fourbar": "",
    "panda": "constants,M,b,c,g",
}
LAYOUT = re.compile(
    r"\\(begin|end|section|documentclass|usepackage|set|par|sloppy|raggedbottom|allow)|\{?\\(small|LARGE)"
)


def printed(robot: str, parts: str, form: str) -> list[list[str]]:
    """The formulas of each section of `emdeg derive`, without headings and prose."""
    words = ["--only", parts] if parts else []
    done = run("derive", robot, *words, "--format", form, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    sections: list[list[str]] = [[]]
    lines = done.stdout.splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        rule = re.fullmatch(r"[-=]{3,}", line)
        if line.startswith("\\section") or re.fullmatch(r"[-=]{3,}", following):
            sections.append([])
        elif line.strip() and not rule and not LAYOUT.match(line) and not PROSE.search(line):
            sections[-1].append(" ".join(line.split()))
    return sections


@pytest.mark.parametrize("form", ["text", "latex"])
@pytest.mark.parametrize(
    ("robot", "parts"),
    [pytest.param(*each, id=each[0]) for each in PRINTED.items()]
    + [pytest.param(*each, id=f"{each[0]} further", marks=pytest.mark.long) for each in PRINTED_LONG.items()],
)
def test_printed_equations(robot, parts, form, records):
    sections = printed(robot, parts, form)
    key = f"derive {robot} {parts or '(default)'} {form}"
    records("equations").check(f"{key}: sections", len(sections))
    for number, lines in enumerate(sections):
        records("equations").check(f"{key}: section {number:02}", lines_digest(lines), first_other_line(lines))


@pytest.mark.parametrize(
    "robot",
    ["planar2r", "scara", "stanford_arm", "puma560"]
    + [long(name) for name in ("planar3r", "rx90", "jpl_rrp", "panda", "ur5e", "iiwa14", "puma560_symbolic")],
)
def test_constants_and_terms_of_the_explicit_model(robot, records):
    model = emdeg.derive(robot)
    sizes = re.findall(r"(\w+) (\d+)", repr(model).rpartition("terms:")[2])
    found = {"constants": len(model.constants), "terms": {name: int(many) for name, many in sizes}}
    records("equations").check(f"model of {robot}", found)


# ------------------------------------------------------------------------------------------------------- JSON results

STATE = "--q=0.1,0.4,-0.3,0.2,0.1,0.5 --qd=1,2,3,4,5,6 --qdd=0.5,0.4,0.3,0.2,0.1,0"
POSE = "--q=0.05,-0.08,-0.45 --qd=0.3,-0.2,0.1"
COMMANDS = f"""
show puma560
show delta
show fivebar --format toml
show planar2r --payload mass=1,com=0.1:0:0@link2 --lock q1=0.3 --gravity=0,0,-1.62
robots
functions
functions inverse_dynamics
count puma560 inverse_dynamics
count puma560 inverse_dynamics --effort 0
count puma560 inverse_dynamics --weights cycles
count puma560 regressor --base
count planar2r inverse_dynamics --formulation all
count puma560 mass_matrix --formulation Izaguirre-Paul
count delta inverse_dynamics
derive planar2r
derive puma560 --only M,b,c,g,J,relations
derive scara --only base,regressor
derive planar2r --account
derive planar2r --symbolic --symbolic-payload tool
derive delta
derive fivebar --only closure,W,G
eval puma560 inverse_dynamics {STATE}
eval puma560 regressor --base {STATE}
eval planar2r gravity_vjp --q=0.1,0.2 --along g_c=1,2
eval planar2r inverse_dynamics --q=10,20 --qd=1,2 --qdd=3,4 --deg --wrench=1,2,3,4,5,6
eval delta inverse_dynamics {POSE} --qdd=1,-2,0.5
eval delta inverse_dynamics_derivatives {POSE} --qdd=0,0,0 --names
eval delta state_rate {POSE} --tau=1,2,3
eval fivebar joint_positions --q=115,60 --deg
eval palletiser inverse_dynamics --q=0.1,0.2,0.3 --qd=1,1,1 --qdd=1,2,3
analyse planar2r --servo kp=100,kd=20,period=0.01 --at 0,0.5
analyse planar2r --only capability --at 0,0.5
kane planar2r
kane planar2r --emit torques
kane fourbar --speeds examples/speeds/fourbar.toml
loops delta --branches --q=0.05,-0.08,-0.45
loops fivebar --modes
loops fivebar --singularities --samples 200
loops fourbar
tolerance puma560 --states 20 --draws 50
verify stanford_arm inverse_dynamics --seed 5
verify fourbar inverse_dynamics --seed 5
sweep examples/payload_study.toml --dry-run
torques stanford_arm --trajectory stanford_fig1
torques delta --trajectory delta_circle
check puma560
measure examples/puma560_campaign.toml
""".strip().splitlines()
COMMANDS_LONG = """
kane stanford_arm --speeds examples/speeds/stanford_arm.toml --show all
analyse jpl_rrp --only capability,servo,importance
kane delta --speeds examples/speeds/delta.toml
simulate stanford_arm --scenario stanford_fig3
simulate delta --scenario delta_tracking
show stewart
show panda
count stewart inverse_dynamics
count stanford_arm inverse_dynamics --formulation all
loops stewart
derive palletiser
derive panda
optimise planar2r gravity --effort 1 --dry-run
""".strip().splitlines()
SEARCHES = """
analyse planar2r --only loads,ratios --seconds 100 --gap 0.001
analyse planar3r --formula M12,g1 --seconds 100 --gap 0.001
""".strip().splitlines()
SEARCHES_LONG = """
analyse fivebar --only inertia,singularities --samples 200
abbreviate planar2r --significance 0.01 --seconds 60
judge examples/judged/bejczy.toml --seconds 60 --gap 0.02
judge examples/judged/armstrong.toml --seconds 60 --gap 0.05
analyse jpl_rrp --only loads --seconds 100 --gap 0.01
abbreviate planar3r --significance 0.05 --seconds 60
report planar2r --out OUT
excite planar2r --seconds 2 --out OUT/e.csv
""".strip().splitlines()
"""Results of searches and certified bounds: numbers agree to a thousandth, where they are reached may differ."""


def outcome(command: str, folder: Path, left_out: frozenset[str] = frozenset()) -> Any:
    done = run(*shlex.split(command.replace("OUT", str(folder / "out"))), "--json", cwd=HOME)
    assert done.stdout, done.stderr
    answer = json.loads(done.stdout)
    found = {"exit": done.returncode, **plain(answer, left_out)}
    return found if len(compact(found)) <= DIGESTED else digested(found)


@pytest.mark.parametrize("command", [*COMMANDS, *map(long, COMMANDS_LONG)])
def test_json_results(command, records, tmp_path):
    records("commands").check(command, outcome(command, tmp_path))


@pytest.mark.parametrize("command", [*SEARCHES, *map(long, SEARCHES_LONG)])
def test_json_results_of_searches(command, records, tmp_path):
    found = outcome(command, tmp_path, frozenset({"q", "at", "files", "page", "latex", "entries_operations"}))
    records("commands").check(command, found, lambda old, new: differences(old, new, "", 1e-3, 1e-6))


@pytest.mark.parametrize("words", ["", "--loop", "--campaign"])
def test_templates_are_accepted(words, records, tmp_path):
    made = run("new", *words.split(), "--out", "made.toml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    read = ("measure", "made.toml") if words == "--campaign" else ("show", "made.toml")
    found = json.loads(run(*read, "--json", cwd=tmp_path).stdout)
    records("commands").check(f"new {words}; {read[0]}".replace("  ", " "), plain(found))


SCENARIO = """
schema = 1
duration = 0.5
[initial]
q = { q1 = 0.1 }
[controller]
kind = "pd"
kp = [50, 50]
kd = 8
target = ["30 deg", -0.2]
[integration]
method = "rk4"
step = 0.001
output_step = 0.1
"""


def test_a_short_simulation(records, tmp_path):
    (tmp_path / "run.toml").write_text(SCENARIO)
    done = run("simulate", "planar2r", "--scenario", "run.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records("commands").check("simulate planar2r (pd, rk4)", plain(json.loads(done.stdout)))


STUDY = """schema = 1
name = "small"
robots = ["planar2r"]
seed = 2
[[vary]]
parameter = "gravity.z"
values = [-9.81, -1.62]
[states]
count = 4096
speed = 1
acceleration = 1
[[compute]]
function = "inverse_dynamics"
statistics = ["max_abs", "at"]
"""


def test_a_small_sweep(records, tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "small.toml").write_text(STUDY)
    done = run("sweep", "small.toml", "--json", "-j", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records("commands").check("sweep small", plain(json.loads(done.stdout)))
    records("commands").check(
        "sweep small: table", pq.read_table(tmp_path / "small_results/results.parquet").to_pydict()
    )


JUDGED = 'schema = 1\nclaim = 0.01\n[constants]\nJ = 0.34\n[entries]\nM22 = "J"\nM12 = "0.5*cos(q2) + J"\n'


def test_a_judged_model(records, tmp_path):
    (tmp_path / "model.toml").write_text(JUDGED)
    done = run(
        "judge", "model.toml", "--robot", "planar2r", "--gap", "0.001", "--seconds", "60", "--json", cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
    found = plain(json.loads(done.stdout), frozenset({"at"}))
    records("commands").check("judge planar2r", found, lambda old, new: differences(old, new, "", 1e-3, 1e-6))


@pytest.mark.long
def test_identification_of_a_synthetic_log(records, tmp_path):
    t = np.arange(0, 10, 0.01)
    w = 2 * np.pi * 0.1 * np.array([[1, 3, 5], [2, 4, 7]])
    amplitude, phase = np.array([[0.9, 0.4, 0.2], [1.0, 0.5, 0.2]]), np.array([[0.1, 1.3, 2.0], [0.7, 2.2, 0.4]])
    angle = w[:, :, None] * t + phase[:, :, None]
    q = (amplitude[:, :, None] * np.sin(angle)).sum(1).T
    qd = ((amplitude * w)[:, :, None] * np.cos(angle)).sum(1).T
    qdd = -((amplitude * w**2)[:, :, None] * np.sin(angle)).sum(1).T
    tau = emdeg.inverse_dynamics("planar2r", q, qd, qdd)
    tau = tau + 0.3 * qd + 0.2 * np.sign(qd) + 0.01 * np.random.default_rng(1).standard_normal(tau.shape)
    table = np.column_stack([t, q, tau])
    np.savetxt(tmp_path / "log.csv", table, "%.12g", ",", header="t,q_q1,q_q2,tau_q1,tau_q2", comments="")
    done = run("identify", "planar2r", "log.csv", "--friction", "coulomb", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = plain(json.loads(done.stdout))
    records("commands").check("identify planar2r", found, lambda old, new: differences(old, new, "", 1e-4, 1e-8))


@pytest.mark.long
def test_other_formats_of_files(records, tmp_path):
    for path in (HOME / "examples" / "arm.urdf", *sorted((HOME / "tests" / "data" / "robots").glob("*"))):
        done = run("show", str(path), "--json", "--allow-nonphysical", cwd=tmp_path)
        if path.is_file() and path.suffix in (".urdf", ".xml", ".toml"):
            found = plain(json.loads(done.stdout)) if done.returncode == 0 else done.returncode
            records("commands").check(f"show {path.name}", digested(found))


# --------------------------------------------------------------------------------------------------- public interface


def signature(function: Any) -> list[str] | None:
    """The parameters' names with their defaults, those by keyword alone after a star."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    found, starred = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not starred:
            found.append("*")
            starred = True
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        starred |= star == "*"
        if each.default is each.empty:
            found.append(star + each.name)
        else:
            simple = isinstance(each.default, bool | int | float | str | tuple | None)
            found.append(f"{each.name}={each.default!r}" if simple else f"{each.name}=...")
    return found


def interface(module: Any) -> dict[str, Any]:
    """Every public name of a module: the signature of what can be called, null for the rest."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return {
        name: "class" if inspect.isclass(value) else signature(value) if callable(value) else None
        for name, value in ((name, getattr(module, name)) for name in sorted(names))
    }


def nothing_lost(old: Any, new: Any) -> Iterator[str]:
    """Names may be added; none may go or be called otherwise."""
    for name, recorded in old.items():
        if name not in new:
            yield f"{name} is gone"
        elif new[name] != recorded:
            yield f"{name}: recorded {recorded}, found {new[name]}"


@pytest.mark.parametrize("name", ["", "loops", "kane"])
def test_names_and_signatures(name, records):
    module = getattr(emdeg, name) if name else emdeg
    records("interface").check(f"emdeg.{name}".rstrip("."), interface(module), nothing_lost)


def test_methods_of_public_classes(records):
    for name, cls in (("Robot", emdeg.Robot), ("Model", emdeg.Model), ("Program", emdeg.Program)):
        found = {
            each: "member" for each in sorted({*dir(cls), *getattr(cls, "__dataclass_fields__", ())}) if each[0] != "_"
        }
        records("interface").check(f"emdeg.{name}", found, nothing_lost)


def test_errors(records):
    classes = {name: each for name, each in vars(emdeg.errors).items() if inspect.isclass(each)}
    errors = {name: each for name, each in classes.items() if issubclass(each, BaseException)}
    found = {name: sorted(base.__name__ for base in each.__mro__[1:-1]) for name, each in errors.items()}
    records("interface").check("emdeg.errors", dict(sorted(found.items())), nothing_lost)


def test_commands_and_their_options(records, request):
    wide = {"COLUMNS": "160", "TERM": "dumb"}
    listed = re.findall(r"^│ ([a-z]+) ", run("--help", **wide).stdout, flags=re.MULTILINE)
    recorded = records("interface").read()
    known = [key.partition(" ")[2] for key in recorded if key.startswith("command ")]
    for name in sorted(set(listed) if request.config.getoption("--update-golden") else {*known}):
        done = run(name, "--help", **wide)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        rows = re.findall(r"^│\s+(?:\*\s+)?(--[a-z0-9-]+)(?:\s+(-[a-z])\b)?", done.stdout, flags=re.MULTILINE)
        records("interface").check(f"command {name}", dict(rows), nothing_lost)
