"""Kernels as files: their text executed here, instruction by instruction; certificates; the loader on its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import emdeg
from emdeg.codegen import CERTIFICATE
from emdeg.codegen.artefact import Request, emit
from emdeg.codegen.infix import escaped
from emdeg.codegen.ptx import emit_loader, emit_ptx, executed_ptx
from emdeg.codegen.ptx.execution import read_ptx
from emdeg.codegen.rechecking import recheck
from emdeg.errors import NotCertified, NotExecutable, Refuted
from tests.commands import run
from tests.emitted import close, expected_of, functions_of, python_module, request_of, states_of, with_numbers
from tests.paper_device import DeviceOfPaper
from tests.program_samples import kitchen_sink, random_program, samples

STATES = 75
"""Two warps and a part of one."""


def executed(program, given, **options):
    text = emit_ptx(program, name="kernel", **options)
    return executed_ptx(text, "kernel", program, **options)(given)


@pytest.mark.parametrize("layout", ["rows", "entries"])
@pytest.mark.parametrize("single", [False, True])
def test_the_text_computes_what_the_program_does(single, layout):
    for program in (kitchen_sink()[0], *(random_program(seed, divisions=True) for seed in range(4))):
        given = samples(program, STATES, 0, 1.0)
        expected = emdeg.compile(program)(*(given[group.name] for group in program.inputs))
        found = executed(program, given, single=single, layout=layout)
        for group, wanted in zip(program.outputs, expected if isinstance(expected, tuple) else [expected]):
            scale = np.abs(wanted).max(initial=1.0)
            np.testing.assert_allclose(found[group.name], wanted, rtol=0, atol=(2e-5 if single else 1e-12) * scale)


def check_robot(name: str, functions) -> None:
    """Rows in double, entries in single precision: the text of every function is the numeric mechanics."""
    robot = emdeg.load(name)
    numeric, parameters = with_numbers(robot)
    for function in functions:
        request = request_of(name, function, target="ptx")
        program = emdeg.program(robot, request.functions, base=request.base)
        inputs, rounding = states_of(numeric, program, 40)
        expected = expected_of(numeric, request, inputs)
        given = inputs | ({"parameters": np.tile(parameters, (40, 1))} if parameters else {})
        for single, layout in ((False, "rows"), (True, "entries")):
            options = {"single": single, "layout": layout}
            text = emit(program, robot.name, request_of(name, function, target="ptx", **options))
            found = executed_ptx(text, request.name, program, **options)(given)
            for group, wanted in zip(program.outputs, expected, strict=True):
                # Single precision carries q with 6e-8: what a division makes of that depends on the robot.
                close(found[group.name], wanted, f"{name} {function} {options}", 1e-4 if single else rounding)


@pytest.mark.parametrize("name", ["scara", "fourbar"])
def test_robots_functions_are_the_numeric_mechanics(name):
    check_robot(name, ["inverse_dynamics", "forward_dynamics", "mass_matrix"])


SOME = ("stanford_arm", "puma560_symbolic", "fivebar")
"""Revolute and prismatic joints; open parameters; a closed loop."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.targets if name in SOME else pytest.mark.every_target)
        for name in emdeg.library_names()
        if name != "delta_symbolic"
    ],
)
def test_every_robots_functions_are_the_numeric_mechanics(name):
    check_robot(name, functions_of(name))


def test_memory_that_is_not_the_kernel_s_is_not_touched():
    """One row too many, or one written where the inputs lie, is found out."""
    program = emdeg.program("planar2r", "gravity")
    text = emit_ptx(program, name="kernel")
    given = {"q": np.zeros((5, 2))}
    executed_ptx(text, "kernel", program)(given)
    beyond = re.sub(r"(st\.global\.b64\s+\[%rd\d+)\]", r"\1+4096]", text)
    assert beyond != text
    with pytest.raises(Refuted, match="writes where nothing"):
        executed_ptx(beyond, "kernel", program)(given)
    swapped = text.replace("kernel_param_1]", "kernel_param_0]")
    with pytest.raises(Refuted, match="writes where nothing"):
        executed_ptx(swapped, "kernel", program)(given)


