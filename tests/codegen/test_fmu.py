"""FMUs run by FMPy: its validator finds nothing, steps are those of `emdeg simulate`, and the proof is repeated."""

import io
import json
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.codegen.verbs import generate, recheck_file
from emdeg.errors import BadRequest, NotCertified, RobotError
from emdeg.simulation import pd
from tests.commands import run as command
from tests.emitted import COMPILERS

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.targets

VERSIONS = (3, 2)
STEP = 1e-3
STIRRED = {"puma560": 0.02, "delta": 0.001, "fourbar": 0.02}


def made(robot, folder: Path, **options) -> Path:
    (one,) = generate(robot, None, "fmu", out=folder, **options)
    return one.path


def valid(path: Path) -> list[str]:
    from fmpy.validation import validate_fmu

    return validate_fmu(str(path))


def run(path: Path, steps: int, start=None, inputs=None, kind="CoSimulation", h=STEP, **more):
    """FMPy's table of a run."""
    return fmpy.simulate_fmu(
        str(path),
        stop_time=steps * h,
        step_size=h,
        output_interval=h,
        fmi_type=kind,
        start_values=start or {},
        input=inputs,
        **more,
    )


def table(result, name: str, n: int) -> np.ndarray:
    return np.stack([result[f"{name}[{k + 1}]"] for k in range(n)], axis=-1)


def placed(**arrays) -> dict[str, float]:
    return {f"{name}[{k + 1}]": float(value) for name, values in arrays.items() for k, value in enumerate(values)}