def test_another_number_in_the_text_is_another_result():
    program = emdeg.program("planar2r", "gravity")
    text = emit_ptx(program, name="kernel")
    number = re.findall(r"0d[0-9A-F]{16}", text)[-1]
    changed = text.replace(number, "0d4000000000000000")
    given = {"q": np.full((5, 2), 0.3)}
    before, after = (executed_ptx(each, "kernel", program)(given)["g"] for each in (text, changed))
    assert np.abs(before - after).max() > 1e-3


def test_full_and_last_warps_are_executed_both():
    """Whatever few states there are: a change in either way of copying rows is found."""
    program = emdeg.program("planar2r", "gravity")
    text = emit_ptx(program, name="kernel")
    given = {"q": np.linspace(0.1, 0.9, 10).reshape(5, 2)}
    executed_ptx(text, "kernel", program)(given)
    turned = re.sub(r"(ld\.global\.v2\.b64 \t)\{(%rd\d+), (%rd\d+)\}", r"\1{\3, \2}", text)
    start, end = re.search(r"add\.s32 \t(%r\d+), %r\d+, (-1);", text).span(2)
    for changed in (turned, f"{text[:start]}-2{text[end:]}"):
        assert changed != text
        with pytest.raises(Refuted):
            executed_ptx(changed, "kernel", program)(given)
    endless = text.replace("\tret;", "$L_again:\n\tbra.uni \t$L_again;\n\tret;")
    with pytest.raises(Refuted, match="end"):
        executed_ptx(endless, "kernel", program)(given)


def test_what_is_no_such_kernel_is_not_executed():
    program = emdeg.program("planar2r", "gravity")
    text = emit_ptx(program, name="kernel")
    with pytest.raises(NotExecutable):
        executed_ptx("nonsense", "kernel", program)
    with pytest.raises(NotExecutable):
        executed_ptx(text, "another", program)
    with pytest.raises(NotExecutable):
        executed_ptx(re.sub(r"\bmul\.f64", "ex2.approx.f64", text), "kernel", program)
    with pytest.raises(NotExecutable):
        executed_ptx(text, "kernel", emdeg.program("planar2r", "inverse_dynamics"))


@pytest.mark.parametrize("name", ["*/ evil(); /*", "name\nevil", "back\\\nslash evil", "ünï evil", "\x00 evil"])
def test_hostile_names_stay_in_the_comment(name):
    text = emit_ptx(emdeg.program("planar2r", "gravity"), name="kernel", robot=name, command=name)
    assert "evil" not in text.replace(escaped(name), "")
    assert all(line.startswith("//") for line in text.splitlines() if "evil" in line)
    assert read_ptx(text, "kernel") is not None


def test_the_command_writes_kernel_certificate_and_loader(tmp_path):
    words = ["generate", "planar2r", "-f", "inverse_dynamics", "--target", "ptx", "--out", str(tmp_path)]
    done = run(*words, "--sm", "90", "--float", "--layout", "entries", "--loader")
    assert done.returncode == 0, done.stderr
    stem = tmp_path / "planar2r_inverse_dynamics"
    text = stem.with_suffix(".ptx").read_text()
    assert ".target sm_90" in text
    assert ".visible .entry planar2r_inverse_dynamics(" in text
    assert run("verify", f"{stem}.ptx").returncode == 0
    loader = stem.with_suffix(".py").read_text()
    stem.with_suffix(".py").write_text(loader.replace("float32", "float64"))
    changed = run("verify", f"{stem}.ptx")
    assert changed.returncode == 1
    assert "was changed" in changed.stderr
    stem.with_suffix(".py").unlink()
    assert run("verify", f"{stem}.ptx").returncode == 0
    certificate = json.loads((tmp_path / f"{stem.name}.ptx{CERTIFICATE}").read_text())
    for key, value in (("sm", 12), ("sm", 80), ("layout", "rows"), ("layout", "columns"), ("single", False)):
        forged = certificate | {"request": certificate["request"] | {key: value}}
        (tmp_path / f"{stem.name}.ptx{CERTIFICATE}").write_text(json.dumps(forged))
        with pytest.raises(NotCertified):
            emdeg.verify(f"{stem}.ptx")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "ptx", "--sm", "12"], "there is no sm_12"),
        (["--target", "ptx", "--trig", "inline"], "--trig"),
        (["--sm", "80"], "for --target ptx only"),
        (["--layout", "rows"], "for --target ptx only"),
        (["--loader"], "for --target ptx only"),
    ],
)
def test_options_of_others_are_wrong_usage(options, said, tmp_path):
    done = run("generate", "planar2r", "-f", "gravity", "--out", str(tmp_path), *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_certificate_from_before_there_were_kernels_still_holds():
    robot = emdeg.load("planar2r")
    made = emdeg.codegen.make_artefact(robot, Request(("gravity",), "c", "planar2r"))
    old = {key: value for key, value in made.certificate["request"].items() if key not in ("sm", "layout", "loader")}
    recheck(made.text.encode(), made.certificate | {"request": old})
    strange = made.certificate | {"request": made.certificate["request"] | {"loader": True}}
    with pytest.raises(NotCertified, match="loader"):
        recheck(made.text.encode(), strange)


@pytest.mark.parametrize("layout", ["rows", "entries"])
@pytest.mark.parametrize("single", [False, True])
def test_the_loader_lays_arrays_out_as_the_kernel_wants_them(single, layout, tmp_path, monkeypatch):
    program = emdeg.program("planar2r", "mass_matrix+bias")
    text = emit_ptx(program, name="both", single=single, layout=layout)
    module = python_module(emit_loader(text, program, name="both", single=single, layout=layout), tmp_path)
    module.both.file.write_text(text)
    monkeypatch.setattr(module, "device", lambda number, made={}: made.setdefault(number, DeviceOfPaper()))
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1, 1, (3, 50, 2)), rng.uniform(-1, 1, (50, 2))
    M, h = module.both(q, qd)
    assert M.dtype == (np.float32 if single else np.float64)
    close(M, emdeg.mass_matrix("planar2r", q), "M", 1e-5 if single else 1e-12)
    close(h, emdeg.bias("planar2r", q, qd), "h", 1e-5 if single else 1e-12)
    assert module.both(q[0, 0], qd[0])[0].shape == (2, 2)
    assert module.both(q[:, :0], qd[:0])[0].shape == (3, 0, 2, 2)
    with pytest.raises(ValueError, match="expected"):
        module.both(q[..., :1], qd)
    with pytest.raises(TypeError, match="takes q, qd"):
        module.both(q)
    module.both.file.write_text(text + "\n")
    monkeypatch.setattr(module, "device", lambda number: DeviceOfPaper())
    with pytest.raises(module.DeviceError, match="SHA-256"):
        module.both(q, qd)


ALONE = """
import sys
sys.modules["emdeg"] = sys.modules["llvmlite"] = sys.modules["flint"] = None
import kernel
try:
    kernel.kernel([[0.0, 0.5]])
except kernel.DeviceError as problem:
    print("DeviceError", problem)
else:
    print(kernel.kernel([[0.0, 0.5]]).tolist())
"""


def test_the_loader_needs_numpy_and_a_driver_alone(tmp_path):
    program = emdeg.program("planar2r", "gravity")
    text = emit_ptx(program, name="kernel")
    (tmp_path / "kernel.ptx").write_text(text)
    (tmp_path / "kernel.py").write_text(emit_loader(text, program, name="kernel"))
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = emdeg.gravity("planar2r", [[0.0, 0.5]]).tolist()
    assert done.stdout.startswith("DeviceError there is no") or np.allclose(json.loads(done.stdout), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("layout", ["rows", "entries"])
def test_the_loader_on_a_gpu(layout, tmp_path):
    program = emdeg.program("puma560", "inverse_dynamics")
    text = emit_ptx(program, name="kernel", single=True, layout=layout)
    module = python_module(emit_loader(text, program, name="kernel", single=True, layout=layout), tmp_path)
    module.kernel.file.write_text(text)
    q = np.random.default_rng(0).uniform(-1, 1, (1000, 6))
    close(module.kernel(q, q, q), emdeg.inverse_dynamics("puma560", q, q, q), "on the GPU", 1e-5)