def started(robot, seed=0):
    """A state a little off home."""
    rng = np.random.default_rng(seed)
    n, size = robot.freedoms, STIRRED.get(robot.name, 0.1)
    from emdeg.dynamics import kind_of

    return kind_of(robot).home(robot) + size * rng.uniform(-1, 1, n), size * rng.uniform(-1, 1, n)


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "delta"])
def test_cosimulation_without_effort_is_simulate_with_the_same_steps(name, fmi, tmp_path):
    robot = emdeg.load(name)
    path = made(name, tmp_path, fmi=fmi)
    assert valid(path) == []
    q, qd = started(robot)
    outputs = [f"{array}[{k + 1}]" for array in ("q", "qd") for k in range(robot.freedoms)]
    found = run(path, 100, placed(q=q, qd=qd), output=outputs)
    motion = emdeg.simulate(
        robot, None, q, qd, 0.1, method="rk4", step=STEP, stops="ignore", check_step=False, drift_tolerance=np.inf
    )
    np.testing.assert_allclose(table(found, "q", robot.freedoms), motion.q, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(table(found, "qd", robot.freedoms), motion.qd, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("name", ["puma560", "delta"])
def test_the_servo_with_friction_and_effort_limits_is_simulates(name, tmp_path):
    """Gains that are not the starts, drives that come to their limits, steps shorter than the communication's."""
    robot = rubbing(emdeg.load(name))
    n = robot.freedoms
    path = made(robot, tmp_path, pd=True, friction=True)
    assert valid(path) == []
    q, qd = started(robot)
    wanted = q + STIRRED[robot.name] * np.arange(1, n + 1)
    kp, kd = 900.0 + np.arange(n), 40.0 + np.arange(n)
    limit = 15.0 if name == "puma560" else 1.5
    limits = np.full(len(robot.driven), limit)
    given = placed(q=q, qd=qd, q_ref=wanted, kp=kp, kd=kd, max_effort=limits) | {"step": STEP / 2}
    outputs = [f"{array}[{k + 1}]" for array in ("q", "qd") for k in range(n)] + [
        f"effort[{k + 1}]" for k in range(len(limits))
    ]
    found = run(path, 100, given, output=outputs)
    motion = emdeg.simulate(
        robot,
        pd(robot, kp, kd, wanted),
        q,
        qd,
        0.1,
        method="rk4",
        step=STEP / 2,
        output_step=STEP,
        friction=True,
        conditioning=emdeg.simulation.Conditioning(max_effort=tuple(limits)),
        stops="ignore",
        check_step=False,
        drift_tolerance=np.inf,
    )
    assert (np.abs(motion.tau) >= limit - 1e-9).any()
    assert (np.abs(motion.tau) < limit - 1e-3).any()
    np.testing.assert_allclose(table(found, "q", n), motion.q, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(table(found, "qd", n), motion.qd, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(table(found, "effort", len(limits)), motion.tau, atol=1e-7, rtol=1e-7)


def rubbing(robot):
    """Every law of friction in one robot: viscous, Coulomb's, Stribeck's, one that fades at a speed of its own."""
    from emdeg.algebra import Exact
    from emdeg.robot import Friction

    laws = [
        Friction(viscous=Exact.of(Fraction("0.7")), coulomb=Exact.of(Fraction("0.4"))),
        Friction(
            viscous=Exact.of(Fraction("0.2")),
            coulomb=Exact.of(Fraction("0.3")),
            stribeck=Exact.of(Fraction("0.9")),
            stribeck_velocity=Exact.of(Fraction("0.05")),
        ),
        Friction(coulomb=Exact.of(Fraction("0.5")), rest_speed=Exact.of(Fraction("0.02"))),
    ]
    links = []
    for k, link in enumerate(robot.links):
        if link.joint in robot.driven:
            drive = replace(link.joint.drive, friction=laws[k % 3])
            link = replace(link, joint=replace(link.joint, drive=drive))
        links.append(link)
    return replace(robot, links=tuple(links))


def test_torques_that_are_set_between_steps_are_a_sampled_laws(tmp_path):
    robot = emdeg.load("planar2r")
    path = made("planar2r", tmp_path)
    times = STEP * np.arange(101)
    torque = np.stack([3 * np.sin(20 * times), np.cos(30 * times)], axis=-1)
    signals = np.array(
        [(t, *row) for t, row in zip(times, torque)], dtype=[("time", float), ("tau[1]", float), ("tau[2]", float)]
    )
    found = run(path, 100, placed(q=[0.3, -0.2]), signals, output=["q[1]", "q[2]"])
    motion = emdeg.simulate(
        robot,
        lambda t, q, qd: torque[round(t / STEP)],
        [0.3, -0.2],
        duration=0.1,
        method="rk4",
        step=STEP,
        conditioning=emdeg.simulation.Conditioning(period=STEP),
        effort_limits=False,
        stops="ignore",
    )
    np.testing.assert_allclose(table(found, "q", 2), motion.q, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_elastic_stops_are_simulates(fmi, tmp_path):
    robot = emdeg.load("scara")
    path = made("scara", tmp_path, fmi=fmi)
    q = np.array([float(joint.limits.upper) - 0.01 for joint in robot.coordinates])
    qd = np.full(4, 1.0)
    outputs = [f"q[{k + 1}]" for k in range(4)]
    given = placed(q=q, qd=qd) | {"stops": True, "stop_stiffness": 2e3, "stop_damping": 30.0}
    found = run(path, 200, given, output=outputs)
    motion = emdeg.simulate(
        robot,
        None,
        q,
        qd,
        0.2,
        method="rk4",
        step=STEP,
        stops="spring",
        stiffness=2e3,
        damping=30.0,
        check_step=False,
        drift_tolerance=np.inf,
    )
    assert (motion.q > [float(joint.limits.upper) for joint in robot.coordinates]).any()
    np.testing.assert_allclose(table(found, "q", 4), motion.q, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_model_exchange_is_the_same_motion_to_the_solvers_tolerance(fmi, tmp_path):
    robot = emdeg.load("puma560")
    path = made("puma560", tmp_path, fmi=fmi)
    q, qd = started(robot)
    outputs = [f"q[{k + 1}]" for k in range(6)]
    found = run(path, 20, placed(q=q, qd=qd), kind="ModelExchange", h=0.01, relative_tolerance=1e-9, output=outputs)
    motion = emdeg.simulate(robot, None, q, qd, 0.2, output_step=0.01, stops="ignore")
    np.testing.assert_allclose(table(found, "q", 6), motion.q, atol=1e-6, rtol=1e-6)


def test_parameters_are_gravity_a_load_symbols_and_what_is_asked_for(tmp_path):
    """Set in the FMU they make the robot that the same numbers make."""
    robot = emdeg.load("planar2r")
    path = made("planar2r", tmp_path, tunable=["link2.mass", "gravity.y"])
    about = {one.name: one for one in fmpy.read_model_description(str(path)).modelVariables}
    assert {"parameters.gx", "parameters.gy", "parameters.gz", "parameters.mL", "parameters.m2"} <= set(about)
    assert about["parameters.gy"].unit == "m/s2"
    assert float(about["parameters.m2"].start) == float(robot.links[1].inertia.mass)
    given = {"parameters.gy": -1.5, "parameters.mL": 0.7, "parameters.rxL": 0.2, "parameters.m2": 2.5}
    found = run(path, 50, placed(q=[0.3, -0.2]) | given, output=["q[1]", "q[2]"])
    opened = emdeg.robot.opened(emdeg.robot.with_symbolic_payload(robot), ["gravity.y", "link2.mass"])
    rest = dict.fromkeys(opened.robot.symbols, 0)
    values = rest | {"gy": Fraction("-1.5"), "mL": Fraction("0.7"), "rxL": Fraction("0.2"), "m2": Fraction("2.5")}
    numeric = emdeg.robot.substitute(opened.robot, values)
    motion = emdeg.simulate(numeric, None, [0.3, -0.2], duration=0.05, method="rk4", step=STEP, stops="ignore")
    np.testing.assert_allclose(table(found, "q", 2), motion.q, atol=1e-9, rtol=1e-9)


def test_a_load_on_a_deltas_platform_is_a_parameter(tmp_path):
    robot = emdeg.load("delta")
    path = made("delta", tmp_path)
    q, qd = started(robot)
    outputs = [f"q[{k + 1}]" for k in range(3)]
    found = run(path, 50, placed(q=q, qd=qd) | {"parameters.mL": 0.5}, output=outputs)
    loaded = emdeg.robot.with_symbolic_payload(robot)
    values = dict.fromkeys(loaded.symbols, 0) | {"mL": Fraction(1, 2)}
    options = {"duration": 0.05, "method": "rk4", "step": STEP, "stops": "ignore", "check_step": False}
    options["drift_tolerance"] = np.inf
    motion = emdeg.simulate(emdeg.robot.substitute(loaded, values), None, q, qd, **options)
    np.testing.assert_allclose(table(found, "q", 3), motion.q, atol=1e-9, rtol=1e-9)
    without = emdeg.simulate(robot, None, q, qd, **options)
    assert np.abs(without.q - motion.q).max() > 1e-6


def test_symbols_without_a_number_start_at_zero_and_must_be_set(tmp_path):
    path = made("puma560_symbolic", tmp_path)
    assert valid(path) == []
    about = {one.name: one for one in fmpy.read_model_description(str(path)).modelVariables}
    symbols = emdeg.load("puma560_symbolic").symbols
    assert {about[f"parameters.{symbol}"].start for symbol in symbols} == {"0.0"}
    with pytest.raises(Exception, match="fmi3ExitInitializationMode"):
        run(path, 2)
    moved = run(path, 2, {f"parameters.{symbol}": 1.0 + k / 100 for k, symbol in enumerate(sorted(symbols))})
    assert np.isfinite(moved["q[1]"]).all()


@pytest.mark.parametrize("fmi", VERSIONS)
def test_states_are_kept_handed_back_and_stored(fmi, tmp_path):
    path = made("planar2r", tmp_path, fmi=fmi)
    about = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path))
    unit = fmpy.instantiate_fmu(folder, about, fmi_type="CoSimulation")
    if fmi == 2:
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        get = unit.getReal
        unit.setReal([1, 2], [0.3, -0.2])
    else:
        unit.enterInitializationMode(startTime=0.0)
        get = unit.getFloat64
        unit.setFloat64([1, 2], [0.3, -0.2])
    unit.exitInitializationMode()
    unit.doStep(0.0, 0.01)
    kept = unit.getFMUState()
    stored = unit.serializeFMUState(kept)
    unit.doStep(0.01, 0.01)
    first = get([1, 2])
    unit.setFMUState(kept)
    unit.doStep(0.01, 0.01)
    assert get([1, 2]) == first
    again = unit.deserializeFMUState(stored)
    unit.setFMUState(again)
    unit.doStep(0.01, 0.01)
    assert get([1, 2]) == first
    unit.terminate()
    unit.freeInstance()


@pytest.mark.parametrize("fmi", VERSIONS)
def test_the_sources_build_as_they_are_with_warnings_as_errors(fmi, tmp_path):
    import subprocess

    for name, options in (("planar2r", {}), ("delta", {"pd": True})):
        folder = tmp_path / name
        zipfile.ZipFile(made(name, tmp_path, fmi=fmi, **options)).extractall(folder)
        strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-shared"]
        sources = sorted(folder.glob("sources/*.c"))
        subprocess.run([COMPILERS[0], *strict, *sources, "-o", folder / "a.so", "-lm"], check=True)
        exported = subprocess.run(
            ["nm", "-D", "--defined-only", *folder.glob("binaries/*/*")], check=True, capture_output=True, text=True
        ).stdout.split()[2::3]
        assert exported
        assert all(symbol.startswith(f"fmi{fmi}") for symbol in exported)


HOSTILE = "*/ evil(); /* \"<&>' \n \x1b ]]> --> %s ünï"


def test_hostile_names_are_data(tmp_path):
    robot = emdeg.load("planar2r")
    links = [replace(link, joint=replace(link.joint, name=HOSTILE + str(k))) for k, link in enumerate(robot.links)]
    robot = replace(robot, name=HOSTILE, links=tuple(links))
    for fmi in VERSIONS:
        path = made(robot, tmp_path, fmi=fmi, name="type", prefix="1 ")
        assert path.name == "robot_1_type.fmu"
        assert valid(path) == []
        found = run(path, 3, placed(q=[0.3, -0.2]), output=["q[1]"])
        assert np.isfinite(found["q[1]"]).all()
        for name in zipfile.ZipFile(path).namelist():
            assert ".." not in name


def test_the_same_command_makes_the_same_bytes_and_verify_repeats_it(tmp_path):
    first, second = (made("planar2r", tmp_path / place, pd=True) for place in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert list(recheck_file(first)[0]["fmu"]["members"]) == ["planar2r_forward_dynamics.c", "planar2r_gravity.c"]
    result = emdeg.verify(first, of="planar2r")
    assert result["robot_note"] == "it is planar2r"


def changed(path: Path, entry: str, content: bytes) -> None:
    """Another content in the zip, with a digest that fits it."""
    import hashlib

    from emdeg.codegen.fmu.archive import archive

    old = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    files = {name: content if name == entry else old.read(name) for name in old.namelist()}
    data = archive(files | {entry: content})
    path.write_bytes(data)
    beside = path.with_name(path.name + ".certificate.json")
    said = json.loads(beside.read_text())
    said["digest"] = hashlib.sha256(data).hexdigest()
    beside.write_text(json.dumps(said))


@pytest.mark.parametrize("which", ["modelDescription.xml", "sources/core.h", "binary", "extra/more.txt"])
def test_a_changed_fmu_is_found_out_even_with_its_digest(which, tmp_path):
    path = made("planar2r", tmp_path)
    names = zipfile.ZipFile(path).namelist()
    entry = next(name for name in names if name.startswith("binaries/")) if which == "binary" else which
    old = zipfile.ZipFile(path).read(entry) if entry in names else b"more"
    changed(path, entry, old[:-1] + b"?")
    with pytest.raises(NotCertified, match="not this FMU"):
        recheck_file(path)


def test_a_certificate_that_says_otherwise_is_found_out(tmp_path):
    path = made("planar2r", tmp_path)
    beside = path.with_name(path.name + ".certificate.json")
    kept = json.loads(beside.read_text())
    for change in (
        lambda said: said["fmu"]["request"].update(fmi=2),
        lambda said: said["fmu"]["request"].update(fmi="3"),
        lambda said: said["fmu"]["request"].update(servo=True),
        lambda said: said["fmu"]["request"].update(tunable=["link2.mass"]),
        lambda said: said["fmu"].update(members={}),
        lambda said: said["fmu"].update(binary="binaries/other/planar2r.so"),
        lambda said: said["fmu"].update(binary=7),
        lambda said: said.update(fmu=None),
        lambda said: said.update(more=1),
        lambda said: said["robot"].update(digest="0"),
        lambda said: said["fmu"]["members"]["planar2r_forward_dynamics.c"].update(points=1),
    ):
        said = json.loads(json.dumps(kept))
        change(said)
        beside.write_text(json.dumps(said))
        with pytest.raises(NotCertified):
            recheck_file(path)


def test_the_command_says_what_it_wrote_and_what_it_does_not_take(tmp_path):
    done = command("generate", "planar2r", "--target", "fmu", "--out", str(tmp_path), "--json")
    assert done.returncode == 0
    (one,) = json.loads(done.stdout)["result"]
    assert one["file"] == str(tmp_path / "planar2r.fmu")
    assert "planar2r_forward_dynamics.c" in done.stderr
    checked = command("verify", one["file"])
    assert checked.returncode == 0
    assert "each proved again" in checked.stdout
    for words in (
        ["--all"],
        ["--function", "gravity"],
        ["--fmi", "4"],
        ["--library"],
        ["--float"],
        ["--cpu", "x86-64"],
    ):
        done = command("generate", "planar2r", "--target", "fmu", "--out", str(tmp_path), *words)
        assert done.returncode == 2, words


def test_what_cannot_be_is_said():
    with pytest.raises(BadRequest, match="takes no --function"):
        generate("planar2r", "gravity", "fmu")
    with pytest.raises(BadRequest, match="--fmi: for --target fmu only"):
        generate("planar2r", "gravity", "c", fmi=2)
    with pytest.raises(RobotError, match=r"there is no parameter 'link9\.mass'"):
        generate("planar2r", None, "fmu", tunable=["link9.mass"])
    with pytest.raises(RobotError, match="friction is asked for"):
        generate("planar2r", None, "fmu", friction=True)
